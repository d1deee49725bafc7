//! Searching what is visible, and leaving out the echo of what was typed.
//!
//! A [`Haystack`] is the screen as one text: rows joined by newlines, wrapped rows joined without
//! one, each byte traceable to its cell. The cells of an echo are replaced by NUL, which no pattern
//! of a user matches by accident.

use serde::{Deserialize, Serialize};

use crate::screen::{CellWidth, Row, Screen};

/// The visible text, with the way back from an offset to a cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Haystack {
    text: String,
    /// Byte offset of each cell's text, with its row and column.
    cells: Vec<(usize, u16, u16)>,
    /// The prompts in front of echoes: they were there before the lines were typed.
    prompts: Vec<CellRange>,
}

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Row from 0.
    pub row: u16,
    /// Column from 0.
    pub col: u16,
    /// The text.
    pub text: String,
}

impl Haystack {
    pub(crate) fn new(screen: &Screen, echo: Echo) -> Self {
        let mut haystack = Self { prompts: echo.prompts, ..Self::default() };
        let hidden = &echo.cells;
        for (index, row) in screen.rows.iter().enumerate() {
            let end = if row.wrapped { row.cells.len() } else { text_len(row) };
            haystack.push_cells(CellRange::new(index, 0, end), row, hidden);
            if !row.wrapped {
                haystack.end_line(index, end);
            }
        }
        // Blanks at the end of a row are not text, but those of a prompt end at the cursor. Its row
        // stands here once more with them, so that both `\$$` and `\$ $` find it.
        let (index, end) = (usize::from(screen.cursor.row), usize::from(screen.cursor.col));
        if let Some(row) = screen.rows.get(index)
            && (1..end).contains(&text_len(row))
        {
            haystack.push_cells(CellRange::new(index, 0, end), row, hidden);
            haystack.end_line(index, end);
        }
        haystack
    }

    fn push_cells(&mut self, range: CellRange, row: &Row, hidden: &[CellRange]) {
        let cells = row.cells.iter().enumerate().take(range.end).skip(range.start);
        for (col, cell) in cells {
            if cell.width == CellWidth::Continuation {
                continue;
            }
            self.cells.push((self.text.len(), range.row as u16, col as u16));
            if hidden.iter().any(|hidden| hidden.contains(range.row, col)) {
                self.text.push('\0');
            } else {
                cell.push_text(&mut self.text);
            }
        }
    }

    fn end_line(&mut self, index: usize, end: usize) {
        self.cells.push((self.text.len(), index as u16, end as u16));
        self.text.push('\n');
    }

    /// This is the prompt, or a part of it, at which a line was typed.
    pub fn is_typed_prompt(&self, found: &Found) -> bool {
        let (row, col) = (found.row.into(), found.col.into());
        // Longer texts contain the line behind it.
        self.prompts.iter().any(|prompt| prompt.contains(row, col)) && !found.text.contains('\0')
    }

    /// The text to search.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The cells behind a byte range of [`Haystack::text`].
    pub fn locate(&self, range: std::ops::Range<usize>) -> Found {
        let at = self.cells.partition_point(|(offset, ..)| *offset <= range.start);
        let (_, row, col) = at.checked_sub(1).map_or((0, 0, 0), |index| self.cells[index]);
        Found { row, col, text: self.text.get(range).unwrap_or_default().to_owned() }
    }
}

/// What typed lines left on the screen.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    /// The lines.
    pub(crate) cells: Vec<CellRange>,
    /// The prompts in front of them.
    prompts: Vec<CellRange>,
}

fn text_len(row: &Row) -> usize {
    row.cells
        .iter()
        .rposition(|cell| !cell.is_blank() || cell.width == CellWidth::Continuation)
        .map_or(0, |last| last + 1)
}

/// Cells `start..end` of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellRange {
    row: usize,
    start: usize,
    end: usize,
}

impl CellRange {
    pub(crate) fn new(row: usize, start: usize, end: usize) -> Self {
        Self { row, start, end }
    }

    pub(crate) fn row(&self) -> usize {
        self.row
    }

    /// What the cells show in their row.
    pub(crate) fn text(&self, row: &Row) -> String {
        let mut text = String::new();
        let cells = row.cells.iter().skip(self.start).take(self.end - self.start);
        cells.for_each(|cell| cell.push_text(&mut text));
        text
    }

