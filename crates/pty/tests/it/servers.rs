//! Servers of a lasting keeper: in this process, and as processes of their own that are killed.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use termbridge_pty::{AttachError, Claim, Keeper, Lasting, Program};

use crate::support::{limited, wait_gone};

/// The variables that a server process is told by.
const SOCKET: &str = "TEST_KEEPER_SOCKET";
const ROLE: &str = "TEST_SERVER_ROLE";

/// Where a test's keeper is; nothing is left of it when this is dropped.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("keeper.sock")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn lasting(&self) -> Lasting {
        Lasting { linger: Duration::from_mins(1), ..Lasting::new(self.socket()) }
    }

    pub(crate) async fn server(&self) -> Keeper {
        limited("a keeper", Keeper::lasting(self.lasting())).await.expect("the keeper")
    }

    pub(crate) async fn taking_over(&self) -> Result<Keeper, AttachError> {
        let lasting = Lasting { claim: Claim::TakeOver, ..self.lasting() };
        limited("a takeover", Keeper::lasting(lasting)).await
    }
}

impl Place {
    /// Ends the keeper, once no server has it: those of this process have to be dropped.
    pub(crate) async fn end(self) {
        limited("the keeper's end", async {
            while let Err(AttachError::Busy { .. }) =
                Keeper::end_all(self.socket(), Duration::ZERO).await
            {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }
}

impl Drop for Place {
    /// For a test that failed: a server may still have the keeper.
    fn drop(&mut self) {
        if !self.socket().exists() {
            return;
        }
        let lasting = Lasting { claim: Claim::TakeOver, ..self.lasting() };
        let ended = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("runtime").block_on(async {
                if let Ok(keeper) = Keeper::lasting(lasting).await {
                    keeper.shutdown(Duration::ZERO).await;
                }
            });
        });
        let _ = ended.join();
    }
}

/// The one program that a keeper holds.
pub(crate) async fn adopt_only(keeper: &Keeper) -> Program {
    let held = keeper.held().await.expect("held");
    assert_eq!(held.len(), 1, "{held:?}");
    keeper.adopt(held[0].id).await.expect("adopted")
}

/// Whether this process is a server of that role: its socket.
pub(crate) fn own_role(role: &str) -> Option<PathBuf> {
    let is_this = std::env::var_os(ROLE).is_some_and(|found| found == role);
    is_this.then(|| std::env::var_os(SOCKET).expect("a socket").into())
}

/// Says something to the test.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\nSAID {line}").and_then(|()| out.flush()).expect("said");
}

/// A server process.
pub(crate) struct Server {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Runs the ignored test `name` of this binary.
    pub(crate) fn start(place: &Place, name: &str, role: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("own path"))
            .args(["--ignored", "--exact", name, "--nocapture"])
            .env(SOCKET, place.socket())
            .env(ROLE, role)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("server");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        Self { child, lines }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next thing it says; `None` when it has ended.
    pub(crate) fn hears(&mut self) -> Option<String> {
        let lines = self.lines.by_ref().map_while(Result::ok);
        lines.into_iter().find_map(|line| line.strip_prefix("SAID ").map(str::to_owned))
    }

    /// Ends it as nothing else does, and waits for that.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("kill");
        self.child.wait().expect("wait");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the keeper's end.
pub(crate) async fn keeper_gone(pid: u32) {
    tokio::task::spawn_blocking(move || wait_gone(pid as i32)).await.expect("gone");
}
