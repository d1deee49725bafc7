//! Which calls were begun and how they ended, kept where the next server finds it.
//!
//! A client of ours that loses its server sends its open calls again, to the next one, and each must run
//! at most once. So a call that changes something is written down before it is begun and again, with its
//! answer, when it has ended. A call that comes again is then answered from here, resumed where it can
//! be, or refused because it may have run.
//!
//! The file holds a line of JSON per event and is written with plain `write(2)`: it has to survive the
//! server, not the machine. A line that was cut is skipped. What cannot be written (a full disk) costs
//! this promise, not the call.
//!
//! Bounds: [`MAX_ENDED`] calls that have ended, [`MAX_OPEN`] that have not, [`MAX_ANSWER`] bytes of an answer,
//! [`MAX_FILE`] bytes of file, after which it is written anew with what is remembered. Open calls are forgotten last,
//! and a client that comes again with one that is not known is told so where any was forgotten.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::socket::private_file;

/// Calls that have ended and are remembered; the oldest go first.
const MAX_ENDED: usize = 16 * 1024;
/// Calls that have not ended and are remembered.
const MAX_OPEN: usize = 16 * 1024;
/// Longest answer that is kept.
const MAX_ANSWER: usize = 256 * 1024;
/// Bytes of answers in all.
const MAX_ANSWERS: usize = 16 * 1024 * 1024;
/// Bytes of the file before it is written anew.
const MAX_FILE: u64 = 32 * 1024 * 1024;

/// What is said where nothing is written.
const UNWRITTEN: &str =
    "calls are not written down: should the server die, some may be refused or run again";

/// What is known of a call that comes again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Earlier {
    /// It was never begun.
    Unknown,
    /// It was begun, and got as far as the note says.
    Begun(Option<Value>),
    /// It has ended; `None` if its answer was too long to keep.
    Ended(Option<CallToolResult>),
}

/// The calls of all clients.
#[derive(Debug)]
pub struct Calls {
    path: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Missing where none can be written.
    file: Option<File>,
    written: u64,
    known: Known,
}

/// What is remembered.
#[derive(Debug, Default)]
struct Known {
    calls: HashMap<String, Call>,
    /// In the order of their begin, each with its number; one that has another number was begun again.
    open: VecDeque<(String, u64)>,
    /// In the order of their end.
    ended: VecDeque<(String, u64)>,
    /// The first of those that still have their answer.
    answers_from: usize,
    /// Bytes of all answers.
    answers: usize,
    /// How many were begun.
    begun: u64,
    /// One that had not ended was forgotten: an unknown one may be it.
    has_forgotten: bool,
}

#[derive(Debug, Default)]
struct Call {
    number: u64,
    note: Option<Value>,
    /// The answer as JSON; empty if it was too long or is too old.
    ended: Option<String>,
}

/// A line of the file: without a note and an answer, a call begins.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    key: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Value>,
    /// The answer as a text, so that it need not be understood to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<Cow<'a, str>>,
}

impl Calls {
    /// Takes over what an earlier server wrote to this file, and goes on in it. The file is ours alone. Where it cannot
    /// be read or written, calls are remembered as long as this server lives.
    pub fn open(path: &Path) -> Self {
        let mut known = Known::default();
        if let Err(error) = read(path, &mut known) {
            tracing::warn!(%error, "what became of an earlier server's calls is not known");
        }
        let file = write_anew(path, &known);
        let file = file.inspect_err(|error| tracing::warn!(%error, "{UNWRITTEN}")).ok();
        Self { path: path.to_owned(), inner: Mutex::new(Inner { file, written: 0, known }) }
    }

    /// Notes that a call is about to run.
    pub(crate) fn begin(&self, key: &str) {
        self.write(Line { key: key.into(), note: None, ended: None });
    }

    /// Notes how far it has got.
    pub(crate) fn note(&self, key: &str, note: Value) {
        self.write(Line { key: key.into(), note: Some(note), ended: None });
    }

    /// Notes its answer.
    pub(crate) fn end(&self, key: &str, answer: &CallToolResult) {
        let answer = serde_json::to_string(answer).unwrap_or_default();
        let kept = if answer.len() <= MAX_ANSWER { answer } else { String::new() };
        self.write(Line { key: key.into(), note: None, ended: Some(kept.into()) });
    }

