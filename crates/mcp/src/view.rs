//! A session's screen in the format an agent asked for.

mod rows;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::ScreenHandle;
use termbridge_session::vt::format::{cells, html, markers, plain, raw, svg};
use termbridge_session::vt::{Palette, Row, Screen, Seq, Since};
use termbridge_session::{Look, Snapshot, SnapshotRequest, State, Waited};
use unicode_width::UnicodeWidthChar as _;

use self::rows::{changes, is_block, without_blank_end};
pub(crate) use self::rows::{told_once, with_blank_lines_counted, without_padding};
use crate::bound::{DEFAULT_MAX_BYTES, bound};
use crate::error::ToolError;
use crate::schema::AnyObject;

// The formats of `view_screen`. A doc comment here would stand in every schema that uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    #[default]
    Plain,
    Raw,
    Ansi,
    Scrollback,
    Cells,
    Html,
    Svg,
}

impl Format {
    /// Whether a part of it is of no use: a picture, a page, JSON, bytes to replay.
    fn is_document(self) -> bool {
        matches!(self, Self::Raw | Self::Cells | Self::Html | Self::Svg)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Raw => "raw",
            Self::Ansi => "ansi",
            Self::Scrollback => "scrollback",
            Self::Cells => "cells",
            Self::Html => "html",
            Self::Svg => "svg",
        }
    }
}

// What a tool that acts shows afterwards: nothing, the rows that changed, or a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ViewAfter {
    #[default]
    None,
    Diff,
    Plain,
    Raw,
    Ansi,
    Scrollback,
    Cells,
    Html,
    Svg,
}

impl ViewAfter {
    /// What a wait has to copy for it; a diff counts from the last screen that was shown.
    pub(crate) fn look(self, seen: Since) -> Option<Look> {
        match self {
            Self::None => None,
            Self::Diff => Some(Look::Changes(seen)),
            Self::Scrollback => Some(Look::Scrollback(usize::MAX)),
            _ => Some(Look::Screen),
        }
    }

    /// The view of something that was done; a diff counts from what was seen.
    pub(crate) fn request(self, seen: Since) -> Option<ViewRequest> {
        let since = (self == Self::Diff).then_some(seen);
        let format = match self {
            Self::None => return None,
            Self::Diff | Self::Plain => Format::Plain,
            Self::Raw => Format::Raw,
            Self::Ansi => Format::Ansi,
            Self::Scrollback => Format::Scrollback,
            Self::Cells => Format::Cells,
            Self::Html => Format::Html,
            Self::Svg => Format::Svg,
        };
        Some(ViewRequest { format, since, ..ViewRequest::default() })
    }
}

// A part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Region {
    pub(crate) row: u16,
    pub(crate) col: u16,
    #[schemars(range(min = 1))]
    pub(crate) rows: u16,
    #[schemars(range(min = 1))]
    pub(crate) cols: u16,
}

/// What to show.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ViewRequest {
    pub(crate) format: Format,
    pub(crate) lines: Option<usize>,
    pub(crate) since: Option<Since>,
    pub(crate) region: Option<Region>,
    pub(crate) max_bytes: Option<usize>,
}

/// Where the cursor is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CursorPlace {
    pub(crate) row: u16,
    pub(crate) col: u16,
    pub(crate) visible: bool,
}

/// What its background marks, such as a selected entry.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HighlightedText {
    row: u16,
    col: u16,
    text: String,
}

impl HighlightedText {
    fn words(&self) -> String {
        format!("highlighted row {}: {:?}", self.row, self.text)
    }
}

