//! One server per user: the lock, the socket, and a client's own server on each connection.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::folder::{FolderError, ServerFolder, private_file};
use super::hello::{FIRST_LINE, First, answer, read_first};
use super::local::{Listener, LocalReader, LocalStream, LocalWriter};
use super::record::{KeptRecord, ServerRecord, records};
use crate::client_instances::{ClientInstance, ClientInstances};
use crate::http::Answering;
use crate::identity::{Identity, Proof};
use crate::{McpServer, Toolset};

/// Most connections at once.
const MAX_CONNECTIONS: usize = 1024;
/// How long to wait where the system refuses a connection for want of descriptors.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(100);
/// What an extension hears of a server without an editor's side.
const NO_EDITORS: &str = "this server does not serve editors";
/// What a client hears of a server whose places are all taken.
const FULL: &str = "it has no room for another connection; end clients that are no longer needed";
/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Another server has it.
    #[error("a server already runs{}: `termbridge serve --replace` replaces it and keeps its sessions; \
        `termbridge mcp --connect` connects to it", of_pid(*pid))]
    Taken {
        /// Its process, where the lock file says.
        pid: Option<u32>,
    },
    /// The folder is not ours alone.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// What it refused.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

fn of_pid(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}

/// The user's one server socket, bound. Nobody else can have it while this lives; removed with it.
#[derive(Debug)]
pub struct SocketListener {
    folder: ServerFolder,
    listener: Listener,
    record: Option<KeptRecord>,
    /// Dropped last: whoever gets the lock finds the socket gone.
    lock: ServerLock,
}

/// The right to be the user's server, as long as this or a clone lives.
#[derive(Debug, Clone)]
pub struct ServerLock(#[expect(dead_code, reason = "the open file is the lock")] Arc<File>);

impl SocketListener {
    /// Binds the socket in the user's folder; of several that try at once, one succeeds. Needs a Tokio runtime.
    pub fn bind(folder: &ServerFolder) -> Result<Self, SocketError> {
        let path = folder.lock();
        let failed = |path: PathBuf| move |error| SocketError::Io { path, error };
        let mut lock = private_file(&path).map_err(failed(path.clone()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = Read::take(&mut lock, 32).read_to_string(&mut text);
                return Err(SocketError::Taken { pid: text.trim().parse().ok() });
            }
            Err(fs::TryLockError::Error(error)) => return Err(failed(path)(error)),
        }
        let write_pid = |lock: &mut File| -> io::Result<()> {
            lock.set_len(0)?;
            writeln!(lock, "{}", std::process::id())
        };
        write_pid(&mut lock).map_err(failed(path))?;
        let socket = folder.socket();
        // A dead server's: the lock is ours.
        match fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed(socket)(error));
            }
            _ => {}
        }
        let listener = Listener::bind(&socket).map_err(failed(socket))?;
        // Those of servers that died are in nobody's way; they are swept all the same.
        records(folder)?;
        let lock = ServerLock(Arc::new(lock));
        Ok(Self { folder: folder.clone(), listener, record: None, lock })
    }

    /// Writes the server's record, by which our own clients find it.
    pub fn announce(&mut self, record: &ServerRecord) -> Result<(), FolderError> {
        self.record = Some(KeptRecord::write(&self.folder, record)?);
        Ok(())
    }

    /// For a server that has things to leave in order after it has stopped listening.
    pub fn lock(&self) -> ServerLock {
        self.lock.clone()
    }

    /// Where it listens.
    pub fn path(&self) -> PathBuf {
        self.folder.socket()
    }

    /// The next connection of a process of our own user.
    async fn accept(&self) -> LocalStream {
        loop {
            match self.listener.accept().await {
                Ok(Some(stream)) => return stream,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
                }
            }
        }
    }
}

impl Drop for SocketListener {
    fn drop(&mut self) {
        self.record = None;
        let _ = fs::remove_file(self.path());
    }
}

/// The stream of an editor's extension, once it has said hello.
pub type EditorStream = (BufReader<LocalReader>, LocalWriter);
/// Serves an editor's extension until it is gone.
pub type EditorDoor = Arc<dyn Fn(EditorStream) -> Answering<'static, ()> + Send + Sync>;

/// A server on a socket.
pub struct SocketServer {
    listener: SocketListener,
    connections: TaskTracker,
    room: Arc<Semaphore>,
    windows: ClientInstances,
    editors: Option<EditorDoor>,
}

impl SocketServer {
    /// One that serves nobody yet.
    pub fn new(listener: SocketListener) -> Self {
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let (connections, windows) = (TaskTracker::new(), ClientInstances::default());
        Self { listener, connections, room, windows, editors: None }
    }

    /// The same with room for fewer connections.
    #[must_use]
    pub fn with_room_for(self, connections: usize) -> Self {
        Self { room: Arc::new(Semaphore::new(connections.min(MAX_CONNECTIONS))), ..self }
    }

    /// The same, where extensions of editors are served too.
    #[must_use]
    pub fn with_editors(self, editors: EditorDoor) -> Self {
        Self { editors: Some(editors), ..self }
    }

