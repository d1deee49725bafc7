//! [`Screens`]: the emulator crate's terminal, with what that keeps to itself.
//!
//! The crate's `Term` shows one of its two screens and hides the other, the tab stops, the scrolling
//! region, the character set in use and the keyboard stacks. A dump needs them all, so they are noted
//! here as they are set: every function that the parser calls goes through this type, most of them
//! straight on. While the alternate screen is shown the primary one is held here and the crate has a
//! blank one of a few cells in its place.
//!
//! The crate does not count the lines that a full history drops. It does keep a view that is scrolled
//! back in its place: nobody looks through that view here, so it is scrolled back by one line, and
//! how far it has moved since is the number of lines that have scrolled off.
//!
//! Invariants: what is noted equals what the crate hides; `primary` is there exactly while the
//! alternate screen is shown; every row of a resized screen counts as written to, because the crate
//! would not clear all of a row that was erased in colour and then widened.

use std::ops::{Deref, Range};

use alacritty_terminal::grid::{Cursor, Dimensions, Grid, Scroll};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, NamedPrivateMode, PrivateMode, Rgb,
    StandardCharset, TabulationClearMode,
};

use super::Size;
use crate::listener::Listener;

/// Columns between the tab stops that a terminal starts with.
const TAB: usize = 8;

/// Both screens of a terminal. Reading goes through to the emulator crate's `Term`.
pub(super) struct Screens {
    term: Term<Listener>,
    /// The primary screen while the alternate one is shown.
    primary: Option<Box<Grid<Cell>>>,
    /// The alternate screen's saved cursor while the primary one is shown.
    alternate_saved: Cursor<Cell>,
    tabs: Vec<bool>,
    active_charset: CharsetIndex,
    /// The scrolling region, as lines from the top.
    region: Range<usize>,
    /// Stacks of keyboard modes of the primary and of the alternate screen.
    keyboard: [Vec<u8>; 2],
    /// What REP repeats.
    last: Option<char>,
    /// [`Screens::lines_above`] at the last count.
    lines_counted: usize,
    /// Length of the history then, if the view is not scrolled back: there was nothing to scroll back to, or lines
    /// scroll below a margin, which moves the view too.
    history_counted: Option<usize>,
}

impl Deref for Screens {
    type Target = Term<Listener>;

    fn deref(&self) -> &Self::Target {
        &self.term
    }
}

impl Screens {
    pub(super) fn new(config: Config, size: Size, listener: Listener) -> Self {
        Self {
            term: Term::new(config, &size, listener),
            primary: None,
            alternate_saved: Cursor::default(),
            tabs: default_tabs(size.columns()),
            active_charset: CharsetIndex::default(),
            region: 0..size.screen_lines(),
            keyboard: [Vec::new(), Vec::new()],
            last: None,
            lines_counted: 0,
            history_counted: Some(0),
        }
    }

    pub(super) fn is_alternate(&self) -> bool {
        self.primary.is_some()
    }

    /// The screen that is shown.
    pub(super) fn grid_mut(&mut self) -> &mut Grid<Cell> {
        self.term.grid_mut()
    }

    /// The primary screen, shown or not.
    pub(super) fn primary(&self) -> &Grid<Cell> {
        self.primary.as_deref().unwrap_or_else(|| self.term.grid())
    }

    /// The primary screen, shown or not.
    pub(super) fn primary_mut(&mut self) -> &mut Grid<Cell> {
        match &mut self.primary {
            Some(primary) => primary,
            None => self.term.grid_mut(),
        }
    }

    /// Lines that have scrolled off the primary screen, dropped ones included. Exact as long as fewer
    /// lines than the history keeps scroll off between two counts.
    pub(super) fn lines_above(&self) -> usize {
        let grid = self.primary();
        let since = match self.history_counted {
            Some(before) => grid.history_size().saturating_sub(before),
            None => grid.display_offset().saturating_sub(1),
        };
        self.lines_counted + since
    }

    /// Counts the lines that have scrolled off the primary screen.
    pub(super) fn count_lines(&mut self) {
        self.set_lines_above(self.lines_above());
    }

    /// Counts on from this number of lines above the primary screen.
    pub(super) fn set_lines_above(&mut self, lines: usize) {
        self.count_from(lines, self.region.start == 0);
    }

    fn count_from(&mut self, lines: usize, scrolls_back: bool) {
        self.lines_counted = lines;
        let grid = self.primary_mut();
        grid.scroll_display(Scroll::Bottom);
        grid.scroll_display(Scroll::Delta(scrolls_back.into()));
        let grid = self.primary();
        self.history_counted = (grid.display_offset() == 0).then(|| grid.history_size());
    }

    /// The alternate screen's saved cursor, whichever screen is shown.
    pub(super) fn alternate_saved(&self) -> &Cursor<Cell> {
        match &self.primary {
            Some(_) => &self.term.grid().saved_cursor,
            None => &self.alternate_saved,
        }
    }

    /// The alternate screen's saved cursor, whichever screen is shown.
    pub(super) fn alternate_saved_mut(&mut self) -> &mut Cursor<Cell> {
        match &self.primary {
            Some(_) => &mut self.term.grid_mut().saved_cursor,
            None => &mut self.alternate_saved,
        }
    }

