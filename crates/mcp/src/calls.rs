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
//! Bounds: [`MAX_CALLS`] calls, [`MAX_ANSWER`] bytes of an answer, [`MAX_FILE`] bytes of file, after which
//! it is written anew with what is remembered.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::CallToolResult;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::socket::private_file;

/// Calls that are remembered; the oldest go first.
const MAX_CALLS: usize = 512;
/// Longest answer that is kept.
const MAX_ANSWER: usize = 256 * 1024;
/// Bytes of answers in all.
const MAX_ANSWERS: usize = 16 * 1024 * 1024;
/// Bytes of the file before it is written anew.
const MAX_FILE: u64 = 32 * 1024 * 1024;

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
    file: File,
    written: u64,
    calls: HashMap<String, Call>,
    /// In the order of their begin.
    order: VecDeque<String>,
    answers: usize,
}

#[derive(Debug, Default)]
struct Call {
    note: Option<Value>,
    /// The answer as JSON; empty if it was too long.
    ended: Option<String>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    key: std::borrow::Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Value>,
    /// The answer as a text, so that it need not be understood to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<std::borrow::Cow<'a, str>>,
}

impl Calls {
    /// Takes over what an earlier server wrote to this file, and goes on in it. The file is ours alone.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut calls = HashMap::new();
        let mut order = VecDeque::new();
        let mut answers = 0;
        match File::open(path) {
            Ok(file) => {
                let mut lines = BufReader::new(file.take(2 * MAX_FILE));
                let mut line = Vec::new();
                while lines.read_until(b'\n', &mut line)? > 0 {
                    if let Ok(line) = serde_json::from_slice::<Line<'_>>(&line) {
                        remember(&mut calls, &mut order, &mut answers, line);
                    }
                    line.clear();
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let inner =
            Inner { file: write_anew(path, &calls, &order)?, written: 0, calls, order, answers };
        Ok(Self { path: path.to_owned(), inner: Mutex::new(inner) })
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
        match self.lock().calls.get(key) {
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
        let Inner { file, written, calls, order, answers } = &mut *inner;
        *written += bytes.len() as u64;
        let result = file.write_all(&bytes);
        remember(calls, order, answers, line);
        let result = result.and_then(|()| {
            if *written > MAX_FILE {
                *file = write_anew(&self.path, calls, order)?;
                *written = 0;
            }
            Ok(())
        });
        if let Err(error) = result {
            tracing::warn!(%error, "calls are not written down: should the server die, some may be refused");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remember(
    calls: &mut HashMap<String, Call>,
    order: &mut VecDeque<String>,
    answers: &mut usize,
    line: Line<'_>,
) {
    let call = calls.entry(line.key.clone().into_owned()).or_insert_with(|| {
        order.push_back(line.key.into_owned());
        Call::default()
    });
    if let Some(note) = line.note {
        call.note = Some(note);
    }
    if let Some(ended) = line.ended {
        *answers += ended.len();
        call.ended = Some(ended.into_owned());
    }
    while order.len() > MAX_CALLS || *answers > MAX_ANSWERS {
        let Some(oldest) = order.pop_front() else { return };
        if let Some(Call { ended: Some(ended), .. }) = calls.remove(&oldest) {
            *answers -= ended.len();
        }
    }
}

/// Writes what is remembered to a new file, which takes the old one's place whole.
fn write_anew(
    path: &Path,
    calls: &HashMap<String, Call>,
    order: &VecDeque<String>,
) -> io::Result<File> {
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    let mut file = private_file(&new)?;
    let mut bytes = Vec::new();
    for key in order {
        let Some(call) = calls.get(key) else { continue };
        let ended = call.ended.as_deref().map(Into::into);
        let line = Line { key: key.into(), note: call.note.clone(), ended };
        serde_json::to_writer(&mut bytes, &line)?;
        bytes.push(b'\n');
    }
    file.write_all(&bytes)?;
    fs::rename(&new, path)?;
    Ok(file)
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
        let calls = Calls::open(&path).expect("opens");
        calls.begin("a 1");
        calls.begin("a 2");
        calls.note("a 2", serde_json::json!({"session": "x"}));
        calls.begin("a \"3\"");
        calls.end("a \"3\"", &answer("done"));
        calls.begin("long");
        calls.end("long", &answer(&"x".repeat(MAX_ANSWER)));
        // A server that was killed leaves a line cut.
        calls.lock().file.write_all(b"{\"key\":\"a 4\",\"en").expect("written");
        drop(calls);
        for _ in 0..2 {
            let next = Calls::open(&path).expect("opens");
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
        let calls = Calls::open(&path).expect("opens");
        let text = answer(&"x".repeat(MAX_ANSWER / 2));
        for number in 0..600 {
            let key = number.to_string();
            calls.begin(&key);
            calls.end(&key, &text);
        }
        let size = fs::metadata(&path).expect("there").len();
        assert!(size <= MAX_FILE + 2 * MAX_ANSWER as u64, "{size}");
        assert!(calls.lock().answers <= MAX_ANSWERS);
        assert_eq!(calls.earlier("0"), Earlier::Unknown);
        assert!(matches!(calls.earlier("599"), Earlier::Ended(Some(_))));
    }
}
