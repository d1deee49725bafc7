//! A shell's private folder goes with it, whatever happens to the server.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal};

use super::{ALL, Bash, home, launch, ready, run};
use crate::support::{end, gone, sessions, until};

/// Where the server that is killed gets a home which is not lost with it.
const HOME_OF_SERVER: &str = "TERMBRIDGE_TEST_HOME";

/// The folder that the shell was started with, as the kernel remembers.
pub(super) fn folder_of(pid: i32) -> PathBuf {
    let start = ["cmdline", "environ"].map(|file| std::fs::read(format!("/proc/{pid}/{file}")));
    let start = start.map(|bytes| bytes.expect("readable")).concat();
    let start = String::from_utf8_lossy(&start).into_owned();
    let prefix = std::env::temp_dir().join("termbridge-").display().to_string();
    let at = start.find(&prefix).expect("a private folder");
    // The server's folder and the shell's in it: 16 digits each.
    PathBuf::from(&start[at..at + prefix.len() + 33])
}

/// Not a test: the server that the next test kills.
#[test]
#[ignore = "run by other tests"]
fn server() {
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    runtime.block_on(async {
        let sessions = sessions();
        let home = PathBuf::from(std::env::var_os(HOME_OF_SERVER).expect("told by the test"));
        for kind in ALL {
            let session = ready(&sessions, launch(kind, &home)).await;
            let pid = session.info().await.expect("info").pid.expect("a pid");
            println!("\nSHELL {pid} {}", folder_of(pid).display());
        }
        std::future::pending::<()>().await;
    });
}

/// A server in a process of its own, with a shell of each kind.
struct Server {
    process: Child,
    /// Pid and private folder.
    shells: Vec<(i32, PathBuf)>,
}

impl Server {
    fn start(home: &Path, umask: &str) -> Self {
        let mut process = Command::new("sh")
            .args(["-c", "umask \"$1\"; shift; exec \"$@\"", "sh", umask])
            .arg(std::env::current_exe().expect("own path"))
            .args(["--ignored", "--exact", "command_table::folder::server", "--nocapture"])
            .env(HOME_OF_SERVER, home)
            .stdout(Stdio::piped())
            .spawn()
            .expect("server");
        let output = BufReader::new(process.stdout.take().expect("stdout"));
        let lines = output.lines().map(|line| line.expect("line"));
        let shells = lines.filter_map(|line| {
            let (pid, folder) = line.strip_prefix("SHELL ")?.split_once(' ')?;
            Some((pid.parse().expect("a pid"), PathBuf::from(folder)))
        });
        let shells: Vec<_> = shells.take(ALL.len()).collect();
        assert_eq!(shells.len(), ALL.len());
        Self { process, shells }
    }

    fn kill(&mut self) {
        self.process.kill().expect("kill");
        self.process.wait().expect("wait");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_leaves_no_folder() {
    let home = home();
    let mut server = Server::start(home.path(), "022");
    server.kill();
    for (pid, folder) in &server.shells {
        gone(*pid).await;
        until("the folder's removal", || async { !folder.exists() }).await;
    }
    let runtime = server.shells[0].1.parent().expect("the server's folder");
    until("the removal of the server's folder", || async { !runtime.exists() }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_server_and_keeper_left_is_swept() {
    let (sessions, home) = (sessions(), home());
    let mut server = Server::start(home.path(), "022");
    let (shell, folder) = server.shells[0].clone();
    let stat = std::fs::read_to_string(format!("/proc/{shell}/stat")).expect("readable");
    let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
    let keeper = parent.and_then(|parent| parent.parse().ok()).and_then(Pid::from_raw);
    let keeper = keeper.expect("the keeper");
    // The keeper is the only other one that would remove it: it must not get to that.
    rustix::process::kill_process(keeper, Signal::STOP).expect("stopped");
    server.kill();
    rustix::process::kill_process(keeper, Signal::KILL).expect("killed");
    gone(keeper.as_raw_nonzero().get()).await;
    assert!(folder.is_dir());

    let living = ready(&sessions, launch(Bash, home.path())).await;
    let living = folder_of(living.info().await.expect("info").pid.expect("a pid"));
    let elsewhere = home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    let name = home.path().file_name().expect("a name").to_string_lossy().into_owned();
    let digits: String = name.bytes().map(|byte| char::from(b'0' + byte % 10)).collect();
    let link = std::env::temp_dir().join(format!("termbridge-{digits:0>16.16}"));
    std::os::unix::fs::symlink(&elsewhere, &link).expect("a link");
    let builds = ["0", "1"]
        .map(|end| link.with_file_name(format!("termbridge-debug-{digits:0>15.15}{end}")));
    for (build, days) in builds.iter().zip([0, 2]) {
        let file = std::fs::File::create_new(build).expect("made");
        let age = std::time::Duration::from_hours(24) * days;
        file.set_modified(std::time::SystemTime::now() - age).expect("set");
    }
    termbridge_session::sweep_stale_folders();
    assert_eq!(builds.each_ref().map(|build| build.exists()), [true, false], "only the old one");
    std::fs::remove_file(&builds[0]).expect("removed");
    assert!(!folder.exists(), "the dead server's");
    assert!(!folder.parent().expect("the server's folder").exists());
    assert!(living.is_dir(), "the living one's");
    assert!(elsewhere.is_dir() && link.is_symlink(), "links are not followed");
    std::fs::remove_file(&link).expect("removed");
    sessions.shutdown().await;
    assert!(!living.parent().expect("the server's folder").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_gets_into_the_folder_whatever_the_umask() {
    for umask in ["000", "002", "077", "0777"] {
        let home = home();
        let mut server = Server::start(home.path(), umask);
        for (_, folder) in &server.shells {
            for folder in [folder.as_path(), folder.parent().expect("the server's folder")] {
                assert_eq!(mode(folder), 0o700, "{umask}: {}", folder.display());
            }
            let mut pipes = 0;
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let entry = entry.expect("an entry");
                assert_eq!(mode(&entry.path()), 0o600, "{umask}: {}", entry.path().display());
                pipes += usize::from(entry.file_type().expect("a type").is_fifo());
            }
            assert_eq!(pipes, 1, "{umask}");
            // Only root can become somebody else.
            if rustix::process::geteuid().is_root() {
                let written = Command::new("setpriv")
                    .args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c"])
                    .args([
                        "echo x > \"$0/commands\" || echo x > \"$0/planted\"".as_ref(),
                        folder.as_os_str(),
                    ])
                    .stderr(Stdio::null())
                    .status()
                    .expect("setpriv");
                assert!(
                    !written.success(),
                    "{umask}: another user wrote into {}",
                    folder.display()
                );
            }
        }
        server.kill();
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::symlink_metadata(path).expect("there").permissions().mode() & 0o7777
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_folder_goes_with_a_restart_and_with_the_session() {
    let (sessions, home) = (sessions(), home());
    for kind in ALL {
        let session = ready(&sessions, launch(kind, home.path())).await;
        let first = folder_of(session.info().await.expect("info").pid.expect("a pid"));
        assert!(first.is_dir(), "{kind:?}");
        session.restart().await.expect("restarts");
        let second = folder_of(session.info().await.expect("info").pid.expect("a pid"));
        assert_ne!(first, second, "{kind:?}");
        until("the first folder's removal", || async { !first.exists() }).await;
        run(&session, "exit").await;
        end(&session).await;
        drop(session);
        sessions.shutdown().await;
    }
}
