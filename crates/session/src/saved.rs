//! What is kept of a session outside its server, for the next one: the wire format.
//!
//! The terminal is kept apart, as a dump; here is the rest: what was launched and whose it is, the
//! commands with their output, the input that is not written yet. A record is `MessagePack` with the
//! fields' names in it. A field that is added has a default and an unknown one is skipped; any other change raises
//! [`VERSION`], and sessions of another version are reported, not read. All records and both directions stand in this
//! one file, long as it is: what is written and what is read have to be seen together.
//!
//! Times are those of the system's clock, because an [`Instant`](tokio::time::Instant) means nothing
//! to another process.
//!
//! Who is trusted: the memory is held by our own keeper and sealed from others, but it may be cut off
//! in the middle of a write, so a record that does not decode is an error, never a panic.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use termbridge_pty::{ExitStatus, path_from_bytes, path_to_bytes};
use termbridge_shell::{CommandSetup, Shell, StartUpFiles};
use termbridge_vt::{PendingOutput, Size};
use tokio::time::Instant;

use crate::command::CommandState;
use crate::info::{EndReason, Ended};
use crate::launch::Launch;
use crate::owner::Owner;
use crate::settings::SessionLimits;
use crate::task::shell::Suspended;

/// The format of [`SavedSession`]. No other is read.
pub(crate) const VERSION: u32 = 3;

/// A record that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("its record is of version {0}; this server reads version {VERSION}")]
    Version(u32),
    #[error("its record is damaged: {0}")]
    Damaged(String),
}

/// A session without its screens.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedSession {
    pub(crate) version: u32,
    /// A [`SavedOrigin`], which never changes.
    pub(crate) origin: ByteBuf,
    /// A [`SavedState`].
    pub(crate) state: ByteBuf,
    /// What changes with every byte that is printed.
    #[serde(default)]
    pub(crate) text: SavedText,
    /// A [`SavedRun`] each.
    #[serde(default)]
    pub(crate) runs: Vec<ByteBuf>,
}

/// What a session was made with.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedOrigin {
    pub(crate) launch: SavedLaunch,
    pub(crate) created: u64,
    /// Order of launch.
    #[serde(default)]
    pub(crate) number: u64,
}

