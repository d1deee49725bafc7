//! A running language server of one project.
//!
//! The server is told what is on the disk: before each call the project's files are looked at, what
//! changed is announced and opened with its new text, so that an answer is never about an old one.
//! A call then goes: [`Server::sync`], [`Server::outline`] of the file it is about,
//! [`Server::ready`], and what it asks. The first outline comes before the wait because a server may
//! begin to read a project only when a file of it is open.

mod process;
mod start;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use termbridge_dap::Environment;
use termbridge_pty::FileStamp;
use tokio::time::Instant;

use super::client::{Client, RequestError};
use super::edit;
use super::language::Language;
use super::outline::Outline;
use super::protocol::{AnyLocation, Location};
use super::scan::Scan;
use super::text::{Encoding, Text};
use super::uri;
use crate::CodeError;
pub(crate) use process::{Process, take};
use start::Start;

/// Documents that are open at once.
const MAX_OPEN: usize = 64;
/// Changed files that are opened in one call; of more the server is only told.
const MAX_CHANGED: usize = 32;
/// Changed files that one message names.
const MAX_ANNOUNCED: usize = 5000;
/// Files that are opened where a server knows only of open ones.
const MAX_OPENED_FIRST: usize = 32;
/// Bytes of what a server wrote that an error shows.
const MAX_SAID: usize = 600;
/// How long to wait before asking again.
const PAUSE: Duration = Duration::from_millis(50);
/// How often an answer that cannot be empty is asked for again.
const EMPTY_RETRIES: usize = 20;
/// How much later than its time a call is given up.
const GRACE: Duration = Duration::from_millis(200);
/// How long after its start a server that only builds is waited for.
const BUILD_PATIENCE: Duration = Duration::from_secs(15);

const METHOD_NOT_FOUND: i64 = -32601;
/// Asked too early: the content was modified, or the server gave up by itself.
const ASK_AGAIN: [i64; 2] = [-32801, -32802];

/// Until when a call may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    after: Duration,
}

impl Deadline {
    pub(crate) fn after(timeout: Duration) -> Self {
        Self { at: Instant::now() + timeout, after: timeout }
    }

    /// Gives up what goes on after it, also where nothing within looks at the time.
    pub(crate) async fn bound<T>(
        &self,
        work: impl Future<Output = Result<T, CodeError>>,
    ) -> Result<T, CodeError> {
        // A little later, as what looks at the time says better what was waited for.
        let done = tokio::time::timeout_at(self.at + GRACE, work).await;
        done.unwrap_or_else(|_| Err(self.missed("the language server did not answer".to_owned())))
    }

    pub(crate) fn missed(&self, what: String) -> CodeError {
        CodeError::Timeout { what, after: self.after }
    }
}

/// A server that was started and answered.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) language: Language,
    root: PathBuf,
    pub(crate) program: PathBuf,
    /// Its program, for people.
    pub(crate) name: String,
    client: Client,
    process: Process,
    pub(crate) encoding: Encoding,
    capabilities: Value,
    documents: HashMap<PathBuf, Document>,
    /// Counts uses of documents.
    clock: u64,
    scan: Scan,
    opened_first: bool,
    started: Instant,
}

#[derive(Debug)]
struct Document {
    version: i32,
    stamp: FileStamp,
    text: Arc<Text>,
    used: u64,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(take(&self.process));
    }
}

impl Server {
    /// Starts the first server of the language that works.
    pub(crate) async fn start(
        language: Language,
        root: &Path,
        environment: &Environment,
        process: Process,
        deadline: Deadline,
    ) -> Result<Self, CodeError> {
        let mut failures = Vec::new();
        for candidate in language.candidates(environment, root) {
            let start =
                Start { language, root, environment, candidate: &candidate, process: &process };
            match start.until(deadline).await? {
                Ok(server) => return Ok(server),
                Err(reason) => {
                    drop(take(&process));
                    tracing::info!(program = %candidate.program.display(), reason, "does not start");
                    failures.push(reason);
                }
            }
        }
        let looked = match failures.is_empty() {
            true => language.looked_for(),
            false => failures.join("; "),
        };
        let (language, install) = (language.name().to_owned(), language.install().to_owned());
        Err(CodeError::NoLanguageServer { language, looked, install })
    }

    /// Whether it can still be asked.
    pub(crate) fn is_alive(&self) -> bool {
        self.client.check();
        !self.client.is_closed()
    }

