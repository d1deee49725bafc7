//! The configuration: file, then environment, then flags, each stronger than the one before.
//!
//! Environment and flags arrive together in [`McpArguments`] (clap puts a flag before its variable);
//! what they leave open comes from the file. An unknown or malformed entry is an error that names
//! file and line, never silently dropped.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use termbridge_mcp::Toolset;
use termbridge_session::Settings;

use crate::args::{LogFormat, McpArguments};
use crate::duration::parse_duration;

/// Everything that can be set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    pub(crate) toolsets: Vec<Toolset>,
    pub(crate) log: LogConfig,
}

/// Where logs go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LogConfig {
    pub(crate) level: String,
    pub(crate) format: LogFormat,
    pub(crate) file: Option<PathBuf>,
}

/// The file's entries.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    toolsets: Option<Vec<String>>,
    /// For the shared server; read so that one file serves both.
    #[serde(rename = "port")]
    _port: Option<u16>,
    max_sessions: Option<usize>,
    session_timeout: Option<String>,
    keep_finished: Option<String>,
    scrollback_lines: Option<usize>,
    scrollback_memory_mb: Option<usize>,
    buffer_size: Option<usize>,
    log_level: Option<String>,
    log_format: Option<LogFormat>,
    log_file: Option<PathBuf>,
}

impl Config {
    /// Reads the file and lays the arguments over it.
    pub(crate) fn load(arguments: McpArguments) -> Result<Self> {
        let file = match &arguments.config {
            Some(path) => read(path)?.with_context(|| format!("no file {}", path.display()))?,
            None => match default_path() {
                Some(path) => read(&path)?.unwrap_or_default(),
                None => File::default(),
            },
        };
        Self::merge(arguments, file)
    }

    fn merge(arguments: McpArguments, file: File) -> Result<Self> {
        let defaults = Settings::default();
        let megabytes = arguments.scrollback_memory_mb.or(file.scrollback_memory_mb);
        let settings = Settings {
            max_sessions: at_least_one(
                "max_sessions",
                arguments.max_sessions.or(file.max_sessions).unwrap_or(defaults.max_sessions),
            )?,
            session_timeout: time(
                arguments.session_timeout,
                "session_timeout",
                file.session_timeout.as_deref(),
                defaults.session_timeout,
            )?,
            keep_finished: time(
                arguments.keep_finished,
                "keep_finished",
                file.keep_finished.as_deref(),
                defaults.keep_finished,
            )?,
            scrollback_lines: arguments
                .scrollback_lines
                .or(file.scrollback_lines)
                .unwrap_or(defaults.scrollback_lines),
            scrollback_memory: megabytes
                .map_or(defaults.scrollback_memory, |mb| mb.saturating_mul(1024 * 1024)),
            buffer_size: at_least_one(
                "buffer_size",
                arguments.buffer_size.or(file.buffer_size).unwrap_or(defaults.buffer_size),
            )?,
        };
        let toolsets = match arguments.toolsets.or(file.toolsets) {
            Some(names) => names
                .iter()
                .filter(|name| !name.trim().is_empty())
                .map(|name| name.parse())
                .collect::<Result<Vec<Toolset>, _>>()?,
            None => Toolset::DEFAULT.to_vec(),
        };
        let log = LogConfig {
            level: arguments.log.log_level.or(file.log_level).unwrap_or_else(|| "info".into()),
            format: arguments.log.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            file: arguments.log.log_file.or(file.log_file),
        };
        Ok(Self { settings, toolsets, log })
    }
}

fn at_least_one(name: &str, value: usize) -> Result<usize> {
    if value == 0 {
        bail!("{name} must be at least 1");
    }
    Ok(value)
}

fn time(
    argument: Option<Duration>,
    name: &str,
    file: Option<&str>,
    default: Duration,
) -> Result<Duration> {
    match (argument, file) {
        (Some(time), _) => Ok(time),
        (None, Some(text)) => {
            parse_duration(text).map_err(|error| anyhow::anyhow!("{name}: {error}"))
        }
        (None, None) => Ok(default),
    }
}

/// `$XDG_CONFIG_HOME/termbridge/config.toml`, or the same under `~/.config`.
fn default_path() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")))?;
    Some(base.join("termbridge").join("config.toml"))
}

/// The file's entries, or `None` when there is no file.
fn read(path: &Path) -> Result<Option<File>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let file = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
    Ok(Some(file))
}
