//! Symbols, by an installed language server.
//!
//! ```text
//! LanguageServers ─► pool: one server for a language and a project ─► server ─► client ─► process
//!        │                                                              │
//!        └─ outline: names to places   edit: edits to files   method: a function's new text
//! ```
//!
//! A symbol is named by its file and its name, and found in what the server says of the file. The
//! server answers about what is on the disk: it is told of changes before each call. Calls to one
//! server take turns.
//!
//! What is deliberately absent: a server of our own, downloads, and edits outside the workspace.

mod calls;
mod client;
mod edit;
mod language;
mod method;
mod missed;
mod outline;
mod pool;
mod protocol;
mod scan;
mod search;
mod server;
mod status;
mod text;
mod types;
mod uri;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_dap::Environment;
use termbridge_pty::real_path;

use crate::CodeError;
use edit::Plan;
use language::Language;
use method::Replacement;
use missed::{Missed, NamedFiles};
use outline::{Outline, Symbol};
use pool::{Pool, Turn};
use protocol::{AnyLocation, Location, WorkspaceEdit};
use server::Deadline;
pub use status::{ServerStatus, check_servers, servers};
use text::{Encoding, Text};
pub use types::{
    CallSite, Calls, ChangedPath, Direction, Locations, MaybeMissed, Navigation, Renamed,
    ReplacedMethod, SearchMode, SearchQuery, SourceLocation, SymbolInfo, SymbolRef, Symbols,
    TextRange,
};

/// Places that an answer holds.
const MAX_LOCATIONS: usize = 500;
/// Characters of a line that are shown.
const MAX_LINE: usize = 200;
/// Bytes of a new name.
const MAX_NAME: usize = 200;
/// How long a server runs that nobody asks.
const IDLE_LIMIT: Duration = Duration::from_mins(10);

/// Words that are no names in Python, JavaScript and TypeScript, whose servers write them all the same.
const KEYWORDS: [&str; 12] = [
    "break", "class", "continue", "else", "for", "if", "import", "in", "return", "try", "while",
    "with",
];

/// The language servers of a workspace, started when they are needed.
///
/// They end when the last clone is dropped, by [`LanguageServers::shutdown`], and when they were not
/// asked for ten minutes.
#[derive(Debug, Clone)]
pub struct LanguageServers {
    workspace: PathBuf,
    pool: Arc<Pool>,
}

/// A symbol, and the server that knows it.
struct Subject {
    turn: Turn,
    path: PathBuf,
    outline: Outline,
    symbol: Symbol,
    deadline: Deadline,
}

impl Subject {
    /// What most requests are about.
    fn parameters(&self) -> Value {
        json!({
            "textDocument": {"uri": uri::of_path(&self.path)},
            "position": self.symbol.selection.start,
        })
    }
}

impl LanguageServers {
    /// For the projects of a workspace. Starts nothing yet.
    pub fn new(workspace: PathBuf, environment: Environment) -> Self {
        let workspace = real_path(&workspace).unwrap_or(workspace);
        Self { workspace, pool: Arc::new(Pool::new(environment, IDLE_LIMIT)) }
    }

    /// With servers that end when nobody asked them for this long.
    pub fn idle_limit(self, limit: Duration) -> Self {
        Self { pool: Arc::new(self.pool.with_idle_limit(limit)), ..self }
    }

    /// Where a symbol is used or implemented.
    pub async fn navigate(
        &self,
        which: &SymbolRef,
        action: Navigation,
        timeout: Duration,
    ) -> Result<Locations, CodeError> {
        let subject = self.subject(which, Deadline::after(timeout)).await?;
        match action {
            Navigation::References => self.references(subject).await,
            Navigation::Implementations => self.implementations(subject).await,
        }
    }

    async fn references(&self, mut subject: Subject) -> Result<Locations, CodeError> {
        let named = self.files_with_name(&mut subject).await?;
        let (mut parameters, deadline) = (subject.parameters(), subject.deadline);
        let server = subject.turn.server()?;
        let building = server.ready_to_read(deadline).await?;
        parameters["context"] = json!({"includeDeclaration": true});
        let found = server.ask_some("textDocument/references", parameters, deadline).await?;
        let found: Vec<Location> =
            found.into_iter().map(|place: AnyLocation| place.into()).collect();
        let encoding = server.encoding;
        let lines = missed::lines_of(&found);
        let missed = named.missed(&mut subject, &lines, |path| self.shown(path)).await?;
        let servers = self.clone();
        let answer = in_background(move || servers.locations(found, encoding)).await?;
        let reasons: Vec<String> = building.into_iter().chain(missed.incomplete).collect();
        let incomplete = (!reasons.is_empty()).then(|| reasons.join("; "));
        Ok(Locations { maybe_missed: missed.uses, incomplete, ..answer })
    }