    fn contains(&self, row: usize, col: usize) -> bool {
        row == self.row && (self.start..self.end).contains(&col)
    }
}

/// Longest typed text whose echo is traced.
const MAX_TYPED: usize = 16 * 1024;
/// A row that the primary screen does not have.
const NOWHERE: usize = usize::MAX;
/// Entered inputs whose echo is traced, the one that is being typed included.
const MAX_TYPINGS: usize = 16;

/// The inputs that may have an echo on the screen, the latest last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Typings(Vec<Typing>);

impl Typings {
    /// Input starts now, at the cursor, unless a line is still being typed.
    pub(crate) fn begin(&mut self, screen: &Screen, above: usize) {
        let next = match self.0.last() {
            Some(typing) if !typing.is_over(screen, above) => return,
            Some(typing) => typing.next(screen, above),
            None => Typing::new(screen, above),
        };
        self.0.retain(|typing| typing.may_be_echoed(screen, above));
        if self.0.len() == MAX_TYPINGS {
            self.0.remove(0);
        }
        self.0.push(next);
    }

    /// The cells of a command line, as the shell's editor draws it, from where a line stands that was entered last.
    /// The prompt may be among the cells (fish marks its end before it draws it), and a suggestion or a prompt on the
    /// right may follow the line.
    pub(crate) fn entered_cells(&self, screen: &Screen, edited: &[CellRange]) -> Vec<CellRange> {
        let Some(typing) = self.0.last().filter(|typing| typing.is_entered()) else {
            return Vec::new();
        };
        let mut shown = Haystack::default();
        edited.iter().for_each(|range| shown.push_cells(*range, &screen.rows[range.row], &[]));
        let cursor = (screen.cursor.row, screen.cursor.col);
        let to_cursor = shown.cells.partition_point(|(_, row, col)| (*row, *col) < cursor);
        let cursor = shown.cells.get(to_cursor).map_or(shown.text.len(), |(offset, ..)| *offset);
        let lines = typing.lines.iter().map(|line| line.trim_end());
        let start = lines
            .filter(|line| !line.is_empty())
            .find_map(|line| start_of_line(&shown.text, cursor, line));
        let Some(start) = start else {
            return Vec::new();
        };
        let first = shown.cells.partition_point(|(offset, ..)| *offset < start);
        let Some((_, row, col)) = shown.cells.get(first) else {
            return Vec::new();
        };
        let (row, col) = (usize::from(*row), usize::from(*col));
        let from =
            |range: &CellRange| if range.row == row { range.start.max(col) } else { range.start };
        let below = edited.iter().filter(|range| range.row >= row);
        below.map(|range| CellRange { start: from(range), ..*range }).collect()
    }

    /// The input that is being typed.
    pub(crate) fn latest(&mut self) -> Option<&mut Typing> {
        self.0.last_mut()
    }

    pub(crate) fn positions_lost(&mut self) {
        self.0.iter_mut().for_each(|typing| typing.exact = false);
    }

    /// What they left on the screen.
    pub(crate) fn echo(&self, screen: &Screen, above: usize) -> Echo {
        let mut echo = Echo::default();
        for typing in &self.0 {
            match screen.alternate {
                true => echo.cells.extend(typing.command_lines(screen)),
                false => typing.echo(screen, above, &mut echo),
            }
        }
        echo
    }
}

/// What was typed and where the cursor stood when it began.
///
/// The first line is looked for at that place, later lines below it. A program that shows typed text
/// as its own content (an editor on the alternate screen) is not an echo and not handled here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Typing {
    /// Row, counted with all lines that have scrolled off above it; [`NOWHERE`] on the alternate screen.
    line: usize,
    /// The size is still the one in which `line` was counted.
    exact: bool,
    col: usize,
    /// What stood before the cursor: the prompt.
    prompt: String,
    /// The prompt before, with its width. What is typed before the next prompt is there is echoed by
    /// the shell behind that prompt, after the terminal's own echo or instead of it.
    earlier_prompt: Option<(usize, String)>,
    lines: Vec<String>,
    /// A key changed the line in ways unknown here: all of the line from `col` on is echo.
    edited: bool,
}