    /// What became of a call.
    pub(crate) fn earlier(&self, key: &str) -> Earlier {
        let known = &self.lock().known;
        match known.calls.get(key) {
            None if known.has_forgotten => Earlier::Begun(None),
            None => Earlier::Unknown,
            Some(Call { ended: Some(answer), .. }) => {
                Earlier::Ended(serde_json::from_str(answer).ok())
            }
            Some(Call { note, .. }) => Earlier::Begun(note.clone()),
        }
    }

    fn write(&self, line: Line<'_>) {
        let mut bytes = serde_json::to_vec(&line).unwrap_or_default();
        bytes.push(b'\n');
        let mut inner = self.lock();
        let Inner { file, written, known } = &mut *inner;
        known.note(line);
        let result = match file {
            Some(_) if *written + bytes.len() as u64 > MAX_FILE => {
                *written = 0;
                write_anew(&self.path, known).map(|new| *file = Some(new))
            }
            Some(file) => {
                *written += bytes.len() as u64;
                file.write_all(&bytes)
            }
            None => return,
        };
        if let Err(error) = result {
            tracing::warn!(%error, "{UNWRITTEN}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn note(&mut self, line: Line<'_>) {
        let begins = line.note.is_none() && line.ended.is_none();
        let key = line.key.into_owned();
        let is_new = begins || !self.calls.contains_key(&key);
        let call = self.calls.entry(key.clone()).or_default();
        if is_new {
            // An id that is used again is another call.
            self.answers -= call.ended.take().map_or(0, |answer| answer.len());
            self.begun += 1;
            *call = Call { number: self.begun, ..Call::default() };
            self.open.push_back((key.clone(), self.begun));
        }
        if line.note.is_some() {
            call.note = line.note;
        }
        if let Some(answer) = line.ended {
            self.answers += answer.len();
            let before = call.ended.replace(answer.into_owned());
            self.answers -= before.map_or(0, |answer| answer.len());
            self.ended.push_back((key, call.number));
        }
        self.forget();
    }

    fn forget(&mut self) {
        let Self { calls, open, ended, answers_from, answers, has_forgotten, .. } = self;
        while *answers > MAX_ANSWERS
            && let Some((key, number)) = ended.get(*answers_from)
        {
            let call = calls.get_mut(key).filter(|call| call.number == *number);
            if let Some(answer) = call.and_then(|call| call.ended.as_mut()) {
                *answers -= std::mem::take(answer).len();
            }
            *answers_from += 1;
        }
        while ended.len() > MAX_ENDED
            && let Some((key, number)) = ended.pop_front()
        {
            *answers_from = answers_from.saturating_sub(1);
            if calls.get(&key).is_some_and(|call| call.number == number) {
                let call = calls.remove(&key).unwrap_or_default();
                *answers -= call.ended.map_or(0, |answer| answer.len());
            }
        }
        let is_open = |calls: &HashMap<String, Call>, (key, number): &(String, u64)| {
            calls.get(key).is_some_and(|call| call.number == *number && call.ended.is_none())
        };
        while open.front().is_some_and(|front| !is_open(calls, front)) {
            open.pop_front();
        }
        if open.len() > MAX_OPEN {
            open.retain(|one| is_open(calls, one));
        }
        while open.len() > MAX_OPEN
            && let Some((key, _)) = open.pop_front()
        {
            calls.remove(&key);
            *has_forgotten = true;
        }
    }

    /// Every call, those that were begun first before the others.
    fn lines(&self) -> Vec<Line<'_>> {
        let mut calls: Vec<_> = self.calls.iter().collect();
        calls.sort_by_key(|(_, call)| call.number);
        let line = |(key, call): (&'_ String, &'_ Call)| Line {
            key: Cow::Owned(key.clone()),
            note: call.note.clone(),
            ended: call.ended.clone().map(Cow::Owned),
        };
        calls.into_iter().map(line).collect()
    }
}

fn read(path: &Path, known: &mut Known) -> io::Result<()> {
    let file = match termbridge_foreign_files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut lines = BufReader::new(file.take(2 * MAX_FILE));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        if let Ok(line) = serde_json::from_slice::<Line<'_>>(&line) {
            known.note(line);
        }
        line.clear();
    }
    Ok(())
}

/// Writes what is remembered to a new file, which takes the old one's place whole; where there is no room for that, the
/// old one is gone on with.
fn write_anew(path: &Path, known: &Known) -> io::Result<File> {
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    let write = || -> io::Result<File> {
        let mut file = private_file(&new)?;
        let mut bytes = Vec::new();
        for line in known.lines() {
            serde_json::to_writer(&mut bytes, &line)?;
            bytes.push(b'\n');
        }
        file.write_all(&bytes)?;
        fs::rename(&new, path)?;
        Ok(file)
    };
    write().or_else(|error| {
        let _ = fs::remove_file(&new);
        let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        if is_file { OpenOptions::new().append(true).open(path) } else { Err(error) }
    })
}

