//! The emulator's cells and cursors in the private part of a dump.

use std::collections::HashMap;

use alacritty_terminal::grid::Cursor;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{CharsetIndex, Color, NamedColor, Rgb, StandardCharset};

use crate::codec::{DumpError, Reader, Writer};
use crate::convert::MAX_MARKS;
use crate::emulator::Size;

pub(super) const DEFAULT_FG: Color = Color::Named(NamedColor::Foreground);
pub(super) const DEFAULT_BG: Color = Color::Named(NamedColor::Background);

/// The character sets in the order of their designators.
pub(super) const CHARSETS: [CharsetIndex; 4] =
    [CharsetIndex::G0, CharsetIndex::G1, CharsetIndex::G2, CharsetIndex::G3];

const HAS_FG: u8 = 1;
const HAS_BG: u8 = 1 << 1;
const HAS_UNDERLINE: u8 = 1 << 2;
const HAS_MARKS: u8 = 1 << 3;
const HAS_LINK: u8 = 1 << 4;

/// Links that cells refer to; each stands in a dump once.
#[derive(Debug, Default)]
pub(super) struct Links {
    numbers: HashMap<(Option<String>, String), usize>,
    links: Vec<Hyperlink>,
}

impl Links {
    fn number(&mut self, link: Hyperlink) -> usize {
        let key = (link_id(&link).map(str::to_owned), link.uri().to_owned());
        *self.numbers.entry(key).or_insert_with(|| {
            self.links.push(link);
            self.links.len() - 1
        })
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.list(self.links.iter(), |writer, link| {
            writer.option(link_id(link), Writer::text);
            writer.text(link.uri());
        });
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Vec<Hyperlink>, DumpError> {
        reader.list(|reader| {
            let id = reader.option(Reader::text)?;
            Ok(Hyperlink::new(id, reader.text()?))
        })
    }
}

/// The id that the program gave; the emulator makes one up where there is none.
pub(super) fn link_id(link: &Hyperlink) -> Option<&str> {
    Some(link.id()).filter(|id| !id.ends_with("_alacritty"))
}

/// Both are the same but for ids that were made up.
pub(super) fn same_link(a: Option<&Hyperlink>, b: Option<&Hyperlink>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.uri() == b.uri() && link_id(a) == link_id(b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Marks of a cell, as many as are shown.
pub(super) fn marks(cell: &Cell) -> &[char] {
    let marks = cell.zerowidth().unwrap_or_default();
    &marks[..marks.len().min(MAX_MARKS)]
}

pub(super) fn write_cell(writer: &mut Writer, cell: &Cell, links: &mut Links) {
    let (underline, marks, link) = (cell.underline_color(), marks(cell), cell.hyperlink());
    let bit = |condition: bool, bit: u8| if condition { bit } else { 0 };
    writer.byte(
        bit(cell.fg != DEFAULT_FG, HAS_FG)
            | bit(cell.bg != DEFAULT_BG, HAS_BG)
            | bit(underline.is_some(), HAS_UNDERLINE)
            | bit(!marks.is_empty(), HAS_MARKS)
            | bit(link.is_some(), HAS_LINK),
    );
    writer.character(cell.c);
    writer.number(cell.flags.bits().into());
    if cell.fg != DEFAULT_FG {
        write_color(writer, cell.fg);
    }
    if cell.bg != DEFAULT_BG {
        write_color(writer, cell.bg);
    }
    if let Some(color) = underline {
        write_color(writer, color);
    }
    if !marks.is_empty() {
        writer.list(marks.iter(), |writer, mark| writer.character(*mark));
    }
    if let Some(link) = link {
        writer.size(links.number(link));
    }
}

pub(super) fn read_cell(reader: &mut Reader<'_>, links: &[Hyperlink]) -> Result<Cell, DumpError> {
    let has = reader.byte()?;
    let mut cell = Cell { c: reader.character()?, ..Cell::default() };
    if cell.c.is_control() && cell.c != '\t' {
        return Err(DumpError::Damaged);
    }
    let flags = u16::try_from(reader.number()?).map_err(|_| DumpError::Damaged)?;
    cell.flags = Flags::from_bits_retain(flags);
    if has & HAS_FG != 0 {
        cell.fg = read_color(reader)?;
    }
    if has & HAS_BG != 0 {
        cell.bg = read_color(reader)?;
    }
    if has & HAS_UNDERLINE != 0 {
        // Sequences only set it by number or value.
        let color = Some(read_color(reader)?).filter(|color| !matches!(color, Color::Named(_)));
        cell.set_underline_color(Some(color.ok_or(DumpError::Damaged)?));
    }
    if has & HAS_MARKS != 0 {
        let marks = reader.list(Reader::character)?;
        marks.into_iter().take(MAX_MARKS).for_each(|mark| cell.push_zerowidth(mark));
    }
    if has & HAS_LINK != 0 {
        let link = links.get(reader.size()?).ok_or(DumpError::Damaged)?;
        cell.set_hyperlink(Some(link.clone()));
    }
    Ok(cell)
}

const INDEXED: u8 = 16;
const SPEC: u8 = 17;
const DEFAULT: u8 = 18;

/// The first sixteen colours by name are their numbers; no other name can be set.
fn write_color(writer: &mut Writer, color: Color) {
    match color {
        Color::Named(name) if (name as usize) < 16 => writer.byte(name as u8),
        Color::Named(_) => writer.byte(DEFAULT),
        Color::Indexed(index) => {
            writer.byte(INDEXED);
            writer.byte(index);
        }
        Color::Spec(Rgb { r, g, b }) => {
            writer.byte(SPEC);
            [r, g, b].into_iter().for_each(|part| writer.byte(part));
        }
    }
}

fn read_color(reader: &mut Reader<'_>) -> Result<Color, DumpError> {
    const NAMES: [NamedColor; 16] = [
        NamedColor::Black,
        NamedColor::Red,
        NamedColor::Green,
        NamedColor::Yellow,
        NamedColor::Blue,
        NamedColor::Magenta,
        NamedColor::Cyan,
        NamedColor::White,
        NamedColor::BrightBlack,
        NamedColor::BrightRed,
        NamedColor::BrightGreen,
        NamedColor::BrightYellow,
        NamedColor::BrightBlue,
        NamedColor::BrightMagenta,
        NamedColor::BrightCyan,
        NamedColor::BrightWhite,
    ];
    Ok(match reader.byte()? {
        INDEXED => Color::Indexed(reader.byte()?),
        SPEC => Color::Spec(Rgb { r: reader.byte()?, g: reader.byte()?, b: reader.byte()? }),
        DEFAULT => DEFAULT_FG,
        name => Color::Named(*NAMES.get(usize::from(name)).ok_or(DumpError::Damaged)?),
    })
}

pub(super) fn write_cursor(writer: &mut Writer, cursor: &Cursor<Cell>, links: &mut Links) {
    writer.size(cursor.point.line.0.max(0) as usize);
    writer.size(cursor.point.column.0);
    writer.flag(cursor.input_needs_wrap);
    for index in CHARSETS {
        writer.flag(cursor.charsets[index] != StandardCharset::Ascii);
    }
    write_cell(writer, &cursor.template, links);
}

pub(super) fn read_cursor(
    reader: &mut Reader<'_>,
    size: Size,
    links: &[Hyperlink],
) -> Result<Cursor<Cell>, DumpError> {
    let mut cursor = Cursor::default();
    cursor.point.line = Line(reader.size_up_to(usize::from(size.rows) - 1)? as i32);
    cursor.point.column = Column(reader.size_up_to(usize::from(size.cols) - 1)?);
    cursor.input_needs_wrap = reader.flag()?;
    for index in CHARSETS {
        if reader.flag()? {
            cursor.charsets[index] = StandardCharset::SpecialCharacterAndLineDrawing;
        }
    }
    cursor.template = read_cell(reader, links)?;
    Ok(cursor)
}
