//! Terminals, and the shells in them with the user's own start-up files: each is started as for an agent, runs a
//! command and has to report its exit code.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use termbridge_bridge::SHELLS;
use termbridge_bridge::dap::Environment;
use termbridge_session::{CommandReport, Launch, SessionError, Sessions, Wait};
use tokio::task::JoinSet;

use super::LIMIT;
use super::check::{Check, Group};
use crate::config::{Config, home};

/// A command that every shell understands, and its exit code.
const COMMAND: &str = "sh -c 'exit 42'";
const EXIT_CODE: i32 = 42;
/// A first prompt that comes later than this is worth a word: every new session waits for it.
const SLOW: Duration = Duration::from_secs(2);
/// Lines of a screen that are shown of a shell that does not come to its prompt.
const SHOWN_LINES: usize = 3;

pub(super) async fn check(sessions: &Sessions, config: &Config) -> Vec<Check> {
    if cfg!(not(unix)) {
        let fix = "run termbridge inside WSL: its terminals work there";
        let detail = "not supported on this system";
        return vec![Check::warning(Group::Terminals, "terminals", detail, fix)];
    }
    let environment = Environment::of_process();
    let chosen = &config.bridge.shell;
    let mut tries = JoinSet::new();
    let mut paths: Vec<PathBuf> = environment.find_program(chosen).into_iter().collect();
    for path in SHELLS.iter().filter_map(|name| environment.find_program(name)) {
        if paths.iter().all(|other| other.file_name() != path.file_name()) {
            paths.push(path);
        }
    }
    let is_there = !paths.is_empty();
    for (index, path) in paths.into_iter().enumerate() {
        let is_chosen = path.file_name() == Path::new(chosen).file_name();
        let sessions = sessions.clone();
        tries.spawn(async move { (index, shell(&sessions, path, is_chosen).await) });
    }
    let (terminal, mut shells) = tokio::join!(terminal(sessions), tries.join_all());
    shells.sort_by_key(|(index, _)| *index);
    let mut checks = vec![terminal];
    if !is_there {
        let fix = "install bash, or point --shell (TERMBRIDGE_SHELL) to a shell";
        checks.push(Check::failed(Group::Terminals, "shells", "there is none on your PATH", fix));
    }
    checks.extend(shells.into_iter().map(|(_, check)| check));
    checks
}

/// Runs a program in a terminal, as agents would.
async fn terminal(sessions: &Sessions) -> Check {
    const NAME: &str = "terminals";
    match tokio::time::timeout(LIMIT, try_terminal(sessions)).await {
        Ok(Ok(())) => Check::ok(Group::Terminals, NAME, "programs run in them"),
        Ok(Err(error)) => {
            let fix = match cfg!(target_os = "linux") && !Path::new("/proc/self").exists() {
                true => "sudo mount -t proc proc /proc",
                false => "LOG_LEVEL=debug termbridge mcp </dev/null",
            };
            Check::failed(Group::Terminals, NAME, error.to_string(), fix)
        }
        Err(_) => {
            let fix = "LOG_LEVEL=debug termbridge mcp </dev/null";
            Check::failed(Group::Terminals, NAME, "a program in one did not end", fix)
        }
    }
}

async fn try_terminal(sessions: &Sessions) -> Result<()> {
    let session = sessions.launch(Launch::new("sh").args(["-c", "echo terminals-work"])).await?;
    let waited = session.wait(Wait::exit().timeout(LIMIT)).await?;
    ensure!(waited.fired.is_some(), "a program in one did not end");
    let screen = session.screen().await?.text();
    ensure!(screen.contains("terminals-work"), "one did not show what was written");
    Ok(())
}

