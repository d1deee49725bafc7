//! `termbridge history`: what agents ran, for people.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use termbridge_bridge::store::{
    CommandStats, Filter, History, Hit, LabelStats, Markers, Query, Run, Scope, Stats, StatsQuery,
    time,
};

use super::{print, printable, tell, wants_colour};
use crate::args::{HistoryAction, HistoryArguments, HistorySource, HistorySpan};
use crate::config::Config;

pub(crate) fn run(arguments: HistoryArguments) -> Result<ExitCode> {
    let source = match &arguments.action {
        None => &arguments.source,
        Some(_) if arguments.is_list() => bail!(
            "options of `stats` and `show` come after them; to search for these words, put `--` first"
        ),
        Some(HistoryAction::Stats { source, .. } | HistoryAction::Show { source, .. }) => source,
    };
    let HistorySource { config, json } = source;
    let config = config.as_ref().or(arguments.source.config.as_ref());
    let (config, json) = (Config::of_file(config.cloned())?, *json);
    let place = config.history.context("the history is off in the configuration file")?;
    if !place.path.exists() {
        bail!("there is no history yet: {} does not exist", place.path.display());
    }
    let opened = History::open(&place.path, place.limits)?;
    for warning in &opened.warnings {
        tell(&format!("termbridge: {warning}"));
    }
    let style = Style::for_stdout();
    match &arguments.action {
        Some(HistoryAction::Show { id, .. }) => show(&opened.history, id, json, style),
        Some(HistoryAction::Stats { span, .. }) => print(&stats(&opened.history, span, json)?),
        None => list(&opened.history, arguments, style),
    }
}

