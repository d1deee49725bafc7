//! `diagnostic.collect`, `symbol.*`, `code.*` and `search.*`: what the project's own tools say.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use termbridge_code::diagnostics;
use termbridge_code::symbols::{
    Direction, LanguageServers, Navigation, SearchMode, SearchQuery, SymbolRef,
};

use super::NativeDebugger;
use crate::debug::{Answer, DebugFailure};

#[derive(Debug, Deserialize)]
pub(super) struct Collect {
    path: Option<PathBuf>,
}

pub(super) async fn diagnostics(
    native: &NativeDebugger,
    asked: Collect,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let (folder, environment) = (native.workspace(), &native.environment());
    // Compilers run what the project tells them to.
    native.check_directory(asked.path.as_deref().unwrap_or(folder)).await?;
    let found = diagnostics::collect(asked.path.as_deref(), folder, environment, timeout).await?;
    Ok(Answer::Diagnostics(found))
}

/// A symbol by its place, or by the id that a search gave it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Which {
    path: Option<PathBuf>,
    symbol: Option<String>,
    node_id: Option<String>,
}

impl Which {
    fn symbol(self) -> Result<SymbolRef, DebugFailure> {
        Ok(SymbolRef::from_arguments(self.path, self.symbol, self.node_id)?)
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Navigate {
    #[serde(flatten)]
    which: Which,
    action: String,
}

pub(super) async fn navigate(
    native: &NativeDebugger,
    asked: Navigate,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let action = match asked.action.as_str() {
        "implementations" => Navigation::Implementations,
        _ => Navigation::References,
    };
    Ok(Answer::Locations(
        servers_of(native).navigate(&asked.which.symbol()?, action, timeout).await?,
    ))
}

#[derive(Debug, Deserialize)]
pub(super) struct Calls {
    #[serde(flatten)]
    which: Which,
    direction: String,
}

pub(super) async fn calls(
    native: &NativeDebugger,
    asked: Calls,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let direction = match asked.direction.as_str() {
        "outgoing" => Direction::Outgoing,
        _ => Direction::Incoming,
    };
    Ok(Answer::Calls(servers_of(native).calls(&asked.which.symbol()?, direction, timeout).await?))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rename {
    #[serde(flatten)]
    which: Which,
    new_name: String,
}

pub(super) async fn rename(
    native: &NativeDebugger,
    asked: Rename,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    native.check_directory(native.workspace()).await?;
    Ok(Answer::Renamed(
        servers_of(native).rename(&asked.which.symbol()?, &asked.new_name, timeout).await?,
    ))
}

#[derive(Debug, Deserialize)]
pub(super) struct Replace {
    #[serde(flatten)]
    which: Which,
    replacement: String,
}

pub(super) async fn replace_method(
    native: &NativeDebugger,
    asked: Replace,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    native.check_directory(native.workspace()).await?;
    let symbol = asked.which.symbol()?;
    Ok(Answer::Replaced(
        servers_of(native).replace_method(&symbol, &asked.replacement, timeout).await?,
    ))
}

#[derive(Debug, Deserialize)]
pub(super) struct Search {
    query: String,
    mode: String,
    path: Option<PathBuf>,
    kinds: Option<String>,
    limit: usize,
}

pub(super) async fn search(
    native: &NativeDebugger,
    asked: Search,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let kinds = asked.kinds.unwrap_or_default();
    let kinds = kinds.split(',').map(str::trim).filter(|kind| !kind.is_empty());
    let mode = match asked.mode.as_str() {
        "document" => SearchMode::Document,
        _ => SearchMode::Workspace,
    };
    let query = SearchQuery {
        query: asked.query,
        mode,
        path: asked.path,
        kinds: kinds.map(str::to_owned).collect(),
        limit: asked.limit,
    };
    Ok(Answer::Symbols(servers_of(native).search(&query, timeout).await?))
}

fn servers_of(native: &NativeDebugger) -> &LanguageServers {
    &native.shared.servers
}
