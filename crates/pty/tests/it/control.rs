//! Signals and surveys.

use termbridge_pty::{
    ControlError, ExitStatus, Keeper, ProgramHost, Signal, SignalScope, Survey, Waiting,
};

use crate::support::{gone, limited, read_pids, read_to, run, sh, spec};

/// Surveys until the kernel shows the process where it is going; it was told to go there.
async fn survey_until(
    program: &termbridge_pty::Program,
    wanted: impl Fn(&Survey) -> bool,
) -> Survey {
    limited("the awaited state", async {
        loop {
            let survey = program.survey().await.expect("survey");
            if wanted(&survey) {
                return survey;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn each_scope_reaches_its_own() {
    let keeper = Keeper::new();
    let script = "trap 'echo leader' USR1; set -m; sleep 600 & echo JOB=$!; sleep 601; wait";
    let program = run(&keeper, "bash", &["-c", script]).await;
    let [job] = read_pids(&program, ["JOB"]).await;
    // Both jobs are there, as what they are to become, one of them in front.
    let survey = survey_until(&program, |s| {
        let sleeps: Vec<_> = s.processes.iter().filter(|p| p.name == "sleep").collect();
        sleeps.iter().any(|p| p.pid == job) && sleeps.iter().any(|p| Some(p.group) == s.foreground)
    })
    .await;
    assert!(survey.detached.is_empty());

    // The shell runs its trap when the foreground job, which the second signal ends, is done.
    let usr1: Signal = "usr1".parse().expect("signal");
    program.signal(usr1, SignalScope::Leader).await.expect("signal");
    program.signal(Signal::KILL, SignalScope::Foreground).await.expect("signal");
    read_to(&program, "leader").await;
    program.signal(Signal::KILL, SignalScope::Session).await.expect("signal");
    let killed = ExitStatus::Signal { number: 9, core_dumped: false };
    assert_eq!(program.exited().await, killed);
    gone(job).await;
    let error = program.signal(usr1, SignalScope::Leader).await.expect_err("ended");
    assert!(matches!(error, ControlError::NoProcess), "{error}");
    let error = program.signal(usr1, SignalScope::Session).await.expect_err("ended");
    assert!(matches!(error, ControlError::NoProcess), "{error}");
}

#[tokio::test]
async fn a_survey_tells_whether_the_foreground_waits_for_input() {
    let keeper = Keeper::new();
    let reader = run(&keeper, "cat", &[]).await;
    let survey = survey_until(&reader, |s| s.waiting.is_reading()).await;
    assert_eq!(survey.foreground, Some(reader.pid()));
    assert_eq!(survey.processes.len(), 1);
    assert_eq!(survey.processes[0].name, "cat");

    let sleeper = run(&keeper, "sleep", &["600"]).await;
    survey_until(&sleeper, |s| s.waiting == Waiting::No && s.processes[0].state == 'S').await;

    // A shell that waits for its child does not wait for input.
    let waiting = sh(&keeper, "sleep 600; :").await;
    survey_until(&waiting, |s| s.processes.len() == 2 && s.waiting == Waiting::No).await;

    // A descriptor of its own on /dev/tty, and stdin from elsewhere.
    let own = sh(&keeper, "exec </dev/null; read x </dev/tty").await;
    survey_until(&own, |s| s.waiting.is_reading()).await;
}

#[tokio::test]
async fn a_survey_looks_into_poll_select_and_epoll() {
    let keeper = Keeper::new();
    for wait in [
        "select.select([0], [], [])",
        "p = select.poll(); p.register(0, select.POLLIN); p.poll()",
        "p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()",
    ] {
        let script = format!("import select; {wait}");
        let program = run(&keeper, "python3", &["-c", &script]).await;
        survey_until(&program, |s| s.waiting == Waiting::Polling).await;
    }
    // Polls, but something else.
    let script = "import select, os; r, w = os.pipe(); print('ready', flush=True); \
                  select.select([r], [], [])";
    let program = run(&keeper, "python3", &["-c", script]).await;
    read_to(&program, "ready").await;
    let survey = survey_until(&program, |s| s.processes[0].state == 'S').await;
    assert_eq!(survey.waiting, Waiting::No);
}

#[tokio::test]
async fn a_survey_looks_at_terminals_that_the_foreground_holds() {
    let keeper = Keeper::new();
    let spawn = |command: &str| format!("import pty; pty.spawn({command})");
    let inner = spawn("['cat']").replace('\'', "\"");
    for (command, beyond) in [
        ("['sleep', '600']", Waiting::No),
        ("['cat']", Waiting::Reading),
        (&*format!("['python3', '-c', '{inner}']"), Waiting::Reading),
    ] {
        let program = run(&keeper, "python3", &["-c", &spawn(command)]).await;
        let is_wanted = |s: &Survey| {
            s.waiting == Waiting::Polling
                && s.beyond == Some(beyond)
                && s.detached.iter().any(|each| ["sleep", "cat"].contains(&each.name.as_str()))
        };
        survey_until(&program, is_wanted).await;
    }
    let program = run(&keeper, "cat", &[]).await;
    let survey = survey_until(&program, |s| s.waiting.is_reading()).await;
    assert_eq!(survey.beyond, None);
}

#[tokio::test]
async fn a_survey_finds_a_stranger_who_reads_the_terminal() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "stty -echo -icanon; echo set; exec sleep 600").await;
    read_to(&program, "set").await;
    let terminal = std::fs::File::open(program.tty_name()).expect("our own terminal");
    let mut stranger =
        std::process::Command::new("cat").stdin(terminal).spawn().expect("cat starts");
    let survey = survey_until(&program, |s| s.waiting.is_reading()).await;
    assert_eq!(survey.processes.len(), 1, "{survey:?}");
    stranger.kill().expect("killed");
    stranger.wait().expect("gone");
    survey_until(&program, |s| s.waiting == Waiting::No).await;
    // One that left the session, as `su -c` does it.
    survey_until(&sh(&keeper, "setsid -w cat").await, |s| s.waiting.is_reading()).await;
    let line = "stty -echo; setsid -w sh -c 'read line'";
    survey_until(&sh(&keeper, line).await, |s| s.waiting.is_reading()).await;
}

#[tokio::test]
async fn a_host_can_be_an_object() {
    let host: Box<dyn ProgramHost> = Box::new(Keeper::new());
    let program = host.spawn(spec("true", &[])).await.expect("spawn");
    assert_eq!(program.exited().await, ExitStatus::Code(0));
    host.shutdown(std::time::Duration::ZERO).await;
}