#[cfg(test)]
mod tests {
    use rmcp::model::ContentBlock;

    use super::*;

    fn answer(text: &str) -> CallToolResult {
        CallToolResult::success(vec![ContentBlock::text(text)])
    }

    #[test]
    fn the_next_server_knows_what_became_of_each_call() {
        let folder = tempfile::tempdir().expect("made");
        let path = folder.path().join("calls");
        let calls = Calls::open(&path);
        calls.begin("a 1");
        calls.begin("a 2");
        calls.note("a 2", serde_json::json!({"session": "x"}));
        calls.begin("a \"3\"");
        calls.end("a \"3\"", &answer("done"));
        calls.begin("long");
        calls.end("long", &answer(&"x".repeat(MAX_ANSWER)));
        // A server that was killed leaves a line cut.
        let cut = b"{\"key\":\"a 4\",\"en";
        calls.lock().file.as_mut().expect("a file").write_all(cut).expect("written");
        drop(calls);
        for _ in 0..2 {
            let next = Calls::open(&path);
            assert_eq!(next.earlier("a 1"), Earlier::Begun(None));
            let note = serde_json::json!({"session": "x"});
            assert_eq!(next.earlier("a 2"), Earlier::Begun(Some(note)));
            assert_eq!(next.earlier("a \"3\""), Earlier::Ended(Some(answer("done"))));
            assert_eq!(next.earlier("long"), Earlier::Ended(None));
            assert_eq!(next.earlier("a 4"), Earlier::Unknown);
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let folder = tempfile::tempdir().expect("made");
        let path = folder.path().join("calls");
        let calls = Calls::open(&path);
        let text = answer(&"x".repeat(MAX_ANSWER / 2));
        for number in 0..600 {
            let key = number.to_string();
            calls.begin(&key);
            calls.end(&key, &text);
        }
        let size = fs::metadata(&path).expect("there").len();
        assert!(size <= MAX_FILE + 2 * MAX_ANSWER as u64, "{size}");
        assert!(calls.lock().known.answers <= MAX_ANSWERS);
        assert_eq!(calls.earlier("0"), Earlier::Ended(None), "it ran, at any rate");
        assert!(matches!(calls.earlier("599"), Earlier::Ended(Some(_))));
    }

    #[test]
    fn what_has_not_ended_is_remembered_whatever_others_do() {
        let folder = tempfile::tempdir().expect("made");
        let path = folder.path().join("calls");
        let calls = Calls::open(&path);
        calls.begin("open");
        for number in 0..MAX_ENDED + 100 {
            let key = format!("other {number}");
            calls.begin(&key);
            calls.end(&key, &answer("x"));
        }
        // One id, again and again.
        for _ in 0..200 {
            calls.begin("same");
            calls.end("same", &answer(&"x".repeat(MAX_ANSWER / 2)));
        }
        let live: usize = calls
            .lock()
            .known
            .calls
            .values()
            .filter_map(|call| call.ended.as_ref())
            .map(String::len)
            .sum();
        assert_eq!(calls.lock().known.answers, live);
        for calls in [calls, Calls::open(&path)] {
            assert_eq!(calls.earlier("open"), Earlier::Begun(None));
            assert!(matches!(calls.earlier("same"), Earlier::Ended(Some(_))));
            assert_eq!(calls.earlier("never"), Earlier::Unknown);
        }
    }

    #[test]
    fn an_id_that_is_used_again_is_another_call() {
        let folder = tempfile::tempdir().expect("made");
        let path = folder.path().join("calls");
        let calls = Calls::open(&path);
        calls.begin("5");
        calls.note("5", Value::Bool(true));
        calls.end("5", &answer("first"));
        calls.begin("5");
        for calls in [calls, Calls::open(&path)] {
            assert_eq!(calls.earlier("5"), Earlier::Begun(None));
        }
    }

    #[test]
    fn without_a_file_calls_are_remembered_all_the_same() {
        let folder = tempfile::tempdir().expect("made");
        let path = folder.path().join("calls");
        fs::create_dir(&path).expect("made");
        let calls = Calls::open(&path);
        calls.begin("a");
        assert_eq!(calls.earlier("a"), Earlier::Begun(None));
    }
}
