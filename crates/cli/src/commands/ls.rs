//! `termbridge ls`: the sessions of the shared server.

use std::io::stdout;
use std::process::ExitCode;

use anyhow::Result;

use super::people::{SessionRow, connect, folder, no_server, sessions, since, span};
use super::{print, print_json, printable, tell, wants_colour};
use crate::args::LsArguments;

const HEAD: [&str; 7] = ["ID", "NAME", "STATE", "RUNS", "OWNER", "SIZE", "AGE"];
/// Widest column; a longer text is cut.
const MAX_WIDTH: usize = 40;

pub(crate) fn run(arguments: &LsArguments) -> Result<ExitCode> {
    let folder = folder()?;
    let Some(mut client) = connect(&folder)? else { return Ok(no_server(&folder)) };
    let mut rows = sessions(&mut client)?;
    rows.retain(|row| arguments.all || row.is_running());
    if arguments.json {
        return print_json(&rows);
    }
    if rows.is_empty() {
        tell("termbridge: no sessions");
        return Ok(ExitCode::SUCCESS);
    }
    print(&table(&rows, wants_colour(&stdout())))
}

fn table(rows: &[SessionRow], colour: bool) -> String {
    let mut lines = vec![HEAD.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let padded = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = padded.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        match number {
            0 if colour => text.push_str(&format!("\u{1b}[1m{line}\u{1b}[0m\n")),
            _ => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

fn cells(row: &SessionRow) -> [String; HEAD.len()] {
    let program = row.command.split(' ').next().and_then(|word| word.rsplit('/').next());
    let front = row.foreground.as_deref().filter(|front| !front.is_empty());
    let runs = match front.filter(|front| row.is_running() && Some(*front) != program) {
        Some(front) => format!("{front} in {}", row.command),
        None => row.command.clone(),
    };
    let owner = match (&row.agent, &row.client) {
        (Some(agent), Some(client)) => format!("{agent}, {client}"),
        (Some(owner), None) | (None, Some(owner)) => owner.clone(),
        (None, None) => String::new(),
    };
    let size = format!("{}x{}", row.cols, row.rows);
    [
        row.session_id.clone(),
        one_line(row.name.as_deref().unwrap_or_default()),
        one_line(&row.standing()),
        one_line(&runs),
        one_line(&owner),
        size,
        span(since(row.created)),
    ]
}

/// Someone else's text, in a cell.
fn one_line(text: &str) -> String {
    let text = printable(text).replace(['\n', '\t'], " ");
    match text.char_indices().nth(MAX_WIDTH) {
        Some(_) => text.chars().take(MAX_WIDTH - 1).chain(['…']).collect(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_calls_itself_cannot_drive_the_terminal() {
        assert_eq!(one_line("a\u{1b}]0;x\u{7}\nb\u{9b}2J"), "a\u{fffd}]0;x\u{fffd} b\u{fffd}2J");
        let long = one_line(&"ä".repeat(100));
        assert!(long.chars().count() == MAX_WIDTH && long.ends_with('…'), "{long}");
    }
}
