//! The configuration: file, environment and flags; each overrides the one before.
//!
//! Environment and flags arrive together in [`McpArguments`] (clap puts a flag before its variable);
//! what they leave open comes from the file. An unknown or malformed entry is an error that names
//! file and line, never silently dropped.

mod editor;
mod folders;
mod reference;
mod serve;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::de::{Deserialize, Deserializer, Unexpected, Visitor};
use termbridge_bridge::dap::{AdapterPaths, Environment};
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::store::Limits;
use termbridge_bridge::{BackendChoice, BridgeSettings, DebugSettings, HistoryPlace, SHELLS};
use termbridge_mcp::{Offer, Structured, Toolset};
use termbridge_session::Settings;
use termbridge_session::files::real_path;

use crate::args::{DebuggingArguments, LogFormat, McpArguments};
use crate::duration::Time;

const MEGABYTE: usize = 1024 * 1024;

/// Bounds of the numbers: beyond them lies a mistake, or an allocation that fails.
const SESSIONS: RangeInclusive<usize> = 1..=10_000;
const SCROLLBACK_LINES: RangeInclusive<usize> = 0..=10_000_000;
const MEGABYTES: RangeInclusive<usize> = 0..=MEGABYTE;
const BUFFER_SIZE: RangeInclusive<usize> = 1..=MEGABYTE;
const HISTORY_ENTRIES: RangeInclusive<usize> = 0..=1_000_000_000;
const PORT: RangeInclusive<usize> = 0..=65_535;
/// The path that stands for an empty configuration file.
pub(crate) const EMPTY_CONFIG: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };
/// Bytes of the configuration file.
const MAX_CONFIG: u64 = 1024 * 1024;

/// A whole number in the file.
#[derive(Debug, Clone, Copy)]
struct Whole(u64);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeVisitor;
        impl Visitor<'_> for WholeVisitor {
            type Value = Whole;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a whole number that is not negative")
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Whole, E> {
                let unexpected = Unexpected::Signed(number);
                let whole = u64::try_from(number).map(Whole);
                whole.map_err(|_| E::invalid_value(unexpected, &self))
            }
        }
        deserializer.deserialize_any(WholeVisitor)
    }
}

pub(crate) use editor::{EditorConfig, EditorTable};
pub(crate) use folders::{config_path, find_server_folder, home, server_folder, state_folder};
pub use reference::configuration_page;
pub(crate) use serve::{ServeConfig, ServeTable, connection_room};

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
    /// Port of the shared server.
    pub(crate) port: Option<u16>,
    /// The rest of the shared server's settings.
    pub(crate) serve: ServeTable,
    /// How editors connect.
    pub(crate) editor: EditorConfig,
}

/// Where logs go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LogConfig {
    pub(crate) level: String,
    pub(crate) format: LogFormat,
    pub(crate) file: Option<PathBuf>,
}

/// The file's entries.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    toolsets: Option<Vec<String>>,
    structured: Option<String>,
    text_clients: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    exclude_tools: Option<Vec<String>>,
    workspace: Option<PathBuf>,
    port: Option<Whole>,
    max_sessions: Option<Whole>,
    session_timeout: Option<Time>,
    keep_finished: Option<Time>,
    scrollback_lines: Option<Whole>,
    scrollback_memory_mb: Option<Whole>,
    output_memory_mb: Option<Whole>,
    output_disk_mb: Option<Whole>,
    buffer_size: Option<Whole>,
    #[serde(default)]
    commands: Commands,
    #[serde(default)]
    history: HistoryTable,
    #[serde(default)]
    debug: DebugTable,
    #[serde(default)]
    policy: PolicyConfig,
    #[serde(default)]
    serve: ServeTable,
    #[serde(default)]
    editor: EditorTable,
    log_level: Option<String>,
    log_format: Option<LogFormat>,
    log_file: Option<PathBuf>,
}

/// The `[commands]` table: how agents' commands run.
#[derive(Debug, Default, serde::Deserialize)]
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
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryTable {
    enabled: Option<bool>,
    path: Option<PathBuf>,
    max_entries: Option<Whole>,
    max_age: Option<Time>,
    max_megabytes: Option<Whole>,
}

/// The `[debug]` table: how programs are debugged.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct DebugTable {
    backend: Option<String>,
    timeout: Option<Time>,
    workspace_tools: Option<bool>,
    raw: Option<bool>,
    #[serde(default)]
    adapters: Adapters,
}