impl Typing {
    fn new(screen: &Screen, above: usize) -> Self {
        let (row, col) = (usize::from(screen.cursor.row), usize::from(screen.cursor.col));
        let prompt = screen.rows.get(row).map(|row| row.text_between(0, col)).unwrap_or_default();
        let lines = vec![String::new()];
        let line = if screen.alternate { NOWHERE } else { above + row };
        Self { line, exact: true, col, prompt, earlier_prompt: None, lines, edited: false }
    }

    /// Typing that begins now, after this one.
    fn next(&self, screen: &Screen, above: usize) -> Self {
        let earlier_prompt = self.last_prompt().map(|(col, prompt)| (col, prompt.to_owned()));
        Self { earlier_prompt, ..Self::new(screen, above) }
    }

    /// The prompt behind which it was typed, or else the one before, with its width.
    fn last_prompt(&self) -> Option<(usize, &str)> {
        match self.prompt.is_empty() {
            true => self.earlier_prompt.as_ref().map(|(col, prompt)| (*col, prompt.as_str())),
            false => Some((self.col, &self.prompt)),
        }
    }

    /// It was entered, and its beginning is on the screen.
    fn may_be_echoed(&self, screen: &Screen, above: usize) -> bool {
        let bytes: usize = self.lines.iter().map(String::len).sum();
        self.is_entered()
            && bytes <= MAX_TYPED
            && (screen.alternate || self.first_row(screen, above).is_some())
    }

    /// The line is with the program, or the cursor has left it, as it does when it is interrupted.
    fn is_over(&self, screen: &Screen, above: usize) -> bool {
        if self.is_entered() || screen.alternate || !self.exact {
            return self.is_entered();
        }
        let cursor = usize::from(screen.cursor.row);
        let first = self.line.checked_sub(above).filter(|first| *first <= cursor);
        let rows = first.and_then(|first| screen.rows.get(first..cursor));
        !rows.is_some_and(|rows| rows.iter().all(is_full))
    }

    /// Enter was pressed: the line is with the program.
    fn is_entered(&self) -> bool {
        self.lines.len() > 1
    }

    pub(crate) fn push(&mut self, text: &str) {
        for character in text.chars() {
            let Some(line) = self.lines.last_mut() else {
                return;
            };
            match character {
                '\r' | '\n' => self.lines.push(String::new()),
                _ if line.len() < MAX_TYPED => line.push(character),
                _ => {}
            }
        }
    }

    pub(crate) fn edited(&mut self) {
        if !self.is_entered() {
            self.edited = true;
        }
    }

