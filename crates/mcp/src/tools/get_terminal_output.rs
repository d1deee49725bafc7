//! `get_terminal_output`: what a session printed; the end of it, or only what is new.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use termbridge_bridge::{OutputPage, OutputRequest, OutputWait, ReadFrom, Select, Until};
use termbridge_session::{SessionId, SessionInfo, State};

use super::condition::pattern;
use super::ended::note_told;
use super::execute_command::default_max_bytes;
use super::standing::Standing;
use crate::client::TERMINAL_LINES;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct GetTerminalOutput;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    #[schemars(with = "u64", default = "default_lines", range(min = 1, max = 100_000))]
    lines: Option<u64>,
    /// Default: the one used last
    session_id: Option<String>,
    /// `cursor` of an earlier reply: only what is new
    since: Option<String>,
    /// First line, from 0; negative: from the end
    offset: Option<i64>,
    /// Only this command's output
    command_id: Option<u64>,
    /// Only lines matching this regex, numbered
    grep: Option<String>,
    /// Wait this long for `until`
    #[serde(default)]
    #[schemars(range(max = 3_600_000))]
    wait_ms: u64,
    /// Output: new output or the end
    #[serde(default)]
    until: WaitUntil,
    #[serde(rename = "agent_id")]
    _agent_id: Option<String>,
    #[serde(default = "default_max_bytes")]
    #[schemars(range(min = 256, max = 1_048_576))]
    max_bytes: usize,
}

/// How long a full-screen program is waited for: long enough to see whether it waits for keys.
const FULL_SCREEN_WAIT: Duration = Duration::from_secs(1);