/// The `[debug.adapters]` table: where adapters are that are not detected automatically.
#[derive(Debug, Default, serde::Deserialize)]
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
            None => match config_path() {
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
        let megabytes = |argument: Option<usize>, name, file: Option<Whole>, default: usize| {
            let given = number(argument, name, file, MEGABYTES)?;
            anyhow::Ok(given.map_or(default, |mb| mb * MEGABYTE))
        };
        let settings = Settings {
            max_sessions: number(
                arguments.max_sessions,
                "max_sessions",
                file.max_sessions,
                SESSIONS,
            )?
            .unwrap_or(defaults.max_sessions),
            session_timeout: arguments
                .session_timeout
                .or(file.session_timeout.map(|time| time.0))
                .unwrap_or(defaults.session_timeout),
            keep_finished: arguments
                .keep_finished
                .or(file.keep_finished.map(|time| time.0))
                .unwrap_or(defaults.keep_finished),
            scrollback_lines: number(
                arguments.scrollback_lines,
                "scrollback_lines",
                file.scrollback_lines,
                SCROLLBACK_LINES,
            )?
            .unwrap_or(defaults.scrollback_lines),
            scrollback_memory: megabytes(
                arguments.scrollback_memory_mb,
                "scrollback_memory_mb",
                file.scrollback_memory_mb,
                defaults.scrollback_memory,
            )?,
            output_memory: megabytes(
                arguments.output_memory_mb,
                "output_memory_mb",
                file.output_memory_mb,
                defaults.output_memory,
            )?,
            output_disk: megabytes(
                arguments.output_disk_mb,
                "output_disk_mb",
                file.output_disk_mb,
                defaults.output_disk,
            )?,
            buffer_size: number(
                arguments.buffer_size,
                "buffer_size",
                file.buffer_size,
                BUFFER_SIZE,
            )?
            .unwrap_or(defaults.buffer_size),
            refuse_hidden_lines: file.policy.secrets_by_person,
        };
        let port = number(arguments.port.map(usize::from), "port", file.port, PORT)?;
        let mut debugging = arguments.debugging;
        if arguments.no_editor {
            debugging.debug_backend = Some(BackendChoice::Native);
        }
        let history = history_place(file.history, arguments.no_history)?;
        let mut debug = debug_settings(debugging, file.workspace, file.debug)?;
        keep_events(&mut debug, history.as_ref());
        let structured = match (arguments.structured, file.structured) {
            (Some(structured), _) => structured,
            (None, Some(word)) => word.parse()?,
            (None, None) => Structured::default(),
        };
        let offer = Offer {
            debug,
            structured,
            text_clients: file.text_clients.unwrap_or_default(),
            ..offer(
                arguments.chosen.toolsets.or(file.toolsets),
                arguments.chosen.tools.or(file.tools),
                arguments.chosen.exclude_tools.or(file.exclude_tools),
            )?
        };
        let workspace = offer.debug.workspace.clone();
        let bridge = bridge_settings(arguments.shell, workspace, file.commands)?;
        let log = LogConfig {
            level: arguments.log.log_level.or(file.log_level).unwrap_or_else(|| "info".into()),
            format: arguments.log.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            file: arguments.log.log_file.or(file.log_file),
        };
        // Within the bounds of a port.
        let port = port.map(|port| port as u16);
        let (policy, serve) = (file.policy, file.serve);
        let editor = EditorConfig::new(arguments.editor, arguments.no_editor, file.editor)?;
        Ok(Self { settings, offer, bridge, policy, history, log, port, serve, editor })
    }
}

impl Config {
    /// The tools, for a workspace that is there.
    pub(crate) fn offer(&self) -> Result<Offer> {
        let workspace = &self.offer.debug.workspace;
        if !workspace.is_dir() {
            bail!("the workspace {} is not a folder", workspace.display());
        }
        Ok(self.offer.clone())
    }

    /// The project folder.
    pub(crate) fn workspace(&self) -> &Path {
        &self.offer.debug.workspace
    }

    /// The policy, ready to decide.
    pub(crate) fn policy(&self) -> Result<Policy> {
        Policy::new(&self.policy, &self.bridge.home).context("in [policy]")
    }
}

fn bridge_settings(
    shell: Option<String>,
    workspace: PathBuf,
    commands: Commands,
) -> Result<BridgeSettings> {
    let users =
        std::env::var("SHELL").ok().filter(|shell| is_shell(shell) && Path::new(shell).is_file());
    let chosen = shell.or(commands.shell);
    if let Some(shell) = &chosen {
        check_shell(shell)?;
    }
    // Some systems have no bash.
    let is_there = |shell: &&str| Environment::of_process().find_program(shell).is_some();
    let usual = || ["bash", "sh"].into_iter().find(is_there).unwrap_or("bash").to_owned();
    let shell = chosen.or(users).unwrap_or_else(usual);
    let home = home().unwrap_or_else(|| PathBuf::from("/"));
    let pager = commands.pager.as_deref().unwrap_or("cat");
    let mut settings = BridgeSettings::new(shell, workspace, home).pager(pager);
    settings.env.extend(commands.env);
    settings.keep_shell_history = commands.keep_shell_history;
    Ok(settings)
}

