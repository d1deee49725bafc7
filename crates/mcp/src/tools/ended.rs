//! A command that ends by what is typed: its answer comes with the keys that gave it the last it asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use termbridge_bridge::Until;
use termbridge_session::{CommandReport, Session, SessionId};

use super::standing::Standing;
use crate::bound::{DEFAULT_MAX_BYTES, bound};
use crate::error::ToolError;
use crate::tool::Context;

/// Bytes of output that are compared: a screen of it can still change.
const COMPARED: u64 = 64 * 1024;
/// Commands of which it is remembered; with more, all are forgotten, which shows more than is new.
const MAX_REMEMBERED: usize = 1000;

/// What was shown of commands that run, by session.
pub(crate) type ShownOutput = Arc<Mutex<HashMap<SessionId, Running>>>;

/// A command that runs, and what was shown of it.
#[derive(Debug)]
pub(crate) struct Running {
    session: SessionId,
    command: u64,
    /// What could still change then begins there.
    from: u64,
    text: String,
}

/// How it ended, and what it printed since.
#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    output: String,
    #[serde(flatten)]
    standing: Standing,
}

impl Running {
    /// The command that runs in a session, if one does, and what was last shown of it.
    pub(super) async fn of(
        context: &Context,
        session: &Session,
    ) -> Result<Option<Self>, ToolError> {
        let info = session.info().await?;
        let Some(command) = info.shell.and_then(|shell| shell.running) else { return Ok(None) };
        let shown = context.shown().remove(&info.id).filter(|shown| shown.command == command);
        match shown {
            Some(shown) => Ok(Some(shown)),
            None => Self::now(context, &info.id, command).await,
        }
    }

    async fn now(
        context: &Context,
        session: &SessionId,
        command: u64,
    ) -> Result<Option<Self>, ToolError> {
        let Some(report) = read(context, session, command, 0, 0).await? else { return Ok(None) };
        let from = report.final_bytes;
        let report = read(context, session, command, from, COMPARED).await?;
        let text = report.map(|report| report.output).unwrap_or_default();
        Ok(Some(Self { session: session.clone(), command, from, text }))
    }

    /// Remembers that what a command has printed so far was shown.
    pub(super) async fn note_shown(
        context: &Context,
        session: &SessionId,
        command: u64,
    ) -> Result<(), ToolError> {
        if let Some(running) = Self::now(context, session, command).await? {
            let mut all = context.shown();
            if all.len() >= MAX_REMEMBERED {
                all.clear();
            }
            all.insert(session.clone(), running);
        }
        Ok(())
    }

    /// How it ended, if it did.
    pub(super) async fn ended(self, context: &Context) -> Result<Option<Ended>, ToolError> {
        let Self { session, command, from, text } = self;
        let Some(report) = read(context, &session, command, from, COMPARED).await? else {
            return Ok(None);
        };
        if report.is_running() {
            Self::note_shown(context, &session, command).await?;
            return Ok(None);
        }
        let standing = Standing::of(context, &session, &report, Until::Over).await;
        let resource = format!("term://{session}/command/{command}");
        let mut output = new_lines(&text, &report.output);
        let read = report.output_start + report.output.len() as u64;
        if read < report.output_bytes {
            // The end of what came meanwhile.
            let most = DEFAULT_MAX_BYTES as u64;
            let from = report.output_bytes.saturating_sub(most).max(read);
            let end = self::read(context, &session, command, from, most).await?;
            output.push_str(&end.map(|end| end.output).unwrap_or_default());
        }
        let output = bound(output, DEFAULT_MAX_BYTES, &resource).text;
        Ok(Some(Ended { output, standing }))
    }
}

impl Ended {
    /// `exit 0`, and what there is to say.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = self.standing.words();
        words.extend(self.standing.note.clone());
        words
    }

    pub(super) fn text(&self, mut facts: Vec<String>) -> String {
        let newline = match self.output.is_empty() || self.output.ends_with('\n') {
            true => "",
            false => "\n",
        };
        facts.extend(self.words());
        format!("{}{newline}[{}]", self.output, facts.join(" | "))
    }
}

async fn read(
    context: &Context,
    session: &SessionId,
    command: u64,
    from: u64,
    most: u64,
) -> Result<Option<CommandReport>, ToolError> {
    Ok(context.bridge.backend().command(session, command, from, most).await?)
}

/// The lines from the first on that differs.
fn new_lines(before: &str, now: &str) -> String {
    let mut same = 0;
    for (old, new) in before.split_inclusive('\n').zip(now.split_inclusive('\n')) {
        if old != new || !new.ends_with('\n') {
            break;
        }
        same += new.len();
    }
    now[same..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::new_lines;

    #[test]
    fn lines_that_were_there_are_left_out() {
        assert_eq!(new_lines("", "a\n"), "a\n");
        assert_eq!(new_lines("a\nName? ", "a\nName? b\nhi\n"), "Name? b\nhi\n");
        assert_eq!(new_lines("a\nb\n", "a\nB\nc\n"), "B\nc\n");
        assert_eq!(new_lines("a\n", "a\n"), "");
    }
}
