//! Logs: to stderr or a file, for people or for programs, never to stdout.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::panic::PanicHookInfo;
use std::path::Path;

use anyhow::{Context, Result, bail};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::args::LogFormat;
use crate::commands::wants_colour;
use crate::config::LogConfig;

/// Sets up logging for the process.
pub(crate) fn start(config: &LogConfig) -> Result<()> {
    let filter = EnvFilter::try_new(directives(&config.level)?)
        .with_context(|| format!("{:?} is not a log level or filter", config.level))?;
    let writer = match &config.file {
        Some(path) => BoxMakeWriter::new(std::sync::Mutex::new(open(path)?)),
        None => BoxMakeWriter::new(std::io::stderr),
    };
    let colour = config.file.is_none() && wants_colour(&std::io::stderr());
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(colour)
        // They would be printed to a stderr that cannot be written to.
        .log_internal_errors(false);
    match config.format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// The levels, from nothing to everything.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// The filter that a setting stands for. A word that is no level would be taken for the name of a
/// module, and nothing would be logged.
fn directives(setting: &str) -> Result<String> {
    let is_level = |word: &str| LEVELS.contains(&word.trim().to_ascii_lowercase().as_str());
    if let Some(word) =
        setting.split(',').find(|word| !word.contains(['=', '[']) && !is_level(word))
    {
        bail!(
            "{word:?} is not a log level: it takes {}, or a filter such as `rmcp=debug`",
            LEVELS.join(", ")
        );
    }
    // The protocol library's own messages are worth little below warnings.
    let quiet = ["off", "error"].contains(&setting.trim().to_ascii_lowercase().as_str());
    let whole = is_level(setting) && !quiet;
    Ok(if whole { format!("{setting},rmcp=warn") } else { setting.to_owned() })
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
    options.append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let made = match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => options.create(true).open(path),
        // The umask may have taken even the owner's bits.
        #[cfg(unix)]
        Ok(file) => {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            file.set_permissions(mode).map(|()| file)
        }
        made => made,
    };
    made.with_context(|| format!("cannot open log file {}", path.display()))
}
