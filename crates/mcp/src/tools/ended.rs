//! A command that ends by what is typed: its answer comes with the keys that gave it the last it asked for.

use serde::Serialize;
use termbridge_bridge::Until;
use termbridge_session::{CommandReport, Session, SessionId, Waited};

use super::standing::Standing;
use crate::bound::DEFAULT_MAX_BYTES;
use crate::error::ToolError;
use crate::told::ToldOutput;
use crate::tool::Context;
use crate::view::View;

/// Bytes of output that can still change and are compared.
const COMPARED: u64 = 64 * 1024;

/// A command that runs, and how far its output was told.
#[derive(Debug)]
pub(super) struct Running {
    session: SessionId,
    told: ToldOutput,
}

/// How it ended, and what it printed that was not told.
#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    output: String,
    #[serde(flatten)]
    standing: Standing,
    #[serde(skip)]
    shows_cwd: bool,
}

/// Remembers that all was told that a command had printed when the report was made.
pub(super) async fn note_told(
    context: &Context,
    session: &SessionId,
    report: &CommandReport,
) -> Result<(), ToolError> {
    let open = report.output_bytes.saturating_sub(report.final_bytes).min(COMPARED);
    let text = match open {
        0 => String::new(),
        _ => read(context, session, report.id, report.final_bytes, open).await?.output,
    };
    context.told.note_output(session, ToldOutput::new(report, text));
    Ok(())
}

impl Running {
    /// The command that runs in a session, if one does. What was not told of it by now was printed before
    /// anyone knew of it.
    pub(super) async fn of(
        context: &Context,
        session: &Session,
    ) -> Result<Option<Self>, ToolError> {
        let info = session.info().await?;
        let Some(command) = info.shell.and_then(|shell| shell.running) else { return Ok(None) };
        let session = info.id;
        if context.told.output(&session, command).is_none() {
            let report = read(context, &session, command, 0, 0).await?;
            note_told(context, &session, &report).await?;
        }
        let told = context.told.output(&session, command);
        Ok(told.map(|told| Self { session, told }))
    }

    /// How it ended, if it did. If it goes on, what was shown of the screen counts as told where it is all
    /// that came.
    pub(super) async fn ended(
        self,
        context: &Context,
        waited: Option<&Waited>,
        view: Option<&View>,
    ) -> Result<Option<Ended>, ToolError> {
        let Self { session, told } = self;
        let report = read(context, &session, told.command, told.from, COMPARED).await?;
        if report.is_running() {
            let then = waited.and_then(|waited| waited.command.as_deref());
            if let (Some(then), Some(view)) = (then, view)
                && view.shows_lines(then.output_lines.saturating_sub(told.lines))
            {
                note_told(context, &session, then).await?;
            }
            return Ok(None);
        }
        let standing = Standing::of(context, &session, &report, Until::Over).await;
        let output = untold(context, &session, &told, &report).await?;
        let shows_cwd =
            standing.cwd.as_ref().is_some_and(|cwd| context.told.is_new_cwd(&session, cwd));
        Ok(Some(Ended { output, standing, shows_cwd }))
    }
}

/// The output that was not told, within the bounds of an answer.
async fn untold(
    context: &Context,
    session: &SessionId,
    told: &ToldOutput,
    report: &CommandReport,
) -> Result<String, ToolError> {
    let same = same_lines(&told.text, &report.output);
    let begin = report.output_start + same as u64;
    let most = DEFAULT_MAX_BYTES;
    let new = &report.output[same..];
    if report.output_bytes.saturating_sub(begin) <= most as u64 {
        return Ok(new.to_owned());
    }
    let head = &new[..line_end(new, most / 2)];
    let tail_from = report.output_bytes - most as u64 / 2;
    let end = read(context, session, told.command, tail_from, most as u64 / 2).await?;
    let tail = &end.output[end.output.find('\n').map_or(0, |at| at + 1)..];
    let cut = report.output_bytes - begin - (head.len() + tail.len()) as u64;
    let rest = context.rest_of(session, told.command, None);
    Ok(format!("{head}[… {cut} bytes cut: {rest} …]\n{tail}"))
}

impl Ended {
    /// `exit 0`, and what there is to say.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = self.standing.words();
        words.extend(self.standing.shown_cwd().filter(|_| self.shows_cwd));
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
) -> Result<CommandReport, ToolError> {
    let report = context.bridge.backend().command(session, command, from, most).await?;
    report.ok_or_else(|| {
        ToolError::invalid(format!("command {command} of session {session} is gone"), "")
    })
}

/// The end of the last line before `most`.
fn line_end(text: &str, most: usize) -> usize {
    let most = text.floor_char_boundary(most);
    text[..most].rfind('\n').map_or(most, |at| at + 1)
}

/// Bytes of the lines that are the same in both.
fn same_lines(before: &str, now: &str) -> usize {
    let mut same = 0;
    for (old, new) in before.split_inclusive('\n').zip(now.split_inclusive('\n')) {
        if old != new || !new.ends_with('\n') {
            break;
        }
        same += new.len();
    }
    same
}

#[cfg(test)]
mod tests {
    use super::same_lines;

    #[test]
    fn lines_that_were_there_are_left_out() {
        assert_eq!(same_lines("", "a\n"), 0);
        assert_eq!(same_lines("a\nName? ", "a\nName? b\nhi\n"), 2);
        assert_eq!(same_lines("a\nb\n", "a\nB\nc\n"), 2);
        assert_eq!(same_lines("a\n", "a\n"), 2);
    }
}
