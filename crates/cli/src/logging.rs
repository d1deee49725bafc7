//! Logs: to stderr or a file, for people or for programs, never to stdout.

use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::panic::PanicHookInfo;
use std::path::Path;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::args::LogFormat;
use crate::config::LogConfig;

/// Sets up logging for the process.
pub(crate) fn start(config: &LogConfig) -> Result<()> {
    // A level alone is about us; the protocol library says little worth knowing below warnings.
    let directives = if config.level.contains(['=', ',']) {
        config.level.clone()
    } else {
        format!("{},rmcp=warn", config.level)
    };
    let filter = EnvFilter::try_new(&directives)
        .with_context(|| format!("{:?} is not a log level", config.level))?;
    let writer = match &config.file {
        Some(path) => BoxMakeWriter::new(std::sync::Mutex::new(open(path)?)),
        None => BoxMakeWriter::new(std::io::stderr),
    };
    let colour = config.file.is_none() && std::io::stderr().is_terminal();
    let logs =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(colour);
    match config.format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// A panic ends one call or one session; the log says where it came from.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(target: "panic", panic = message, place, "internal fault");
}

/// Logs can hold what programs were called with: only the owner may read them.
fn open(path: &Path) -> Result<std::fs::File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).with_context(|| format!("cannot open log file {}", path.display()))
}
