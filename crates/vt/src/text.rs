//! The text of rows, as the program printed it, in UTF-8.

use crate::cell::{Cell, Width};
use crate::clusters;
use crate::tables::Tables;
use crate::utf8::Utf8Writer;

/// Appends the text of cells without clusters and tabs. Blanks that were not written become spaces.
pub(crate) fn push_characters(cells: &[Cell], text: &mut Vec<u8>) {
    if cells.iter().fold(0, |all, cell| all | cell.shown()) < 0x80 {
        text.extend(cells.iter().map(|cell| {
            let code = cell.code() as u8;
            if code == 0 { b' ' } else { code }
        }));
        return;
    }
    let mut writer = Utf8Writer::new(text, cells.len());
    for cell in cells {
        let code = if cell.code() == 0 { b' '.into() } else { cell.code() };
        writer.push(code, cell.width() != Width::Spacer);
    }
    writer.finish();
}

/// Appends what the cells of a row say. A tab stands for the blanks up to where `stop` says that it leads; blanks that were
/// not written become spaces. A tab within a cluster moved nothing and is kept. `continues` is a row that the row before
/// continues in: no marks can wait there.
pub(crate) fn push_printed(
    cells: &[Cell],
    tables: &Tables,
    text: &mut Vec<u8>,
    continues: bool,
    stop: impl Fn(usize) -> usize,
) {
    push(
        cells,
        text,
        |col| Some(stop(col).min(cells.len())),
        |number, col, text| {
            let cluster = tables.cluster(number);
            let waits = tables.cluster_columns(number) == 0 && !cluster.starts_with('\t');
            // Marks wait for a character at the start of a line only; they may have been moved away from there.
            text.extend((waits && col + 1 < cells.len()).then_some(b' '));
            let shown = match (col == 0 && !continues) || (waits && col > 0) {
                true => cluster,
                false => cluster.trim_start_matches(has_no_width),
            };
            text.extend_from_slice(shown.as_bytes());
        },
    );
}

/// The same so that columns can be counted again: without tabs that moved nothing or lead out of a row that continues.
pub(crate) fn push_line(
    cells: &[Cell],
    tables: &Tables,
    text: &mut Vec<u8>,
    continues: bool,
    stop: impl Fn(usize) -> usize,
) {
    let stop = |col| {
        Some(stop(col))
            .filter(|stop| *stop <= cells.len() || !continues)
            .map(|stop| stop.min(cells.len()))
    };
    push(cells, text, stop, |number, col, text| {
        let cluster = tables.cluster(number);
        let waits = tables.cluster_columns(number) == 0;
        let shown =
            if waits || col == 0 { cluster } else { cluster.trim_start_matches(has_no_width) };
        // What waits for a character is on a blank.
        text.extend(waits.then_some(b' '));
        text.extend(shown.bytes().filter(|byte| *byte != b'\t'));
    });
}

fn has_no_width(character: char) -> bool {
    clusters::char_width(character) == Some(0)
}

fn push(
    cells: &[Cell],
    text: &mut Vec<u8>,
    stop: impl Fn(usize) -> Option<usize>,
    push_cluster: impl Fn(u32, usize, &mut Vec<u8>),
) {
    let mut col = 0;
    while col < cells.len() {
        let rest = &cells[col..];
        let plain = rest.iter().position(|cell| cell.is_cluster_or_tab()).unwrap_or(rest.len());
        push_characters(&rest[..plain], text);
        col += plain + 1;
        match rest.get(plain).map(|cell| cell.cluster()) {
            Some(Some(number)) => push_cluster(number, col - 1, text),
            Some(None) => {
                let end = stop(col - 1).map(|end| end.max(col));
                match end.filter(|end| cells[col..*end].iter().all(|cell| cell.is_unwritten())) {
                    Some(end) => {
                        text.push(b'\t');
                        col = end;
                    }
                    None => text.push(b' '),
                }
            }
            None => {}
        }
    }
}
