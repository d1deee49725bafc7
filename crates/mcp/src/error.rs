//! Errors as an agent sees them: a code, a message, and what to do next.

pub(crate) mod hint;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use termbridge_bridge::BridgeError;
use termbridge_bridge::store::StoreError;
use termbridge_session::SessionError;

use crate::bound::bound;

/// Bytes of an error's message: what a caller gave is part of some.
const MAX_MESSAGE: usize = 8 * 1024;

/// A tool's error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) next_tools: Vec<&'static str>,
}

/// Tools of the toolset `compat` that do what one of ours does.
const COMPAT_NAMES: [(&str, &str); 7] = [
    ("list_sessions", "list"),
    ("create_session", "create"),
    ("execute_command", "run"),
    ("get_terminal_output", "read"),
    ("view_screen", "read"),
    ("send_keys", "input"),
    ("stop_app", "close"),
];

/// The codes of the tool contract that the terminal tools use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    SessionNotFound,
    SessionDead,
    InvalidInput,
    ResourceLimit,
    InternalError,
    Busy,
    Cancelled,
    NotSupported,
    CommandBlocked,
    PathNotAllowed,
    RateLimited,
    Forbidden,
    Timeout,
    BackendUnavailable,
    /// The server was restarted during the call.
    ServerRestarted,
}

impl Code {
    fn name(self) -> &'static str {
        match self {
            Self::SessionNotFound => "SESSION_NOT_FOUND",
            Self::SessionDead => "SESSION_DEAD",
            Self::InvalidInput => "INVALID_INPUT",
            Self::ResourceLimit => "RESOURCE_LIMIT",
            Self::InternalError => "INTERNAL_ERROR",
            Self::Busy => "BUSY",
            Self::Cancelled => "CANCELLED",
            Self::NotSupported => "NOT_SUPPORTED",
            Self::CommandBlocked => "COMMAND_BLOCKED",
            Self::PathNotAllowed => "PATH_NOT_ALLOWED",
            Self::RateLimited => "RATE_LIMITED",
            Self::Forbidden => "FORBIDDEN",
            Self::Timeout => "TIMEOUT",
            Self::BackendUnavailable => "BACKEND_UNAVAILABLE",
            Self::ServerRestarted => "SERVER_RESTARTED",
        }
    }

    /// The same call may work later, with nothing changed.
    fn retryable(self) -> bool {
        matches!(self, Self::ResourceLimit | Self::Busy | Self::Cancelled | Self::RateLimited)
    }
}

impl ToolError {
    pub(crate) fn new(
        code: Code,
        message: impl Into<String>,
        hint: impl Into<String>,
        next_tools: &'static [&'static str],
    ) -> Self {
        let next_tools = next_tools.to_vec();
        Self { code, message: message_of(message), hint: message_of(hint), next_tools }
    }

    pub(crate) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message, hint, &[])
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn cancelled() -> Self {
        let message = "the wait was cancelled; the program continues";
        Self::new(Code::Cancelled, message, "", &["view_screen"])
    }

    /// The client closed its end while the call waited. Over stdio that ends the server.
    pub(crate) fn disconnected() -> Self {
        let message = "the client closed the connection: the wait is over, and over stdio the server \
                       now ends, and every program with it";
        Self::new(Code::Cancelled, message, "Keep stdin open until the answer arrives.", &[])
    }

    /// The server ended while the call waited, and leaves everything to the next one.
    pub(crate) fn server_ends() -> Self {
        let message = "the server ends or is replaced: the wait is over, and programs keep running";
        let hint = "Connect again, and look before you repeat the call: list_sessions, get_terminal_output, view_screen.";
        let next = &["list_sessions", "get_terminal_output", "view_screen"];
        Self::new(Code::ServerRestarted, message, hint, next)
    }

    /// The server was restarted during a call that cannot run again.
    pub(crate) fn server_restarted(how_far: &str, hint: &str) -> Self {
        let message = format!("the server was restarted during this call: {how_far}");
        Self::new(Code::ServerRestarted, message, hint, &["list_sessions", "view_screen"])
    }

    /// Limits the error to tools that the client has. The tool that failed is not suggested.
    pub(crate) fn for_tools(mut self, tool: &str, offered: impl Fn(&str) -> bool) -> Self {
        let usable = |name: &'static str| {
            let other = COMPAT_NAMES.iter().find(|(own, _)| *own == name).map(|(_, other)| *other);
            [Some(name), other].into_iter().flatten().find(|name| offered(name))
        };
        self.next_tools = self.next_tools.into_iter().filter_map(&usable).collect();
        self.next_tools.retain(|next| *next != tool);
        self.hint = hint::for_tools(&self.hint, &hint::NAMES, usable);
        self
    }

    /// The fault is the server's own.
    pub fn is_internal(&self) -> bool {
        self.code == Code::InternalError
    }

    /// `[CODE] message`, below it the hint, and the tools that it does not name.
    pub(crate) fn text(&self) -> String {
        text(self.code.name(), &self.message, &self.hint, &self.next_tools)
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let code = self.code.name();
        let text = self.text();
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = Some(json!({
            "ok": false,
            "error": {
                "code": code,
                "message": self.message,
                "hint": self.hint,
                "retryable": self.code.retryable(),
                "next_tools": self.next_tools,
            }
        }));
        result
    }
}

