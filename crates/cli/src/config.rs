//! The configuration: file, then environment, then flags, each stronger than the one before.
//!
//! Environment and flags arrive together in [`McpArguments`] (clap puts a flag before its variable);
//! what they leave open comes from the file. An unknown or malformed entry is an error that names
//! file and line, never silently dropped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use termbridge_bridge::dap::AdapterPaths;
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::store::Limits;
use termbridge_bridge::{BackendChoice, BridgeSettings, DebugSettings, HistoryPlace, SHELLS};
use termbridge_mcp::{Offer, Toolset};
use termbridge_session::Settings;

use crate::args::{DebuggingArguments, LogFormat, McpArguments};
use crate::duration::parse_duration;

/// Everything that can be set.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) settings: Settings,
    /// The tools, and how programs are debugged.
    offer: Offer,
    pub(crate) bridge: BridgeSettings,
    pub(crate) policy: PolicyConfig,
    /// Where the history is kept; `None` when it is off.
    pub(crate) history: Option<HistoryPlace>,
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
    tools: Option<Vec<String>>,
    exclude_tools: Option<Vec<String>>,
    workspace: Option<PathBuf>,
    /// For the shared server; read so that one file serves both.
    #[serde(rename = "port")]
    _port: Option<u16>,
    max_sessions: Option<usize>,
    session_timeout: Option<String>,
    keep_finished: Option<String>,
    scrollback_lines: Option<usize>,
    scrollback_memory_mb: Option<usize>,
    output_memory_mb: Option<usize>,
    output_disk_mb: Option<usize>,
    buffer_size: Option<usize>,
    #[serde(default)]
    commands: Commands,
    #[serde(default)]
    history: HistoryTable,
    #[serde(default)]
    debug: DebugTable,
    #[serde(default)]
    policy: PolicyConfig,
    log_level: Option<String>,
    log_format: Option<LogFormat>,
    log_file: Option<PathBuf>,
}

/// The `[commands]` table: how agents' commands run.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Commands {
    shell: Option<String>,
    pager: Option<String>,
    #[serde(default)]
    keep_shell_history: bool,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The `[history]` table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryTable {
    enabled: Option<bool>,
    path: Option<PathBuf>,
    max_entries: Option<u64>,
    max_age: Option<String>,
    max_megabytes: Option<u64>,
}

/// The `[debug]` table: how programs are debugged.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DebugTable {
    backend: Option<String>,
    timeout: Option<String>,
    workspace_tools: Option<bool>,
    #[serde(default)]
    adapters: Adapters,
}

/// The `[debug.adapters]` table: where adapters are that are not found by themselves.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Adapters {
    python: Option<PathBuf>,
    lldb: Option<PathBuf>,
    delve: Option<PathBuf>,
    js_debug: Option<PathBuf>,
    node: Option<PathBuf>,
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

    /// The policy and history that a file sets, for the commands that ask about them.
    pub(crate) fn of_file(path: Option<PathBuf>) -> Result<Self> {
        let arguments = McpArguments { config: path, ..McpArguments::default() };
        Self::load(arguments)
    }

    fn merge(arguments: McpArguments, file: File) -> Result<Self> {
        let defaults = Settings::default();
        let megabytes = |argument: Option<usize>, file: Option<usize>, default: usize| {
            argument.or(file).map_or(default, |mb| mb.saturating_mul(1024 * 1024))
        };
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
            scrollback_memory: megabytes(
                arguments.scrollback_memory_mb,
                file.scrollback_memory_mb,
                defaults.scrollback_memory,
            ),
            output_memory: megabytes(
                arguments.output_memory_mb,
                file.output_memory_mb,
                defaults.output_memory,
            ),
            output_disk: megabytes(
                arguments.output_disk_mb,
                file.output_disk_mb,
                defaults.output_disk,
            ),
            buffer_size: at_least_one(
                "buffer_size",
                arguments.buffer_size.or(file.buffer_size).unwrap_or(defaults.buffer_size),
            )?,
            refuse_hidden_lines: file.policy.secrets_by_person,
        };
        let history = history_place(file.history, arguments.no_history)?;
        let mut debug = debug_settings(arguments.debugging, file.workspace, file.debug)?;
        keep_events(&mut debug, history.as_ref());
        let offer = Offer {
            debug,
            ..offer(
                arguments.chosen.toolsets.or(file.toolsets),
                arguments.chosen.tools.or(file.tools),
                arguments.chosen.exclude_tools.or(file.exclude_tools),
            )?
        };
        let bridge = bridge_settings(arguments.shell, file.commands)?;
        let log = LogConfig {
            level: arguments.log.log_level.or(file.log_level).unwrap_or_else(|| "info".into()),
            format: arguments.log.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            file: arguments.log.log_file.or(file.log_file),
        };
        Ok(Self { settings, offer, bridge, policy: file.policy, history, log })
    }
}

impl Config {
    /// The tools, for a workspace that is there.
    pub(crate) fn offer(&self) -> Result<Offer> {
        let workspace = &self.offer.debug.workspace;
        if !workspace.is_dir() {
            bail!("the workspace {} is no folder", workspace.display());
        }
        Ok(self.offer.clone())
    }

