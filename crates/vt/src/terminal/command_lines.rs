//! Echoes: which cells show what was typed, so that a wait is not satisfied by the command that asked for it.

use super::Terminal;
use super::core::Core;
use crate::command_line::{CommandLine, screen_size};
use crate::event::Mark;
use crate::search::{CellRange, Haystack};

impl Terminal {
    /// The visible text to search in. Where something was typed and entered on the primary screen,
    /// its echo is left out: a wait must not be satisfied by the command that asked for it.
    pub fn haystack(&self) -> Haystack {
        let screen = self.screen();
        let above = self.core.lines_above();
        let mut echo = self.typings.echo(&screen, above);
        if !screen.alternate {
            let (rows, columns) = screen_size(&screen);
            if let Some(line) = self.core.command_line.filter(|line| !line.is_entered()) {
                echo.cells.extend(line.cells(rows, columns, above));
                // The shell's editor shows the line before the shell takes it.
                let edited = line.edited_cells(&screen, above);
                echo.cells.extend(self.typings.entered_cells(&screen, &edited));
            }
            echo.cells.extend(self.core.entered_lines.cells(&screen, above));
        }
        Haystack::new(&screen, echo)
    }

    /// Notes that input starts now, at the cursor, unless a line is still being typed.
    pub fn begin_typing(&mut self) {
        self.typings.begin(&self.screen(), self.core.lines_above());
    }

    /// Notes that a command was given to a shell that marks its lines: what it shows behind its prompt
    /// until the output begins is an echo. False when it is not known where that is.
    pub fn note_command_given(&mut self) -> bool {
        match &mut self.core.command_line {
            Some(line) => {
                line.given = true;
                true
            }
            None => false,
        }
    }

    /// Notes that the command which was given is over, begun or not: the next prompt's line is its own.
    pub fn note_command_over(&mut self) {
        if let Some(line) = &mut self.core.command_line {
            line.given = false;
        }
    }

    /// Notes text that is about to be typed; `\r` and `\n` are Enter.
    pub fn note_typed(&mut self, text: &str) {
        if let Some(typing) = self.typings.latest() {
            typing.push(text);
        }
    }

    /// Notes a key that edits the line in ways unknown here.
    pub fn note_other_key(&mut self) {
        if let Some(typing) = self.typings.latest() {
            typing.edited();
        }
    }
}

impl Core {
    /// Rows that have scrolled off the primary screen.
    fn lines_above(&self) -> usize {
        self.history.total() as usize
    }

    /// A mark tells where the shell's command line begins or ends.
    pub(super) fn place_command_line(&mut self, mark: &Mark) {
        let above = self.lines_above();
        let (row, col) = (self.grid().cursor.row, self.grid().cursor.col);
        let is_primary = !self.is_alternate;
        match (mark, &mut self.command_line) {
            (Mark::CommandStart(_), _) => {
                // The line editor shows its prompt once more, with the command behind it.
                let given = self.command_line.is_some_and(|line| line.given);
                self.command_line = is_primary.then(|| CommandLine::begin(above, row, col, given));
            }
            (Mark::OutputStart(_), Some(line)) if is_primary => {
                let is_first = line.end(above, row, col);
                let line = *line;
                if is_first {
                    self.keep_entered(line, above);
                }
            }
            (Mark::OutputStart(_), line) => *line = None,
            _ => {}
        }
    }

    /// Remembers a line that was entered, with the text that it shows.
    fn keep_entered(&mut self, line: CommandLine, above: usize) {
        let cells = line.cells(self.primary.height(), self.cols(), above);
        let text = |range: &CellRange| range.text(&self.view_row(self.primary.row(range.row())));
        let shown = cells.iter().map(text).collect();
        self.entered_lines.push(line, shown);
    }
}