/// Where a session stands, but for what it printed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedState {
    /// The terminal's size; a dump of another size is of before.
    pub(crate) size: (u16, u16),
    pub(crate) ended: Option<SavedEnd>,
    /// It is being stopped, for this reason.
    pub(crate) stopping: Option<SavedReason>,
    pub(crate) bells: u64,
    pub(crate) bells_heard: u64,
    pub(crate) at_prompt: bool,
    pub(crate) input: SavedInput,
    pub(crate) shell: Option<SavedShell>,
    /// A person drives: the size that the agents know.
    pub(crate) size_before: Option<(u16, u16)>,
    /// Bytes that people have typed.
    pub(crate) typed: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedLaunch {
    program: ByteBuf,
    args: Vec<ByteBuf>,
    env: Vec<(ByteBuf, ByteBuf)>,
    cwd: Option<ByteBuf>,
    size: (u16, u16),
    name: Option<String>,
    principal: String,
    client: String,
    agent: Option<String>,
    project: Option<String>,
    shell: Option<SavedShellKind>,
    keep_history: bool,
    start_limit_ms: u64,
    reads_start_up_files: bool,
    inherits: bool,
    #[serde(default)]
    base: Option<Vec<(ByteBuf, ByteBuf)>>,
    #[serde(default)]
    workspace: Option<ByteBuf>,
    #[serde(default)]
    session_timeout_ms: u64,
    #[serde(default)]
    scrollback_lines: Option<usize>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum SavedShellKind {
    Bash,
    Zsh,
    Fish,
    Posix,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum SavedReason {
    Itself,
    Stopped,
    Idle,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedEnd {
    /// The exit code; otherwise `signal`, otherwise it was lost.
    code: Option<i32>,
    signal: Option<(i32, bool)>,
    reason: SavedReason,
    at: u64,
}

/// Input that was accepted and not written yet.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedInput {
    /// Bytes that were written to the program before these.
    pub(crate) written: u64,
    pub(crate) pieces: Vec<SavedPiece>,
    /// What was typed for a command that has not begun.
    pub(crate) held: Vec<SavedPiece>,
    pub(crate) held_interrupt: bool,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedPiece {
    pub(crate) bytes: ByteBuf,
    #[serde(default)]
    pub(crate) pause_ms: u64,
    #[serde(default)]
    pub(crate) answers: bool,
    #[serde(default)]
    pub(crate) begun: bool,
}

/// A shell, but for its commands.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedShell {
    pub(crate) kind: Option<SavedShellKind>,
    /// The folder with its pipe and scripts.
    pub(crate) folder: ByteBuf,
    pub(crate) ready: bool,
    /// It has shown its first prompt and is about to wait there.
    pub(crate) first_prompt: bool,
    /// Where on its stack it waits at its prompt.
    pub(crate) prompt_places: Vec<u64>,
    pub(crate) place: SavedPlace,
    pub(crate) replaced: Option<String>,
    pub(crate) next_id: u64,
    pub(crate) stage: SavedStage,
    pub(crate) claimed_end: Option<SavedCommandState>,
    pub(crate) cwd: Option<ByteBuf>,
    pub(crate) typed: bool,
    pub(crate) respawns: u8,
    pub(crate) is_clean: bool,
    pub(crate) notice: Option<String>,
    /// The command that runs.
    pub(crate) open: Option<SavedOpen>,
    /// How often the output of commands that are over was cut.
    pub(crate) cuts: u64,
}

/// Bytes that are printed between commands and not judged yet.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedText {
    pub(crate) held: ByteBuf,
    pub(crate) gap: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SavedPlace {
    #[default]
    Away,
    Ended,
    Prompt,
    Continuation,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SavedStage {
    #[default]
    Away,
    Gap,
    Prompt,
    Fresh,
    /// Fresh once more.
    Redrawn,
    Idle,
    Typed,
}

/// What is known of the command that runs, but for its output.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedOpen {
    pub(crate) id: u64,
    /// It was not put into the pipe yet.
    pub(crate) unsent: bool,
    pub(crate) triggers: u8,
    pub(crate) awaits_prompt: bool,
    pub(crate) output_began: bool,
    pub(crate) announced: bool,
    pub(crate) asked_for_more: bool,
    pub(crate) ends_in_prompt: bool,
    pub(crate) said: Option<SavedCommandState>,
    pub(crate) unconfirmed: Option<i32>,
    pub(crate) prompted: bool,
    pub(crate) hook_ran: bool,
    pub(crate) interrupts: u8,
}

/// A command with its output.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedRun {
    pub(crate) id: u64,
    pub(crate) command: String,
    pub(crate) nonce: String,
    /// The request that it came with.
    pub(crate) key: Option<String>,
    pub(crate) setup: CommandSetup,
    pub(crate) returns_to: Option<ByteBuf>,
    pub(crate) message_len: u64,
    pub(crate) before: ByteBuf,
    pub(crate) suspended: Option<Suspended>,
    pub(crate) captured_from: u64,
    pub(crate) rest: Option<PendingOutput>,
    pub(crate) full_screen: bool,
    pub(crate) began: u64,
    pub(crate) ended: Option<u64>,
    pub(crate) state: SavedCommandState,
    pub(crate) cwd: Option<ByteBuf>,
    pub(crate) notice: Option<String>,
    pub(crate) output: SavedStore,
    pub(crate) background: Option<SavedBackground>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedBackground {
    pub(crate) size: (u16, u16),
    pub(crate) clean: ByteBuf,
    pub(crate) output: SavedStore,
}

/// Output, of which the beginning may be in a file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SavedStore {
    /// The file's name in the shell's folder.
    pub(crate) file: Option<String>,
    /// End, newlines, and whether it ends in one, of each piece of the file.
    pub(crate) pieces: Vec<(u64, u64, bool)>,
    pub(crate) kept_from: u64,
    pub(crate) memory: ByteBuf,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SavedCommandState {
    #[default]
    Running,
    Done(i32),
    SessionEnded(Option<i32>),
    Lost,
    Incomplete,
    NotTaken,
    Replaced(String),
}

/// Writes a record. Its types can always be written.
pub(crate) fn encode<T: Serialize>(record: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_into(record, &mut bytes);
    bytes
}

/// The same into a buffer that is used again.
pub(crate) fn encode_into<T: Serialize>(record: &T, bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut serializer = rmp_serde::Serializer::new(&mut *bytes).with_struct_map();
    if let Err(error) = record.serialize(&mut serializer) {
        tracing::error!(%error, "a session's record cannot be written");
        bytes.clear();
    }
}

/// Reads a record.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    rmp_serde::from_slice(bytes).map_err(|error| Unreadable::Damaged(error.to_string()))
}

impl SavedSession {
    /// Reads one, if it is of a version that is known.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let Versioned { version } = decode(bytes)?;
        if version != VERSION {
            return Err(Unreadable::Version(version));
        }
        decode(bytes)
    }
}

