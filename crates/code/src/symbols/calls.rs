//! Who calls a function, and what it calls.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::outline::Outline;
use super::protocol::{Call, CallHierarchyItem, Location, Position};
use super::server::{Deadline, Server};
use super::{CallSite, Calls, Direction, LanguageServers, Subject, SymbolRef, uri};
use crate::CodeError;

/// Functions that an answer holds.
const MAX_CALLS: usize = 500;
/// Files whose symbols are looked at for names.
const MAX_OUTLINES: usize = 64;
/// Kinds that a file itself has when it calls.
const FILE_KINDS: [u32; 2] = [1, 2];

impl LanguageServers {
    /// The callers of a function, or what it calls.
    ///
    /// Where the server has no call hierarchy, callers are the functions around its references.
    pub async fn calls(
        &self,
        which: &SymbolRef,
        direction: Direction,
        timeout: Duration,
    ) -> Result<Calls, CodeError> {
        let mut subject = self.subject(which, Deadline::after(timeout)).await?;
        let deadline = subject.deadline;
        let server = subject.turn.server()?;
        let incomplete = server.ready_to_read(deadline).await?;
        let hierarchy = server.offers("callHierarchyProvider");
        let mut calls = match (hierarchy, direction) {
            (true, _) => deadline.bound(self.hierarchy(&mut subject, direction)).await?,
            (false, Direction::Incoming) => {
                deadline.bound(self.callers_by_references(&mut subject)).await?
            }
            (false, Direction::Outgoing) => return Err(server.cannot("outgoing calls")),
        };
        let outside = |path: &str| Path::new(path).is_absolute();
        calls.sort_by_cached_key(|call| (outside(&call.path), call.path.clone(), call.line));
        calls.dedup();
        let total = calls.len();
        calls.truncate(MAX_CALLS);
        Ok(Calls { calls, total, incomplete })
    }

    async fn hierarchy(
        &self,
        subject: &mut Subject,
        direction: Direction,
    ) -> Result<Vec<CallSite>, CodeError> {
        let (parameters, deadline) = (subject.parameters(), subject.deadline);
        let server = subject.turn.server()?;
        let method = match direction {
            Direction::Incoming => "callHierarchy/incomingCalls",
            Direction::Outgoing => "callHierarchy/outgoingCalls",
        };
        // Sent back as they came: a server may keep things of its own in them.
        let items: Vec<Value> =
            server.ask_some("textDocument/prepareCallHierarchy", parameters, deadline).await?;
        let mut found: Vec<Call> = Vec::new();
        for item in items {
            let answer: Option<Vec<Call>> =
                server.ask(method, json!({"item": item}), deadline).await?;
            found.extend(answer.unwrap_or_default());
        }
        let mut names = Names::default();
        let mut calls = Vec::new();
        for call in found {
            let Some(path) = uri::to_path(&call.from.uri) else { continue };
            let place = match (direction, call.from_ranges.first()) {
                // A file has no name to point at.
                (Direction::Incoming, Some(range)) if is_file(&call.from) => range.start,
                _ => call.from.selection_range.start,
            };
            let inside = path.starts_with(&self.workspace) && !is_file(&call.from);
            let name = match inside {
                true => names.of(server, &path, place, &call.from.name, deadline).await,
                false => call.from.name,
            };
            calls.push(CallSite { name, path: self.shown(&path), line: u64::from(place.line) + 1 });
        }
        Ok(calls)
    }

    async fn callers_by_references(
        &self,
        subject: &mut Subject,
    ) -> Result<Vec<CallSite>, CodeError> {
        let (mut parameters, deadline) = (subject.parameters(), subject.deadline);
        parameters["context"] = json!({"includeDeclaration": false});
        let server = subject.turn.server()?;
        let found: Option<Vec<Location>> =
            server.ask("textDocument/references", parameters, deadline).await?;
        let mut names = Names::default();
        let mut calls = Vec::new();
        for location in found.unwrap_or_default() {
            let Some(path) = uri::to_path(&location.uri) else { continue };
            let place = location.range.start;
            let own = subject.symbol.selection.start;
            if !path.starts_with(&self.workspace) || (path == subject.path && place == own) {
                continue;
            }
            let outline = names.outline(server, &path, deadline).await;
            let caller = outline.and_then(|outline| outline.enclosing_function(place));
            let (name, line) = match caller {
                Some(symbol) => (symbol.qualified.clone(), symbol.line()),
                None => (self.shown(&path), u64::from(place.line) + 1),
            };
            calls.push(CallSite { name, path: self.shown(&path), line });
        }
        Ok(calls)
    }
}

fn is_file(item: &CallHierarchyItem) -> bool {
    FILE_KINDS.contains(&item.kind)
}

/// The symbols of files, each asked for once.
#[derive(Default)]
pub(super) struct Names {
    outlines: HashMap<PathBuf, Option<Outline>>,
}

impl Names {
    /// The qualified name of what is at a place, or the name that the server gave.
    async fn of(
        &mut self,
        server: &mut Server,
        path: &Path,
        place: Position,
        name: &str,
        deadline: Deadline,
    ) -> String {
        let outline = self.outline(server, path, deadline).await;
        let symbol = outline.and_then(|outline| outline.at(place, name));
        symbol.map_or_else(|| name.to_owned(), |symbol| symbol.qualified.clone())
    }

    /// The symbols of a file, unless there were too many files or it has none.
    pub(super) async fn outline(
        &mut self,
        server: &mut Server,
        path: &Path,
        deadline: Deadline,
    ) -> Option<&Outline> {
        if !self.outlines.contains_key(path) {
            if self.outlines.len() >= MAX_OUTLINES {
                return None;
            }
            // Without them the name is less exact, and the answer still true.
            let outline = server.outline_of_closed(path, deadline).await.ok();
            self.outlines.insert(path.to_owned(), outline);
        }
        self.outlines.get(path)?.as_ref()
    }
}
