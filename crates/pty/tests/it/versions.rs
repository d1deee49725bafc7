//! Frames of other versions, made by hand: a newer server at this keeper, this server at a newer one.
//! And callers that are no server of ours at all.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use termbridge_pty::{AttachError, Keeper, Lasting};

use crate::servers::{Place, Server, keeper_gone};
use crate::support::{LIMIT, limited, sh};

const DONE: u8 = 131;
const BUSY: u8 = 135;
const LISTED: u8 = 137;
const ENOSYS: i32 = 38;

/// A frame: its length, its tag, its fields.
fn frame(tag: u8, fields: &[&[u8]]) -> Vec<u8> {
    let body = [&[tag], &*fields.concat()].concat();
    [&(body.len() as u32).to_le_bytes()[..], &body].concat()
}

fn send(stream: &mut UnixStream, frame: &[u8]) {
    stream.write_all(frame).expect("sent");
}

/// The next frame's tag and fields.
fn receive(stream: &mut UnixStream) -> (u8, Vec<u8>) {
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("a frame");
    let mut body = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut body).expect("a body");
    (body[0], body[1..].to_vec())
}

/// `Done` as a keeper sends it.
fn done(request: u64, errno: i32) -> (u8, Vec<u8>) {
    (DONE, [&request.to_le_bytes()[..], &errno.to_le_bytes()].concat())
}

/// A request to be the server, of a later version.
fn attach(number: u64, claim: u8) -> Vec<u8> {
    let (version, linger) = (99u32.to_le_bytes(), 60_000u32.to_le_bytes());
    frame(7, &[&number.to_le_bytes(), &version, &[claim], &linger, b"added later"])
}

fn connect(place: &Place) -> UnixStream {
    let stream = UnixStream::connect(place.socket()).expect("connected");
    stream.set_read_timeout(Some(LIMIT)).expect("limited");
    stream
}

// With a thread for the old server, which has to let go.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_server_is_served() {
    let place = Place::new();
    let server = place.server().await;
    drop(sh(&server, "read x").await);
    let _kept = sh(&server, "read x").await;
    let mut newer = connect(&place);
    let (tag, hello) = receive(&mut newer);
    assert_eq!((tag, hello.len()), (128, 8), "version and pid");
    // A request that this version does not know, and one with a value that it does not.
    send(&mut newer, &frame(99, &[&5u64.to_le_bytes(), b"whatever"]));
    assert_eq!(receive(&mut newer), done(5, ENOSYS));
    send(&mut newer, &attach(6, 77));
    assert_eq!(receive(&mut newer), done(6, rustix::io::Errno::INVAL.raw_os_error()));
    // What only a server may ask; what has no number to be answered by.
    send(&mut newer, &frame(4, &[&7u64.to_le_bytes(), &1u64.to_le_bytes()]));
    assert_eq!(receive(&mut newer), done(7, rustix::io::Errno::PERM.raw_os_error()));
    send(&mut newer, &frame(5, &[&1u64.to_le_bytes()]));
    send(&mut newer, &frame(98, &[b"short"]));
    // Those that it knows, with fields that were added.
    send(&mut newer, &attach(8, 0));
    assert_eq!(receive(&mut newer).0, BUSY);
    send(&mut newer, &attach(9, 1));
    assert_eq!(receive(&mut newer), done(9, 0));
    send(&mut newer, &frame(99, &[&10u64.to_le_bytes()]));
    assert_eq!(receive(&mut newer), done(10, ENOSYS), "as a server too");
    send(&mut newer, &frame(8, &[&11u64.to_le_bytes(), b"added later"]));
    let (tag, list) = receive(&mut newer);
    assert_eq!((tag, &list[..12]), (LISTED, &[11, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0][..]));
    // What is no frame ends the link, and nothing else.
    send(&mut newer, &[0xff; 16]);
    assert_eq!(newer.read(&mut [0; 64]).expect("the end"), 0);
    drop(server);
    let server = place.server().await;
    assert_eq!(server.held().await.expect("held").len(), 1);
    drop(server);
    place.end().await;
}

