//! The unix socket: its folder, who gets it, and who is let in.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use termbridge_mcp::socket::{
    FolderError, ServerFolder, ServerRecord, SocketError, SocketListener, SocketServer, records,
};
use termbridge_mcp::{McpServer, NativeBackend};
use termbridge_session::{Sessions, Settings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

fn folder() -> (TempDir, ServerFolder) {
    let runtime = tempfile::tempdir().expect("a folder");
    let folder = ServerFolder::open(Some(runtime.path()), Path::new("/nowhere")).expect("a folder");
    (runtime, folder)
}

fn record(pid: u32) -> ServerRecord {
    ServerRecord {
        pid,
        version: "0".into(),
        started: 7,
        socket: "/s".into(),
        http: None,
        workspace: "/w".into(),
    }
}

#[test]
fn the_folder_is_its_user_s_alone_or_is_not_used() {
    let place = tempfile::tempdir().expect("a folder");
    let open = || ServerFolder::open(None, place.path());
    let path = open().expect("made").path().to_owned();
    let user = fs::metadata(place.path()).expect("it is there").uid();
    assert_eq!(path, place.path().join(format!("termbridge-{user}")));
    assert_eq!(mode(&path), 0o700);
    // What a strange umask left of it.
    set_mode(&path, 0o500);
    open().expect("mended");
    assert_eq!(mode(&path), 0o700);
    set_mode(&path, 0o750);
    assert!(matches!(open(), Err(FolderError::Open { mode: 0o750, .. })));
    fs::remove_dir(&path).expect("removed");
    let elsewhere = tempfile::tempdir().expect("a folder");
    symlink(elsewhere.path(), &path).expect("linked");
    assert!(matches!(open(), Err(FolderError::NotAFolder { .. })));
    fs::remove_file(&path).expect("removed");
    fs::write(&path, "").expect("written");
    assert!(matches!(open(), Err(FolderError::NotAFolder { .. })));
    fs::remove_file(&path).expect("removed");
    // Where others can rename it.
    set_mode(place.path(), 0o777);
    assert!(matches!(open(), Err(FolderError::UnsafeParent { .. })));
    set_mode(place.path(), 0o1777);
    open().expect("as /tmp is");
    if user == 0 {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("set");
        std::os::unix::fs::chown(&path, Some(65_534), None).expect("given away");
        assert!(matches!(open(), Err(FolderError::Foreign { owner: 65_534, .. })));
    }
    // A relative XDG_RUNTIME_DIR is none.
    let fallback = tempfile::tempdir().expect("a folder");
    let used = ServerFolder::open(Some(Path::new("x")), fallback.path()).expect("made");
    assert!(used.path().starts_with(fallback.path()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_that_start_at_once_one_wins() {
    let (_runtime, folder) = folder();
    for round in 0..20 {
        let tries: Vec<_> = (0..8)
            .map(|_| {
                let folder = folder.clone();
                tokio::spawn(async move { SocketListener::bind(&folder) })
            })
            .collect();
        let mut won = Vec::new();
        for one in tries {
            match one.await.expect("no panic") {
                Ok(listener) => won.push(listener),
                Err(SocketError::Taken { pid }) => {
                    assert!(pid.is_none_or(|pid| pid == std::process::id()), "{pid:?}");
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(won.len(), 1, "round {round}");
        let taken = SocketListener::bind(&folder).expect_err("taken").to_string();
        assert!(taken.contains(&format!("(pid {})", std::process::id())), "{taken}");
        assert_eq!(mode(&folder.socket()), 0o600);
        drop(won);
        assert!(!folder.socket().exists());
    }
}

#[tokio::test]
async fn what_a_dead_server_left_is_replaced() {
    let (_runtime, folder) = folder();
    drop(std::os::unix::net::UnixListener::bind(folder.socket()).expect("bound"));
    assert!(folder.socket().exists(), "a dead server's socket");
    let servers = folder.path().join("servers");
    fs::create_dir(&servers).expect("made");
    set_mode(&servers, 0o700);
    fs::write(servers.join("1.json"), "{}").expect("written");
    let mut listener = SocketListener::bind(&folder).expect("bound");
    assert!(!servers.join("1.json").exists(), "swept, though there is a process 1");
    UnixStream::connect(folder.socket()).await.expect("it listens");
    listener.announce(&record(77)).expect("written");
    assert_eq!(mode(&servers.join("77.json")), 0o600);
    assert_eq!(records(&folder).expect("read"), [record(77)]);
    drop(listener);
    assert_eq!(records(&folder).expect("read"), []);
    assert_eq!(fs::read_dir(&servers).expect("a folder").count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_another_user_is_turned_away() {
    let (runtime, folder) = folder();
    if fs::metadata(runtime.path()).expect("it is there").uid() != 0 {
        eprintln!("only root can be another user: not tested here");
        return;
    }
    let listener = SocketListener::bind(&folder).expect("bound");
    // As if the modes did not keep it out.
    for path in [runtime.path(), folder.path()] {
        set_mode(path, 0o755);
    }
    set_mode(&folder.socket(), 0o666);
    let backend = Arc::new(NativeBackend::new(Sessions::new(Settings::default())));
    let stop = CancellationToken::new();
    let server = McpServer::with_backend(backend);
    let serving = SocketServer::new(listener).run(server, stop.clone(), Duration::ZERO);
    let serving = tokio::spawn(serving);
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    let script = format!(
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({:?})\ntry:\n s.sendall({ping:?}.encode())\n \
         print(s.recv(100))\nexcept OSError:\n print(b'')",
        folder.socket().display().to_string()
    );
    let ask = |user: u32| {
        let mut python = Command::new("python3");
        python.arg("-c").arg(&script).current_dir("/").uid(user);
        tokio::task::spawn_blocking(move || {
            let output = python.output().expect("python3 runs");
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned()
        })
    };
    assert_eq!(ask(65_534).await.expect("ran"), "b''");
    let own = ask(0).await.expect("ran");
    assert!(own.contains("\"id\":1"), "{own}");
    stop.cancel();
    serving.await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hello_is_answered_and_a_bad_one_is_told_why() {
    let (_runtime, folder) = folder();
    let listener = SocketListener::bind(&folder).expect("bound");
    let backend = Arc::new(NativeBackend::new(Sessions::new(Settings::default())));
    let server = McpServer::with_backend(backend);
    let metrics = Arc::clone(server.metrics());
    let stop = CancellationToken::new();
    let serving = SocketServer::new(listener).run(server, stop.clone(), Duration::ZERO);
    let serving = tokio::spawn(serving);
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}";
    for (sent, expected) in [
        (
            "{\"termbridge\":{\"protocol\":1,\"cwd\":\"/\",\"env\":{},\"client\":\"c\",\"pid\":1}}",
            "\"version\"",
        ),
        ("{\"termbridge\":{\"protocol\":9}}", "protocol 9"),
        (ping, "\"id\":\"p\""),
    ] {
        let mut stream = UnixStream::connect(folder.socket()).await.expect("a connection");
        stream.write_all(format!("{sent}\n").as_bytes()).await.expect("sent");
        let mut lines = BufReader::new(&mut stream).lines();
        let answer = lines.next_line().await.expect("read").expect("an answer");
        assert!(answer.contains(expected), "{sent}: {answer}");
        if expected == "\"version\"" {
            stream.write_all(format!("{ping}\n").as_bytes()).await.expect("sent");
            let mut lines = BufReader::new(&mut stream).lines();
            let answer = lines.next_line().await.expect("read").expect("an answer");
            assert!(answer.contains("\"id\":\"p\""), "{answer}");
        }
    }
    // A client that stays is cut off when the server ends.
    let mut stays = UnixStream::connect(folder.socket()).await.expect("a connection");
    stays.write_all(format!("{ping}\n").as_bytes()).await.expect("sent");
    let mut lines = BufReader::new(stays).lines();
    assert!(lines.next_line().await.expect("read").is_some());
    stop.cancel();
    serving.await.expect("it ends");
    assert_eq!(lines.next_line().await.expect("read"), None);
    assert_eq!(metrics.clients(), 0);
}

#[test]
fn what_cannot_be_removed_or_opened_is_named() {
    let runtime = tempfile::tempdir().expect("a folder");
    let folder = ServerFolder::open(Some(runtime.path()), Path::new("/nowhere")).expect("a folder");
    std::fs::create_dir(folder.calls()).expect("a folder");
    let error = folder.forget_sessions().expect_err("a folder is not a file").to_string();
    assert!(error.starts_with(&format!("{}: ", folder.calls().display())), "{error}");
    let lock = folder.path().join("start.lock");
    std::fs::create_dir(&lock).expect("a folder");
    let error = folder.claim_start().expect_err("a folder is not a file").to_string();
    assert_eq!(error, format!("{}: not a regular file", lock.display()));
}