    /// Columns that have a tab stop.
    pub(super) fn tabs(&self) -> &[bool] {
        &self.tabs
    }

    /// There are only the tab stops that a terminal starts with.
    pub(super) fn has_default_tabs(&self) -> bool {
        self.tabs.iter().enumerate().all(|(col, stop)| *stop == (col % TAB == 0))
    }

    pub(super) fn active_charset(&self) -> CharsetIndex {
        self.active_charset
    }

    /// The scrolling region, as lines from the top.
    pub(super) fn region(&self) -> Range<usize> {
        self.region.clone()
    }

    /// The keyboard modes on the stack of the primary or of the alternate screen.
    pub(super) fn keyboard(&self, alternate: bool) -> &[u8] {
        &self.keyboard[usize::from(alternate)]
    }

    /// What REP repeats.
    pub(super) fn last_printed(&self) -> Option<char> {
        self.last
    }

    /// Notes what REP repeats, when it is set behind our back.
    pub(super) fn set_last_printed(&mut self, last: Option<char>) {
        self.last = last;
    }

    pub(super) fn set_options(&mut self, config: Config) {
        let above = self.lines_above();
        if let Some(primary) = &mut self.primary {
            primary.update_history(config.scrolling_history);
        }
        self.term.set_options(config);
        self.set_lines_above(above);
    }

    pub(super) fn resize(&mut self, size: Size) {
        let (cols, rows) = (size.columns(), size.screen_lines());
        let old_cols = self.columns();
        if (old_cols, self.screen_lines()) == (cols, rows) {
            return;
        }
        let dropped = self.lines_above().saturating_sub(self.primary().history_size());
        self.term.resize(size);
        if let Some(primary) = &mut self.primary {
            primary.resize(true, rows, cols);
            mark_written(primary);
        }
        mark_written(self.term.grid_mut());
        let saved = &mut self.alternate_saved.point;
        saved.line = saved.line.min(Line(rows as i32 - 1));
        saved.column = saved.column.min(Column(cols - 1));
        self.tabs.truncate(cols);
        self.tabs.extend((self.tabs.len()..cols).map(|col| col % TAB == 0));
        self.region = 0..rows;
        self.set_lines_above(dropped + self.primary().history_size());
    }

    /// Shows the alternate screen, blank, or goes back to the primary one.
    pub(super) fn show_alternate(&mut self, alternate: bool) {
        match (alternate, self.primary.take()) {
            (true, None) => {
                let cursor = self.term.grid().cursor.clone();
                let mut primary = std::mem::replace(self.term.grid_mut(), Grid::new(1, 2, 0));
                primary.saved_cursor = cursor.clone();
                self.term.swap_alt();
                let grid = self.term.grid_mut();
                grid.cursor = cursor;
                grid.saved_cursor = std::mem::take(&mut self.alternate_saved);
                mark_written(grid);
                grid.reset_region(..);
                self.primary = Some(Box::new(primary));
            }
            (false, Some(primary)) => {
                self.alternate_saved = self.term.grid().saved_cursor.clone();
                self.term.swap_alt();
                *self.term.grid_mut() = *primary;
            }
            (_, primary) => self.primary = primary,
        }
    }

    fn note_region(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.term.screen_lines();
        let bottom = bottom.unwrap_or(rows);
        if top < bottom {
            self.region = (top - 1).min(rows)..bottom.min(rows);
        }
    }

    fn set_private(&mut self, mode: PrivateMode, on: bool) {
        match mode {
            PrivateMode::Named(NamedPrivateMode::SwapScreenAndSetRestoreCursor) => {
                return self.show_alternate(on);
            }
            // The size is not the program's to change; xterm ignores it too, with the clearing that goes with it.
            PrivateMode::Named(NamedPrivateMode::ColumnMode) => return,
            _ => {}
        }
        if on { self.term.set_private_mode(mode) } else { self.term.unset_private_mode(mode) }
    }

    fn cursor_column(&self) -> usize {
        self.term.grid().cursor.point.column.0
    }
}

/// Makes every cell of the screen and its history count as written to.
fn mark_written(grid: &mut Grid<Cell>) {
    for line in grid.topmost_line().0..=grid.bottommost_line().0 {
        let _ = &mut grid[Line(line)][..];
    }
}

fn default_tabs(cols: usize) -> Vec<bool> {
    (0..cols).map(|col| col % TAB == 0).collect()
}

macro_rules! straight_on {
    ($(fn $name:ident(&mut self $(, $argument:ident: $type:ty)*);)*) => {
        $(#[inline]
        fn $name(&mut self $(, $argument: $type)*) {
            self.term.$name($($argument),*);
        })*
    };
}

impl Handler for Screens {
    #[inline]
    fn input(&mut self, c: char) {
        self.last = Some(c);
        self.term.input(c);
    }

