//! The screen that readers see while a synchronized update is open.

use crate::codec::{DumpError, Reader, Writer};
use crate::convert::MAX_MARKS;
use crate::emulator::Size;
use crate::screen::{Cell, CellWidth, Cursor, CursorShape, Row, Screen};
use crate::style::{Attributes, Color, Style};

pub(super) fn write(writer: &mut Writer, screen: &Screen) {
    for row in &screen.rows {
        writer.flag(row.wrapped);
        // Neighbours are often alike.
        writer.list(row.cells.chunk_by(|a, b| a == b).collect::<Vec<_>>().iter(), |writer, run| {
            writer.size(run.len());
            run.iter().take(1).for_each(|cell| write_cell(writer, cell));
        });
    }
    let cursor = screen.cursor;
    writer.number(cursor.row.into());
    writer.number(cursor.col.into());
    writer.flag(cursor.visible);
    writer.byte(match cursor.shape {
        CursorShape::Block => 0,
        CursorShape::Underline => 1,
        CursorShape::Bar => 2,
    });
    writer.flag(cursor.blinking);
    writer.flag(screen.alternate);
    writer.text(&screen.title);
}

pub(super) fn read(reader: &mut Reader<'_>, size: Size) -> Result<Screen, DumpError> {
    let (cols, rows) = (usize::from(size.cols), usize::from(size.rows));
    Ok(Screen {
        rows: (0..rows).map(|_| read_row(reader, cols)).collect::<Result<_, _>>()?,
        cursor: Cursor {
            row: reader.size_up_to(rows - 1)? as u16,
            col: reader.size_up_to(cols - 1)? as u16,
            visible: reader.flag()?,
            shape: match reader.byte()? {
                0 => CursorShape::Block,
                1 => CursorShape::Underline,
                2 => CursorShape::Bar,
                _ => return Err(DumpError::Damaged),
            },
            blinking: reader.flag()?,
        },
        alternate: reader.flag()?,
        title: reader.text()?,
    })
}

fn read_row(reader: &mut Reader<'_>, cols: usize) -> Result<Row, DumpError> {
    let wrapped = reader.flag()?;
    let mut cells = Vec::with_capacity(cols);
    reader.list(|reader| {
        let count = reader.size_up_to(cols - cells.len())?;
        let cell = read_cell(reader)?;
        cells.extend(std::iter::repeat_n(cell, count));
        Ok(())
    })?;
    if cells.len() == cols { Ok(Row { cells, wrapped }) } else { Err(DumpError::Damaged) }
}

fn write_cell(writer: &mut Writer, cell: &Cell) {
    writer.character(cell.character);
    writer.option(cell.combining.as_deref(), Writer::text);
    writer.byte(match cell.width {
        CellWidth::Single => 0,
        CellWidth::Double => 1,
        CellWidth::Continuation => 2,
    });
    write_color(writer, cell.style.fg);
    write_color(writer, cell.style.bg);
    writer.option(cell.style.underline_color, write_color);
    writer.number(cell.style.attributes.bits().into());
    writer.option(cell.link.as_deref(), Writer::text);
}

fn read_cell(reader: &mut Reader<'_>) -> Result<Cell, DumpError> {
    let character = reader.character()?;
    let combining = reader.option(Reader::text)?;
    let is_short = combining.as_ref().is_none_or(|marks| marks.chars().count() <= MAX_MARKS);
    if character.is_control() || !is_short {
        return Err(DumpError::Damaged);
    }
    let width = match reader.byte()? {
        0 => CellWidth::Single,
        1 => CellWidth::Double,
        2 => CellWidth::Continuation,
        _ => return Err(DumpError::Damaged),
    };
    let style = Style {
        fg: read_color(reader)?,
        bg: read_color(reader)?,
        underline_color: reader.option(read_color)?,
        attributes: Attributes::from_bits_truncate(reader.size_up_to(u16::MAX.into())? as u16),
    };
    let link = reader.option(Reader::text)?;
    Ok(Cell {
        character,
        combining: combining.map(String::into_boxed_str),
        width,
        style,
        link: link.map(String::into_boxed_str),
    })
}

fn write_color(writer: &mut Writer, color: Color) {
    match color {
        Color::Default => writer.byte(0),
        Color::Indexed(index) => {
            writer.byte(1);
            writer.byte(index);
        }
        Color::Rgb(r, g, b) => {
            writer.byte(2);
            [r, g, b].into_iter().for_each(|part| writer.byte(part));
        }
    }
}

fn read_color(reader: &mut Reader<'_>) -> Result<Color, DumpError> {
    Ok(match reader.byte()? {
        0 => Color::Default,
        1 => Color::Indexed(reader.byte()?),
        2 => Color::Rgb(reader.byte()?, reader.byte()?, reader.byte()?),
        _ => return Err(DumpError::Damaged),
    })
}