    /// The policy, ready to decide.
    pub(crate) fn policy(&self) -> Result<Policy> {
        Policy::new(&self.policy, &self.bridge.home).context("in [policy]")
    }
}

fn bridge_settings(shell: Option<String>, commands: Commands) -> Result<BridgeSettings> {
    let users = std::env::var("SHELL").ok().filter(|shell| {
        let path = Path::new(shell);
        path.file_name().is_some_and(|name| SHELLS.iter().any(|known| name == *known))
            && path.is_file()
    });
    let shell = shell.or(commands.shell).or(users).unwrap_or_else(|| "bash".into());
    let cwd = std::env::current_dir().context("the working directory cannot be used")?;
    let home = home().unwrap_or_else(|| PathBuf::from("/"));
    let pager = commands.pager.as_deref().unwrap_or("cat");
    let mut settings = BridgeSettings::new(shell, cwd, home).pager(pager);
    settings.env.extend(commands.env);
    settings.keep_shell_history = commands.keep_shell_history;
    Ok(settings)
}

/// The tools that were chosen; tools named alone are all there are.
pub(crate) fn offer(
    toolsets: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    without: Option<Vec<String>>,
) -> Result<Offer> {
    let names = |list: Option<Vec<String>>| -> Vec<String> {
        let list = list.unwrap_or_default().into_iter();
        list.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
    };
    let (tools, without) = (names(tools), names(without));
    let toolsets = match toolsets {
        None if tools.is_empty() => Toolset::DEFAULT.to_vec(),
        chosen => {
            let chosen = names(chosen);
            chosen.iter().map(|name| name.parse()).collect::<Result<Vec<Toolset>, _>>()?
        }
    };
    let here = std::env::current_dir().context("the working directory cannot be used")?;
    Ok(Offer { toolsets, tools, without, debug: DebugSettings::new(here) })
}

fn debug_settings(
    arguments: DebuggingArguments,
    of_file: Option<PathBuf>,
    table: DebugTable,
) -> Result<DebugSettings> {
    let DebuggingArguments { workspace, debug_backend, workspace_tools, timeout } = arguments;
    let here = std::env::current_dir().context("the working directory cannot be used")?;
    let workspace = workspace.or(of_file).map_or(here.clone(), |given| here.join(given));
    // What adapters and editors call it; one that is not there is refused by who needs it.
    let workspace = workspace.canonicalize().unwrap_or(workspace);
    let mut settings = DebugSettings::new(workspace);
    settings.workspace_tools = workspace_tools || table.workspace_tools.unwrap_or_default();
    settings.backend = match (debug_backend, table.backend) {
        (Some(backend), _) => backend,
        (None, Some(name)) => name.parse().context("debug.backend")?,
        (None, None) => BackendChoice::default(),
    };
    let of_file = table.timeout.as_deref().map(|text| {
        parse_duration(text).map_err(|error| anyhow::anyhow!("debug.timeout: {error}"))
    });
    settings.timeout = timeout.or(of_file.transpose()?);
    if settings.timeout == Some(Duration::ZERO) {
        bail!("the timeout of debugging tools must be more than 0");
    }
    let Adapters { python, lldb, delve, js_debug, node } = table.adapters;
    settings.native.adapters = AdapterPaths { python, lldb, delve, js_debug, node };
    Ok(settings)
}

/// What debugged programs printed is kept on disk only where commands' output is, and no longer than that.
fn keep_events(settings: &mut DebugSettings, history: Option<&HistoryPlace>) {
    let Some(history) = history else { return };
    settings.native.state_folder = state_folder().map(|folder| folder.join("debug"));
    let (age, most) = (&mut settings.native.events.finished_age, history.limits.max_age);
    if most > Duration::ZERO {
        *age = most.min(*age);
    }
}

fn history_place(table: HistoryTable, off: bool) -> Result<Option<HistoryPlace>> {
    if off || table.enabled == Some(false) {
        return Ok(None);
    }
    let defaults = Limits::default();
    let limits = Limits {
        max_entries: table.max_entries.unwrap_or(defaults.max_entries),
        max_age: time(None, "history.max_age", table.max_age.as_deref(), defaults.max_age)?,
        max_bytes: table
            .max_megabytes
            .map_or(defaults.max_bytes, |megabytes| megabytes.saturating_mul(1024 * 1024)),
        ..defaults
    };
    let path = table.path.or_else(default_history);
    Ok(path.map(|path| HistoryPlace { path, limits }))
}

/// `$XDG_STATE_HOME/termbridge/history.db`, or the same under `~/.local/state`.
fn default_history() -> Option<PathBuf> {
    Some(state_folder()?.join("history.db"))
}

fn state_folder() -> Option<PathBuf> {
    let base = variable("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))?;
    Some(base.join("termbridge"))
}

fn home() -> Option<PathBuf> {
    variable("HOME").or_else(std::env::home_dir)
}

/// A directory that the environment names; a relative one does not count, as XDG says.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
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
    let base = variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))?;
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
