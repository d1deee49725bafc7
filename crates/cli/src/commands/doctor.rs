//! `termbridge doctor`: what works, what does not start, what is missing, and the command that installs it.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};
use termbridge_bridge::dap::Environment;
use termbridge_bridge::{Installed, SHELLS};
use termbridge_session::{Launch, Sessions, Wait};
use tokio_util::sync::CancellationToken;

use super::{Debugging, print, printable, wants_colour};
use crate::args::{DoctorArguments, McpArguments};
use crate::config::Config;

/// How long a program in a terminal may take to say a word.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a debug adapter or a language server may take to start; all of them start at once.
const START_LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn run(arguments: DoctorArguments) -> Result<ExitCode> {
    let DoctorArguments { debugging, json, config } = arguments;
    let settings = McpArguments { config, debugging, ..McpArguments::default() };
    let config = Config::load(settings)?;
    let report = super::runtime()?.block_on(examine(&config))?;
    let is_well = report["terminal"]["ok"] == true;
    match json {
        true => print(&format!("{report:#}\n"))?,
        false => print(&shown(&report))?,
    };
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn examine(config: &Config) -> Result<Value> {
    let debugging = Debugging::new(config)?;
    let terminal = match try_terminal(&debugging.sessions).await {
        Ok(()) => json!({"ok": true}),
        Err(error) => json!({"ok": false, "problem": error.to_string()}),
    };
    let (nothing, never) = (serde_json::Map::new(), CancellationToken::new());
    let asked = debugging.server.run_tool("bridge_status", nothing, never);
    let status = asked.await.and_then(|result| result.structured_content);
    let status = status.map(|mut answer| answer["data"].take()).unwrap_or_default();
    let installed = match debugging.server.debugging() {
        Some(debugging) => debugging.native().doctor(START_LIMIT).await,
        None => Installed::default(),
    };
    debugging.end().await;
    let environment = Environment::of_process();
    let found = |name: &&str| {
        environment.find_program(name).map(|path| json!({"name": name, "path": path}))
    };
    let shells: Vec<Value> = SHELLS.iter().filter_map(found).collect();
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "terminal": terminal,
        "shell": config.bridge.shell,
        "shells": shells,
        "history": config.history.as_ref().map(|place| &place.path),
        "workspace": status["workspace"],
        "backend": status["backend"],
        "host": status["host"],
        "adapters": installed.adapters,
        "languageServers": installed.language_servers,
    }))
}

/// Runs a program in a terminal, as agents would.
async fn try_terminal(sessions: &Sessions) -> Result<()> {
    let launch = Launch::new("sh").args(["-c", "echo terminals-work"]);
    let session = sessions.launch(launch).await?;
    let wait = Wait { exit: true, ..Wait::default() }.timeout(PATIENCE);
    let waited = session.wait(wait).await?;
    anyhow::ensure!(waited.fired.is_some(), "a program in a terminal did not end");
    let screen = session.screen().await?.text();
    anyhow::ensure!(screen.contains("terminals-work"), "a terminal did not show what was written");
    Ok(())
}

fn shown(report: &Value) -> String {
    let (good, bad) = match wants_colour(&std::io::stdout()) {
        true => ("\x1b[32m✓\x1b[0m", "\x1b[31m✗\x1b[0m"),
        false => ("✓", "✗"),
    };
    let text = |value: &Value| printable(value.as_str().unwrap_or_default());
    let mut lines = vec![format!("termbridge {}", text(&report["version"])), String::new()];
    match report["terminal"]["ok"] == true {
        true => lines.push(format!("{good} terminals: programs run in them")),
        false => lines.push(format!("{bad} terminals: {}", text(&report["terminal"]["problem"]))),
    }
    let shells: Vec<String> = report["shells"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|shell| text(&shell["name"]))
        .collect();
    lines.push(format!(
        "{good} shells: {}; agents get {}",
        shells.join(", "),
        text(&report["shell"])
    ));
    match report["history"].as_str() {
        Some(path) => lines.push(format!("{good} history: {path}")),
        None => lines.push("  history: off".to_owned()),
    }
    lines.push(String::new());
    lines.push(format!(
        "Debugging in {} ({})",
        text(&report["workspace"]),
        text(&report["backend"])
    ));
    for part in ["adapters", "languageServers"] {
        for entry in report[part].as_array().into_iter().flatten() {
            let language = text(&entry["language"]);
            let label = match entry["name"].as_str() {
                Some(name) => format!("{name} ({language})"),
                None => format!("symbols of {language}"),
            };
            let path = ["path", "program"].iter().find_map(|field| entry[*field].as_str());
            let path = path.map(printable);
            let install = || format!("install it with: {}", text(&entry["install"]));
            lines.push(match (path, entry["problem"].as_str().map(printable)) {
                (Some(path), None) => format!("{good} {label}: {path} starts"),
                (Some(path), Some(problem)) => {
                    format!("{bad} {label}: {path} does not start: {problem}; {}", install())
                }
                (None, _) => format!("{bad} {label}: {}", install()),
            });
        }
    }
    match (report["host"]["live"] == true, report["host"]["workspace"].as_str().map(printable)) {
        (true, Some(workspace)) => lines.push(format!("{good} editor: VS Code serves {workspace}")),
        (false, Some(workspace)) => lines.push(format!(
            "{bad} editor: the bridge of {workspace} is not served: reload its VS Code window"
        )),
        _ => lines.push("  editor: none is connected to this workspace".to_owned()),
    }
    lines.join("\n") + "\n"
}