/// A message for a client, of which the middle is cut if it is long.
pub(crate) fn message_of(text: impl Into<String>) -> String {
    bound(text.into(), MAX_MESSAGE, "the message is too long").text
}

/// The text of an error: all that a model needs of it.
pub(crate) fn text(code: &str, message: &str, hint: &str, next_tools: &[&str]) -> String {
    let mut text = format!("[{code}] {message}");
    if !hint.is_empty() {
        text.push_str(&format!("\n{hint}"));
    }
    let unnamed: Vec<&str> =
        next_tools.iter().copied().filter(|name| !hint.contains(name)).collect();
    if !unnamed.is_empty() {
        text.push_str(&format!("\nNext: {}", unnamed.join(", ")));
    }
    text
}

impl From<BridgeError> for ToolError {
    fn from(error: BridgeError) -> Self {
        let message = error.to_string();
        let (code, hint, next_tools): (_, &str, &'static [&'static str]) = match error {
            BridgeError::Session(error) => return error.into(),
            BridgeError::Blocked { .. } => (
                Code::CommandBlocked,
                "Do it another way, or ask the user. Only they can change the rules: in the configuration file \
                 (`termbridge policy test` explains a decision), or where the reason says.",
                &[],
            ),
            BridgeError::PathNotAllowed { .. } => {
                (Code::PathNotAllowed, "Pass a `cwd` inside an allowed directory.", &[])
            }
            BridgeError::SessionOutside { .. } => (
                Code::PathNotAllowed,
                "Run `cd` alone, with the absolute path of an allowed directory, or pass such a path as `cwd`.",
                &["execute_command"],
            ),
            BridgeError::FolderFull { .. } => (
                Code::ResourceLimit,
                "Use one that you have, or stop one that you no longer need with stop_app. Only the user can \
                 change the limit: termbridge.maxConcurrentSessions (or terminalMcp.maxConcurrentSessions) in the \
                 settings of their editor.",
                &["list_sessions", "stop_app"],
            ),
            BridgeError::RateLimited(_) => {
                (Code::RateLimited, "Wait that long, then try again.", &[])
            }
            BridgeError::Forbidden { has_agent_id, .. } => (
                Code::Forbidden,
                match has_agent_id {
                    true => {
                        "Use a session of your own: list_sessions with your agent_id shows them."
                    }
                    false => "Use a session of your own: list_sessions shows them.",
                },
                &["list_sessions", "create_session"],
            ),
            BridgeError::MissingScope(_) => (
                Code::Forbidden,
                "Ask the user for a token that permits it: `termbridge token create --scopes write`.",
                &[],
            ),
            BridgeError::Paused => (
                Code::Busy,
                "Reading still works. Do not retry: ask the user to resume you in the editor (the command \
                 “termbridge: Resume Agents”).",
                &["get_terminal_output", "view_screen"],
            ),
            BridgeError::NoCurrentSession => (
                Code::SessionNotFound,
                "Give session_id, or run something with execute_command first.",
                &["list_sessions", "execute_command"],
            ),
            BridgeError::NameBusy { .. } => (
                Code::Busy,
                "Wait for it with get_terminal_output (its session_id, until \"end\", wait_ms), answer it with \
                 send_keys if it waits for input, or use another `name`.",
                &["get_terminal_output", "send_keys"],
            ),
            BridgeError::NameTaken { .. } => (
                Code::InvalidInput,
                "Use that session, end it with stop_app, or choose another `name`.",
                &["stop_app"],
            ),
            BridgeError::NotAlive { .. } => (
                Code::SessionDead,
                "Switch to a running one, or create one with create_session.",
                &["create_session", "list_sessions"],
            ),
            BridgeError::NoCommand { .. } => (
                Code::InvalidInput,
                "Leave command_id out to read everything that the session printed.",
                &["get_terminal_output"],
            ),
            BridgeError::NotAShell(_) => (
                Code::InvalidInput,
                "Use bash, zsh, fish, dash or another POSIX shell; launch_app starts programs.",
                &["launch_app"],
            ),
            BridgeError::Invalid(_) => (Code::InvalidInput, "", &[]),
            BridgeError::NoScreens => (Code::NotSupported, "", &[]),
            BridgeError::BadDirectory { .. } => {
                (Code::InvalidInput, "Give an existing directory as `cwd`.", &[])
            }
            BridgeError::FileSystem(_) => (
                Code::Timeout,
                "A network file system may be unreachable: use another directory, or try again later.",
                &[],
            ),
            BridgeError::NoHistory => {
                (Code::NotSupported, "The user started the server without history.", &[])
            }
            BridgeError::History(StoreError::Invalid(_) | StoreError::BadCursor) => {
                (Code::InvalidInput, "", &[])
            }
            BridgeError::History(StoreError::Busy) => {
                (Code::Busy, "Try again in a moment.", &["search_history"])
            }
            _ => (Code::InternalError, "See the server's log.", &[]),
        };
        Self::new(code, message, hint, next_tools)
    }
}

