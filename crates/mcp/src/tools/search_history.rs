//! `search_history`: what was run before, in this server or an earlier one.

use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::store::{Field, Filter, Hit, Query, Run, Scope, time};

use crate::bound::in_one_line;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct SearchHistory;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Words, AND, OR, "phrases"; empty lists the newest
    query: String,
    #[serde(default, rename = "type")]
    kind: Kind,
    session_id: Option<String>,
    project_id: Option<String>,
    exit_code: Option<i32>,
    /// RFC 3339, date, or age such as 2h or 7d
    from: Option<String>,
    until: Option<String>,
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
    /// Of an earlier reply: the next page
    cursor: Option<String>,
}

fn default_limit() -> usize {
    20
}

// Where to look.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Commands,
    Output,
    #[default]
    All,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    entries: Vec<Row>,
    /// Gives the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Row {
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// `done`, `running`, `lost` or `incomplete` (its unfinished part did not run).
    state: &'static str,
    cwd: String,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// `get_terminal_output` with these reads its output; of an earlier server's, head and tail.
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
    /// What the text shows of the command and its end.
    #[serde(skip)]
    shown: (String, String),
    /// The snippet is not in the command as it is shown.
    #[serde(skip)]
    shows_snippet: bool,
}

impl Row {
    fn of(hit: Hit) -> Self {
        let shown = (hit.run.short_command(), hit.run.end());
        let is_whole = shown.0 == hit.run.command.trim_end();
        let in_output = hit.snippet.as_ref().is_some_and(|it| it.field == Field::Output);
        let Run { id, command, exit_code, signal, state, cwd, session, project, agent, .. } =
            hit.run;
        Self {
            command,
            exit_code,
            signal,
            state: state.as_str(),
            cwd,
            time: time::format(hit.run.started_ms),
            duration_ms: hit.run.duration_ms,
            command_id: id.rsplit_once('-').and_then(|(_, number)| number.parse().ok()),
            session_id: session,
            project,
            agent,
            snippet: hit.snippet.map(|snippet| snippet.text),
            shown,
            shows_snippet: in_output || !is_whole,
        }
    }

    fn text(&self) -> String {
        let (command, end) = &self.shown;
        let command = command.replace('\n', "\n  ");
        let number = self.command_id.map(|id| format!(" #{id}")).unwrap_or_default();
        let place = format!("{} | {}{number}", in_one_line(&self.cwd), self.session_id);
        let mut text = format!("{} [{end}] {place}\n  $ {command}", self.time);
        if let Some(snippet) = self.snippet.as_ref().filter(|_| self.shows_snippet) {
            text.push_str(&format!("\n  {snippet}"));
        }
        text
    }
}

impl Tool for SearchHistory {
    const NAME: &'static str = "search_history";
    const TITLE: &'static str = "Search past commands";
    const DESCRIPTION: &'static str = "Ranked search over past commands and their output, earlier runs included. Whole output: \
         get_terminal_output with session_id and command_id (#).";
    const HINTS: Hints = Hints::READS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = |name: &str, text: Option<&String>| match text {
            None => Ok(None),
            Some(text) => time::parse(text, now.as_millis() as i64).map(Some).ok_or_else(|| {
                ToolError::invalid(format!("argument `{name}` is {text:?}"), time::TAKES)
            }),
        };
        let query = Query {
            scope: match arguments.kind {
                Kind::Commands => Scope::Commands,
                Kind::Output => Scope::Output,
                Kind::All => Scope::All,
            },
            filter: Filter {
                session: arguments.session_id,
                project: arguments.project_id,
                exit_code: arguments.exit_code,
                since_ms: at("from", arguments.from.as_ref())?,
                until_ms: at("until", arguments.until.as_ref())?,
                ..Filter::default()
            },
            limit: arguments.limit,
            cursor: arguments.cursor,
            ..Query::new(arguments.query)
        };
        let page = context.bridge.search_history(&context.caller, query).await?;
        let entries: Vec<Row> = page.hits.into_iter().map(Row::of).collect();
        let mut text = entries.iter().map(Row::text).collect::<Vec<_>>().join("\n");
        if entries.is_empty() {
            text = "nothing found".into();
        }
        if let Some(cursor) = &page.cursor {
            text.push_str(&format!("\n[more: cursor {cursor}]"));
        }
        Ok(Reply { text, answer: Answer { entries, cursor: page.cursor } })
    }
}