fn list(history: &History, arguments: HistoryArguments, style: Style) -> Result<ExitCode> {
    let (since_ms, until_ms) = times(&arguments.span)?;
    let HistorySpan { project, agent, limit, .. } = arguments.span;
    let query = Query {
        scope: match (arguments.commands, arguments.output) {
            (true, _) => Scope::Commands,
            (_, true) => Scope::Output,
            _ => Scope::All,
        },
        filter: Filter {
            session: arguments.session,
            project,
            agent,
            // Whoever can open the file sees all of it.
            principal: None,
            exit_code: arguments.exit_code,
            failed: arguments.failed,
            since_ms,
            until_ms,
        },
        limit,
        cursor: arguments.cursor,
        markers: style.markers(),
        ..Query::new(arguments.words.join(" "))
    };
    let page = history.search(&query)?;
    let mut text = String::new();
    for hit in &page.hits {
        match arguments.source.json {
            true => text.push_str(&format!("{}\n", as_json(&hit.run, None))),
            false => text.push_str(&as_text(hit, style)),
        }
    }
    print(&text)?;
    if page.hits.is_empty() {
        tell("termbridge: nothing found");
    }
    if let Some(cursor) = page.cursor {
        tell(&format!("termbridge: there is more: --cursor {cursor}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn show(history: &History, id: &str, json: bool, style: Style) -> Result<ExitCode> {
    let entry = history.get(id)?.with_context(|| format!("no entry {id}"))?;
    let output = entry.output.display();
    if json {
        return print(&format!("{}\n", as_json(&entry.run, Some(&output))));
    }
    let newline = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    print(&format!("{}{output}{newline}", head(&entry.run, entry.run.command.trim_end(), style)))
}

fn as_text(hit: &Hit, style: Style) -> String {
    let command = hit.run.short_command();
    let mut text = head(&hit.run, &command, style);
    // The command itself shows its own match.
    if let Some(snippet) = &hit.snippet
        && !command.contains(&plain(&snippet.text, &style.markers()))
    {
        text.push_str(&format!("    {}\n", snippet.text));
    }
    text
}

fn plain(text: &str, markers: &Markers) -> String {
    text.replace(&markers.open, "").replace(&markers.close, "")
}

fn head(run: &Run, command: &str, style: Style) -> String {
    let end = if run.failed() { style.red(&run.end()) } else { run.end() };
    let took = run.duration_ms.map(|ms| format!(", {}", seconds(ms))).unwrap_or_default();
    let agent = run.agent.as_ref().map(|agent| format!(", {agent}")).unwrap_or_default();
    let when = time::format(run.started_ms);
    // An agent's text must not reach the terminal's controls.
    let command = printable(command).replace('\n', "\n    ");
    format!(
        "{}\n  {} {command}\n",
        style.dim(&format!("{when}  {}  {end}{took}{agent}  {}", run.id, run.cwd)),
        style.bold("$"),
    )
}

fn as_json(run: &Run, output: Option<&str>) -> Value {
    let mut value = json!({
        "id": run.id,
        "session_id": run.session,
        "command": run.command,
        "state": run.state.as_str(),
        "exit_code": run.exit_code,
        "signal": run.signal,
        "cwd": run.cwd,
        "project": run.project,
        "agent": run.agent,
        "shell": run.shell,
        "time": time::format(run.started_ms),
        "duration_ms": run.duration_ms,
    });
    if let Some(output) = output {
        value["output"] = output.into();
    }
    value
}

fn stats(history: &History, span: &HistorySpan, json: bool) -> Result<String> {
    let (since_ms, until_ms) = times(span)?;
    let query = StatsQuery {
        project: span.project.clone(),
        agent: span.agent.clone(),
        since_ms,
        until_ms,
        limit: span.limit,
    };
    let stats = history.stats(&query)?;
    if json {
        return Ok(format!("{:#}\n", stats_json(&stats)));
    }
    let mut text = format!("{} commands, {} failed\n", stats.runs, stats.failed);
    let lists = [
        ("Most run", &stats.most_run),
        ("Slowest", &stats.slowest),
        ("Most often failing", &stats.most_failing),
    ];
    for (title, rows) in lists.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        text.push_str(&format!("\n{title}\n   runs failed     mean      max  command\n"));
        for row in rows {
            text.push_str(&command_row(row));
        }
    }
    for (title, rows) in [("By project", &stats.projects), ("By agent", &stats.agents)] {
        if !rows.is_empty() {
            text.push_str(&format!("\n{title}\n   runs failed     time\n"));
        }
        for row in rows {
            let label = row.label.as_deref().unwrap_or("(none)");
            let total = seconds(row.total_ms);
            text.push_str(&format!("{:>7} {:>6} {total:>8}  {label}\n", row.runs, row.failed));
        }
    }
    Ok(text)
}

fn command_row(row: &CommandStats) -> String {
    const LONGEST: usize = 80;
    let line = row.command.lines().next().unwrap_or_default();
    let command = &line[..line.floor_char_boundary(LONGEST)];
    let cut = if command.len() < row.command.trim_end().len() { "…" } else { "" };
    let (mean, max) = (seconds(row.mean_ms), seconds(row.max_ms));
    format!("{:>7} {:>6} {mean:>8} {max:>8}  {command}{cut}\n", row.runs, row.failed)
}

fn stats_json(stats: &Stats) -> Value {
    let commands = |rows: &[CommandStats]| -> Value {
        rows.iter()
            .map(|row| {
                json!({
                    "command": row.command, "runs": row.runs, "failed": row.failed,
                    "mean_ms": row.mean_ms, "max_ms": row.max_ms,
                })
            })
            .collect()
    };
    let labels = |rows: &[LabelStats]| -> Value {
        rows.iter()
            .map(|row| {
                json!({
                    "label": row.label, "runs": row.runs, "failed": row.failed,
                    "total_ms": row.total_ms,
                })
            })
            .collect()
    };
    json!({
        "runs": stats.runs,
        "failed": stats.failed,
        "most_run": commands(&stats.most_run),
        "slowest": commands(&stats.slowest),
        "most_failing": commands(&stats.most_failing),
        "projects": labels(&stats.projects),
        "agents": labels(&stats.agents),
    })
}

/// The time that `--since` and `--until` name.
fn times(span: &HistorySpan) -> Result<(Option<i64>, Option<i64>)> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let at = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => time::parse(text, now.as_millis() as i64)
            .map(Some)
            .with_context(|| format!("--{name} is {text:?}. {}", time::TAKES)),
    };
    Ok((at("since", &span.since)?, at("until", &span.until)?))
}

fn seconds(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{:.1} s", ms as f64 / 1000.0),
        _ => format!("{} min", ms / 60_000),
    }
}

/// Colour, on a terminal that wants it.
#[derive(Debug, Clone, Copy)]
struct Style {
    coloured: bool,
}

impl Style {
    fn for_stdout() -> Self {
        Self { coloured: wants_colour(&std::io::stdout()) }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn markers(self) -> Markers {
        match self.coloured {
            true => Markers { open: "\x1b[1;33m".into(), close: "\x1b[0m".into() },
            false => Markers::default(),
        }
    }
}
