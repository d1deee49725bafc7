//! A command that ends by what is typed: its answer comes with the keys that gave it the last it asked for.

use serde::Serialize;
use termbridge_bridge::{OutputPlace, ScreenHandle, Until};
use termbridge_session::{CommandReport, SessionId, Waited};

use super::errors::{cut_errors, errors_first};
use super::standing::Standing;
use crate::bound::DEFAULT_MAX_BYTES;
use crate::error::ToolError;
use crate::told::ToldOutput;
use crate::tool::Context;
use crate::view::{View, with_blank_lines_counted};

/// Bytes of output that can still change and are compared.
const COMPARED: u64 = 64 * 1024;

/// A command that runs, and how far its output was told.
#[derive(Debug)]
pub(super) struct Running {
    session: SessionId,
    told: ToldOutput,
    /// It had ended when it was looked for.
    is_over: bool,
}

/// How it ended, and what it printed that was not told.
#[derive(Debug, Serialize)]
pub(crate) struct Ended {
    output: String,
    /// Error lines among those cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<String>,
    #[serde(flatten)]
    standing: Standing,
    #[serde(skip)]
    shows_cwd: bool,
    /// Before anything was typed: what was typed went to the shell.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) was_over: bool,
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
    /// The command that runs in a session, if one does, or the one that was not told to have ended. What was
    /// not told of it by now was printed before anyone knew of it.
    pub(super) async fn of(
        context: &Context,
        session: &ScreenHandle,
    ) -> Result<Option<Self>, ToolError> {
        // Without a request to the session: keys to a launched program have to be fast.
        if session.own().is_some_and(|own| !own.runs_commands()) {
            return Ok(None);
        }
        let info = session.info().await?;
        let session = info.id;
        let running = info.shell.and_then(|shell| shell.running);
        let is_over = running.is_none();
        let Some(command) = running.or_else(|| context.told.open_command(&session)) else {
            return Ok(None);
        };
        if context.told.output(&session, command).is_none() {
            let report = read(context, &session, command, 0, 0).await?;
            note_told(context, &session, &report).await?;
        }
        let told = context.told.output(&session, command);
        Ok(told.map(|told| Self { session, told, is_over }))
    }

    pub(super) fn command(&self) -> u64 {
        self.told.command
    }

    /// The command, unless it had ended when it was looked for.
    pub(super) fn open(&self) -> Option<u64> {
        (!self.is_over).then_some(self.told.command)
    }

    /// How it ended, if it did. If it goes on, what was shown of the screen counts as told where it is all
    /// that came.
    pub(super) async fn ended(
        self,
        context: &Context,
        waited: Option<&Waited>,
        view: Option<&View>,
    ) -> Result<Option<Ended>, ToolError> {
        let Self { session, told, is_over } = self;
        let from = told.from;
        let report = match read(context, &session, told.command, from.byte, COMPARED).await {
            Ok(report) => report,
            // It was over, and makes room for others.
            Err(_) if is_over => {
                context.told.note_end(&session, told.command);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let same = same_lines(&told.text, &report.output);
        if report.is_running() {
            let then = waited.and_then(|waited| waited.command.as_deref());
            if let (Some(then), Some(view)) = (then, view) {
                let printed = then.output_bytes.saturating_sub(report.output_start) as usize;
                let new = report.output.get(same..printed.max(same));
                if new.is_some_and(|new| view.shows(new)) {
                    note_told(context, &session, then).await?;
                }
            }
            return Ok(None);
        }
        let standing = Standing::of(context, &session, &report, Until::Over).await;
        let lines = report.output[..same].matches('\n').count() as u64;
        let begin =
            OutputPlace { byte: report.output_start + same as u64, line: from.line + lines };
        let (output, errors) = untold(context, &session, &report, begin).await?;
        let shows_cwd =
            standing.cwd.as_ref().is_some_and(|cwd| context.told.is_new_cwd(&session, cwd));
        context.told.note_end(&session, told.command);
        Ok(Some(Ended { output, errors, standing, shows_cwd, was_over: is_over }))
    }
}

/// The output behind a place, within the bounds of an answer, and errors among what was cut.
async fn untold(
    context: &Context,
    session: &SessionId,
    report: &CommandReport,
    begin: OutputPlace,
) -> Result<(String, Option<String>), ToolError> {
    let (command, most) = (report.id, DEFAULT_MAX_BYTES);
    let (_, output) = context.bridge.output_behind(session, command, begin, most).await?;
    let first = begin.line + output.head.matches('\n').count() as u64;
    let errors = cut_errors(context, session, report, &output, first).await;
    let rest = context.rest_of(session, command, &output, first);
    Ok((output.text(&rest), errors))
}

impl Ended {
    /// `exit 0`, and what there is to say.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = self.standing.words();
        words.extend(self.standing.shown_cwd().filter(|_| self.shows_cwd));
        words.extend(self.standing.note.clone());
        words
    }

    /// What it printed, and how it ended, where that is not the whole answer.
    pub(super) fn text_before(&self, view: &str) -> String {
        let lines = self.lines();
        match self.was_over {
            true => {
                let id = self.standing.command_id;
                let words = self.words().join(" | ");
                format!("{lines}[command {id} had ended before the keys: {words}]\n{view}")
            }
            false => format!("{lines}{view}"),
        }
    }

    pub(super) fn text(&self, mut facts: Vec<String>) -> String {
        facts.extend(self.words());
        format!("{}[{}]", self.lines(), facts.join(" | "))
    }

    /// Its output. If that was cut, error lines come first.
    pub(super) fn lines(&self) -> String {
        let output = with_blank_lines_counted(&self.output);
        let newline = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        format!("{}{output}{newline}", errors_first(self.errors.as_deref()))
    }
}

async fn read(
    context: &Context,
    session: &SessionId,
    command: u64,
    from: u64,
    most: u64,
) -> Result<CommandReport, ToolError> {
    let report = context.bridge.command(&context.caller, session, command, from, most).await?;
    report.ok_or_else(|| {
        ToolError::invalid(format!("command {command} of session {session} is gone"), "")
    })
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