    async fn implementations(&self, mut subject: Subject) -> Result<Locations, CodeError> {
        let (parameters, deadline) = (subject.parameters(), subject.deadline);
        let server = subject.turn.server()?;
        let incomplete = server.ready_to_read(deadline).await?;
        if !server.offers("implementationProvider") {
            return Err(server.cannot("implementations"));
        }
        let found = server.locations("textDocument/implementation", parameters, deadline).await?;
        let (servers, encoding) = (self.clone(), server.encoding);
        let answer = in_background(move || servers.locations(found, encoding)).await?;
        Ok(Locations { incomplete, ..answer })
    }

    /// The files of the workspace that have a symbol's name, known to its server from now on.
    async fn files_with_name(&self, subject: &mut Subject) -> Result<NamedFiles, CodeError> {
        let server = subject.turn.server()?;
        let (folder, language) = (self.workspace.clone(), server.language);
        let name = subject.symbol.name.clone();
        let named = in_background(move || NamedFiles::search(&folder, language, &name)).await?;
        named.open(server).await;
        Ok(named)
    }

    /// Renames a symbol wherever the server finds it, in all files or in none.
    pub async fn rename(
        &self,
        which: &SymbolRef,
        new_name: &str,
        timeout: Duration,
    ) -> Result<Renamed, CodeError> {
        let bad = new_name.is_empty()
            || new_name.len() > MAX_NAME
            || new_name
                .contains(|character: char| character.is_whitespace() || character.is_control());
        let (path, ..) = which.parts()?;
        let extension = path.extension().and_then(|extension| extension.to_str());
        let writes_all = !matches!(extension, Some("rs" | "go"));
        if bad || (writes_all && KEYWORDS.contains(&new_name)) {
            return Err(CodeError::InvalidParams(format!("{new_name:?} is not a name")));
        }
        let mut subject = self.subject(which, Deadline::after(timeout)).await?;
        let named = self.files_with_name(&mut subject).await?;
        let (mut parameters, deadline) = (subject.parameters(), subject.deadline);
        parameters["newName"] = json!(new_name);
        let server = subject.turn.server()?;
        if !server.offers("renameProvider") {
            return Err(server.cannot("renames"));
        }
        server.ready(deadline).await?;
        let answer = server.ask("textDocument/rename", parameters, deadline).await?;
        let answer: WorkspaceEdit = answer.unwrap_or_default();
        let (known, encoding) = (server.known_texts(), server.encoding);
        let lines = missed::edited_lines(&answer);
        // Before the files change: the server is asked about them as they are.
        let missed = named.missed(&mut subject, &lines, |path| self.shown(path)).await?;
        let workspace = self.workspace.clone();
        // Once begun it goes on to its end, also when nobody waits for it any more.
        let changed =
            in_background(move || Plan::of_server(answer, &workspace, encoding, &known)?.commit())
                .await??;
        if changed.is_empty() {
            let name = &subject.symbol.qualified;
            let message = format!("the language server finds nothing to rename for {name}");
            return Err(CodeError::InvalidParams(message));
        }
        let changed: Vec<_> = changed
            .into_iter()
            .map(|file| ChangedPath { path: self.shown(&file.path), edits: file.edits })
            .collect();
        let Missed { uses: maybe_missed, incomplete } = missed;
        Ok(Renamed { total: changed.len(), changed, maybe_missed, incomplete })
    }

