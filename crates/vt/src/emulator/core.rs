//! The emulator and what it leaves to us; the scanner's [`Sink`].

mod sequences;

use alacritty_terminal::event::{Event as EmulatorEvent, WindowSize};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::{Config, Osc52, TermMode};
use alacritty_terminal::vte::ansi::{Processor, Rgb};
use unicode_width::UnicodeWidthChar;

use super::memory::Extras;
use super::screens::Screens;
use super::{Options, Size};
use crate::command_line::{CommandLine, EnteredLines};
use crate::convert::{self, MAX_MARKS};
use crate::event::{Event, Mark, Tapped};
use crate::listener::Listener;
use crate::modes::{CELL_PIXELS, ExtraModes};
use crate::queries::{self, Csi, MAX_REPEAT};
use crate::scanner::{Sink, cut_character_len};
use crate::screen::Screen;
use crate::search::CellRange;
use crate::sgr;
use crate::style::Palette;

/// Bytes of answers kept for a program that asks without reading: all 256 colours fit.
const MAX_REPLIES: usize = 8 * 1024;
/// Events kept for an owner that does not take them.
const MAX_EVENTS: usize = 1024;
/// Zero-width characters between two looks for cells that have too many of them.
const MARKS_BETWEEN_LIMITS: usize = 4096;

/// What DECSTR does, in the emulator's own functions; the cursor stays.
pub(crate) const SOFT_RESET: &[u8] =
    b"\x1b[?25h\x1b[?6l\x1b[r\x1b[4l\x1b[?1l\x1b>\x1b[?7h\x1b(B\x0f\x1b[m";

pub(super) struct Core {
    pub(super) term: Screens,
    /// Made for the first output: it reserves 2 MB, which the allocator may take from memory that was used before.
    pub(super) processor: Option<Processor>,
    listener: Listener,
    palette: Palette,
    pub(super) scrollback_lines: usize,
    pub(super) extra: ExtraModes,
    pub(super) title: String,
    pub(super) clipboard: String,
    pub(super) replies: Vec<u8>,
    pub(super) events: Vec<Event>,
    pub(super) unanswered: Option<String>,
    pub(super) synchronized: bool,
    pub(super) frozen: Option<Box<Screen>>,
    /// What was fed since it was last taken, when someone listens.
    pub(super) tap: Option<Vec<Tapped>>,
    /// The limit of the history, when memory is short.
    pub(super) lowered: Option<usize>,
    /// The length of the history, while the emulator has no rows for lines to come.
    pub(super) packed: Option<usize>,
    /// What hangs on cells.
    pub(super) extras: Extras,
    /// Titles that were pushed.
    pub(super) titles: Vec<String>,
    /// Zero-width characters printed since they were last limited.
    pub(super) marks_printed: usize,
    /// Where the shell's command line stands.
    pub(super) command_line: Option<CommandLine>,
    /// Where the lines stand that were entered.
    pub(super) entered_lines: EnteredLines,
}

impl Core {
    pub(super) fn new(size: Size, options: Options) -> Self {
        let listener = Listener::default();
        Self {
            term: Screens::new(config(options.scrollback_lines), size, listener.clone()),
            processor: None,
            listener,
            palette: options.palette,
            scrollback_lines: options.scrollback_lines,
            extra: ExtraModes::default(),
            title: String::new(),
            clipboard: String::new(),
            replies: Vec::new(),
            events: Vec::new(),
            unanswered: None,
            synchronized: false,
            frozen: None,
            tap: None,
            lowered: None,
            packed: Some(0),
            extras: Extras::default(),
            titles: Vec::new(),
            marks_printed: 0,
            command_line: None,
            entered_lines: EnteredLines::default(),
        }
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.end_synchronized();
        self.term.resize(size);
        self.packed = None;
        self.forget_command_lines();
    }

    /// Lines can no longer be counted from where they began.
    pub(super) fn forget_command_lines(&mut self) {
        self.command_line = None;
        self.entered_lines = EnteredLines::default();
    }

    pub(super) fn end_synchronized(&mut self) {
        self.synchronized = false;
        self.frozen = None;
    }

    pub(super) fn primary_history_len(&self) -> usize {
        self.term.primary().history_size()
    }

    /// Lines that are kept at most.
    pub(super) fn history_limit(&self) -> usize {
        self.lowered.unwrap_or(self.scrollback_lines)
    }

    /// Sets how many lines are kept; more than that are dropped.
    pub(super) fn set_history_limit(&mut self, limit: usize) {
        self.term.set_options(config(limit.min(self.scrollback_lines)));
        // Setting options repeats the title, which is no event.
        drop(self.listener.take());
    }