    /// Whether it announced that it can do this.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        !matches!(self.capabilities[capability], Value::Null | Value::Bool(false))
    }

    /// Tells the server what changed on the disk since the last call.
    pub(crate) async fn sync(&mut self) -> Result<(), CodeError> {
        let (root, language) = (self.root.clone(), self.language);
        let look = tokio::task::spawn_blocking(move || Scan::of(&root, language)).await;
        let scan = look.map_err(|error| CodeError::Internal(error.to_string()))?;
        let mut changes = Vec::new();
        let mut to_open = Vec::new();
        for (path, stamp) in &scan.files {
            let kind = match self.scan.files.get(path) {
                None => 1,
                Some(old) if old != stamp => 2,
                Some(_) => continue,
            };
            changes.push(json!({"uri": uri::of_path(path), "type": kind}));
            if Language::of_path(path).is_some() {
                to_open.push(path.clone());
            }
        }
        let gone = self.scan.files.keys().filter(|path| !scan.files.contains_key(*path));
        // Where the look was cut short, a file may only be out of sight.
        let gone = gone.filter(|path| !scan.cut || !path.exists());
        changes.extend(gone.map(|path| json!({"uri": uri::of_path(path), "type": 3})));
        changes.truncate(MAX_ANNOUNCED);
        self.refresh_documents().await;
        if !changes.is_empty() {
            let params = json!({"changes": changes});
            self.client.notify("workspace/didChangeWatchedFiles", params).await;
        }
        if !self.opened_first && self.language.needs_open_files(&self.root) {
            to_open.extend(scan.sources().take(MAX_OPENED_FIRST).map(Path::to_owned));
        }
        for path in to_open.iter().take(MAX_CHANGED) {
            // A file that is no text, or gone again, is not what the call is about.
            let _ = self.open(path).await;
        }
        // Only now: what was not told because the call was given up is told by the next.
        self.scan = scan;
        self.opened_first = true;
        Ok(())
    }

    /// The files of the project that hold source text.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        self.scan.sources().map(Path::to_owned).collect()
    }

    /// The texts of files as the server was told them.
    pub(crate) fn known_texts(&self) -> HashMap<PathBuf, Arc<Text>> {
        let open = self.documents.iter();
        open.map(|(path, document)| (path.clone(), Arc::clone(&document.text))).collect()
    }

    /// The symbols of a file.
    pub(crate) async fn outline(
        &mut self,
        path: &Path,
        deadline: Deadline,
    ) -> Result<Outline, CodeError> {
        let text = self.open(path).await?;
        self.outline_of(path, text, deadline).await
    }

    /// The symbols of one of many files, which is not left open: servers check what is.
    pub(crate) async fn outline_of_closed(
        &mut self,
        path: &Path,
        deadline: Deadline,
    ) -> Result<Outline, CodeError> {
        if self.documents.contains_key(path) {
            return self.outline(path, deadline).await;
        }
        if self.language != Language::TypeScript {
            let text = Arc::new(Text::new(edit::read(path)?));
            return self.outline_of(path, text, deadline).await;
        }
        // This one knows nothing of a file that is not open.
        let outline = self.outline(path, deadline).await;
        self.close(path).await;
        outline
    }

    async fn outline_of(
        &self,
        path: &Path,
        text: Arc<Text>,
        deadline: Deadline,
    ) -> Result<Outline, CodeError> {
        let params = json!({"textDocument": {"uri": uri::of_path(path)}});
        let answer = self.ask("textDocument/documentSymbol", params, deadline).await?;
        Ok(Outline::new(answer.unwrap_or_default(), text, self.encoding))
    }

    /// Waits until the server has read the project.
    pub(crate) async fn ready(&self, deadline: Deadline) -> Result<(), CodeError> {
        match self.wait_ready(deadline.at, false).await {
            true => Ok(()),
            false if self.client.is_closed() => Err(self.gone("it ended")),
            false => {
                let doing = self.client.doing().map(|doing| format!(" ({doing})"));
                let (name, doing) = (&self.name, doing.unwrap_or_default());
                Err(deadline.missed(format!("{name} did not finish reading the project{doing}")))
            }
        }
    }

    /// As [`Server::ready`], for what changes nothing: after half of the time, or a while after its
    /// start, a server that only builds macros is ready enough, and what that means for the answer is
    /// returned.
    pub(crate) async fn ready_to_read(
        &self,
        deadline: Deadline,
    ) -> Result<Option<String>, CodeError> {
        let now = Instant::now();
        let half = now + deadline.at.saturating_duration_since(now) / 2;
        if self.wait_ready(half.min(self.started + BUILD_PATIENCE), false).await {
            return Ok(None);
        }
        if self.language == Language::Rust
            && self.wait_ready(deadline.at, true).await
            && !self.wait_ready(Instant::now(), false).await
            && let Some(doing) = self.client.doing()
        {
            let name = &self.name;
            let note = format!("{name} still builds ({doing}): uses within macros may be missing");
            return Ok(Some(note));
        }
        self.ready(deadline).await.map(|()| None)
    }

    async fn wait_ready(&self, until: Instant, building_will_do: bool) -> bool {
        let is_rust = self.language == Language::Rust;
        let ready = self.client.wait_until(until, |state| match is_rust {
            true => state.quiescent == Some(true) || (building_will_do && state.only_builds()),
            false => state.is_idle(),
        });
        ready.await
    }

    /// The answer to a request, `None` for nothing; asked again when it was too early.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        deadline: Deadline,
    ) -> Result<Option<T>, CodeError> {
        loop {
            match self.client.request(method, params.clone(), deadline.at).await {
                Ok(answer) => {
                    return serde_json::from_value(answer).map_err(|error| {
                        let name = &self.name;
                        CodeError::Internal(format!("{name} answered {method} unreadably: {error}"))
                    });
                }
                Err(RequestError::Failed { code, .. }) if ASK_AGAIN.contains(&code) => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(RequestError::Failed { code: METHOD_NOT_FOUND, .. }) => {
                    return Err(self.cannot(method));
                }
                Err(RequestError::Failed { message, .. }) => {
                    return Err(CodeError::InvalidParams(format!("{}: {message}", self.name)));
                }
                Err(RequestError::Timeout) => {
                    return Err(deadline.missed(format!("{} did not answer {method}", self.name)));
                }
                Err(RequestError::Closed(reason)) => return Err(self.gone(&reason)),
            }
        }
    }

    /// As [`Server::ask`] for what cannot be empty once all is read, such as the references of a
    /// symbol that include itself: asked again for a while.
    pub(crate) async fn ask_some<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        deadline: Deadline,
    ) -> Result<Vec<T>, CodeError> {
        for attempt in 0.. {
            let answer: Option<Vec<T>> = self.ask(method, params.clone(), deadline).await?;
            let answer = answer.unwrap_or_default();
            if !answer.is_empty()
                || attempt >= EMPTY_RETRIES
                || deadline.at <= Instant::now() + PAUSE
            {
                return Ok(answer);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(Vec::new())
    }

    /// The places that a request answers with: a list, one, or nothing.
    pub(crate) async fn locations(
        &self,
        method: &str,
        params: Value,
        deadline: Deadline,
    ) -> Result<Vec<Location>, CodeError> {
        let list = match self.ask(method, params, deadline).await? {
            None => Vec::new(),
            Some(Value::Array(list)) => list,
            Some(one) => vec![one],
        };
        let places = list.into_iter().filter_map(|one| serde_json::from_value(one).ok());
        Ok(places.map(|place: AnyLocation| place.into()).collect())
    }

    pub(crate) fn cannot(&self, what: &str) -> CodeError {
        CodeError::Unsupported(format!("{} does not offer {what}", self.name))
    }

    fn gone(&self, reason: &str) -> CodeError {
        CodeError::Internal(failure(&self.name, reason, &self.client))
    }

    /// Opens a document, or tells of its new text; the text that the server has then.
    pub(crate) async fn open(&mut self, path: &Path) -> Result<Arc<Text>, CodeError> {
        self.clock += 1;
        let clock = self.clock;
        let missing = |_| CodeError::FileNotFound(path.to_owned());
        let stamp = FileStamp::of(&std::fs::metadata(path).map_err(missing)?);
        if let Some(document) = self.documents.get_mut(path) {
            document.used = clock;
            if document.stamp == stamp {
                return Ok(Arc::clone(&document.text));
            }
        }
        let text = Arc::new(Text::new(edit::read(path)?));
        let address = uri::of_path(path);
        if let Some(document) = self.documents.get_mut(path) {
            document.version += 1;
            let params = json!({
                "textDocument": {"uri": address, "version": document.version},
                "contentChanges": [{"text": text.as_str()}],
            });
            self.client.notify("textDocument/didChange", params).await;
            // Not before: a call may be given up while the server does not read.
            document.stamp = stamp;
            document.text = Arc::clone(&text);
            return Ok(text);
        }
        if self.documents.len() >= MAX_OPEN {
            self.close_oldest().await;
        }
        let language = Language::of_path(path).map_or("plaintext", |(_, name)| name);
        let params = json!({"textDocument": {
            "uri": address, "languageId": language, "version": 1, "text": text.as_str(),
        }});
        self.client.notify("textDocument/didOpen", params).await;
        let document = Document { version: 1, stamp, text: Arc::clone(&text), used: clock };
        self.documents.insert(path.to_owned(), document);
        Ok(text)
    }

    /// Closes documents whose files are gone, and tells of the new text of others.
    async fn refresh_documents(&mut self) {
        let open: Vec<_> = self.documents.keys().cloned().collect();
        for path in open {
            if self.open(&path).await.is_err() {
                self.close(&path).await;
            }
        }
    }

    async fn close_oldest(&mut self) {
        let oldest = self.documents.iter().min_by_key(|(_, document)| document.used);
        if let Some(path) = oldest.map(|(path, _)| path.clone()) {
            self.close(&path).await;
        }
    }

    async fn close(&mut self, path: &Path) {
        self.documents.remove(path);
        let params = json!({"textDocument": {"uri": uri::of_path(path)}});
        self.client.notify("textDocument/didClose", params).await;
    }
}

/// Why a server is gone, with its last words.
fn failure(name: &str, reason: &str, client: &Client) -> String {
    let said = client.stderr();
    let said: String = said.chars().take(MAX_SAID).collect();
    match said.is_empty() {
        true => format!("{name}: {reason}"),
        false => format!("{name}: {reason}: {said}"),
    }
}