/// Milliseconds.
fn save_duration(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds since 1970.
pub(crate) fn save_time(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    save_duration(since)
}

pub(crate) fn load_time(saved: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_millis(saved)).unwrap_or(UNIX_EPOCH)
}

/// A moment of this process by the system's clock.
pub(crate) fn save_instant(moment: Instant) -> u64 {
    let now = SystemTime::now();
    save_time(now.checked_sub(moment.elapsed()).unwrap_or(UNIX_EPOCH))
}

/// That moment, as far as this process can say it: none is before the machine's start.
pub(crate) fn load_instant(saved: u64) -> Instant {
    let ago = SystemTime::now().duration_since(load_time(saved)).unwrap_or_default();
    let now = Instant::now();
    now.checked_sub(ago).unwrap_or(now)
}

pub(crate) fn save_path(path: &OsStr) -> ByteBuf {
    ByteBuf::from(path_to_bytes(path))
}

fn save_variable((name, value): (&OsString, &OsString)) -> (ByteBuf, ByteBuf) {
    (save_path(name), save_path(value))
}

pub(crate) fn load_path(saved: ByteBuf) -> PathBuf {
    PathBuf::from(load_text(saved))
}

/// Any bytes are a text where records are kept.
fn load_text(saved: ByteBuf) -> OsString {
    path_from_bytes(saved.into_vec()).unwrap_or_default()
}

pub(crate) fn save_size(size: Size) -> (u16, u16) {
    (size.cols, size.rows)
}

pub(crate) fn load_size((cols, rows): (u16, u16)) -> Size {
    Size { cols, rows }.clamped()
}

impl From<Shell> for SavedShellKind {
    fn from(shell: Shell) -> Self {
        match shell {
            Shell::Bash => Self::Bash,
            Shell::Zsh => Self::Zsh,
            Shell::Fish => Self::Fish,
            Shell::Posix => Self::Posix,
        }
    }
}

impl From<SavedShellKind> for Shell {
    fn from(saved: SavedShellKind) -> Self {
        match saved {
            SavedShellKind::Bash => Self::Bash,
            SavedShellKind::Zsh => Self::Zsh,
            SavedShellKind::Fish => Self::Fish,
            SavedShellKind::Posix => Self::Posix,
        }
    }
}

impl From<EndReason> for SavedReason {
    fn from(reason: EndReason) -> Self {
        match reason {
            // Never saved: a keeper's records die with it.
            EndReason::Itself | EndReason::KeeperDied => Self::Itself,
            EndReason::Stopped => Self::Stopped,
            EndReason::Idle => Self::Idle,
        }
    }
}

impl From<SavedReason> for EndReason {
    fn from(saved: SavedReason) -> Self {
        match saved {
            SavedReason::Itself => Self::Itself,
            SavedReason::Stopped => Self::Stopped,
            SavedReason::Idle => Self::Idle,
        }
    }
}

impl From<&Ended> for SavedEnd {
    fn from(ended: &Ended) -> Self {
        let (code, signal) = match ended.status {
            ExitStatus::Code(code) => (Some(code), None),
            ExitStatus::Signal { number, core_dumped } => (None, Some((number, core_dumped))),
            ExitStatus::Lost => (None, None),
        };
        Self { code, signal, reason: ended.reason.into(), at: save_time(ended.at) }
    }
}

