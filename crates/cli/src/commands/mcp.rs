//! `termbridge mcp`: the server an agent starts. Its sessions end with it.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use termbridge_bridge::{Bridge, NativeBackend};
use termbridge_mcp::McpServer;
use termbridge_session::Sessions;
use tokio_util::sync::CancellationToken;

use super::editors::{Editors, Listening};
use super::{EndingSignals, tell};
use crate::args::McpArguments;
use crate::config::Config;
use crate::logging;

/// When folders of killed servers are looked for: not while the client waits for the first answer.
const SWEEP_DELAY: Duration = Duration::from_millis(500);

pub(crate) fn run(arguments: McpArguments) -> Result<ExitCode> {
    let config = Config::load(arguments)?;
    logging::start(&config.log)?;
    if std::io::stdin().is_terminal() {
        tell(
            "termbridge: waiting for an MCP client on stdin. Agents start this command; to see what \
             it does, run `termbridge demo`. Ctrl+C ends it.",
        );
    }
    let runtime = super::runtime()?;
    let code = runtime.block_on(serve(&config));
    // What still runs in a thread of its own is not worth waiting for.
    runtime.shutdown_background();
    code
}

async fn serve(config: &Config) -> Result<ExitCode> {
    let sessions = Sessions::new(config.settings.clone());
    let (settings, history) = (config.bridge.clone(), config.history.clone());
    let stop = CancellationToken::new();
    let native = NativeBackend::new(sessions.clone());
    let editors = Editors::new(&config.editor);
    let backends = Editors::beside(editors.as_ref(), native);
    // There is one at least.
    let bridge = Bridge::with_backends(backends, settings, config.policy()?, history)
        .context("there are no terminals")?;
    if let Some(editors) = editors {
        editors.open(bridge.clone(), Listening::WhenUsed, None, &stop);
    }
    let server = McpServer::new(bridge.clone(), config.offer()?)?;
    let ending = server.clone();
    let sweep = tokio::spawn(async {
        tokio::time::sleep(SWEEP_DELAY).await;
        drop(tokio::task::spawn_blocking(termbridge_session::sweep_stale_folders));
    });
    let mut signals = EndingSignals::catch()?;
    let (reader, writer) = termbridge_mcp::stdio().context(super::NO_THREADS)?;
    let outcome = tokio::select! {
        served = server.serve(reader, writer) => {
            served.map(|()| ExitCode::SUCCESS).map_err(anyhow::Error::from)
        }
        code = signals.next() => Ok(code),
    };
    sweep.abort();
    stop.cancel();
    ending.end_debugging().await;
    sessions.shutdown().await;
    bridge.close().await;
    outcome
}
