//! Images: where sixels are drawn, what kitty's graphics commands do, and what moves or erases images.
//!
//! The cursor does not move: programs see a terminal without graphics, and viewers' terminals that have none must place
//! the next text alike.

use std::ops::Range;

use super::Terminal;
use super::core::Core;
use super::modes::Modes;
use crate::image::kitty::GraphicsCommand;
use crate::image::{Image, ImageData, Placement, PlacementEntry, sixel};

impl Terminal {
    /// The images on the screen and in its history, the oldest first. Higher ones cover lower ones (`z`), else newer ones
    /// older ones. During a synchronized update they are those from before it.
    pub fn images(&self) -> impl Iterator<Item = Image<'_>> {
        let core = &self.core;
        let frozen = core.frozen.as_ref();
        let alternate = frozen.map_or(core.is_alternate, |frozen| frozen.is_alternate);
        let first = core.first_row(alternate);
        let shown = core.images.shown().filter(move |(placed, _)| {
            placed.alternate == alternate && placed.placement.row >= first
        });
        shown.map(|(placed, image)| Image { placement: &placed.placement, data: &image.data })
    }

    /// Bytes that images take, those without a place and those that are not complete too; at most
    /// [`MAX_IMAGE_MEMORY`](crate::MAX_IMAGE_MEMORY).
    pub fn image_memory(&self) -> usize {
        self.core.images.memory()
    }
}

impl Core {
    /// The first row that can be read.
    fn first_row(&self, alternate: bool) -> i64 {
        if alternate { 0 } else { -(self.history.rows(self.cols()) as i64) }
    }

    /// Images go with their lines, before others need their room or their names.
    pub(super) fn forget_images(&mut self) {
        if self.images.len() > 0 {
            let first = self.first_row(false);
            self.images.remove(|placed| placed.placement.row < first);
        }
    }

    /// Lines move, and the images in them; `leave` if those that move off the top are in the history.
    pub(super) fn move_images(&mut self, lines: &Range<usize>, leave: bool, by: i64) {
        if self.images.len() > 0 && self.grid().has_full_width() {
            self.work += self.images.len();
            let start = if leave { i64::MIN } else { lines.start as i64 };
            self.images.move_rows(self.is_alternate, start..lines.end as i64, by);
        }
    }

    /// The whole screen is erased, and so are images that reach into it.
    pub(super) fn erase_images(&mut self) {
        let alternate = self.is_alternate;
        self.images.remove(|placed| placed.alternate == alternate && placed.placement.end() > 0);
    }

    /// Sixels with the parameters in front of them.
    pub(super) fn draw_sixels(&mut self, params: &[u8], data: &[u8]) {
        let is_transparent = params.split(|byte| *byte == b';').nth(1) == Some(b"1");
        let background = Some(self.palette.background).filter(|_| !is_transparent);
        let Some(data) = sixel::decode(data, background) else { return };
        self.work += data.bytes.len() / 16;
        self.forget_images();
        let scrolls = !self.modes.contains(Modes::SIXEL_SCROLLING_OFF);
        let cursor = self.grid().cursor;
        let (row, col) = if scrolls { (cursor.row, cursor.col) } else { (0, 0) };
        let placement = Placement::whole(&data, row as i64, col as u16);
        // What is covered altogether is not seen again.
        let alternate = self.is_alternate;
        self.images.remove(|placed| {
            !is_transparent && placed.alternate == alternate && placement.covers(&placed.placement)
        });
        let key = self.images.store(0, data);
        self.images.place(key, 0, alternate, placement);
    }

    /// Kitty's graphics command.
    pub(super) fn graphics_command(&mut self, payload: &[u8]) {
        let Some((command, encoded)) = self.images.load(payload) else { return };
        self.work += encoded.len();
        self.forget_images();
        let action = command.letter(b'a', b't');
        let (id, cursor) = (command.get(b'i'), self.grid().cursor);
        let place =
            |data: &ImageData| command.placement(data, cursor.row as i64, cursor.col as u16);
        let placed = match action {
            b't' | b'T' => {
                let Some(data) = command.image(&encoded) else { return };
                let placement = place(&data).filter(|_| action == b'T');
                if id == 0 && placement.is_none() {
                    return;
                }
                let key = self.images.store(id, data);
                placement.map(|placement| (key, placement))
            }
            b'p' => self
                .images
                .named()
                .find(|stored| stored.id == id)
                .and_then(|stored| Some((stored.key, place(&stored.data)?))),
            b'd' => return self.delete_images(&command),
            _ => return,
        };
        if let Some((key, placement)) = placed {
            self.images.place(key, command.get(b'p'), self.is_alternate, placement);
        }
    }

    /// Deletes placements on this screen; a capital letter deletes images too that are shown nowhere then.
    fn delete_images(&mut self, command: &GraphicsCommand) {
        let kind = command.letter(b'd', b'a');
        let (x, y, placement_id) = (command.get(b'x'), command.get(b'y'), command.get(b'p'));
        let image_id = u64::from(command.get(b'i'));
        let ids = match kind.to_ascii_lowercase() {
            b'i' => image_id..=image_id,
            b'r' => x.into()..=y.into(),
            _ => 0..=u64::MAX,
        };
        let cursor = self.grid().cursor;
        let alternate = self.is_alternate;
        let is_hit = |placed: &PlacementEntry| {
            let placement = &placed.placement;
            let is_in_row = |row: i64| (placement.row..placement.end()).contains(&row);
            let is_in_col = |col: i64| (placement.col.into()..placement.end_col()).contains(&col);
            let (row, col) = (i64::from(y) - 1, i64::from(x) - 1);
            match kind.to_ascii_lowercase() {
                b'a' => placement.end() > 0,
                b'i' => image_id != 0 && (placement_id == 0 || placed.id == placement_id),
                b'r' => true,
                b'c' => is_in_row(cursor.row as i64) && is_in_col(cursor.col as i64),
                b'p' => is_in_row(row) && is_in_col(col),
                b'q' => is_in_row(row) && is_in_col(col) && placement.z == command.number(b'z'),
                b'x' => is_in_col(col),
                b'y' => is_in_row(row),
                b'z' => placement.z == command.number(b'z'),
                _ => false,
            }
        };
        let frees = kind.is_ascii_uppercase();
        self.images.delete(ids, frees, |placed| placed.alternate == alternate && is_hit(placed));
    }
}