fn default_lines() -> u64 {
    100
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WaitUntil {
    #[default]
    Output,
    End,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    output: String,
    /// Pass it back as `since`.
    cursor: String,
    /// Lines behind the last one shown.
    remaining: u64,
    first_line: u64,
    // The first line was shown before and has changed. For programs, so no schema is spent on it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    continues: bool,
    total_lines: u64,
    running: bool,
    /// How the program ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exited: Option<String>,
    session_id: String,
    /// Of the command, or else of the session's last.
    #[serde(flatten)]
    standing: Option<Standing>,
}

impl Tool for GetTerminalOutput {
    const NAME: &'static str = "get_terminal_output";
    const TITLE: &'static str = "Read a session's output";
    const DESCRIPTION: &'static str = "Output of a session: the last lines, or with `since` \
        only what is new; state and exit code of its last command.";
    const HINTS: Hints = Hints::READS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let grep = arguments.grep.as_deref().map(|text| pattern("grep", text));
        let as_terminal =
            arguments.since.as_deref().and_then(|since| since.strip_prefix(TERMINAL_LINES));
        let from = match (arguments.since.as_deref(), arguments.offset) {
            (Some(TERMINAL_LINES), None) => ReadFrom::Tail,
            (Some(cursor), None) => ReadFrom::Cursor(as_terminal.unwrap_or(cursor).to_owned()),
            (None, Some(offset)) if offset < 0 => ReadFrom::Last(offset.unsigned_abs()),
            (None, Some(offset)) => ReadFrom::Line(offset as u64),
            (None, None) => ReadFrom::Tail,
            (Some(_), Some(_)) => {
                return Err(ToolError::invalid("`since` and `offset` exclude each other", ""));
            }
        };
        let id = arguments.session_id.as_deref().map(SessionId::from_text);
        let grep = grep.transpose()?;
        let is_search = grep.is_some();
        let recorded = match (&id, arguments.command_id) {
            (Some(id), Some(command)) => {
                context.bridge.recorded(&context.caller, id, command).await?
            }
            _ => None,
        };
        let (lines, most) = (arguments.lines.unwrap_or_else(default_lines), arguments.max_bytes);
        let is_all_new =
            arguments.lines.is_none() && !is_search && matches!(from, ReadFrom::Cursor(_));
        let mut is_full_screen = false;
        // A call that waits takes its room after it has read, so that it does not hold up others.
        if arguments.wait_ms == 0 {
            context.room_for_answer(most).await?;
        }
        let (id, (mut page, until)) = match (recorded, id) {
            (Some(recorded), Some(id)) => {
                let select = Select { from: &from, lines, grep: grep.as_ref(), most };
                (id, (recorded.page(select)?, Until::Over))
            }
            (_, id) => {
                let mut session =
                    context.bridge.named_or_last(&context.caller, id.as_ref()).await?;
                if as_terminal.is_some() {
                    // As of a program that is no shell.
                    session.shell = None;
                }
                is_full_screen = context.is_full_screen(&session).await;
                let (id, command) = (session.id.clone(), arguments.command_id);
                let request = OutputRequest { session, command, from, lines, grep, most };
                let mut longest = Duration::from_millis(arguments.wait_ms);
                if is_full_screen {
                    longest = longest.min(FULL_SCREEN_WAIT);
                }
                let read = match arguments.until {
                    WaitUntil::End if is_all_new => await_end(context, request, longest).await?,
                    WaitUntil::End => {
                        context.await_output(request, OutputWait::End, longest).await?
                    }
                    WaitUntil::Output => {
                        context.await_output(request, OutputWait::Output, longest).await?
                    }
                };
                (id, read)
            }
        };
        if arguments.wait_ms > 0 {
            context.room_for_answer(page.text.len()).await?;
        }
        if as_terminal.is_some() {
            page.cursor.insert_str(0, TERMINAL_LINES);
        }
        let mut standing = match &page.command {
            Some(report) => Some(Standing::of(context, &id, report, until).await),
            None => None,
        };
        if let Some(standing) =
            standing.as_mut().filter(|it| is_full_screen && it.state == "running")
        {
            let note = "a full-screen program runs: view_screen shows it, wait_for with exit waits \
                        for its end";
            standing.also(context.naming_offered(note));
        }
        let notice = page.command.as_ref().and_then(|report| report.notice.clone());
        if let (Some(standing), Some(notice)) = (&mut standing, notice)
            && standing.note.as_ref() != Some(&notice)
        {
            standing.also(notice);
        }
        let is_all = !is_search && page.remaining == 0;
        let running = page.command.as_ref().filter(|report| is_all && report.is_running());
        if let Some(report) = running {
            note_told(context, &id, report).await?;
            context.told.note_screen(&id, report.seq, false);
        } else if let Some(report) = page.command.as_ref().filter(|_| is_all) {
            context.told.note_end(&id, report.id);
        }
        let mut text = page.text.clone();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let shown = match (is_search, page.total_lines) {
            (true, total) if page.text.is_empty() => format!("no match in {total} lines"),
            (true, total) => match page.earlier_matches {
                0 => format!("of {total} lines"),
                more => format!("of {total} lines; {more} earlier matches: offset 0 begins there"),
            },
            (false, total) if page.first_line + page.remaining >= total => {
                format!("no new lines of {total}")
            }
            (false, total) => {
                format!("lines {}-{} of {total}", page.first_line + 1, total - page.remaining)
            }
        };
        let session = match standing {
            None => context.bridge.session(&context.caller, &id).await.ok(),
            Some(_) => None,
        };
        // A shell in which only lines were typed has no command whose state could be told.
        let is_idle = session.as_ref().is_some_and(SessionInfo::is_idle_shell);
        let running = page.running && (as_terminal.is_some() || !is_idle);
        let exited = match session.map(|session| session.state) {
            Some(State::Exited(ended)) => Some(ended.to_string()),
            _ => None,
        };
        let mut words = match (&standing, &exited) {
            (Some(standing), _) => standing.words(),
            (None, Some(how)) => vec![format!("exited: {how}")],
            (None, None) if running => vec!["running".to_owned()],
            (None, None) => Vec::new(),
        };
        let done = standing.as_ref().filter(|standing| standing.state == "done");
        let is_new = |cwd: &String| context.told.is_new_cwd(&id, cwd);
        let done = done.filter(|done| done.cwd.as_ref().is_some_and(is_new));
        words.extend(done.and_then(Standing::shown_cwd));
        if page.is_typed {
            words.insert(0, "a typed line runs: view_screen shows it".to_owned());
        }
        words.push(shown);
        if page.left_out_commands > 0 {
            let last = page.left_out_commands;
            words.push(format!("commands 1-{last} are left out: command_id reads one"));
        }
        if page.remaining > 0 {
            words.push(format!("{} more", page.remaining));
        }
        words.push(format!("cursor {}", page.cursor));
        words.push(match &standing {
            Some(standing) => format!("{id} #{}", standing.command_id),
            None => id.to_string(),
        });
        words.extend(standing.as_ref().and_then(|standing| standing.note.clone()));
        text.push_str(&format!("[{}]", words.join(" | ")));
        Ok(Reply {
            text,
            answer: Answer {
                output: page.text,
                cursor: page.cursor,
                remaining: page.remaining,
                first_line: page.first_line,
                continues: page.continues,
                total_lines: page.total_lines,
                running,
                exited,
                session_id: id.to_string(),
                standing,
            },
        })
    }
}

/// Waits for the end and reads all new output, or its head and tail.
async fn await_end(
    context: &Context,
    request: OutputRequest,
    longest: Duration,
) -> Result<(OutputPage, Until), ToolError> {
    let half = OutputRequest { lines: u64::MAX, most: request.most / 2, ..request };
    let (head, until) = context.await_output(half.clone(), OutputWait::End, longest).await?;
    if head.remaining == 0 {
        return Ok((head, until));
    }
    let (from, lines) = (ReadFrom::Tail, head.remaining);
    let tail = context.bridge.read_output(&OutputRequest { from, lines, ..half.clone() }).await?;
    let first_cut = head.total_lines - head.remaining;
    let note = match tail.first_line.saturating_sub(first_cut) {
        0 => String::new(),
        cut => {
            let mut call = json!({"session_id": half.session.id.as_str(), "offset": first_cut});
            if let Some(command) = half.command {
                call["command_id"] = command.into();
            }
            format!("[… {cut} lines cut: get_terminal_output {call}, or with grep …]\n")
        }
    };
    let text = format!("{}{note}{}", head.text, tail.text);
    let (first_line, continues) = (head.first_line, head.continues);
    Ok((OutputPage { text, first_line, continues, ..tail }, until))
}
