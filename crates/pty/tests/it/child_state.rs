//! What a program finds itself with.

use termbridge_pty::{ExitStatus, Keeper, PtySize, SESSION_VARIABLE};

use crate::support::{read_to_end, run, sh, spec};

#[tokio::test]
async fn environment_directory_and_size_are_as_given() {
    let keeper = Keeper::new();
    let folder = tempfile::tempdir().expect("tempdir");
    let folder = folder.path().canonicalize().expect("path");
    let mut spec = spec("sh", &["-c", "env | sort | grep -v '^_='; pwd -P; stty size"]);
    spec.env.push(("GREETING".into(), "hi there".into()));
    spec.env.push((SESSION_VARIABLE.into(), "overridden".into()));
    spec.cwd.clone_from(&folder);
    spec.size = PtySize { cols: 90, rows: 31 };
    spec.label = "the-label".to_owned();
    let program = keeper.spawn(spec).await.expect("spawn");
    let output = read_to_end(&program).await;
    let lines: Vec<&str> = output.lines().collect();
    let directory = folder.to_str().expect("utf-8");
    let pwd = format!("PWD={directory}");
    assert_eq!(
        lines,
        [
            "GREETING=hi there",
            "PATH=/usr/local/bin:/usr/bin:/bin",
            pwd.as_str(),
            "TERMBRIDGE_SESSION=the-label",
            directory,
            "31 90"
        ]
    );
}

#[tokio::test]
async fn it_leads_a_session_with_a_controlling_terminal() {
    let keeper = Keeper::new();
    let program = sh(&keeper, "echo tty >/dev/tty; tty; cut -d' ' -f1,5,6,8 /proc/$$/stat").await;
    let output = read_to_end(&program).await;
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], "tty");
    assert_eq!(lines[1], program.tty_name());
    let pid = program.pid().to_string();
    // cut itself is not in a group of its own: the shell has no job control.
    assert_eq!(lines[2], [pid.as_str(); 4].join(" "));
}

#[tokio::test]
async fn signals_are_default_and_none_is_blocked() {
    let keeper = Keeper::new();
    let program = run(&keeper, "cat", &["/proc/self/status"]).await;
    let output = read_to_end(&program).await;
    for name in ["SigBlk", "SigIgn", "SigCgt"] {
        let line = output.lines().find(|line| line.starts_with(name)).expect("line");
        assert!(line.ends_with(":\t0000000000000000"), "{line}");
    }
}

#[tokio::test]
async fn no_descriptor_is_leaked() {
    let keeper = Keeper::new();
    // A few held programs, whose terminals must not show up in another.
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(run(&keeper, "cat", &[]).await);
    }
    // 3 is ls's own, on the directory it lists.
    let program = run(&keeper, "ls", &["/proc/self/fd"]).await;
    let output = read_to_end(&program).await;
    assert_eq!(output.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}

#[tokio::test]
async fn the_descriptor_limit_is_the_servers() {
    let keeper = Keeper::new();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let program = sh(&keeper, "ulimit -n").await;
    let limit = limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    assert_eq!(read_to_end(&program).await.trim(), limit);
}

#[tokio::test]
async fn every_exit_code_comes_back() {
    let keeper = Keeper::new();
    for code in 0..=255 {
        let program = sh(&keeper, &format!("exit {code}")).await;
        assert_eq!(program.exited().await, ExitStatus::Code(code));
    }
}

#[tokio::test]
async fn the_ending_signal_comes_back() {
    let keeper = Keeper::new();
    for number in [1, 2, 9, 13, 15, 34] {
        let program = sh(&keeper, &format!("ulimit -c 0; kill -{number} $$; exec sleep 60")).await;
        let expected = ExitStatus::Signal { number, core_dumped: false };
        assert_eq!(program.exited().await, expected);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_oom_score_is_the_servers_and_the_keepers_is_lower() {
    // Anybody may raise it, and lower it to what it was.
    std::fs::write("/proc/self/oom_score_adj", "300").expect("raised");
    let keeper = Keeper::new();
    let program = run(&keeper, "cat", &["/proc/self/oom_score_adj"]).await;
    assert_eq!(read_to_end(&program).await.trim(), "300");
    let pid = keeper.pid().expect("a keeper");
    let score = std::fs::read_to_string(format!("/proc/{pid}/oom_score_adj")).expect("a score");
    assert!(score.trim().parse::<i32>().expect("a number") < 300, "{score}");
}
