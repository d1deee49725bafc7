//! Whether adapters work: each is started, asked to initialize and ended, all of them at once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::registry::{AdapterStatus, Cache, Probing, Search, find};
use super::{Adapter, AdapterKind, AdapterPaths, Transport};
use crate::environment::Environment;
use crate::error::DebugError;
use crate::session::{initialize_arguments, private_folder};
use crate::transport::{LAST_WORDS, Stream, connect};

/// Bytes of the last words of an adapter that failed.
const MAX_WORDS: usize = 600;

/// Every adapter: where it is and whether it starts within a time, or how to install it.
pub(crate) async fn doctor(
    paths: &AdapterPaths,
    environment: &Environment,
    folder: &Path,
    limit: Duration,
) -> Vec<AdapterStatus> {
    let mut checks = JoinSet::new();
    for kind in AdapterKind::ALL {
        let (paths, environment) = (paths.clone(), environment.clone());
        checks.spawn(check(kind, paths, environment, folder.to_owned(), limit));
    }
    let mut found = checks.join_all().await;
    found.sort_by_key(|status| status.kind);
    found
}

async fn check(
    kind: AdapterKind,
    paths: AdapterPaths,
    environment: Environment,
    folder: PathBuf,
    limit: Duration,
) -> AdapterStatus {
    let search = {
        let (environment, folder) = (environment.clone(), folder.clone());
        move || {
            let probing = Probing::Programs(&Cache::default());
            let (paths, environment, folder) = (&paths, &environment, folder.as_path());
            find(kind, &Search { paths, environment, folder, interpreter: None, probing })
        }
    };
    let found = tokio::task::spawn_blocking(search).await;
    let found = found.unwrap_or_else(|error| Err(DebugError::Internal(error.to_string())));
    let mut status = AdapterStatus::of(kind, &found);
    if let Ok(adapter) = found {
        status.problem = start(adapter, &environment, &folder, limit).await.err();
    }
    status
}

/// Starts an adapter and ends it when it answered; the error is in its own words.
async fn start(
    mut adapter: Adapter,
    environment: &Environment,
    folder: &Path,
    limit: Duration,
) -> Result<(), String> {
    // It is removed when this ends.
    let files = match adapter.kind.quirks().takes_temporary_folder() {
        true => private_folder().map_err(|error| error.to_string())?,
        false => None,
    };
    if let Transport::Stdio(command) | Transport::Server(command) = &mut adapter.transport {
        command.args.extend(files.iter().map(|folder| folder.path().into()));
        command.cwd = Some(folder.to_owned());
        environment.apply(command);
    }
    let connection = connect(&adapter.transport, limit).await.map_err(|error| error.to_string())?;
    let (mut incoming, mut output) = (connection.incoming, connection.output);
    // Events are of no interest, but the answer is behind them.
    let drain = tokio::spawn(async move { while incoming.recv().await.is_some() {} });
    let arguments = initialize_arguments(adapter.kind);
    let answer = connection.client.request("initialize", arguments, limit).await;
    let result = match answer {
        Ok(_) => Ok(()),
        Err(error) => Err(with_words(&error.to_string(), &mut output).await),
    };
    if let Some(process) = connection.process {
        process.end().await;
    }
    drain.abort();
    result
}

/// A reason, with what the adapter wrote last.
async fn with_words(reason: &str, output: &mut mpsc::Receiver<(Stream, String)>) -> String {
    let mut words = String::new();
    let read = async {
        while let Some((_, piece)) = output.recv().await {
            words.push_str(&piece);
        }
    };
    // What it started may hold its output open.
    let _ = tokio::time::timeout(LAST_WORDS, read).await;
    let words = words.trim();
    let start = words.len().saturating_sub(MAX_WORDS);
    let start = (start..words.len()).find(|at| words.is_char_boundary(*at)).unwrap_or(start);
    if words.is_empty() { reason.to_owned() } else { format!("{reason}: {}", &words[start..]) }
}
