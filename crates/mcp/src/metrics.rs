//! What a server did, in numbers: calls and their time by tool, errors by code, bytes.
//!
//! Counted where it happens, read by whoever shows it; no number is ever set back. Bounds: tools are those that
//! are offered, and at most [`MAX_CODES`] codes are told apart, since an editor's extension brings its own.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Upper bounds of the classes of call times, in microseconds; what takes longer is in a class of its own.
const CLASSES: [u64; 13] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000,
    20_000_000, 60_000_000,
];
/// Codes of errors that are told apart.
const MAX_CODES: usize = 128;
/// What counts those beyond.
const OTHER: &str = "OTHER";

/// The counters of a server and all its clients.
#[derive(Debug, Default)]
pub struct Metrics {
    tools: RwLock<BTreeMap<String, Arc<Calls>>>,
    errors: RwLock<BTreeMap<String, Arc<AtomicU64>>>,
    received: AtomicU64,
    sent: AtomicU64,
    clients: AtomicU64,
    clients_ever: AtomicU64,
}

/// The calls of one tool.
#[derive(Debug, Default)]
struct Calls {
    failed: AtomicU64,
    micros: AtomicU64,
    /// By class, the last for what is beyond all.
    classes: [AtomicU64; CLASSES.len() + 1],
}

/// A client that is connected as long as this lives.
#[derive(Debug)]
pub(crate) struct Connected(Arc<Metrics>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Relaxed);
    }
}

impl Metrics {
    /// Counts bytes of messages that came in.
    pub fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Relaxed);
    }

    /// Counts bytes of messages that went out.
    pub fn sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Relaxed);
    }

    /// Clients that are connected.
    pub fn clients(&self) -> u64 {
        self.clients.load(Relaxed)
    }

    pub(crate) fn connected(self: &Arc<Self>) -> Connected {
        self.clients.fetch_add(1, Relaxed);
        self.clients_ever.fetch_add(1, Relaxed);
        Connected(Arc::clone(self))
    }

    /// Counts a call of a tool that is offered; `code` is its error's.
    pub(crate) fn called(&self, tool: &str, took: Duration, failed: bool, code: Option<&str>) {
        let calls = counter(&self.tools, tool, usize::MAX);
        let micros = took.as_micros() as u64;
        let class = CLASSES.iter().position(|most| micros <= *most).unwrap_or(CLASSES.len());
        calls.classes[class].fetch_add(1, Relaxed);
        calls.micros.fetch_add(micros, Relaxed);
        calls.failed.fetch_add(u64::from(failed), Relaxed);
        if let Some(code) = code {
            counter(&self.errors, code, MAX_CODES).fetch_add(1, Relaxed);
        }
    }

    /// The counters in Prometheus' text format.
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        header(&mut text, "termbridge_tool_call_seconds", "histogram", "Time of calls by tool");
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        for (tool, calls) in &*tools {
            let mut sum = 0;
            for (at, class) in calls.classes.iter().enumerate() {
                sum += class.load(Relaxed);
                let most = CLASSES.get(at).map_or("+Inf".to_owned(), |most| seconds(*most));
                let labels = format!("tool=\"{tool}\",le=\"{most}\"");
                let _ = writeln!(text, "termbridge_tool_call_seconds_bucket{{{labels}}} {sum}");
            }
            let total = seconds(calls.micros.load(Relaxed));
            let _ = writeln!(text, "termbridge_tool_call_seconds_sum{{tool=\"{tool}\"}} {total}");
            let _ = writeln!(text, "termbridge_tool_call_seconds_count{{tool=\"{tool}\"}} {sum}");
        }
        header(
            &mut text,
            "termbridge_tool_calls_failed_total",
            "counter",
            "Calls that failed, by tool",
        );
        for (tool, calls) in &*tools {
            let failed = calls.failed.load(Relaxed);
            let _ =
                writeln!(text, "termbridge_tool_calls_failed_total{{tool=\"{tool}\"}} {failed}");
        }
        drop(tools);
        header(&mut text, "termbridge_errors_total", "counter", "Errors by code");
        for (code, count) in &*self.errors.read().unwrap_or_else(PoisonError::into_inner) {
            let count = count.load(Relaxed);
            let _ = writeln!(text, "termbridge_errors_total{{code=\"{code}\"}} {count}");
        }
        for (name, kind, help, value) in [
            ("received_bytes_total", "counter", "Bytes of messages from clients", &self.received),
            ("sent_bytes_total", "counter", "Bytes of messages to clients", &self.sent),
            ("clients", "gauge", "Clients that are connected", &self.clients),
            ("clients_total", "counter", "Clients that ever connected", &self.clients_ever),
        ] {
            let name = format!("termbridge_{name}");
            header(&mut text, &name, kind, help);
            let _ = writeln!(text, "{name} {}", value.load(Relaxed));
        }
        text
    }
}

/// The counter of a name; beyond `most` names they share one.
fn counter<T: Default>(map: &RwLock<BTreeMap<String, Arc<T>>>, name: &str, most: usize) -> Arc<T> {
    if let Some(known) = map.read().unwrap_or_else(PoisonError::into_inner).get(name) {
        return Arc::clone(known);
    }
    let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
    let is_label = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let fits = map.len() < most && name.len() <= 64 && name.chars().all(is_label);
    let name = if fits { name } else { OTHER };
    Arc::clone(map.entry(name.to_owned()).or_default())
}

fn seconds(micros: u64) -> String {
    format!("{}", micros as f64 / 1e6)
}

fn header(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}.\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_time_and_code() {
        let metrics = Arc::new(Metrics::default());
        let connected = metrics.connected();
        metrics.called("view_screen", Duration::from_micros(700), false, None);
        metrics.called("view_screen", Duration::from_mins(2), true, Some("TIMEOUT"));
        for number in 0..2 * MAX_CODES {
            metrics.called("x", Duration::ZERO, true, Some(&format!("E_{number}")));
        }
        metrics.called("x", Duration::ZERO, true, Some("\"}\n"));
        let text = metrics.prometheus();
        for line in [
            "termbridge_tool_call_seconds_bucket{tool=\"view_screen\",le=\"0.0005\"} 0",
            "termbridge_tool_call_seconds_bucket{tool=\"view_screen\",le=\"0.001\"} 1",
            "termbridge_tool_call_seconds_bucket{tool=\"view_screen\",le=\"60\"} 1",
            "termbridge_tool_call_seconds_bucket{tool=\"view_screen\",le=\"+Inf\"} 2",
            "termbridge_tool_call_seconds_count{tool=\"view_screen\"} 2",
            "termbridge_tool_call_seconds_sum{tool=\"view_screen\"} 120.0007",
            "termbridge_tool_calls_failed_total{tool=\"view_screen\"} 1",
            "termbridge_errors_total{code=\"TIMEOUT\"} 1",
            "termbridge_errors_total{code=\"OTHER\"} 130",
            "termbridge_clients 1",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in\n{text}");
        }
        drop(connected);
        assert_eq!(metrics.clients(), 0);
    }
}
