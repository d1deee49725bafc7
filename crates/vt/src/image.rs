//! Images that a program has drawn (sixel, kitty graphics), stored with their places.
//!
//! ```text
//! DCS q ─► sixel ──► pixels ──────────┐
//! APC G ─► kitty ──► chunks ─► bytes ─┴─► Images: data, and the placements that show it
//! ```
//!
//! A placement belongs to the line of its upper left cell. It moves with that line, also into the history, and is dropped
//! with it; so it is when the whole screen is erased. Other writing and erasing leaves images alone, as kitty does.
//!
//! Programs are not trusted: data comes in the stream only, never from a file or shared memory that a program names.
//! Nothing but sixels is decoded, and all is bounded: [`MAX_PIXELS`], [`MAX_IMAGE_BYTES`], [`MAX_IMAGES`],
//! [`MAX_PLACEMENTS`], [`MAX_IMAGE_MEMORY`]. The oldest images make room for new ones.

pub(crate) mod kitty;
pub(crate) mod sixel;

use std::ops::{Range, RangeInclusive};

use serde::{Deserialize, Serialize};

use self::kitty::GraphicsCommand;
use crate::size::CELL_PIXELS;

/// Pixels that an image may have: a screen of 3840 × 2160.
const MAX_PIXELS: u64 = 1 << 23;
/// Bytes that an image may take: a screen of 1920 × 1080 with four bytes for each pixel.
const MAX_IMAGE_BYTES: usize = 8 << 20;
/// Bytes of all images.
const MAX_STORED: usize = 2 * MAX_IMAGE_BYTES;
/// Bytes in base64 of an image that comes in chunks.
const MAX_LOADING: usize = MAX_IMAGE_BYTES.div_ceil(3) * 4;
/// Images that are stored.
const MAX_IMAGES: usize = 128;
/// Places where images are shown.
const MAX_PLACEMENTS: usize = 128;

/// Most bytes that the images of a terminal take ([`Terminal::image_memory`](crate::Terminal::image_memory)).
pub const MAX_IMAGE_MEMORY: usize = MAX_STORED + MAX_LOADING;

/// What the bytes of an image are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ImageFormat {
    /// Three bytes for each pixel, in rows from the top.
    Rgb,
    /// Four bytes for each pixel; alpha is not multiplied in.
    Rgba,
    /// A PNG file, as the program sent it.
    Png,
}

/// An image without a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageData {
    /// Width in pixels, as the program gave it.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// What the bytes are.
    pub format: ImageFormat,
    /// The bytes are compressed with zlib.
    pub compressed: bool,
    /// The image. Nothing but the length of pixels that are not compressed was checked.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// Where and how an image is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Row of the upper left cell, from the top of the screen; -1 is the last one of the history.
    pub row: i64,
    /// Column of the upper left cell.
    pub col: u16,
    /// Pixels between that cell's corner and the image, to the right and down.
    pub offset: (u16, u16),
    /// Columns and rows that the image reaches into, which may be more than the screen has.
    pub cells: (u16, u16),
    /// The image is scaled to those cells; else a cell stands for 8 × 16 of its pixels.
    pub scaled: bool,
    /// The part that is shown: its left, top, width and height in pixels.
    pub source: [u32; 4],
    /// What is higher covers what is lower; below 0 it is behind the text.
    pub z: i32,
}

/// An image in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image<'a> {
    /// Where it is.
    pub placement: &'a Placement,
    /// What is shown there.
    pub data: &'a ImageData,
}

impl ImageData {
    /// It is within the bounds, and pixels that are not compressed are all there.
    fn is_sound(&self) -> bool {
        let pixels = u64::from(self.width) * u64::from(self.height);
        (1..=MAX_PIXELS).contains(&pixels)
            && self.bytes.len() <= MAX_IMAGE_BYTES
            && match (self.compressed, self.format) {
                (true, _) | (_, ImageFormat::Png) => true,
                (_, ImageFormat::Rgb) => self.bytes.len() as u64 == pixels * 3,
                (_, ImageFormat::Rgba) => self.bytes.len() as u64 == pixels * 4,
            }
    }
}

