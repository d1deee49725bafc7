//! What the tests share: specifications, reading to a mark, and waiting for processes by event.

use std::future::Future;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};
use termbridge_pty::{Keeper, Program, SpawnSpec};

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn spec(program: &str, args: &[&str]) -> SpawnSpec {
    let mut spec = SpawnSpec::new(program);
    spec.args = args.iter().map(Into::into).collect();
    spec.env = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
    "test".clone_into(&mut spec.label);
    spec
}

pub(crate) async fn run(keeper: &Keeper, program: &str, args: &[&str]) -> Program {
    keeper.spawn(spec(program, args)).await.expect("spawn")
}

pub(crate) fn sh_spec(script: &str) -> SpawnSpec {
    spec("/bin/sh", &["-c", script])
}

pub(crate) async fn sh(keeper: &Keeper, script: &str) -> Program {
    run(keeper, "/bin/sh", &["-c", script]).await
}

/// Fails the test instead of hanging it.
pub(crate) async fn limited<T>(what: &str, future: impl Future<Output = T>) -> T {
    let value = tokio::time::timeout(LIMIT, future).await;
    value.unwrap_or_else(|_| panic!("took longer than {LIMIT:?}: {what}"))
}

/// Everything the program writes, to the hangup.
pub(crate) async fn read_to_end(program: &Program) -> String {
    limited("reading to the end", async {
        let mut output = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            match program.read(&mut buffer).await.expect("read") {
                0 => return String::from_utf8_lossy(&output).into_owned(),
                count => output.extend(&buffer[..count]),
            }
        }
    })
    .await
}

/// What the program writes, up to and with `mark`.
pub(crate) async fn read_to(program: &Program, mark: &str) -> String {
    let mut output = String::new();
    let read = async {
        let mut buffer = [0; 4096];
        while !output.contains(mark) {
            let count = program.read(&mut buffer).await.expect("read");
            assert!(count > 0, "hung up before {mark:?}: {output:?}");
            output.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    };
    assert!(tokio::time::timeout(LIMIT, read).await.is_ok(), "no {mark:?} in {output:?}");
    output
}

/// Reads a line `NAME=number` for each name and gives the numbers.
pub(crate) async fn read_pids<const N: usize>(program: &Program, names: [&str; N]) -> [i32; N] {
    let mut output = String::new();
    loop {
        let found = names.map(|name| {
            let line = output.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.and_then(|number| number.parse().ok()).unwrap_or(0)
        });
        if output.ends_with('\n') && !found.contains(&0) {
            return found;
        }
        output.push_str(&read_to(program, "\n").await);
    }
}

/// Whether a process is there and no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}

/// Waits for a process's end, whoever its parent is.
pub(crate) async fn gone(pid: i32) {
    tokio::task::spawn_blocking(move || wait_gone(pid)).await.expect("gone");
}

/// As [`gone`], outside of a runtime.
pub(crate) fn wait_gone(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else { panic!("no pid") };
    let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    let limit = Timespec { tv_sec: LIMIT.as_secs() as i64, tv_nsec: 0 };
    let ready = rustix::event::poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit));
    assert_eq!(ready, Ok(1), "process {pid:?} is still there");
}
