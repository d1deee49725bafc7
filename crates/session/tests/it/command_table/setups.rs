//! The directory and variables of one command: set for it alone, or the command does not run.

use std::path::Path;

use termbridge_session::{
    CommandReport, CommandSetup, CommandState, NewCommand, Session, SessionError,
};

use super::{home, launch_program, over, ready, run};
use crate::support::{LIMIT, limited, sessions};

/// Every shell that has an integration.
const PROGRAMS: [&str; 6] = ["bash", "zsh", "fish", "dash", "ksh", "mksh"];

/// Those of them on this machine; ksh and mksh may be missing.
fn installed(programs: &[&'static str]) -> Vec<&'static str> {
    let is_there = |program: &&&str| {
        !matches!(**program, "ksh" | "mksh")
            || ["/bin", "/usr/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
    };
    programs.iter().filter(is_there).copied().collect()
}

async fn try_with(
    session: &Session,
    text: &str,
    cwd: Option<&str>,
    env: &[(&str, &str)],
) -> Result<CommandReport, SessionError> {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let setup = CommandSetup { cwd: cwd.map(Into::into), env, ..CommandSetup::default() };
    let command = NewCommand { text: text.into(), setup, ..NewCommand::default() };
    let id = session.submit_new(command, LIMIT).await?;
    Ok(limited(text, over(session, id)).await)
}

async fn run_with(
    session: &Session,
    text: &str,
    cwd: Option<&str>,
    env: &[(&str, &str)],
) -> CommandReport {
    try_with(session, text, cwd, env).await.expect(text)
}

fn done(exit_code: i32) -> CommandState {
    CommandState::Done { exit_code }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_needs_no_programs_to_take_a_command() {
    for program in installed(&PROGRAMS) {
        let (sessions, home) = (sessions(), home());
        let session = ready(&sessions, launch_program(program, home.path())).await;
        let report = run_with(&session, "echo first", None, &[("PATH", "/nonexistent")]).await;
        assert_eq!((&*report.output, &report.state), ("first\n", &done(0)), "{program}");
        let report = run(&session, "echo 'a\\nb'; sh -c 'exit 4'").await;
        assert_eq!(report.state, done(4), "{program}");
        let path = if program == "fish" { "set PATH /nonexistent" } else { "PATH=/nonexistent" };
        run(&session, path).await;
        let report = run(&session, "echo last").await;
        assert_eq!((&*report.output, &report.state), ("last\n", &done(0)), "{program}");
        sessions.shutdown().await;
    }
}