    /// Serves every client that comes until `stop` is cancelled; then those that are there get `grace` to take their
    /// last answers.
    pub async fn run(self, server: McpServer, stop: CancellationToken, grace: Duration) {
        loop {
            let stream = tokio::select! {
                stream = self.listener.accept() => stream,
                () = stop.cancelled() => break,
            };
            let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
                // A new connection's buffer takes the line at once.
                let why = refuse(&mut stream.into_split().1, FULL).await;
                tracing::warn!(why, "a connection was refused");
                continue;
            };
            let (server, stop, windows) = (server.clone(), stop.clone(), self.windows.clone());
            let editors = self.editors.clone();
            self.connections.spawn(async move {
                let _place = place;
                tokio::select! {
                    served = serve_one(&server, stream, &windows, editors.as_ref()) => {
                        if let Err(error) = served {
                            tracing::debug!(error, "a connection ended badly");
                        }
                    }
                    () = left(&server, &stop, grace) => {}
                }
            });
        }
        self.connections.close();
        drop(self.listener);
        self.connections.wait().await;
    }
}

/// Completes when the server has ended: waits have ended with it, and what they answered had time to go out. Clients
/// that come again ask the next server; they are left before their connection is dropped, which would cancel their
/// calls.
async fn left(server: &McpServer, stop: &CancellationToken, grace: Duration) {
    stop.cancelled().await;
    tokio::time::sleep(grace).await;
    server.leave_lasting_clients();
}

async fn serve_one(
    server: &McpServer,
    stream: LocalStream,
    windows: &ClientInstances,
    editors: Option<&EditorDoor>,
) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::with_capacity(CHUNK, reader);
    let (mut is_back, mut toolsets) = (false, Vec::new());
    let (hello, begun, _window) = match read_first(&mut reader, FIRST_LINE).await {
        Ok(First::Hello(hello)) if hello.editor => {
            let Some(editors) = editors else {
                return Err(refuse(&mut writer, NO_EDITORS).await);
            };
            writer.write_all(&answer(server.metrics().clients(), 0)).await.map_err(text)?;
            // A window needs the server as much as an agent does.
            let _connected = server.metrics().connected();
            editors((reader, writer)).await;
            return Ok(());
        }
        Ok(First::Hello(mut hello)) => {
            toolsets = match Toolset::named(&hello.toolsets) {
                Ok(toolsets) => toolsets,
                Err(error) => return Err(refuse(&mut writer, &error.to_string()).await),
            };
            // Only one that comes again is told from others of its name.
            let number = std::mem::take(&mut hello.window);
            is_back = number > 0;
            let window = (!hello.key.is_empty()).then(|| windows.enter(&hello.label(), number));
            hello.window = window.as_ref().map_or(0, ClientInstance::number);
            let line = answer(server.metrics().clients(), hello.window);
            writer.write_all(&line).await.map_err(text)?;
            (Some(*hello), Vec::new(), window)
        }
        Ok(First::Message(begun)) => (None, begun, None),
        Err(error) => return Err(refuse(&mut writer, &error.to_string()).await),
    };
    let key = hello.as_ref().map(|hello| hello.key.clone()).filter(|key| !key.is_empty());
    let identity = Identity::from(&Proof::OwnUser(hello));
    let server = match key {
        Some(key) => server.for_lasting_client(&identity, &key, is_back),
        None => server.for_identity(&identity),
    };
    let server = if toolsets.is_empty() { server } else { server.with_toolsets(toolsets) };
    let reader = AsyncReadExt::chain(io::Cursor::new(begun), reader);
    server.serve(reader, writer).await.map_err(|error| error.to_string())
}

/// Refuses a connection before JSON-RPC has begun. Returns the reason.
async fn refuse(writer: &mut LocalWriter, why: &str) -> String {
    let line = serde_json::json!({"termbridge": {"error": why}});
    let _ = writer.write_all(format!("{line}\n").as_bytes()).await;
    why.to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use termbridge_session::{Sessions, Settings};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::UnixStream;

    use super::*;
    use crate::NativeBackend;

    #[tokio::test]
    async fn a_full_server_refuses_at_once_and_has_room_again() {
        let runtime = tempfile::tempdir().expect("a folder");
        let folder = ServerFolder::open(Some(runtime.path()), Path::new("/nowhere")).expect("one");
        let listener = SocketListener::bind(&folder).expect("bound");
        let room = Arc::new(Semaphore::new(1));
        let server = SocketServer { room: Arc::clone(&room), ..SocketServer::new(listener) };
        let stop = CancellationToken::new();
        let backend = Arc::new(NativeBackend::new(Sessions::new(Settings::default())));
        let serving = server.run(McpServer::with_backend(backend), stop.clone(), Duration::ZERO);
        let serving = tokio::spawn(serving);
        let answer = async |mut stream: UnixStream| {
            let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
            // A refused connection may be closed by now.
            let _ = stream.write_all(ping).await;
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).await.expect("an answer");
            line
        };
        let connect = || UnixStream::connect(folder.socket());
        let mut half = connect().await.expect("connected");
        half.write_all(b"{\"jsonrpc\"").await.expect("sent");
        while room.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = answer(connect().await.expect("connected")).await;
        assert!(refused.contains("no room"), "{refused}");
        drop(half);
        drop(room.acquire().await.expect("it is open"));
        let served = answer(connect().await.expect("connected")).await;
        assert!(served.contains("\"id\":1"), "{served}");
        stop.cancel();
        serving.await.expect("it ends");
    }
}