/// Whether a program is a shell that sessions can run, by its name.
pub(crate) fn is_shell(program: &str) -> bool {
    let name = Path::new(program).file_name();
    name.is_some_and(|name| SHELLS.iter().any(|known| name == *known))
}

/// Refuses a shell that no session could run.
fn check_shell(shell: &str) -> Result<()> {
    const SETTING: &str = "commands.shell (--shell, TERMBRIDGE_SHELL)";
    if !is_shell(shell) {
        bail!("{SETTING} is {shell:?}: it takes one of {}, or the path of one", SHELLS.join(", "));
    }
    if Environment::of_process().find_program(shell).is_none() {
        bail!("{SETTING} is {shell:?}, which is not installed");
    }
    Ok(())
}

/// The tools that were chosen; tools named alone are all there are.
fn offer(
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
        chosen => Toolset::named(&names(chosen))?,
    };
    let here = std::env::current_dir().context("the working directory cannot be used")?;
    Ok(Offer { tools, without, ..Offer::new(&toolsets, DebugSettings::new(here)) })
}

fn debug_settings(
    arguments: DebuggingArguments,
    of_file: Option<PathBuf>,
    table: DebugTable,
) -> Result<DebugSettings> {
    let DebuggingArguments { workspace, debug_backend, workspace_tools, debug_raw, timeout } =
        arguments;
    let here = std::env::current_dir().context("the working directory cannot be used")?;
    let workspace = workspace.or(of_file).map_or(here.clone(), |given| here.join(given));
    // What adapters and editors call it; one that is not there is refused by who needs it.
    let workspace = real_path(&workspace).unwrap_or(workspace);
    let mut settings = DebugSettings::new(workspace);
    settings.workspace_tools = workspace_tools.or(table.workspace_tools).unwrap_or_default();
    settings.raw = debug_raw.or(table.raw).unwrap_or_default();
    settings.backend = match (debug_backend, table.backend) {
        (Some(backend), _) => backend,
        (None, Some(name)) => name.parse().context("debug.backend")?,
        (None, None) => BackendChoice::default(),
    };
    settings.timeout = timeout.or(table.timeout.map(|time| time.0));
    if settings.timeout == Some(Duration::ZERO) {
        bail!("debug.timeout (--timeout, TERMBRIDGE_TIMEOUT) must be more than 0");
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

fn history_place(table: HistoryTable, no_history: Option<bool>) -> Result<Option<HistoryPlace>> {
    let enabled = no_history.map(|no| !no).or(table.enabled).unwrap_or(true);
    let defaults = Limits::default();
    let max_entries = number(None, "history.max_entries", table.max_entries, HISTORY_ENTRIES)?;
    let megabytes = number(None, "history.max_megabytes", table.max_megabytes, MEGABYTES)?;
    let limits = Limits {
        max_entries: max_entries.map_or(defaults.max_entries, |entries| entries as u64),
        max_age: table.max_age.map_or(defaults.max_age, |time| time.0),
        max_bytes: megabytes.map_or(defaults.max_bytes, |mb| (mb * MEGABYTE) as u64),
        ..defaults
    };
    if !enabled {
        return Ok(None);
    }
    let path = table.path.or_else(default_history);
    Ok(path.map(|path| HistoryPlace { path, limits }))
}

/// `$XDG_STATE_HOME/termbridge/history.db`, or the same under `~/.local/state`.
fn default_history() -> Option<PathBuf> {
    Some(state_folder()?.join("history.db"))
}

/// A number that was set, within its bounds.
fn number(
    argument: Option<usize>,
    name: &str,
    file: Option<Whole>,
    bounds: RangeInclusive<usize>,
) -> Result<Option<usize>> {
    // One that does not fit is beyond every bound.
    let of_file = file.map(|Whole(number)| usize::try_from(number).unwrap_or(usize::MAX));
    let Some(given) = argument.or(of_file) else { return Ok(None) };
    if !bounds.contains(&given) {
        bail!("{name} is {given}: it must be from {} to {}", bounds.start(), bounds.end());
    }
    Ok(Some(given))
}

/// The file's entries, or `None` when there is no file.
fn read(path: &Path) -> Result<Option<File>> {
    let text = match termbridge_foreign_files::read_to_string(path, MAX_CONFIG) {
        Ok(text) => text,
        Err(_) if path == Path::new(EMPTY_CONFIG) => String::new(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let file = toml::from_str(&text).with_context(|| format!("in {}", path.display()))?;
    Ok(Some(file))
}
