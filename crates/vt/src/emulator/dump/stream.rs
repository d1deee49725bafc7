//! The part of a dump that any terminal understands.
//!
//! The order matters. Rows come first, while all modes are those of a reset terminal. What moves the
//! cursor (tab stops, margins, origin mode) comes before the cursor, what changes the meaning of text
//! (character sets, insert mode, no autowrap) after the last character, and the bytes of a sequence
//! that is only half there come last of all.

use std::io::Write as _;
use std::ops::Range;

use alacritty_terminal::grid::{Cursor, Dimensions, Grid};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;
use alacritty_terminal::vte::ansi::{CharsetIndex, CursorShape, Rgb, StandardCharset};

use super::cells::CHARSETS;
use super::paint::{Painter, Patch};
use crate::emulator::core::Core;
use crate::format::raw;
use crate::modes;
use crate::screen::Screen;

/// A screen's patches are kept apart from the other's.
pub(super) struct Painted {
    pub(super) stream: Vec<u8>,
    pub(super) primary: Vec<Patch>,
    pub(super) alternate: Vec<Patch>,
}

/// Adds a formatted sequence; writing to a vector cannot fail.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => {
        let _ = write!($out, $($argument)*);
    };
}

pub(super) fn paint(core: &Core, held: &[u8]) -> Painted {
    let mut out = Vec::from(*b"\x1bc\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\");
    colors(core, &mut out);
    if let Some(frozen) = &core.frozen {
        freeze(frozen, &mut out);
    }
    titles(core, &mut out);
    let screens = &core.term;
    let is_alternate = screens.is_alternate();
    if !is_alternate {
        hidden_alternate(core, &mut out);
    }
    let mut painter = Painter::new(out);
    let grid = screens.primary();
    painter.grid(grid);
    keyboard(core, false, &mut painter.out);
    let (primary, alternate) = if is_alternate {
        // Entering the alternate screen saves the primary one's cursor.
        place(&mut painter, grid, &grid.cursor, 0..grid.screen_lines());
        charsets(&grid.cursor, &mut painter.out);
        let primary = std::mem::take(&mut painter.patches);
        let out = &mut painter.out;
        out.extend_from_slice(b"\x1b[?1049h\x1b(B\x1b)B\x1b*B\x1b+B");
        painter.reset();
        painter.out.extend_from_slice(b"\x1b[H\x1b[J");
        let grid = screens.grid();
        painter.grid(grid);
        keyboard(core, true, &mut painter.out);
        finish(core, &mut painter);
        (primary, painter.patches)
    } else {
        finish(core, &mut painter);
        (painter.patches, Vec::new())
    };
    let mut stream = painter.out;
    stream.extend_from_slice(held);
    Painted { stream, primary, alternate }
}

/// The screen from before a synchronized update; what comes after it is part of the update.
fn freeze(frozen: &Screen, out: &mut Vec<u8>) {
    let mut shown = frozen.clone();
    shown.title.clear();
    for cell in shown.rows.iter_mut().flat_map(|row| &mut row.cells) {
        cell.link = cell.link.take().filter(|link| !link.chars().any(char::is_control));
    }
    out.extend_from_slice(raw(&shown).as_bytes());
    out.extend_from_slice(b"\x1b[?2026h\x1b[?1049l\x1b[m\x1b[H\x1b[J\x1b[3J");
}

fn colors(core: &Core, out: &mut Vec<u8>) {
    let colors = core.term.colors();
    for index in 0..=258 {
        let Some(Rgb { r, g, b }) = colors[index] else { continue };
        match index {
            0..=255 => {
                put!(out, "\x1b]4;{index};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\");
            }
            _ => {
                put!(out, "\x1b]{};rgb:{r:02x}/{g:02x}/{b:02x}\x1b\\", index - 246);
            }
        }
    }
}

fn titles(core: &Core, out: &mut Vec<u8>) {
    let shown = |title: &str| title.chars().filter(|c| !c.is_control()).collect::<String>();
    for title in &core.titles {
        put!(out, "\x1b]2;{}\x1b\\\x1b[22;2t", shown(title));
    }
    if !core.titles.is_empty() || !core.title.is_empty() {
        put!(out, "\x1b]2;{}\x1b\\", shown(&core.title));
    }
}

/// What the alternate screen keeps while it is not shown: its saved cursor and keyboard modes.
fn hidden_alternate(core: &Core, out: &mut Vec<u8>) {
    let (saved, modes) = (core.term.alternate_saved(), core.term.keyboard(true));
    if *saved == Cursor::default() && modes.is_empty() {
        return;
    }
    let mut painter = Painter::new(std::mem::take(out));
    painter.out.extend_from_slice(b"\x1b[?1049h");
    go_to(&mut painter.out, saved.point.line.0, saved.point.column.0);
    painter.template(&saved.template);
    charsets(saved, &mut painter.out);
    painter.out.extend_from_slice(b"\x1b7");
    keyboard(core, true, &mut painter.out);
    painter.reset();
    painter.out.extend_from_slice(b"\x1b(B\x1b)B\x1b*B\x1b+B\x1b[?1049l\x1b[m\x1b[H");
    *out = painter.out;
}

/// Everything of the screen that is shown but its rows.
fn finish(core: &Core, painter: &mut Painter) {
    let (screens, grid, mode) = (&core.term, core.term.grid(), *core.term.mode());
    if grid.saved_cursor != Cursor::default() {
        place(painter, grid, &grid.saved_cursor, 0..grid.screen_lines());
        charsets(&grid.saved_cursor, &mut painter.out);
        painter.out.extend_from_slice(b"\x1b7\x1b(B\x1b)B\x1b*B\x1b+B");
        painter.reset();
    }
    let out = &mut painter.out;
    if !screens.has_default_tabs() {
        out.extend_from_slice(b"\x1b[3g");
        let stops = screens.tabs().iter().enumerate().filter(|(_, stop)| **stop);
        for (col, _) in stops {
            put!(out, "\x1b[{}G\x1bH", col + 1);
        }
    }
    let region = screens.region();
    if region != (0..grid.screen_lines()) {
        // The emulator takes margins that reach below the screen, where others ignore them.
        put!(out, "\x1b[{};{}r", region.start + 1, region.end.max(region.start + 2));
    }
    let mut rows = 0..grid.screen_lines();
    if mode.contains(TermMode::ORIGIN) {
        out.extend_from_slice(b"\x1b[?6h");
        rows = region;
    }
    place(painter, grid, &grid.cursor, rows);
    charsets(&grid.cursor, &mut painter.out);
    let out = &mut painter.out;
    if screens.active_charset() == CharsetIndex::G1 {
        out.push(0x0e);
    }
    for (flag, is_set, sequence) in MODES {
        if mode.contains(flag) == is_set {
            out.extend_from_slice(sequence);
        }
    }
    let extra = core.extra;
    for mode in [9, 1015, 1016].into_iter().filter(|mode| extra.get(*mode) == Some(true)) {
        put!(out, "\x1b[?{mode}h");
    }
    if extra.modify_other_keys > 0 {
        put!(out, "\x1b[>4;{}m", extra.modify_other_keys);
    }
    let flags = modes::input_modes(mode, extra).kitty.bits();
    if flags != screens.keyboard(screens.is_alternate()).last().copied().unwrap_or(0) {
        put!(out, "\x1b[={flags};1u");
    }
    let style = screens.cursor_style();
    let shape = match style.shape {
        CursorShape::Underline => 3,
        CursorShape::Beam => 5,
        _ => 1,
    };
    put!(out, "\x1b[{} q", shape + u8::from(!style.blinking));
    let show = if mode.contains(TermMode::SHOW_CURSOR) { 'h' } else { 'l' };
    put!(out, "\x1b[?25{show}");
    if core.synchronized && core.frozen.is_none() {
        out.extend_from_slice(b"\x1b[?2026h");
    }
}

/// Modes that a reset terminal does not have: whether they are set, and how to get there.
const MODES: [(TermMode, bool, &[u8]); 14] = [
    (TermMode::INSERT, true, b"\x1b[4h"),
    (TermMode::LINE_WRAP, false, b"\x1b[?7l"),
    (TermMode::LINE_FEED_NEW_LINE, true, b"\x1b[20h"),
    (TermMode::APP_CURSOR, true, b"\x1b[?1h"),
    (TermMode::APP_KEYPAD, true, b"\x1b="),
    (TermMode::MOUSE_REPORT_CLICK, true, b"\x1b[?1000h"),
    (TermMode::MOUSE_DRAG, true, b"\x1b[?1002h"),
    (TermMode::MOUSE_MOTION, true, b"\x1b[?1003h"),
    (TermMode::FOCUS_IN_OUT, true, b"\x1b[?1004h"),
    (TermMode::UTF8_MOUSE, true, b"\x1b[?1005h"),
    (TermMode::SGR_MOUSE, true, b"\x1b[?1006h"),
    (TermMode::ALTERNATE_SCROLL, false, b"\x1b[?1007l"),
    (TermMode::URGENCY_HINTS, false, b"\x1b[?1042l"),
    (TermMode::BRACKETED_PASTE, true, b"\x1b[?2004h"),
];

fn keyboard(core: &Core, alternate: bool, out: &mut Vec<u8>) {
    for flags in core.term.keyboard(alternate) {
        put!(out, "\x1b[>{flags}u");
    }
}

/// Puts the cursor where it is, with its style; only the rows can be reached, and the first is the origin.
fn place(painter: &mut Painter, grid: &Grid<Cell>, cursor: &Cursor<Cell>, rows: Range<usize>) {
    let (line, column) = (cursor.point.line.0, cursor.point.column.0);
    let from_origin = line - rows.start as i32;
    let is_reached = rows.contains(&(line.max(0) as usize));
    if cursor.input_needs_wrap && column + 1 == grid.columns() && is_reached {
        painter.fill(grid, line, |out, start| go_to(out, from_origin, start));
    } else {
        go_to(&mut painter.out, from_origin, column);
    }
    painter.template(&cursor.template);
}

fn go_to(out: &mut Vec<u8>, line: i32, column: usize) {
    put!(out, "\x1b[{};{}H", line.max(0) + 1, column + 1);
}

/// Designates the character sets that are not ASCII.
fn charsets(cursor: &Cursor<Cell>, out: &mut Vec<u8>) {
    for (index, designator) in CHARSETS.into_iter().zip(*b"()*+") {
        if cursor.charsets[index] != StandardCharset::Ascii {
            out.extend_from_slice(&[0x1b, designator, b'0']);
        }
    }
}
