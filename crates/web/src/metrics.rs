//! `/metrics` and `/healthz`.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::server::Shared;

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// What the web server itself counts.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) connections: Counter,
    pub(crate) refused: Refused,
}

/// Requests that the gate did not let in.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    pub(crate) host: Counter,
    pub(crate) origin: Counter,
    pub(crate) token: Counter,
    pub(crate) rate: Counter,
    pub(crate) busy: Counter,
}

/// Whether the server is there; for anyone, so it says nothing else.
pub(crate) async fn health(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let body = serde_json::json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_seconds": shared.started.elapsed().as_secs(),
    });
    ([(header::CONTENT_TYPE, "application/json")], body.to_string())
}

/// Everything that is counted, in Prometheus' text format.
pub(crate) async fn metrics(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let mut text = shared.endpoint.metrics().prometheus();
    text.push_str(&shared.endpoint.more_metrics().await);
    let Refused { host, origin, token, rate, busy } = &shared.counters.refused;
    let name = "termbridge_http_refused_total";
    let _ = writeln!(
        text,
        "# HELP {name} Requests that were not let in, by reason.\n# TYPE {name} counter"
    );
    for (reason, counter) in
        [("host", host), ("origin", origin), ("token", token), ("rate", rate), ("busy", busy)]
    {
        let _ = writeln!(text, "{name}{{reason=\"{reason}\"}} {}", counter.get());
    }
    let open = shared.places.open();
    for (name, kind, help, value) in [
        ("termbridge_http_connections", "gauge", "Connections that are open", open as u64),
        (
            "termbridge_http_connections_total",
            "counter",
            "Connections ever",
            shared.counters.connections.get(),
        ),
        (
            "termbridge_http_sessions",
            "gauge",
            "Sessions of MCP over HTTP",
            shared.endpoint.sessions() as u64,
        ),
        (
            "termbridge_uptime_seconds",
            "gauge",
            "Time since the start",
            shared.started.elapsed().as_secs(),
        ),
        (
            "process_resident_memory_bytes",
            "gauge",
            "Memory that the server holds",
            resident_memory(),
        ),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}.\n# TYPE {name} {kind}\n{name} {value}");
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}

/// Bytes, where the system tells; 0 elsewhere.
fn resident_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    kilobytes.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or_default() * 1024
}