    fn set_horizontal_tabstop(&mut self) {
        let col = self.cursor_column();
        if let Some(stop) = self.tabs.get_mut(col) {
            *stop = true;
        }
        self.term.set_horizontal_tabstop();
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        let col = self.cursor_column();
        match mode {
            TabulationClearMode::All => self.tabs.fill(false),
            TabulationClearMode::Current => {
                if let Some(stop) = self.tabs.get_mut(col) {
                    *stop = false;
                }
            }
        }
        self.term.clear_tabs(mode);
    }

    fn reset_state(&mut self) {
        self.show_alternate(false);
        self.alternate_saved = Cursor::default();
        self.tabs = default_tabs(self.term.columns());
        self.active_charset = CharsetIndex::default();
        self.region = 0..self.term.screen_lines();
        self.keyboard = [Vec::new(), Vec::new()];
        // The rows of the screen are gone like those above it.
        let above = self.lines_above() + self.term.screen_lines();
        self.term.reset_state();
        self.set_lines_above(above);
    }

    fn delete_lines(&mut self, rows: usize) {
        let above = self.lines_above();
        self.term.delete_lines(rows);
        if self.term.grid().cursor.point.line > Line(0) {
            // These rows went nowhere.
            self.set_lines_above(above);
        }
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        let above = self.lines_above();
        // The rows of the screen scroll off, whatever the margins are.
        self.count_from(above, true);
        let erases_history = matches!(mode, ClearMode::Saved);
        self.term.clear_screen(mode);
        self.set_lines_above(if erases_history { above } else { self.lines_above() });
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        self.set_private(mode, true);
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        self.set_private(mode, false);
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let above = self.lines_above();
        self.note_region(top, bottom);
        self.term.set_scrolling_region(top, bottom);
        self.set_lines_above(above);
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.active_charset = index;
        self.term.set_active_charset(index);
    }

    fn push_keyboard_mode(&mut self, mode: KeyboardModes) {
        let alternate = self.is_alternate();
        self.keyboard[usize::from(alternate)].push(mode.bits());
        self.term.push_keyboard_mode(mode);
    }

    fn pop_keyboard_modes(&mut self, to_pop: u16) {
        let alternate = self.is_alternate();
        let stack = &mut self.keyboard[usize::from(alternate)];
        stack.truncate(stack.len().saturating_sub(to_pop.into()));
        self.term.pop_keyboard_modes(to_pop);
    }

    straight_on! {
        fn set_title(&mut self, title: Option<String>);
        fn set_cursor_style(&mut self, style: Option<CursorStyle>);
        fn set_cursor_shape(&mut self, shape: CursorShape);
        fn goto(&mut self, line: i32, col: usize);
        fn goto_line(&mut self, line: i32);
        fn goto_col(&mut self, col: usize);
        fn insert_blank(&mut self, count: usize);
        fn move_up(&mut self, rows: usize);
        fn move_down(&mut self, rows: usize);
        fn identify_terminal(&mut self, intermediate: Option<char>);
        fn device_status(&mut self, status: usize);
        fn move_forward(&mut self, cols: usize);
        fn move_backward(&mut self, cols: usize);
        fn move_down_and_cr(&mut self, rows: usize);
        fn move_up_and_cr(&mut self, rows: usize);
        fn put_tab(&mut self, count: u16);
        fn backspace(&mut self);
        fn carriage_return(&mut self);
        fn linefeed(&mut self);
        fn bell(&mut self);
        fn substitute(&mut self);
        fn newline(&mut self);
        fn scroll_up(&mut self, rows: usize);
        fn scroll_down(&mut self, rows: usize);
        fn insert_blank_lines(&mut self, rows: usize);
        fn erase_chars(&mut self, count: usize);
        fn delete_chars(&mut self, count: usize);
        fn move_backward_tabs(&mut self, count: u16);
        fn move_forward_tabs(&mut self, count: u16);
        fn save_cursor_position(&mut self);
        fn restore_cursor_position(&mut self);
        fn clear_line(&mut self, mode: LineClearMode);
        fn reverse_index(&mut self);
        fn terminal_attribute(&mut self, attribute: Attr);
        fn set_mode(&mut self, mode: Mode);
        fn unset_mode(&mut self, mode: Mode);
        fn report_mode(&mut self, mode: Mode);
        fn report_private_mode(&mut self, mode: PrivateMode);
        fn set_keypad_application_mode(&mut self);
        fn unset_keypad_application_mode(&mut self);
        fn configure_charset(&mut self, index: CharsetIndex, charset: StandardCharset);
        fn set_color(&mut self, index: usize, color: Rgb);
        fn dynamic_color_sequence(&mut self, prefix: String, index: usize, terminator: &str);
        fn reset_color(&mut self, index: usize);
        fn clipboard_store(&mut self, clipboard: u8, base64: &[u8]);
        fn clipboard_load(&mut self, clipboard: u8, terminator: &str);
        fn decaln(&mut self);
        fn push_title(&mut self);
        fn pop_title(&mut self);
        fn text_area_size_pixels(&mut self);
        fn text_area_size_chars(&mut self);
        fn set_hyperlink(&mut self, link: Option<Hyperlink>);
        fn report_keyboard_mode(&mut self);
        fn set_keyboard_mode(&mut self, mode: KeyboardModes, apply: KeyboardModesApplyBehavior);
    }
}
