//! Debug adapters, language servers and the editor: each is started and has to answer `initialize`.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use termbridge_bridge::Installed;
use tokio_util::sync::CancellationToken;

use super::check::{Check, Group};
use crate::commands::Debugging;

/// How long each may take: on a busy machine some need more than anything else that is checked.
const START_LIMIT: Duration = Duration::from_secs(20);

/// In a folder that the user has named everything that is found there is started; elsewhere what a project brings
/// along is not, because it is whoever wrote it's.
pub(super) async fn check(debugging: &Debugging, trusted: Option<&Path>) -> Vec<Check> {
    let elsewhere = tempfile::tempdir();
    let workspace = match (trusted, &elsewhere) {
        (Some(trusted), _) => trusted,
        (None, Ok(folder)) => folder.path(),
        (None, Err(error)) => {
            let detail = format!("cannot create a temporary folder: {error}");
            return vec![Check::failed(
                Group::Debugging,
                "workspace",
                detail,
                "df -h /tmp; ls -ld /tmp",
            )];
        }
    };
    let status = debugging.server.run_tool("bridge_status", Map::new(), CancellationToken::new());
    let native = async {
        match debugging.server.debugging() {
            Some(debugging) => debugging.native().doctor(workspace, START_LIMIT).await,
            None => Installed::default(),
        }
    };
    let (status, installed) = tokio::join!(status, native);
    let status = status.and_then(|result| result.structured_content);
    let status = status.map(|mut answer| answer["data"].take()).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut detail =
        format!("{}, by the {} debugger", text(&status["workspace"]), text(&status["backend"]));
    if trusted.is_none() {
        detail.push_str("; what the project brings along is not started: `termbridge doctor --workspace .` does");
    }
    let data = json!({"workspace": status["workspace"], "backend": status["backend"]});
    let mut checks = vec![Check::info(Group::Debugging, "workspace", detail).data(data)];
    let adapters = installed.adapters.as_array().into_iter().flatten().map(|entry| {
        let label = format!("{} ({})", text(&entry["name"]), text(&entry["language"]));
        let own = of_project(&status["adapters"], "name", entry, "path");
        started(label, entry, "path", own)
    });
    checks.extend(adapters);
    let servers = installed.language_servers.as_array().into_iter().flatten();
    checks.extend(servers.map(|entry| {
        let own = of_project(&status["languageServers"], "language", entry, "program");
        started(format!("symbols of {}", text(&entry["language"])), entry, "program", own)
    }));
    checks.push(editor(&status["host"]));
    checks
}

/// What the project has in place of what is missing elsewhere.
fn of_project<'a>(found: &'a Value, key: &str, entry: &Value, field: &str) -> Option<&'a str> {
    found.as_array()?.iter().find(|own| own[key] == entry[key])?[field].as_str()
}

fn started(label: String, entry: &Value, field: &str, own: Option<&str>) -> Check {
    let path = entry[field].as_str();
    let install = entry["install"].as_str().unwrap_or("see docs/debugging.md");
    let check = match (path, entry["problem"].as_str()) {
        (Some(path), None) => Check::ok(Group::Debugging, label, format!("{path} starts")),
        (Some(path), Some(problem)) => {
            let detail = format!("{path} does not start: {problem}");
            Check::failed(Group::Debugging, label, detail, install)
        }
        (None, _) if own.is_some() => {
            let own = own.unwrap_or_default();
            Check::info(
                Group::Debugging,
                label,
                format!("{own}, which is the project's: not started"),
            )
        }
        (None, _) => Check::missing(Group::Debugging, label, "not installed", install),
    };
    check.data(entry.clone())
}

fn editor(host: &Value) -> Check {
    const NAME: &str = "editor";
    match (host["live"] == true, host["workspace"].as_str()) {
        (true, Some(workspace)) => {
            Check::ok(Group::Debugging, NAME, format!("VS Code serves {workspace}"))
        }
        (false, Some(workspace)) => {
            let detail = format!("the bridge of {workspace} is not served");
            Check::warning(Group::Debugging, NAME, detail, "reload its VS Code window")
        }
        _ => Check::info(Group::Debugging, NAME, "none is connected to this workspace"),
    }
}
