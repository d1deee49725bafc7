//! `termbridge mcp --connect`: an agent's stdio on the server that all share.
//!
//! Everything that matters runs in the server; this process passes messages on and starts a server where
//! there is none. One thread: it has nothing to compute.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use termbridge_mcp::shim::{self, Connect, ConnectError, Connection, ShimEnd};
use termbridge_mcp::socket::{Hello, LocalStream, ServerFolder, connect, greet};

use super::start_server::own_executable;
use super::{EndingSignals, printable, tell};
use crate::args::McpArguments;
use crate::config::{Config, server_folder};
use crate::logging;

/// How long one attempt to connect may go on: others may be starting the server.
const CONNECT_LIMIT: Duration = Duration::from_secs(6);
const INTERVAL: Duration = Duration::from_millis(10);

pub(crate) fn run(arguments: McpArguments) -> Result<ExitCode> {
    let server_config = arguments.config.clone().map(std::path::absolute).transpose()?;
    let workspace = arguments.debugging.workspace.is_some();
    let toolsets = arguments.chosen.toolsets.clone().unwrap_or_default();
    let config = Config::load(arguments)?;
    logging::start(&config.log)?;
    if std::io::stdin().is_terminal() {
        tell(
            "termbridge: waiting for an MCP client on stdin. Agents start this command; for people there are \
             `termbridge status`, `ls`, `logs`, `send` and `stop`. Ctrl+C ends it.",
        );
    }
    let here = std::env::current_dir().context("the working directory cannot be used")?;
    let cwd = if workspace { config.workspace().to_owned() } else { here };
    let folder = server_folder();
    let hello = Hello {
        cwd,
        env: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        pid: std::process::id(),
        key: new_key()?,
        toolsets,
        ..Hello::new()
    };
    let link = ServerLink {
        folder: folder.map_err(|error| error.to_string()),
        hello,
        config: server_config,
        has_name: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    let code = runtime.block_on(relay(link));
    // A thread that still starts a server is not worth waiting for.
    runtime.shutdown_background();
    code
}

async fn relay(link: ServerLink) -> Result<ExitCode> {
    let mut signals = EndingSignals::catch()?;
    let (reader, writer) = termbridge_mcp::stdio().context(super::NO_THREADS)?;
    tokio::select! {
        end = shim::relay(reader, writer, link) => match end {
            ShimEnd::ClientLeft => Ok(ExitCode::SUCCESS),
            ShimEnd::NoServer(why) => {
                tell(&format!("termbridge: no server: {why}"));
                Ok(ExitCode::FAILURE)
            }
        },
        code = signals.next() => Ok(code),
    }
}

/// Makes connections to the server of this user.
struct ServerLink {
    folder: Result<ServerFolder, String>,
    hello: Hello,
    /// The configuration file of a server that is started.
    config: Option<PathBuf>,
    /// The name of the client is part of what sessions are found by: it stays as it was at first.
    has_name: bool,
}

#[async_trait::async_trait]
impl Connect for ServerLink {
    async fn connect(&mut self, client: &str) -> Result<Connection, ConnectError> {
        let folder = self.folder.as_ref().map_err(|why| ConnectError::Never(why.clone()))?;
        if !std::mem::replace(&mut self.has_name, true) {
            client.clone_into(&mut self.hello.client);
        }
        let deadline = Instant::now() + CONNECT_LIMIT;
        loop {
            let error = match connect(&folder.socket()).await {
                Ok(stream) => return greeted(stream, &mut self.hello).await,
                Err(error) if is_for_good(&error) => {
                    let socket = folder.socket();
                    return Err(ConnectError::Never(format!("{}: {error}", socket.display())));
                }
                Err(error) => error,
            };
            let is_absent =
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused);
            let claim = if is_absent { folder.claim_start()? } else { None };
            if let Some(claim) = claim {
                // Another may have started it between our look and our claim.
                if connect(&folder.socket()).await.is_err() {
                    start_server(self.config.clone()).await?;
                }
                drop(claim);
            } else {
                tokio::time::sleep(INTERVAL).await;
            }
            if Instant::now() >= deadline {
                return Err(error.into());
            }
        }
    }

    async fn find(&mut self, _client: &str) -> Result<Connection, ConnectError> {
        let folder = self.folder.as_ref().map_err(|why| ConnectError::Never(why.clone()))?;
        let stream = connect(&folder.socket()).await?;
        greeted(stream, &mut self.hello).await
    }
}

/// What no later attempt will find otherwise: a path that is too long for a socket, a folder that is closed to us, a
/// system without sockets.
fn is_for_good(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
}

async fn greeted(stream: LocalStream, hello: &mut Hello) -> Result<Connection, ConnectError> {
    let (reader, writer, welcome) = match greet(stream, hello).await {
        Ok(greeted) => greeted,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(ConnectError::Never(error.to_string()));
        }
        Err(error) => return Err(error.into()),
    };
    tracing::debug!(pid = welcome.pid, version = welcome.version, "connected");
    hello.window = welcome.window;
    Ok(Connection { reader: Box::pin(reader), writer: Box::pin(writer) })
}

/// Starts a server and returns when it answers.
async fn start_server(config: Option<PathBuf>) -> Result<(), ConnectError> {
    let start = move || -> Result<std::process::Output> {
        let mut command = Command::new(own_executable()?);
        command.arg("start-server").stdin(Stdio::null()).stdout(Stdio::null());
        if let Some(config) = config {
            command.arg("--config").arg(config);
        }
        command.output().context("cannot start `termbridge start-server`")
    };
    let output = tokio::task::spawn_blocking(start).await.map_err(io::Error::other)?;
    let output = output.map_err(|error| ConnectError::Start(format!("{error:#}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().strip_prefix("termbridge: ").unwrap_or(said.trim());
    Err(ConnectError::Start(printable(said)))
}

/// 128 random bits: what the server knows this client by when it comes again.
fn new_key() -> Result<String> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).context("no random numbers")?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}