async fn shell(sessions: &Sessions, path: PathBuf, is_chosen: bool) -> Check {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let label = if is_chosen { format!("{name}, which agents get") } else { name.clone() };
    let files = start_up_files(&name);
    let shown: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let data = json!({"path": path, "start_up_files": shown, "default": is_chosen});
    let trace = match name.as_str() {
        "fish" => "fish --profile-startup=/dev/stderr -ic exit".to_owned(),
        _ => format!("{name} -xic exit"),
    };
    let began = Instant::now();
    let tried = tokio::time::timeout(LIMIT, try_shell(sessions, &path, began)).await;
    let blamed = if shown.is_empty() { String::new() } else { format!(" ({})", shown.join(", ")) };
    let problem = match tried {
        Ok(Ok((report, first_prompt))) => match (report.exit_code(), report.notice) {
            (Some(EXIT_CODE), None) if first_prompt < SLOW => {
                let detail =
                    format!("commands work, first prompt after {} ms", first_prompt.as_millis());
                return Check::ok(Group::Terminals, label, detail).took(first_prompt).data(data);
            }
            (Some(EXIT_CODE), None) => {
                let seconds = first_prompt.as_secs_f32();
                let detail =
                    format!("commands work, but its start-up files{blamed} take {seconds:.1} s");
                return Check::warning(Group::Terminals, label, detail, trace)
                    .took(first_prompt)
                    .data(data);
            }
            (Some(EXIT_CODE), Some(notice)) => {
                let detail = format!("commands work: {notice}");
                return Check::warning(Group::Terminals, label, detail, trace)
                    .took(first_prompt)
                    .data(data);
            }
            (code, _) => format!("`{COMMAND}` is reported with exit code {code:?}"),
        },
        Ok(Err(SessionError::ShellNotReady { screen, .. })) => not_ready(&screen, &blamed),
        Ok(Err(error)) => error.to_string(),
        Err(_) => not_ready("", &blamed),
    };
    let check = match is_chosen {
        true => Check::failed(
            Group::Terminals,
            label,
            problem,
            format!("{trace} shows where; TERMBRIDGE_SHELL chooses another"),
        ),
        false => Check::warning(Group::Terminals, label, problem, trace),
    };
    check.took(began.elapsed()).data(data)
}

async fn try_shell(
    sessions: &Sessions,
    path: &Path,
    began: Instant,
) -> Result<(CommandReport, Duration), SessionError> {
    let folder = home().filter(|home| home.is_dir()).unwrap_or_else(|| PathBuf::from("/"));
    let patience = LIMIT.mul_f32(0.8);
    let launch = Launch::shell(path).cwd(folder).start_limit(patience);
    let session = sessions.launch(launch).await?;
    let id = session.submit_within(COMMAND, patience).await?;
    let first_prompt = began.elapsed();
    let wait = Wait { command: Some(id), ..Wait::default() };
    session.wait(wait.timeout(LIMIT)).await?;
    let report = session.command(id, 0, 0).await?.ok_or(SessionError::Gone)?;
    Ok((report, first_prompt))
}

fn not_ready(screen: &str, blamed: &str) -> String {
    let lines: Vec<&str> = screen.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    let seen =
        if last.is_empty() { String::new() } else { format!("; its screen: {}", last.join(" | ")) };
    format!(
        "no prompt within {} s: its start-up files{blamed} wait or take long{seen}",
        LIMIT.as_secs()
    )
}

/// The files that a shell reads as it starts for a person, as far as they are there.
fn start_up_files(shell: &str) -> Vec<PathBuf> {
    let Some(home) = home() else { return Vec::new() };
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let files: Vec<PathBuf> = match shell {
        "bash" => vec![home.join(".bashrc")],
        "zsh" => {
            let folder = variable("ZDOTDIR").unwrap_or(home);
            [".zshenv", ".zshrc"].map(|name| folder.join(name)).into()
        }
        "fish" => {
            let folder = variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
            vec![folder.join("fish").join("config.fish")]
        }
        _ => variable("ENV").into_iter().collect(),
    };
    files.into_iter().filter(|file| file.is_file()).collect()
}
