//! A job as a host sees it, and what it leaves in its folder.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Inner;

/// Data above this many bytes goes to a file of its own.
const LARGE: usize = 2 << 20;

/// A claimed job.
#[derive(Debug)]
pub struct Job {
    /// Its folder.
    pub folder: PathBuf,
    /// Its `command.json`.
    pub command: Value,
}

/// What a script leaves.
pub enum Reply {
    /// A result.
    Data(Value),
    /// An error with its own code.
    Error(&'static str, &'static str, Value),
    /// Nothing but `done`.
    Nothing,
    /// Not even that: the host died.
    Crash,
    /// Whatever the test writes, `done` included.
    Custom(Box<dyn FnOnce(&Job) + Send>),
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reply")
    }
}

impl Job {
    /// The script asked for.
    pub fn script(&self) -> &str {
        self.command["scriptName"].as_str().unwrap_or_default()
    }

    /// An argument.
    pub fn param(&self, name: &str) -> &Value {
        &self.command["params"][name]
    }

    /// Adds to `events.ndjson`, as it is.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn say(&self, text: &str) {
        let path = self.folder.join("events.ndjson");
        let mut file = OpenOptions::new().append(true).create(true).open(path).expect("events");
        file.write_all(text.as_bytes()).expect("events");
    }

    /// Adds a progress event.
    pub fn progress(&self, seq: u64, percent: u64, message: &str) {
        let event =
            json!({"ts": 1, "seq": seq, "type": "progress", "pct": percent, "msg": message});
        self.say(&format!("{event}\n"));
    }

    /// Writes a file at its final name, in one go and not atomically.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).expect("the job's folder can be written to");
    }

    /// Waits until the client has cancelled; false when it has not within a time.
    pub fn wait_for_cancel(&self, limit: Duration) -> bool {
        let began = Instant::now();
        while !self.folder.join("cancel").exists() {
            if began.elapsed() > limit || !self.folder.exists() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        true
    }
}

/// A result as the extension writes it.
fn success(job: &Job, data: Value) -> Value {
    json!({
        "ok": true, "type": "success", "data": data, "meta": meta(job),
        "editorContext": {"activeFile": "main.py"},
    })
}

fn failure(job: &Job, code: &str, message: &str, details: Value) -> Value {
    let error = json!({"code": code, "message": message, "details": details});
    json!({"ok": false, "type": "error", "error": error, "meta": meta(job)})
}

fn meta(job: &Job) -> Value {
    let timestamp = "2025-11-15T08:00:00.000Z";
    json!({"requestId": job.command["id"], "mode": "normal", "timestamp": timestamp, "duration": 3})
}

/// Claims a job and runs it, if there is one in this folder and nobody has.
pub(super) fn begin(inner: &Arc<Inner>, folder: &Path) {
    if !inner.options.claims || inner.stopped.load(Ordering::SeqCst) || folder.join("done").exists()
    {
        return;
    }
    let Ok(command) = fs::read(folder.join("command.json")) else {
        return;
    };
    let claim = OpenOptions::new().write(true).create_new(true).open(folder.join("claimed.json"));
    let Ok(mut claim) = claim else {
        return;
    };
    let bridge = &inner.options.bridge_id;
    let text = json!({"bridgeId": bridge, "claimedAt": "2025-11-15T08:00:00.000Z", "pid": 1});
    claim.write_all(text.to_string().as_bytes()).ok();
    let command = serde_json::from_slice(&command).expect("a command appears whole");
    let job = Job { folder: folder.to_owned(), command };
    if let Some(refusal) = refusal(inner, &job) {
        leave(&job, "error.json", &refusal);
        return;
    }
    let running = inner.running.fetch_add(1, Ordering::SeqCst) + 1;
    inner.most_running.fetch_max(running, Ordering::SeqCst);
    let id = job.command["id"].as_str().unwrap_or_default().to_owned();
    inner.ran.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    let inner = Arc::clone(inner);
    std::thread::spawn(move || run(&inner, job));
}

fn refusal(inner: &Inner, job: &Job) -> Option<Value> {
    if inner.failures.load(Ordering::SeqCst) >= inner.options.breaker {
        let message = "Bridge is flooded. Try again in 42s.";
        return Some(failure(job, "E_CIRCUIT_OPEN", message, json!({"retryAfter": 42})));
    }
    let full = inner.running.load(Ordering::SeqCst) >= inner.options.capacity;
    full.then(|| failure(job, "E_CAPACITY", "Capacity limit reached", Value::Null))
}

fn run(inner: &Inner, job: Job) {
    let reply = (inner.script)(&job);
    // Before the end is told: whoever hears of it may have the place.
    let free = || inner.running.fetch_sub(1, Ordering::SeqCst);
    match reply {
        Reply::Data(data) => {
            let mut response = success(&job, Value::Null);
            if data.to_string().len() > LARGE {
                write_atomically(&job.folder.join("data.json"), &data);
                response["dataRef"] = "data.json".into();
            } else {
                response["data"] = data;
            }
            free();
            leave(&job, "response.json", &response);
        }
        Reply::Error(code, message, details) => {
            if code != "E_CANCELLED" {
                inner.failures.fetch_add(1, Ordering::SeqCst);
            }
            free();
            leave(&job, "error.json", &failure(&job, code, message, details));
        }
        Reply::Nothing => {
            free();
            fs::write(job.folder.join("done"), "").ok();
        }
        Reply::Crash => {
            free();
        }
        Reply::Custom(write) => {
            write(&job);
            free();
        }
    }
}

fn leave(job: &Job, name: &str, content: &Value) {
    // The client may have removed the folder: then there is nobody to answer.
    if try_write_atomically(&job.folder.join(name), content).is_ok() {
        fs::write(job.folder.join("done"), "").ok();
    }
}

pub(super) fn write_atomically(path: &Path, content: &Value) {
    try_write_atomically(path, content).expect("files can be written");
}

fn try_write_atomically(path: &Path, content: &Value) -> std::io::Result<()> {
    let aside = path.with_extension("json.tmp");
    let mut file = File::create(&aside)?;
    file.write_all(content.to_string().as_bytes())?;
    file.sync_all()?;
    fs::rename(aside, path)
}