impl Placement {
    /// A whole image in its own size.
    pub(crate) fn whole(data: &ImageData, row: i64, col: u16) -> Self {
        let (width, height) = (data.width, data.height);
        let cells = Self::cells_of(width, height);
        Self { row, col, offset: (0, 0), cells, scaled: false, source: [0, 0, width, height], z: 0 }
    }

    /// The row below the image.
    pub(crate) fn end(&self) -> i64 {
        self.row + i64::from(self.cells.1)
    }

    /// The column behind the image.
    pub(crate) fn end_col(&self) -> i64 {
        i64::from(self.col) + i64::from(self.cells.0)
    }

    /// Another one is altogether within this one.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        self.row <= other.row
            && self.col <= other.col
            && self.end() >= other.end()
            && self.end_col() >= other.end_col()
    }

    /// Columns and rows of so many pixels.
    fn cells_of(width: u32, height: u32) -> (u16, u16) {
        let cells = |pixels: u32, cell: u16| {
            u16::try_from(pixels.div_ceil(cell.into())).unwrap_or(u16::MAX).max(1)
        };
        (cells(width, CELL_PIXELS.0), cells(height, CELL_PIXELS.1))
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ImageEntry {
    /// Unique: a key is never used again.
    pub(crate) key: u64,
    /// The program's id for it; 0 without one.
    pub(crate) id: u32,
    pub(crate) data: ImageData,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PlacementEntry {
    key: u64,
    /// The program's id for the placement; 0 without one.
    pub(crate) id: u32,
    pub(crate) alternate: bool,
    pub(crate) placement: Placement,
}

/// The images of a terminal.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Images {
    /// The oldest first.
    stored: Vec<ImageEntry>,
    placed: Vec<PlacementEntry>,
    /// The placements from before a synchronized update.
    frozen: Option<Vec<PlacementEntry>>,
    /// A transmission that continues in the next chunk: its control data and what came of it, in base64.
    pub(crate) loading: Option<(GraphicsCommand, String)>,
    last_key: u64,
}

impl Images {
    /// Stores an image and returns its key. One of the same name is replaced, with its placements.
    pub(crate) fn store(&mut self, id: u32, data: ImageData) -> u64 {
        if id != 0 {
            self.delete(id.into()..=id.into(), true, |_| true);
        }
        // An image takes half of `MAX_STORED` at most: there is an older one to drop.
        while self.stored.len() >= MAX_IMAGES || self.stored_bytes() + data.bytes.len() > MAX_STORED
        {
            self.stored.remove(0);
        }
        self.collect();
        self.last_key += 1;
        self.stored.push(ImageEntry { key: self.last_key, id, data });
        self.last_key
    }

    /// Shows an image. A placement of the same name moves here.
    pub(crate) fn place(&mut self, key: u64, id: u32, alternate: bool, placement: Placement) {
        self.placed.retain(|placed| id == 0 || (placed.key, placed.id) != (key, id));
        if self.placed.len() == MAX_PLACEMENTS {
            self.placed.remove(0);
        }
        self.placed.push(PlacementEntry { key, id, alternate, placement });
        self.collect();
    }

    /// Takes placements away.
    pub(crate) fn remove(&mut self, mut gone: impl FnMut(&PlacementEntry) -> bool) {
        let before = self.placed.len();
        self.placed.retain(|placed| !gone(placed));
        if self.placed.len() < before {
            self.collect();
        }
    }

    /// Takes placements of the images away whose names are in a range, and then those of these images that are shown
    /// nowhere if `frees`.
    pub(crate) fn delete(
        &mut self,
        ids: RangeInclusive<u64>,
        frees: bool,
        gone: impl Fn(&PlacementEntry) -> bool,
    ) {
        let named = self.stored.iter().filter(|stored| ids.contains(&stored.id.into()));
        let keys: Vec<u64> = named.map(|stored| stored.key).collect();
        self.placed.retain(|placed| !(keys.contains(&placed.key) && gone(placed)));
        for stored in self.stored.iter_mut().filter(|stored| frees && keys.contains(&stored.key)) {
            if !self.placed.iter().any(|placed| placed.key == stored.key) {
                stored.id = 0;
            }
        }
        self.collect();
    }

    /// Moves lines of a screen; those that leave the range are gone.
    #[inline]
    pub(crate) fn move_rows(&mut self, alternate: bool, rows: Range<i64>, by: i64) {
        self.remove(|placed| {
            placed.alternate == alternate
                && rows.contains(&placed.placement.row)
                && !rows.contains(&(placed.placement.row + by))
        });
        let moved = self.rows_mut(alternate).filter(|row| rows.contains(row));
        moved.for_each(|row| *row += by);
    }

    /// The rows of a screen's placements.
    pub(crate) fn rows_mut(&mut self, alternate: bool) -> impl Iterator<Item = &mut i64> {
        let placed = self.placed.iter_mut().filter(move |placed| placed.alternate == alternate);
        placed.map(|placed| &mut placed.placement.row)
    }

    /// No placement begins behind the last column.
    pub(crate) fn cut_to(&mut self, cols: u16) {
        self.placed.iter_mut().for_each(|placed| {
            placed.placement.col = placed.placement.col.min(cols - 1);
        });
    }

    /// Readers see the placements as they are now, until [`Images::thaw`].
    pub(crate) fn freeze(&mut self) {
        self.frozen = Some(self.placed.clone());
    }

    pub(crate) fn thaw(&mut self) {
        if self.frozen.take().is_some() {
            self.collect();
        }
    }

    /// Placements that readers see, with their images.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (&PlacementEntry, &ImageEntry)> {
        self.with_images(self.frozen.as_ref().unwrap_or(&self.placed).iter())
    }

    /// Placements that begin in a row of a screen now.
    pub(crate) fn placed_in(
        &self,
        alternate: bool,
        row: i64,
    ) -> impl Iterator<Item = (&PlacementEntry, &ImageEntry)> {
        let begins_there = move |placed: &&PlacementEntry| {
            placed.alternate == alternate && placed.placement.row == row
        };
        self.with_images(self.placed.iter().filter(begins_there))
    }

    fn with_images<'a>(
        &'a self,
        placed: impl Iterator<Item = &'a PlacementEntry>,
    ) -> impl Iterator<Item = (&'a PlacementEntry, &'a ImageEntry)> {
        let image = |key| self.stored.iter().find(|stored| stored.key == key);
        placed.filter_map(move |placed| Some((placed, image(placed.key)?)))
    }

    /// The images that the program has named.
    pub(crate) fn named(&self) -> impl Iterator<Item = &ImageEntry> {
        self.stored.iter().filter(|stored| stored.id != 0)
    }

    /// Number of placements: what a change of lines costs.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.placed.len()
    }

    pub(crate) fn memory(&self) -> usize {
        self.stored_bytes() + self.loading.as_ref().map_or(0, |(_, encoded)| encoded.len())
    }

    fn stored_bytes(&self) -> usize {
        self.stored.iter().map(|stored| stored.data.bytes.len()).sum()
    }

    /// Drops what nothing refers to any more.
    fn collect(&mut self) {
        let stored = &self.stored;
        self.placed.retain(|placed| stored.iter().any(|stored| stored.key == placed.key));
        let (placed, frozen) = (&self.placed, self.frozen.as_deref().unwrap_or_default());
        self.stored.retain(|stored| {
            stored.id != 0 || placed.iter().chain(frozen).any(|placed| placed.key == stored.key)
        });
    }

    /// What was read from a record can be used.
    pub(crate) fn is_sound(&self, cols: u16) -> bool {
        let is_placed = |placed: &PlacementEntry| {
            placed.placement.row.unsigned_abs() <= u32::MAX.into() && placed.placement.col < cols
        };
        let frozen = self.frozen.as_deref().unwrap_or_default();
        self.stored.iter().all(|stored| stored.key <= self.last_key && stored.data.is_sound())
            && self.last_key < u64::MAX / 2
            && self.stored.len() <= MAX_IMAGES
            && self.placed.len().max(frozen.len()) <= MAX_PLACEMENTS
            && self.memory() <= MAX_IMAGE_MEMORY
            && self.loading.as_ref().is_none_or(|(_, encoded)| encoded.is_ascii())
            && self.placed.iter().chain(frozen).all(is_placed)
    }
}