/// Cells of one look.
#[derive(Debug, Serialize)]
pub(crate) struct CellRun {
    col: u16,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fg: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bg: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attrs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

/// A row as runs.
#[derive(Debug, Serialize)]
pub(crate) struct CellRow {
    row: u16,
    runs: Vec<CellRun>,
}

/// A screen as an agent gets it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct View {
    content: String,
    cursor: CursorPlace,
    rows: u16,
    cols: u16,
    /// Pass it as `after` for only what changed since.
    seq: u64,
    title: String,
    alternate_screen: bool,
    highlights: Vec<HighlightedText>,
    /// `running` or how it ended.
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_rows: Option<Vec<u16>>,
    /// Rows that it scrolled up.
    #[serde(skip_serializing_if = "Option::is_none")]
    scrolled: Option<u64>,
    /// The main screen is back.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    came_back: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<AnyObject>>")]
    cells: Option<Vec<CellRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    /// Why it is not what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip)]
    is_text: bool,
    /// Of a region, or of lines of the scrollback.
    #[serde(skip)]
    is_part: bool,
}

impl View {
    /// Takes a look at a session.
    pub(crate) async fn take(
        session: &ScreenHandle,
        request: ViewRequest,
    ) -> Result<Self, ToolError> {
        let snapshot = snapshot(session, request).await?;
        Self::of(&snapshot, session.id().as_str(), request)
    }

    /// The screen as it is after something was done.
    pub(crate) async fn take_after(
        session: &ScreenHandle,
        view: ViewAfter,
        seen: Since,
    ) -> Result<Option<Self>, ToolError> {
        let Some(request) = view.request(seen) else { return Ok(None) };
        let snapshot = snapshot(session, request).await?;
        Self::of_or_plain(&snapshot, session.id().as_str(), request).map(Some)
    }

    /// The screen on which a wait ended.
    pub(crate) fn after(
        waited: &Waited,
        session: &ScreenHandle,
        view: ViewAfter,
    ) -> Result<Option<Self>, ToolError> {
        let (Some(request), Some(shown)) = (view.request(Since::default()), &waited.snapshot)
        else {
            return Ok(None);
        };
        Self::of_or_plain(shown, session.id().as_str(), request).map(Some)
    }

    /// As asked for; a document that is too large is plain text with a note, since what was done is
    /// done and its answer must not be lost.
    fn of_or_plain(snapshot: &Snapshot, id: &str, request: ViewRequest) -> Result<Self, ToolError> {
        match Self::of(snapshot, id, request) {
            Err(too_large) if request.format.is_document() => {
                let plain = ViewRequest { format: Format::Plain, ..request };
                let note = format!("{}: view_screen takes max_bytes", too_large.message);
                Ok(Self { note: Some(note), ..Self::of(snapshot, id, plain)? })
            }
            view => view,
        }
    }