    /// Adds what it left on the screen.
    fn echo(&self, screen: &Screen, above: usize, echo: &mut Echo) {
        if !self.is_entered() {
            return;
        }
        let Some(first) = self.first_row(screen, above) else {
            return;
        };
        let mut row = self.first_line(screen, first, self.col, echo);
        if let Some((col, prompt)) = self.earlier_prompt.as_ref().filter(|_| !self.edited) {
            let again = screen.rows.iter().enumerate().skip(first).find(|(_, row)| {
                let (line, shown) = (&self.lines[0], row.text_between(*col, row.cells.len()));
                row.text_between(0, *col) == *prompt
                    && (shown == line.trim_end() || (is_full(row) && line.starts_with(&shown)))
            });
            if let Some((again, _)) = again {
                row = self.first_line(screen, again, *col, echo);
            }
        }
        let later = &self.lines[1..];
        for line in later.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
            let below = |row| screen.rows.iter().enumerate().skip(row + 1);
            // A line that a program read without echo is missing; the next one may be there.
            let Some((at, start, end)) = below(row)
                .map(|(at, row)| (at, row, text_len(row)))
                .find_map(|(at, row, end)| Some((at, ending(row, end, line)?, end)))
            else {
                continue;
            };
            echo.cells.push(CellRange { row: at, start, end });
            row = at;
            let Some((col, prompt)) = self.last_prompt() else {
                continue;
            };
            let has_prompt = |row: &Row| row.text_between(0, col) == prompt;
            if start == col && has_prompt(&screen.rows[at]) {
                echo.prompts.push(CellRange::new(at, 0, col));
            }
            // Typed while a command ran: the shell shows it once more behind its prompt.
            let again = below(row)
                .find(|(_, row)| has_prompt(row) && row.text_between(col, row.cells.len()) == line);
            if let Some((at, row)) = again {
                echo.cells.push(CellRange::new(at, col, text_len(row)));
                echo.prompts.push(CellRange::new(at, 0, col));
            }
        }
    }

    /// The rows of a full-screen program that only repeat an entered command or search, such as
    /// vim's `:wq` or less's `/pattern`. Other typed text is the program's content there.
    fn command_lines(&self, screen: &Screen) -> Vec<CellRange> {
        let entered = &self.lines[..self.lines.len() - 1];
        let commands: Vec<&str> = entered
            .iter()
            .map(|line| line.trim_end())
            .filter(|line| line.starts_with([':', '/', '?']))
            .collect();
        let rows = screen.rows.iter().enumerate();
        rows.filter(|(_, row)| commands.contains(&row.text().as_str()))
            .map(|(index, row)| CellRange { row: index, start: 0, end: row.cells.len() })
            .collect()
    }

    /// The row where typing began, if it is still visible.
    fn first_row(&self, screen: &Screen, above: usize) -> Option<usize> {
        if self.exact {
            return self.line.checked_sub(above).filter(|row| *row < screen.rows.len());
        }
        screen.rows.iter().position(|row| {
            row.text_between(0, self.col) == self.prompt
                && self.lines[0]
                    .trim_end()
                    .starts_with(row.text_between(self.col, row.cells.len()).trim_end())
                && row.text().len() > self.prompt.len()
        })
    }

    /// Adds the first line's echo, which begins in this row and column and may wrap. Returns the row it ends in.
    fn first_line(&self, screen: &Screen, first: usize, col: usize, echo: &mut Echo) -> usize {
        let mut typed = self.lines[0].chars().peekable();
        let (mut row_index, mut start) = (first, col);
        while let Some(row) = screen.rows.get(row_index) {
            let mut end = start;
            for cell in row.cells.iter().skip(start) {
                let matches = self.edited
                    || cell.width == CellWidth::Continuation
                    || typed.next_if_eq(&cell.character).is_some();
                if !matches {
                    break;
                }
                end += 1;
            }
            echo.cells.push(CellRange { row: row_index, start, end });
            if row_index == first && end > col {
                echo.prompts.push(CellRange::new(first, 0, col));
            }
            // A shell's line editor wraps by itself, without the terminal's mark.
            let more = if self.edited { is_full(row) } else { typed.peek().is_some() };
            let goes_on = end == row.cells.len() && (row.wrapped || more);
            if !goes_on {
                break;
            }
            row_index += 1;
            start = 0;
        }
        row_index
    }
}

/// The row has text up to its end, so that a line may go on in the next.
pub(crate) fn is_full(row: &Row) -> bool {
    row.wrapped || row.cells.last().is_some_and(|cell| !cell.is_blank())
}

/// Where `shown` has the whole of `line`, or a beginning of it at its end or at the cursor: at its start or behind a blank.
fn start_of_line(shown: &str, cursor: usize, line: &str) -> Option<usize> {
    let is_start = |at: usize| at == 0 || shown[..at].ends_with(' ');
    let whole = shown.rmatch_indices(line).find(|(at, _)| {
        let behind = &shown[at + line.len()..];
        is_start(*at) && (behind.is_empty() || behind.starts_with(' '))
    });
    let beginning = |end: usize| {
        let lengths = line.char_indices().skip(1).map(|(length, _)| length).chain([line.len()]);
        let starts =
            lengths.filter_map(|length| Some(shown[..end].strip_suffix(&line[..length])?.len()));
        starts.filter(|at| is_start(*at)).min()
    };
    let end = shown.trim_end().len();
    whole.map(|(at, _)| at).or_else(|| beginning(end)).or_else(|| beginning(cursor))
}

/// First column of `line` where the row's text, `end` columns long, ends with it, behind a blank if it is not all of it: a
/// prompt ends with one.
fn ending(row: &Row, end: usize, line: &str) -> Option<usize> {
    let text = row.text_between(0, end);
    let before = text.strip_suffix(line)?;
    if !before.is_empty() && !before.ends_with(' ') {
        return None;
    }
    (0..end).rev().find(|start| row.text_between(*start, end) == line)
}