impl From<SessionError> for ToolError {
    fn from(error: SessionError) -> Self {
        let message = error.to_string();
        let (code, hint, next_tools): (_, &str, &'static [&'static str]) = match &error {
            SessionError::NotFound(_) => (
                Code::SessionNotFound,
                "Use list_sessions for the ids in use, or create_session for a new one.",
                &["list_sessions", "create_session"],
            ),
            SessionError::Dead { .. } => (
                Code::SessionDead,
                "Its last screen can still be read with view_screen; restart_app runs it again.",
                &["view_screen", "restart_app"],
            ),
            SessionError::Withdrawn { .. } => (
                Code::SessionDead,
                "Use another one: list_sessions shows them.",
                &["list_sessions", "create_session"],
            ),
            SessionError::Spawn(spawn) => return spawn_error(spawn, message),
            SessionError::Keys(_) => {
                (Code::InvalidInput, "To send text as it is, use `text` instead of `keys`.", &[])
            }
            SessionError::Mouse(_) | SessionError::TextNotOnScreen(_) => {
                (Code::InvalidInput, "view_screen shows what is there.", &["view_screen"])
            }
            SessionError::Invalid(_) => (Code::InvalidInput, "", &[]),
            SessionError::CommandTooLong { .. } => (
                Code::InvalidInput,
                "Write it to a file, in several commands with here-documents (cat >> file <<'END') or \
                 with an editor, and run that file.",
                &["execute_command"],
            ),
            SessionError::TooManySessions { .. } => (
                Code::ResourceLimit,
                "Stop one that you no longer need with stop_app.",
                &["list_sessions", "stop_app"],
            ),
            SessionError::InputTooLong { .. } => (
                Code::InvalidInput,
                "Write it to a file for the program to read, or type it in several pieces.",
                &[],
            ),
            SessionError::InputFull { .. } => (
                Code::Busy,
                "Wait until it reads again, or interrupt it with stop_app.",
                &["wait_for", "view_screen", "stop_app"],
            ),
            SessionError::HiddenLine => (
                Code::Forbidden,
                "With the termbridge extension, the user's editor asks them for it: wait. Otherwise ask the user to \
                 run the command in a terminal of their own, to supply the secret another way (ssh-agent, a credential \
                 helper, an askpass program), or to set secrets_by_person = false. Ctrl+C ends the \
                 question.",
                &[],
            ),
            SessionError::LinesWaiting { .. } => {
                (Code::Busy, "Try again in a moment.", &["view_screen"])
            }
            SessionError::TakenOver(_) => (
                Code::Busy,
                "A person types there now. Look with view_screen, wait, or work in another session until they hand \
                 it back.",
                &["view_screen", "wait_for", "create_session"],
            ),
            SessionError::ShellBusy(_) => (
                Code::Busy,
                "It runs a command, perhaps a person's. Look with get_terminal_output, \
                 interrupt with send_keys Ctrl+C, or leave session_id out to run elsewhere.",
                &["get_terminal_output", "send_keys", "execute_command"],
            ),
            SessionError::ShellNotReady { .. } => (
                Code::Timeout,
                "Its start-up files take long or wait for input: look with view_screen, answer with \
                 send_keys, or name another `shell`.",
                &["view_screen", "send_keys", "create_session"],
            ),
            SessionError::TakesNoCommands(_) => (
                Code::InvalidInput,
                "send_keys types to it; execute_command without session_id uses a shell.",
                &["send_keys", "execute_command"],
            ),
            SessionError::ShellReplaced { .. } => (
                Code::Busy,
                "restart_app brings the shell back; send_keys types to what took its place.",
                &["restart_app", "send_keys", "create_session"],
            ),
            SessionError::Gone => (
                Code::InternalError,
                "Other sessions are not affected: list_sessions shows them. The server's log has more.",
                &["list_sessions"],
            ),
            SessionError::NotSupported(_) => (Code::NotSupported, "", &[]),
            SessionError::Unavailable(_) => (
                Code::BackendUnavailable,
                "Leave `target` out to use a terminal of the server's own, or ask the user to open the editor.",
                &[],
            ),
            SessionError::Changing(_) => (Code::Busy, "Try again when that is done.", &[]),
            _ => (Code::InternalError, "See the server's log.", &[]),
        };
        Self::new(code, message, hint, next_tools)
    }
}