    /// A cell takes combining marks without end; nothing a person could read needs that many.
    pub(super) fn limit_combining_marks(&mut self) {
        if self.marks_printed < MARKS_BETWEEN_LIMITS {
            return;
        }
        self.marks_printed = 0;
        let (lines, columns) = (self.term.screen_lines() as i32, self.term.columns());
        let grid = self.term.grid_mut();
        for line in 0..lines {
            let row = &mut grid[Line(line)];
            for column in 0..columns {
                let cell = &mut row[Column(column)];
                let Some(marks) = cell.zerowidth().filter(|marks| marks.len() > MAX_MARKS) else {
                    continue;
                };
                let kept = marks[..MAX_MARKS].to_vec();
                let (color, link) = (cell.underline_color(), cell.hyperlink());
                cell.extra = None;
                kept.into_iter().for_each(|mark| cell.push_zerowidth(mark));
                cell.set_underline_color(color);
                cell.set_hyperlink(link);
            }
        }
    }

    fn reply(&mut self, bytes: &[u8]) {
        if self.replies.len() + bytes.len() <= MAX_REPLIES {
            self.replies.extend_from_slice(bytes);
        }
    }

    fn tap_bytes(&mut self, bytes: &[u8]) {
        let Some(tap) = &mut self.tap else { return };
        match tap.last_mut() {
            Some(Tapped::Bytes(last)) => last.extend_from_slice(bytes),
            _ if bytes.is_empty() => {}
            _ => tap.push(Tapped::Bytes(bytes.to_vec())),
        }
    }

    fn event(&mut self, event: Event) {
        if let Event::Mark(mark) = &event {
            self.place_command_line(mark);
        }
        let row = self.cursor().row;
        if let (Some(tap), Event::Mark(Mark::OutputStart(_))) = (&mut self.tap, &event) {
            tap.push(Tapped::OutputAt(row));
        }
        if let (Some(tap), Event::Mark(_) | Event::WorkingDirectory(_)) = (&mut self.tap, &event) {
            tap.push(Tapped::Event(event.clone()));
        }
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        }
    }

    fn place_command_line(&mut self, mark: &Mark) {
        let above = self.term.lines_above();
        let point = self.term.grid().cursor.point;
        let (row, col) = (point.line.0.max(0) as usize, point.column.0);
        let is_primary = !self.term.is_alternate();
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
        let cells = line.cells(self.term.screen_lines(), self.term.columns(), above);
        let grid = self.term.grid();
        let row = |range: &CellRange| convert::row(&grid[Line(range.row() as i32)][..]);
        let shown = cells.iter().map(|range| range.text(&row(range))).collect();
        self.entered_lines.push(line, shown);
    }

    fn advance(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.processor.get_or_insert_default().advance(&mut self.term, bytes);
        for event in self.listener.take() {
            self.emulator_event(event);
        }
    }

    fn emulator_event(&mut self, event: EmulatorEvent) {
        match event {
            EmulatorEvent::PtyWrite(text) => self.reply(text.as_bytes()),
            EmulatorEvent::Bell => self.event(Event::Bell),
            EmulatorEvent::Title(title) => {
                self.title.clone_from(&title);
                self.event(Event::Title(Some(title)));
            }
            EmulatorEvent::ResetTitle => {
                self.title.clear();
                self.event(Event::Title(None));
            }
            EmulatorEvent::ClipboardStore(_, text) => {
                self.clipboard.clone_from(&text);
                self.event(Event::Clipboard(text));
            }
            EmulatorEvent::ClipboardLoad(_, format) => {
                let answer = format(&self.clipboard);
                self.reply(answer.as_bytes());
            }
            EmulatorEvent::ColorRequest(index, format) => {
                let answer = format(self.color(index));
                self.reply(answer.as_bytes());
            }
            EmulatorEvent::TextAreaSizeRequest(format) => {
                let answer = format(self.window_size());
                self.reply(answer.as_bytes());
            }
            _ => {}
        }
    }

    fn color(&self, index: usize) -> Rgb {
        let (r, g, b) = match index {
            0..=255 => self.palette.entries[index],
            257 => self.palette.background,
            258 => self.palette.cursor,
            _ => self.palette.foreground,
        };
        self.term.colors()[index].unwrap_or(Rgb { r, g, b })
    }

    fn window_size(&self) -> WindowSize {
        WindowSize {
            num_lines: self.term.screen_lines() as u16,
            num_cols: self.term.columns() as u16,
            cell_width: CELL_PIXELS.0,
            cell_height: CELL_PIXELS.1,
        }
    }

    /// Passes a query on and notes it when nothing came back.
    fn ask_emulator(&mut self, sequence: &[u8]) {
        let before = self.replies.len();
        self.advance(sequence);
        if self.replies.len() == before {
            self.unanswered = Some(queries::readable(sequence));
        }
    }

    fn private_modes(&mut self, csi: &Csi<'_>, rest: &[u8]) {
        let on = csi.last == b'h';
        for &mode in &csi.parameters {
            match mode {
                2026 => self.synchronized_output(on, rest),
                47 | 1047 => self.term.show_alternate(on),
                1048 => self.advance(if on { b"\x1b7" } else { b"\x1b8" }),
                _ if self.extra.set(mode, on) => {}
                _ => self.advance(format!("\x1b[?{mode}{}", csi.last as char).as_bytes()),
            }
        }
    }

    fn synchronized_output(&mut self, on: bool, rest: &[u8]) {
        const END: &[u8] = b"\x1b[?2026l";
        if !on {
            self.end_synchronized();
        } else if !self.synchronized {
            self.synchronized = true;
            // Nobody can look before this read is through: only an update that outlasts it needs
            // the copy.
            if memchr::memmem::find(rest, END).is_none() {
                self.frozen = Some(Box::new(self.live_screen()));
            }
        }
    }

    fn report_mode(&mut self, csi: &Csi<'_>, sequence: &[u8]) {
        let mode = csi.parameter(0);
        let state = match mode {
            2026 => Some(self.synchronized),
            47 | 1047 => Some(self.term.mode().contains(TermMode::ALT_SCREEN)),
            _ => self.extra.get(mode),
        };
        match state {
            Some(on) => self.reply(format!("\x1b[?{mode};{}$y", if on { 1 } else { 2 }).as_bytes()),
            None => self.ask_emulator(sequence),
        }
    }
}