    /// Replaces a function as a whole, signature and body; an empty text deletes it.
    ///
    /// Doc comments, attributes and decorators stay unless the new text has its own.
    pub async fn replace_method(
        &self,
        which: &SymbolRef,
        replacement: &str,
        timeout: Duration,
    ) -> Result<ReplacedMethod, CodeError> {
        let mut subject = self.subject(which, Deadline::after(timeout)).await?;
        let server = subject.turn.server()?;
        let (language, encoding) = (server.language, server.encoding);
        let (outline, symbol) = (&subject.outline, &subject.symbol);
        let replacement = Replacement::of(outline, symbol, language, encoding, replacement)?;
        let text = &*subject.outline.text;
        let old = text.as_str().to_owned();
        let new = replacement.apply(&old);
        let path = self.shown(&subject.path);
        let diff = method::diff(&path, &old, &new);
        let line = |offset| text.line_of(offset) as u64 + 1;
        let span = replacement.span;
        let range = TextRange {
            start_line: line(span.start),
            start_column: text.column(span.start),
            end_line: line(span.end),
            end_column: text.column(span.end),
        };
        let plan = Plan::of_file(subject.path.clone(), old, new);
        in_background(move || plan.commit()).await??;
        Ok(ReplacedMethod { path, range, diff })
    }

    /// Ends every server, and returns when their processes are gone. Calls under way fail.
    pub async fn shutdown(&self) {
        self.pool.shutdown().await;
    }

    /// A turn with the server of a file's project, which knows what is on the disk.
    async fn turn_for(&self, path: &Path, deadline: Deadline) -> Result<Turn, CodeError> {
        let Some((language, _)) = Language::of_path(path) else {
            let known = Language::ALL.map(Language::name).join(", ");
            let message = format!("{} is in no known language: {known}", self.shown(path));
            return Err(CodeError::InvalidParams(message));
        };
        let root = language.root(path.parent().unwrap_or(path), &self.workspace);
        let mut turn = self.pool.turn(language, &root, deadline).await?;
        turn.server()?.sync().await?;
        Ok(turn)
    }

    /// Finds a symbol.
    async fn subject(&self, which: &SymbolRef, deadline: Deadline) -> Result<Subject, CodeError> {
        let (path, name, kind) = which.parts()?;
        let path = self.existing(&path)?;
        let look = async {
            let mut turn = self.turn_for(&path, deadline).await?;
            let outline = turn.server()?.outline(&path, deadline).await?;
            Ok((turn, outline))
        };
        let (turn, outline) = deadline.bound(look).await?;
        let symbol = outline.resolve(&name, kind.as_deref(), &self.shown(&path))?.clone();
        Ok(Subject { turn, path, outline, symbol, deadline })
    }

    /// A file of the workspace, with links followed.
    fn existing(&self, path: &Path) -> Result<PathBuf, CodeError> {
        let full = self.workspace.join(path);
        let missing = |_| CodeError::FileNotFound(path.to_owned());
        let real = real_path(&full).map_err(missing)?;
        if !real.starts_with(&self.workspace) {
            let (path, workspace) = (path.display(), self.workspace.display());
            let message = format!("{path} is outside the workspace {workspace}");
            return Err(CodeError::InvalidParams(message));
        }
        Ok(real)
    }

    /// A path as it is told.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string()
    }

    /// Places with their text, in order, the first of them.
    fn locations(&self, found: Vec<Location>, encoding: Encoding) -> Locations {
        let mut places: Vec<(PathBuf, Location)> = found
            .into_iter()
            .filter_map(|location| Some((uri::to_path(&location.uri)?, location)))
            .collect();
        let order = |path: &Path, location: &Location| {
            (!path.starts_with(&self.workspace), path.to_owned(), location.range.start)
        };
        places.sort_by_cached_key(|(path, location)| order(path, location));
        places.dedup_by(|a, b| a.0 == b.0 && a.1.range.start == b.1.range.start);
        let total = places.len();
        let mut texts: HashMap<PathBuf, Option<Text>> = HashMap::new();
        let locate = |(path, location): (PathBuf, Location)| {
            let start = location.range.start;
            let read = || edit::read(&path).ok().map(Text::new);
            let text = texts.entry(path.clone()).or_insert_with(read).as_ref();
            let offset = text.and_then(|text| Some((text, text.offset(start, encoding)?)));
            let column =
                offset.map_or(u64::from(start.character) + 1, |(text, at)| text.column(at));
            let line = text.and_then(|text| text.line(start.line as usize)).unwrap_or_default();
            SourceLocation {
                path: self.shown(&path),
                line: u64::from(start.line) + 1,
                column,
                text: line.trim().chars().take(MAX_LINE).collect(),
            }
        };
        let locations = places.into_iter().take(MAX_LOCATIONS).map(locate).collect();
        Locations { locations, total, maybe_missed: Vec::new(), incomplete: None }
    }
}

/// Runs what reads and writes files where it does not hold up others.
async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CodeError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| CodeError::Internal(error.to_string()))
}