/// Bytes of a PATH that are worth showing.
const LONGEST_PATH: usize = 200;

fn spawn_error(error: &termbridge_session::SpawnError, message: String) -> ToolError {
    use termbridge_session::SpawnError as Spawn;
    let message = match error {
        Spawn::NotFound { program, searched: Some(path) } if path.len() > LONGEST_PATH => {
            let folders = path.split(':').count();
            format!("program not found: {program} (searched the {folders} folders of PATH)")
        }
        _ => message,
    };
    let (code, hint) = match error {
        Spawn::NotFound { program, .. } if program.contains(' ') => (
            Code::InvalidInput,
            "`command` is one program: put its arguments in `args`, or run a shell line with \
             command \"sh\" and args [\"-c\", \"…\"].",
        ),
        Spawn::NotFound { .. } => {
            (Code::InvalidInput, "Check the name, or give the program's full path.")
        }
        Spawn::BadCwd { .. } => (Code::InvalidInput, "Give an existing directory as `cwd`."),
        Spawn::ResourceLimit { .. } => (Code::ResourceLimit, "Stop a session with stop_app."),
        Spawn::Unsupported => {
            (Code::NotSupported, "Run termbridge inside WSL: its terminals work there.")
        }
        Spawn::Attach(_)
        | Spawn::KeeperGone
        | Spawn::KeeperSilent { .. }
        | Spawn::KeeperStart { .. }
        | Spawn::Terminal { .. } => {
            (Code::InternalError, "Try once more; if it fails again, see the server's log.")
        }
        _ => (Code::InvalidInput, ""),
    };
    // Where there are no terminals, no tool makes one.
    let next: &[&str] = if code == Code::NotSupported { &[] } else { &["launch_app"] };
    ToolError::new(code, message, hint, next)
}

#[cfg(test)]
mod tests {
    use termbridge_bridge::session::{SessionError, SpawnError};

    use super::{Code, ToolError};

    #[test]
    fn a_command_that_is_too_long_has_a_next_step() {
        let error = ToolError::from(SessionError::CommandTooLong { bytes: 900_010, most: 524_288 });
        assert!(error.hint.contains("file"), "{}", error.hint);
        assert_eq!(error.next_tools, ["execute_command"]);
    }

    #[test]
    fn where_there_are_no_terminals_the_hint_is_wsl_and_no_tool_comes_next() {
        let error = ToolError::from(SessionError::Spawn(SpawnError::Unsupported));
        assert_eq!(error.code, Code::NotSupported);
        assert!(error.hint.contains("WSL"), "{}", error.hint);
        assert!(error.next_tools.is_empty(), "{:?}", error.next_tools);
    }
}