impl Sink for Core {
    fn wants_csi(sequence: &[u8]) -> bool {
        queries::is_ours(sequence)
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.tap_bytes(bytes);
        self.count_output(bytes.len());
        let filtered;
        let mut bytes = bytes;
        if !bytes.is_ascii() {
            let is_mark = |c: &char| c.width() == Some(0);
            let characters = bytes.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
            let marks = characters.filter(is_mark).count();
            self.marks_printed += marks;
            if marks > 0 && !self.has_room(marks, 0) {
                let text = String::from_utf8_lossy(bytes);
                filtered = text.chars().filter(|c| !is_mark(c)).collect::<String>();
                bytes = filtered.as_bytes();
            }
        }
        // Only what a sequence cut off ends here within a character; vte would wait for its rest.
        match cut_character_len(bytes) {
            0 => self.advance(bytes),
            cut => {
                self.advance(&bytes[..bytes.len() - cut]);
                self.advance("\u{fffd}".as_bytes());
            }
        }
    }

    fn csi(&mut self, sequence: &[u8], rest: &[u8]) {
        self.tap_bytes(sequence);
        let csi = Csi::parse(sequence);
        match (csi.prefix, csi.intermediates, csi.last) {
            (None, b"", b'm') => {
                self.advance(sequence);
                if let Some(on) = sgr::blink(sequence) {
                    self.term.grid_mut().cursor.template.flags.set(convert::BLINK, on);
                }
            }
            (Some(b'>'), b"", b'm') if csi.parameter(0) == 4 => {
                self.extra.modify_other_keys = csi.parameter(1).min(2) as u8;
            }
            (Some(b'>'), b"", b'n') if csi.parameter(0) == 4 => self.extra.modify_other_keys = 0,
            (Some(b'?'), b"", b'm') if csi.parameter(0) == 4 => {
                let level = self.extra.modify_other_keys;
                self.reply(format!("\x1b[>4;{level}m").as_bytes());
            }
            (Some(b'?'), b"", b'h' | b'l') => self.private_modes(&csi, rest),
            (Some(b'?'), b"$", b'p') => self.report_mode(&csi, sequence),
            (None, b"!", b'p') => self.soft_reset(),
            (None, b"", b'b') => {
                let count = csi.parameter(0).min(MAX_REPEAT);
                // It may be a mark that is repeated; a cell takes no more of them than its limit.
                self.marks_printed += usize::from(count);
                self.count_output(usize::from(count));
                self.advance(format!("\x1b[{count}b").as_bytes());
            }
            (None, b"", b't') if matches!(csi.parameter(0), 22 | 23) => self.title_stack(&csi),
            (Some(b'<' | b'>'), b"", b'u') => self.keyboard_mode(&csi, sequence),
            _ => {
                let size = self.window_size();
                let cursor = self.cursor();
                match queries::answer(&csi, size.num_cols, size.num_lines, cursor) {
                    Some(answer) => self.reply(answer.as_bytes()),
                    None if queries::is_question(&csi) => self.ask_emulator(sequence),
                    None => self.advance(sequence),
                }
            }
        }
    }

    fn string(&mut self, introducer: u8, payload: &[u8], terminator: &'static [u8]) {
        self.count_output(payload.len());
        match introducer {
            b']' => self.osc(payload, terminator),
            b'P' => self.device_control(payload),
            // Kitty graphics: programs follow the question with DA1, which ends their wait.
            b'_' if payload.starts_with(b"G") => {
                self.unanswered = Some(String::from("APC G (kitty graphics)"));
            }
            _ => {}
        }
    }

    fn full_reset(&mut self) {
        self.extra = ExtraModes::default();
        self.titles.clear();
        self.end_synchronized();
    }
}

fn config(scrolling_history: usize) -> Config {
    Config {
        scrolling_history,
        kitty_keyboard: true,
        // The clipboard is the session's own: a program may read back what it wrote.
        osc52: Osc52::CopyPaste,
        ..Config::default()
    }
}