impl From<SavedEnd> for Ended {
    fn from(saved: SavedEnd) -> Self {
        let status = match (saved.code, saved.signal) {
            (Some(code), _) => ExitStatus::Code(code),
            (None, Some((number, core_dumped))) => ExitStatus::Signal { number, core_dumped },
            (None, None) => ExitStatus::Lost,
        };
        Self { status, reason: saved.reason.into(), at: load_time(saved.at) }
    }
}

impl From<&CommandState> for SavedCommandState {
    fn from(state: &CommandState) -> Self {
        match state {
            CommandState::Running => Self::Running,
            CommandState::Done { exit_code } => Self::Done(*exit_code),
            CommandState::SessionEnded { exit_code } => Self::SessionEnded(*exit_code),
            CommandState::Lost | CommandState::Sent => Self::Lost,
            CommandState::Incomplete => Self::Incomplete,
            CommandState::NotTaken => Self::NotTaken,
            CommandState::Replaced { program } => Self::Replaced(program.clone()),
        }
    }
}

impl From<SavedCommandState> for CommandState {
    fn from(saved: SavedCommandState) -> Self {
        match saved {
            SavedCommandState::Running => Self::Running,
            SavedCommandState::Done(exit_code) => Self::Done { exit_code },
            SavedCommandState::SessionEnded(exit_code) => Self::SessionEnded { exit_code },
            SavedCommandState::Lost => Self::Lost,
            SavedCommandState::Incomplete => Self::Incomplete,
            SavedCommandState::NotTaken => Self::NotTaken,
            SavedCommandState::Replaced(program) => Self::Replaced { program },
        }
    }
}

impl From<&Launch> for SavedLaunch {
    fn from(launch: &Launch) -> Self {
        Self {
            program: save_path(&launch.program),
            args: launch.args.iter().map(|arg| save_path(arg)).collect(),
            env: launch.env.iter().map(|(name, value)| save_variable((name, value))).collect(),
            cwd: launch.cwd.as_deref().map(|cwd| save_path(cwd.as_os_str())),
            size: save_size(launch.size),
            name: launch.name.clone(),
            principal: launch.owner.principal.clone(),
            client: launch.owner.client.clone(),
            agent: launch.owner.agent.clone(),
            project: launch.project.clone(),
            shell: launch.shell.map(Into::into),
            keep_history: launch.keep_history,
            start_limit_ms: save_duration(launch.start_limit),
            reads_start_up_files: launch.start_up_files == StartUpFiles::Read,
            inherits: launch.inherits,
            base: launch.base.as_deref().map(|base| base.iter().map(save_variable).collect()),
            workspace: launch.owner.workspace.as_deref().map(|path| save_path(path.as_os_str())),
            session_timeout_ms: save_duration(launch.limits.session_timeout),
            scrollback_lines: launch.limits.scrollback_lines,
        }
    }
}

impl From<SavedLaunch> for Launch {
    fn from(saved: SavedLaunch) -> Self {
        let text = load_text;
        Self {
            program: text(saved.program),
            args: saved.args.into_iter().map(text).collect(),
            env: saved.env.into_iter().map(|(name, value)| (text(name), text(value))).collect(),
            cwd: saved.cwd.map(load_path),
            size: load_size(saved.size),
            name: saved.name,
            owner: Owner {
                principal: saved.principal,
                client: saved.client,
                agent: saved.agent,
                workspace: saved.workspace.map(load_path),
            },
            project: saved.project,
            shell: saved.shell.map(Into::into),
            keep_history: saved.keep_history,
            start_limit: Duration::from_millis(saved.start_limit_ms),
            start_up_files: match saved.reads_start_up_files {
                true => StartUpFiles::Read,
                false => StartUpFiles::Skip,
            },
            inherits: saved.inherits,
            base: saved.base.map(|base| {
                Arc::new(base.into_iter().map(|(name, value)| (text(name), text(value))).collect())
            }),
            limits: SessionLimits {
                session_timeout: Duration::from_millis(saved.session_timeout_ms),
                scrollback_lines: saved.scrollback_lines,
            },
        }
    }
}