    fn of(snapshot: &Snapshot, id: &str, request: ViewRequest) -> Result<Self, ToolError> {
        let screen = match request.region {
            Some(region) => &crop(&snapshot.screen, region)?,
            None => &snapshot.screen,
        };
        let top = request.region.map_or(0, |region| region.row);
        let numbered = screen.rows.iter().enumerate().map(|(row, cells)| (top + row as u16, cells));
        let shown: Vec<(u16, &Row)> = match &snapshot.changed {
            Some(changed) => numbered.filter(|(row, _)| changed.contains(row)).collect(),
            None => numbered.collect(),
        };
        let rows = || shown.iter().map(|(_, row)| *row);
        let mut cell_rows = None;
        let content = match request.format {
            Format::Plain if snapshot.changed.is_some() => {
                let has_ended = matches!(snapshot.state, State::Exited(_));
                changes(if has_ended { without_blank_end(&shown) } else { &shown })
            }
            Format::Plain => plain(rows()),
            Format::Ansi => markers(rows()),
            Format::Raw => raw(screen),
            Format::Html => html(screen, &Palette::default()),
            Format::Svg => svg(screen, &Palette::default()),
            Format::Scrollback => {
                snapshot.scrollback.as_ref().map(|all| all.text.clone()).unwrap_or_default()
            }
            Format::Cells => {
                let runs = shown.iter().map(|(row, cells)| cell_row(*row, cells));
                let runs: Vec<CellRow> = runs.filter(|row| !row.runs.is_empty()).collect();
                let text = serde_json::to_string(&runs).unwrap_or_default();
                cell_rows = Some(runs);
                text
            }
        };
        let most = request.max_bytes.unwrap_or(DEFAULT_MAX_BYTES);
        if request.format.is_document() && content.len() > most {
            return Err(too_large(request.format, content.len(), most));
        }
        let part = if request.format == Format::Scrollback { "output" } else { "screen" };
        let resource = format!("term://{id}/{part}");
        let bounded = bound(content, most, &resource);
        let cut = bounded.cut > 0;
        let cursor = snapshot.screen.cursor;
        Ok(Self {
            content: bounded.text,
            cursor: CursorPlace { row: cursor.row, col: cursor.col, visible: cursor.visible },
            rows: snapshot.size.rows,
            cols: snapshot.size.cols,
            seq: snapshot.seq.0,
            title: snapshot.screen.title.clone(),
            alternate_screen: snapshot.screen.alternate,
            highlights: snapshot
                .screen
                .highlights()
                .into_iter()
                .filter(|found| {
                    snapshot.changed.as_ref().is_none_or(|rows| rows.contains(&found.row))
                })
                .map(|found| HighlightedText { row: found.row, col: found.col, text: found.text })
                .collect(),
            state: state_text(&snapshot.state),
            exit_code: snapshot.state.exit_code(),
            changed_rows: snapshot.changed.clone(),
            scrolled: Some(snapshot.scrolled).filter(|rows| *rows > 0),
            came_back: snapshot.came_back,
            cells: cell_rows,
            total_lines: snapshot.scrollback.as_ref().map(|all| all.total_lines),
            truncated_bytes: cut.then_some(bounded.cut),
            resource: cut.then_some(resource),
            note: None,
            is_text: matches!(request.format, Format::Plain | Format::Scrollback),
            is_part: request.region.is_some() || request.lines.is_some(),
        })
    }

    /// The change counter that belongs to it.
    pub(crate) fn seq(&self) -> Seq {
        Seq(self.seq)
    }

    /// Whether it is on the alternate screen.
    pub(crate) fn is_alternate(&self) -> bool {
        self.alternate_screen
    }

    /// Whether all that is new on the screen can be seen in it.
    pub(crate) fn is_whole(&self) -> bool {
        !self.is_part && self.truncated_bytes.is_none()
    }

    /// Whether all of a text that was printed can be seen in it.
    pub(crate) fn shows(&self, printed: &str) -> bool {
        let is_there = |part: &str| self.content.contains(part.trim());
        !self.alternate_screen
            && printed.lines().count() <= usize::from(self.rows)
            && printed.lines().flat_map(|line| wrapped(line, self.cols)).all(is_there)
    }

    /// Whether that many lines of output are on it, and not another screen above them.
    pub(crate) fn has_on_main_screen(&self, lines: usize) -> bool {
        !self.alternate_screen && lines <= usize::from(self.rows)
    }

    /// What it shows, and what stands out there.
    pub(crate) fn into_shown(self) -> (Option<String>, Vec<String>) {
        let highlighted = self.highlights.iter().map(HighlightedText::words).collect();
        (Some(self.content), highlighted)
    }

    /// The whole answer in the fewest words: what is shown, then one line about it.
    pub(crate) fn text(&self) -> String {
        let mut facts = vec![format!("{}x{}", self.cols, self.rows)];
        if self.alternate_screen {
            facts.push("alternate screen".into());
        }
        if !self.title.is_empty() {
            facts.push(format!("title {:?}", self.title));
        }
        facts.push(format!("seq {}", self.seq));
        match self.changed_rows {
            Some(_) => self.text_with(facts),
            None => self.text_of(self.content.clone(), facts),
        }
    }

    /// The same for a caller who knows the terminal, with facts of another kind, and rows that are alike
    /// told once.
    pub(crate) fn text_with(&self, facts: Vec<String>) -> String {
        match self.is_text {
            true => self.text_of(told_once(&self.content), facts),
            false => self.text_of(self.content.clone(), facts),
        }
    }

