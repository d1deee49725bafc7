//! A row in a dump.

use super::{Cell, Grid, Marks, Owner, Part, Row};
use crate::codec::{DumpError, Reader, Writer};
use crate::convert::MAX_MARKS;

impl Row {
    pub(in crate::clean) fn write(&self, writer: &mut Writer) {
        writer.byte(self.owner as u8);
        writer.flag(self.reached);
        writer.text(&self.lead);
        writer.text(&self.text);
        writer.size(self.width);
        writer.size(self.marks);
        writer.flag(self.wraps);
        // Neighbours are often alike, blanks above all.
        let runs: Vec<&[Cell]> = self.cells.chunk_by(|a, b| a == b).collect();
        writer.list(runs.into_iter(), |writer, run| {
            writer.size(run.len());
            run.iter().take(1).for_each(|cell| cell.write(writer));
        });
    }

    pub(in crate::clean) fn read(reader: &mut Reader<'_>, grid: &Grid) -> Result<Self, DumpError> {
        let mut row = Self {
            owner: match reader.byte()? {
                0 => Owner::Nobody,
                1 => Owner::Earlier,
                2 => Owner::Command,
                _ => return Err(DumpError::Damaged),
            },
            reached: reader.flag()?,
            lead: reader.text()?,
            text: reader.text()?,
            width: reader.size_up_to(grid.cols)?,
            marks: reader.size_up_to(MAX_MARKS)?,
            wraps: reader.flag()?,
            cells: Vec::new(),
        };
        reader.list(|reader| {
            let count = reader.size_up_to(grid.cols - row.cells.len())?;
            let cell = Cell::read(reader)?;
            row.cells.extend(std::iter::repeat_n(cell, count));
            Ok(())
        })?;
        let is_laid_out = row.cells.len() == grid.cols && row.text.is_empty() && row.width == 0;
        let is_text = |character: char| character == '\t' || !character.is_control();
        if is_laid_out || (row.cells.is_empty() && row.text.chars().all(is_text)) {
            Ok(row)
        } else {
            Err(DumpError::Damaged)
        }
    }
}

impl Cell {
    fn write(&self, writer: &mut Writer) {
        writer.character(self.character);
        writer.byte(self.part as u8);
        writer.flag(self.wraps);
        writer.option(self.marks.as_deref(), |writer, marks| writer.text(&marks.text));
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, DumpError> {
        let character = reader.character()?;
        let part = match reader.byte()? {
            0 => Part::Whole,
            1 => Part::Wide,
            2 => Part::Spacer,
            3 => Part::Leading,
            _ => return Err(DumpError::Damaged),
        };
        let wraps = reader.flag()?;
        let marks = reader.option(Reader::text)?.map(|text| {
            let count = text.chars().count();
            Box::new(Marks { text, count })
        });
        Ok(Self { character, part, wraps, marks })
    }
}