#[tokio::test]
async fn a_newer_keeper_is_understood_and_an_older_one_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("keeper.sock");
    let listener = UnixListener::bind(&socket).expect("bound");
    let keeper = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a server");
        let hello = [&99u32.to_le_bytes()[..], &std::process::id().to_le_bytes(), b"added later"];
        send(&mut stream, &frame(128, &hello));
        let (tag, attach) = receive(&mut stream);
        assert_eq!(tag, 7);
        // An event that nobody knows, before and behind the answer.
        send(&mut stream, &frame(200, &[b"news"]));
        let yes = [&attach[..8], &0i32.to_le_bytes(), b"added later"].concat();
        send(&mut stream, &[frame(DONE, &[&yes]), frame(201, &[b"more news"])].concat());
        let (tag, list) = receive(&mut stream);
        assert_eq!(tag, 8);
        send(&mut stream, &frame(LISTED, &[&list[..8], &0u32.to_le_bytes(), b"added later"]));
        // The next one is older than any that listened.
        drop(stream);
        let (mut stream, _) = listener.accept().expect("a server");
        send(&mut stream, &frame(128, &[&3u32.to_le_bytes()]));
        assert_eq!(stream.read(&mut [0; 64]).expect("the end"), 0);
    });
    let server = limited("the keeper", Keeper::lasting(Lasting::new(&socket))).await;
    let server = server.expect("understood");
    assert_eq!(limited("a list", server.held()).await.expect("held"), []);
    // It closed the link and lives: what it holds is not ours to end.
    server.lost().await;
    let error = limited("a refusal", Keeper::lasting(Lasting::new(&socket))).await;
    let error = error.expect_err("too old");
    assert!(matches!(error, AttachError::Version { version: 3, .. }), "{error}");
    keeper.join().expect("the keeper's part");
}

#[tokio::test]
async fn a_taker_that_is_gone_again_leaves_the_place_free() {
    let place = Place::new();
    let mut old = Server::start(&place, "lasting::holder", "holder");
    assert_eq!(old.hears().as_deref(), Some("holding"));
    let stopped = rustix::process::Pid::from_raw(old.pid() as i32).expect("pid");
    rustix::process::kill_process(stopped, rustix::process::Signal::STOP).expect("stop");
    let mut taker = connect(&place);
    receive(&mut taker);
    send(&mut taker, &attach(1, 1));
    // Heard, as this is answered; and gone before the server could let go.
    send(&mut taker, &frame(99, &[&2u64.to_le_bytes()]));
    assert_eq!(receive(&mut taker), done(2, ENOSYS));
    drop(taker);
    let server = limited("the old server to be cut off", async {
        loop {
            match Keeper::lasting(place.lasting()).await {
                Err(AttachError::Busy { .. }) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                attached => return attached.expect("free"),
            }
        }
    })
    .await;
    assert_eq!(server.held().await.expect("held").len(), 1);
    drop(server);
    place.end().await;
}

#[tokio::test]
async fn who_says_nothing_keeps_nobody_out_nor_the_keeper_alive() {
    let place = Place::new();
    let lasting = Lasting { linger: Duration::from_millis(50), ..place.lasting() };
    let server = Keeper::lasting(lasting).await.expect("the keeper");
    let pid = server.pid().expect("a keeper");
    let silent: Vec<UnixStream> = (0..40).map(|_| connect(&place)).collect();
    // More than are let in at a time; the server's own link is not among them.
    drop(sh(&server, "exit 0").await);
    server.leave().await;
    drop(silent);
    keeper_gone(pid).await;
}

/// Not a test: connects as another user, and succeeds if nothing is said to it.
#[test]
#[ignore = "run by a_stranger_is_not_heard"]
fn stranger() {
    let Some(socket) = std::env::var_os("TEST_STRANGE_SOCKET") else { return };
    assert!(!rustix::process::geteuid().is_root());
    let mut stream = UnixStream::connect(socket).expect("the file's mode lets us");
    stream.set_read_timeout(Some(LIMIT)).expect("limited");
    assert_eq!(stream.read(&mut [0; 64]).expect("the end"), 0);
}

#[tokio::test]
async fn a_stranger_is_not_heard() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::new();
    let server = place.server().await;
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("ours");
    };
    // The file would let anybody in: only the keeper itself does not.
    open(place.folder(), 0o755);
    open(&place.socket(), 0o666);
    // Where another user can run it.
    let copy = place.folder().join("stranger");
    std::fs::copy(std::env::current_exe().expect("own path"), &copy).expect("copied");
    open(&copy, 0o755);
    let mut command = Command::new(&copy);
    command.args(["--ignored", "--exact", "versions::stranger"]).uid(65_534).gid(65_534);
    command.env("TEST_STRANGE_SOCKET", place.socket());
    let ended = tokio::task::spawn_blocking(move || command.output()).await.expect("task");
    let ended = ended.expect("run");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success() && said.contains("1 passed"), "{said}");
    drop(sh(&server, "exit 0").await);
    drop(server);
    place.end().await;
}
