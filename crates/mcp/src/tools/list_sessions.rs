//! `list_sessions`.

use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::{Bridge, Listed};
use termbridge_session::{EndReason, SessionInfo, State};

use crate::bound::in_one_line;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct ListSessions;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Only those of this agent
    agent_id: Option<String>,
    /// Finished ones too
    #[serde(default)]
    all: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    sessions: Vec<Row>,
    // What could not be listed, and why. Rare, so no schema is spent on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Row {
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    command: String,
    cwd: String,
    rows: u16,
    cols: u16,
    /// `running` or `exited`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Seconds since 1970.
    created: u64,
    last_active: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    // Of a shared server: the client's name and folder. Only there, so no schema is spent on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    busy: bool,
    // A shell that waits for a command: the opposite of `busy`, so no schema is spent on it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    idle: bool,
    /// Used without `session_id`.
    current: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    foreground: Option<String>,
    target: String,
    // A person has taken over; a person opened it and shares it; its window does not answer; the keeper process died. Rare, so no
    // schema is spent on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    driver: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    shared: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    away: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    lost: bool,
}

impl Row {
    pub(crate) fn of(info: SessionInfo, bridge: &Bridge) -> Self {
        let ended = match &info.state {
            State::Running => None,
            State::Exited(ended) => Some(ended),
        };
        Self {
            idle: info.is_idle_shell(),
            target: bridge.target_of(&info.id).to_owned(),
            session_id: info.id.to_string(),
            name: info.name,
            command: info.command,
            cwd: info.cwd.display().to_string(),
            rows: info.size.rows,
            cols: info.size.cols,
            state: if ended.is_some() { "exited" } else { "running" },
            exit_code: ended.and_then(termbridge_session::Ended::exit_code),
            signal: ended.and_then(termbridge_session::Ended::signal),
            created: seconds(info.created),
            last_active: seconds(info.last_active),
            pid: info.pid,
            project: info.project,
            busy: info.shell.is_some_and(|shell| shell.running.is_some()),
            current: false,
            shared: info.owner.is_everyone(),
            client: Some(info.owner.client).filter(|client| !client.is_empty()),
            agent: info.owner.agent,
            foreground: info.foreground,
            driver: info.driver.map(|_| "person"),
            away: info.away,
            lost: ended.is_some_and(|ended| ended.reason == EndReason::KeeperDied),
        }
    }

    /// The same, as the current one.
    pub(crate) fn into_current(mut self) -> Self {
        self.current = true;
        self
    }

    pub(crate) fn text(&self) -> String {
        let name = self.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
        let state = match (self.exit_code, &self.signal) {
            (Some(code), _) => format!("exited {code}"),
            (None, Some(signal)) => format!("ended by {signal}"),
            (None, None) if self.lost => "lost: the keeper process died".to_owned(),
            (None, None) if self.busy => "busy".to_owned(),
            (None, None) if self.idle => "idle".to_owned(),
            (None, None) => self.state.to_owned(),
        };
        let mut notes = String::new();
        if self.current {
            notes.push_str(", current");
        }
        if self.driver.is_some() {
            notes.push_str(", a person drives");
        }
        if self.shared {
            notes.push_str(", shared by a person");
        }
        if self.away {
            notes.push_str(", its window does not answer");
        }
        if self.target != "local" {
            notes.push_str(&format!(", target {}", self.target));
        }
        let front = match &self.foreground {
            Some(front) => format!(" ({} in front)", in_one_line(front)),
            None => String::new(),
        };
        format!(
            "{}{name}: {} — {state}{front}{notes}, {}x{}, {}",
            self.session_id,
            in_one_line(&self.command),
            self.cols,
            self.rows,
            in_one_line(&self.cwd)
        )
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Tool for ListSessions {
    const NAME: &'static str = "list_sessions";
    const TITLE: &'static str = "List sessions";
    const DESCRIPTION: &'static str = "The sessions and what runs in them.";
    const HINTS: Hints = Hints::READS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let wanted = |info: &SessionInfo| {
            (arguments.all || info.state == State::Running)
                && (arguments.agent_id.is_none() || info.owner.agent == arguments.agent_id)
        };
        let Listed { sessions, notes } = context.bridge.sessions(&context.caller).await?;
        let row = |info: SessionInfo| {
            let owner = context.caller.for_agent(info.owner.agent.as_deref());
            let current = context.bridge.current(&owner);
            let is_current = current.as_ref() == Some(&info.id);
            let row = Row::of(info, &context.bridge);
            if is_current { row.into_current() } else { row }
        };
        let sessions: Vec<Row> = sessions.into_iter().filter(wanted).map(row).collect();
        let mut lines: Vec<String> = match sessions.as_slice() {
            [] => vec!["no sessions".to_owned()],
            rows => rows.iter().map(Row::text).collect(),
        };
        lines.extend(notes.iter().map(|note| format!("[{note}]")));
        Ok(Reply { text: lines.join("\n"), answer: Answer { sessions, notes } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_whose_it_is() {
        let row = Row {
            session_id: "s1".into(),
            name: None,
            command: "bash".into(),
            cwd: "/work".into(),
            rows: 24,
            cols: 80,
            state: "running",
            exit_code: None,
            signal: None,
            created: 0,
            last_active: 0,
            pid: None,
            agent: None,
            client: None,
            project: None,
            busy: false,
            idle: false,
            current: true,
            foreground: None,
            target: "local".into(),
            driver: None,
            shared: false,
            away: false,
            lost: false,
        };
        assert_eq!(row.text(), "s1: bash — running, current, 80x24, /work");
        let row = Row { idle: true, ..row };
        assert_eq!(row.text(), "s1: bash — idle, current, 80x24, /work");
        let row = Row {
            idle: false,
            driver: Some("person"),
            shared: true,
            away: true,
            target: "vscode".into(),
            ..row
        };
        assert_eq!(
            row.text(),
            "s1: bash — running, current, a person drives, shared by a person, its window does not answer, target vscode, 80x24, /work"
        );
    }
}