    fn text_of(&self, content: String, mut facts: Vec<String>) -> String {
        if let Some([first, .., last]) = self.changed_rows.as_deref().filter(|rows| is_block(rows))
            && last - first + 1 < self.rows
        {
            facts.push(format!("rows {first}-{last}"));
        }
        facts.extend(self.scrolled.map(|rows| match rows > u64::from(self.rows) {
            true => format!("scrolled {rows}; what went by is in format scrollback"),
            false => format!("scrolled {rows}"),
        }));
        if self.came_back && self.state == "running" {
            facts.push("back on the main screen".into());
        }
        if self.state == "running" {
            facts.push(match self.cursor {
                CursorPlace { row, col, visible: true } => format!("cursor {row},{col}"),
                _ => "cursor hidden".into(),
            });
        } else {
            facts.push(self.state.clone());
        }
        facts.extend(self.highlights.iter().map(HighlightedText::words));
        facts.extend(self.note.clone());
        let content = match &self.changed_rows {
            Some(rows) if rows.is_empty() && self.state == "running" => "(no row changed)\n",
            Some(_) if content.is_empty() => "",
            None if content.is_empty() => "(blank screen)\n",
            _ => &format!("{content}\n"),
        };
        format!("{content}[{}]", facts.join(" | "))
    }
}

/// A line as a terminal of so many columns breaks it.
fn wrapped(line: &str, cols: u16) -> Vec<&str> {
    let mut parts = Vec::new();
    for text in line.split('\t') {
        let (mut start, mut width) = (0, 0);
        for (at, char) in text.char_indices() {
            let more = char.width().unwrap_or(0);
            if width + more > usize::from(cols) {
                parts.push(&text[start..at]);
                (start, width) = (at, 0);
            }
            width += more;
        }
        parts.push(&text[start..]);
    }
    parts
}

/// `running`, or how the program ended.
pub(crate) fn state_text(state: &State) -> String {
    match state {
        State::Running => "running".into(),
        State::Exited(ended) => format!("exited: {ended}"),
    }
}

async fn snapshot(session: &ScreenHandle, request: ViewRequest) -> Result<Snapshot, ToolError> {
    let scrollback =
        (request.format == Format::Scrollback).then(|| request.lines.unwrap_or(usize::MAX));
    Ok(session.snapshot(SnapshotRequest { since: request.since, scrollback }).await?)
}

/// A document is whole or not there.
fn too_large(format: Format, size: usize, most: usize) -> ToolError {
    ToolError::invalid(
        format!("the screen as {} has {size} bytes, more than {most}", format.name()),
        format!("Pass max_bytes {size} or more, or a smaller `region`. Format plain is shorter."),
    )
}

fn cell_row(row: u16, cells_of: &Row) -> CellRow {
    let runs = cells(cells_of).into_iter().map(|run| CellRun {
        col: run.col,
        text: run.text,
        fg: run.fg,
        bg: run.bg,
        attrs: run.attributes,
        link: run.link,
    });
    CellRow { row, runs: runs.collect() }
}

fn crop(screen: &Screen, region: Region) -> Result<Screen, ToolError> {
    let (rows, cols) = (screen.rows.len() as u16, screen.cols());
    if region.row >= rows || region.col >= cols {
        return Err(ToolError::invalid(
            format!("region starts at row {}, column {}", region.row, region.col),
            format!("The screen has {rows} rows and {cols} columns, counted from 0."),
        ));
    }
    let mut part = screen.clone();
    let last = usize::from(region.row.saturating_add(region.rows).min(rows));
    part.rows = part.rows.drain(usize::from(region.row)..last).collect();
    for row in &mut part.rows {
        let last = usize::from(region.col.saturating_add(region.cols).min(cols));
        row.cells = row.cells.drain(usize::from(region.col)..last).collect();
    }
    part.cursor.row = part.cursor.row.saturating_sub(region.row);
    part.cursor.col = part.cursor.col.saturating_sub(region.col);
    Ok(part)
}
