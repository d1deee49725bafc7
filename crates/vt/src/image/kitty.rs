//! The kitty graphics protocol (<https://sw.kovidgoyal.net/kitty/graphics-protocol/>): `key=value,…;data in base64`.
//!
//! Images are taken from the stream alone (`t=d`): a program could name any file. Numbers (`I`), animations, and placements
//! that are virtual (`U`) or relative (`P`) are not supported.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD as BASE64, BASE64_STANDARD_NO_PAD as UNPADDED};
use serde::{Deserialize, Serialize};

use super::{ImageData, ImageEntry, ImageFormat, Images, MAX_LOADING, Placement};
use crate::size::CELL_PIXELS;

/// Bytes of base64 in a chunk.
const CHUNK: usize = 4096;
/// What a PNG file begins with, up to its width.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// Control data: a number for each key; a letter is its code.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct GraphicsCommand(BTreeMap<u8, i32>);

impl GraphicsCommand {
    pub(crate) fn parse(control: &[u8]) -> Self {
        let field = |field: &[u8]| match field {
            [key, b'=', letter @ (b'a'..=b'z' | b'A'..=b'Z')] => Some((*key, i32::from(*letter))),
            [key, b'=', number @ ..] => {
                Some((*key, str::from_utf8(number).ok()?.parse::<i64>().ok()? as i32))
            }
            _ => None,
        };
        Self(control.split(|byte| *byte == b',').filter_map(field).collect())
    }

    pub(crate) fn number(&self, key: u8) -> i32 {
        self.0.get(&key).copied().unwrap_or(0)
    }

    /// Numbers of images have 32 bits.
    pub(crate) fn get(&self, key: u8) -> u32 {
        self.number(key) as u32
    }

    pub(crate) fn letter(&self, key: u8, default: u8) -> u8 {
        self.0.get(&key).map_or(default, |code| *code as u8)
    }

    /// It only says that data of the transmission before continues.
    fn is_continuation(&self) -> bool {
        self.0.keys().all(|key| matches!(key, b'm' | b'q'))
    }

    /// The image that was transmitted.
    pub(crate) fn image(&self, encoded: &str) -> Option<ImageData> {
        if self.letter(b't', b'd') != b'd' {
            return None;
        }
        let mut bytes = UNPADDED.decode(encoded.trim_end_matches('=')).ok()?;
        let compressed = self.letter(b'o', 0) == b'z';
        let (mut width, mut height) = (self.get(b's'), self.get(b'v'));
        let format = match self.get(b'f') {
            0 | 32 => ImageFormat::Rgba,
            24 => ImageFormat::Rgb,
            100 => ImageFormat::Png,
            _ => return None,
        };
        if format == ImageFormat::Png && !compressed {
            let sizes = bytes.strip_prefix(PNG)?.first_chunk::<8>()?.as_chunks().0;
            [width, height] = [sizes[0], sizes[1]].map(u32::from_be_bytes);
        } else if !compressed {
            let len = if format == ImageFormat::Rgb { 3 } else { 4 };
            let len = (u64::from(width) * u64::from(height)).saturating_mul(len);
            bytes.truncate(usize::try_from(len).ok()?);
        }
        bytes.shrink_to_fit();
        let data = ImageData { width, height, format, compressed, bytes };
        data.is_sound().then_some(data)
    }

    /// How an image is shown at a cell; `None` if it is not.
    pub(crate) fn placement(&self, data: &ImageData, row: i64, col: u16) -> Option<Placement> {
        if self.get(b'U') != 0 || self.get(b'P') != 0 {
            return None;
        }
        let (x, y) = (self.get(b'x'), self.get(b'y'));
        let part = |key, from: u32, size: u32| {
            let rest = size.checked_sub(from).filter(|rest| *rest > 0)?;
            Some(if self.get(key) == 0 { rest } else { self.get(key).min(rest) })
        };
        let (width, height) = (part(b'w', x, data.width)?, part(b'h', y, data.height)?);
        let within = |key, cell: u16| self.get(key).min(u32::from(cell) - 1) as u16;
        let offset = (within(b'X', CELL_PIXELS.0), within(b'Y', CELL_PIXELS.1));
        let size = |key, cell: u16| u64::from(self.get(key).min(u16::MAX.into())) * u64::from(cell);
        let scaled = |size: u64, of: u32, to: u32| (size * u64::from(to) / u64::from(of)).max(1);
        let most = |size: u64| size.min(u32::MAX.into()) as u32;
        let (wide, high) = match (size(b'c', CELL_PIXELS.0), size(b'r', CELL_PIXELS.1)) {
            (0, 0) => (width + u32::from(offset.0), height + u32::from(offset.1)),
            (0, high) => (most(scaled(high, height, width)), most(high)),
            (wide, 0) => (most(wide), most(scaled(wide, width, height))),
            (wide, high) => (most(wide), most(high)),
        };
        Some(Placement {
            row,
            col,
            offset,
            cells: Placement::cells_of(wide, high),
            scaled: self.get(b'c') != 0 || self.get(b'r') != 0,
            source: [x, y, width, height],
            z: self.number(b'z'),
        })
    }
}

impl fmt::Display for GraphicsCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in &self.0 {
            let key = char::from(*key);
            match key {
                'a' | 'd' | 'o' | 't' => write!(f, "{key}={},", char::from(*value as u8))?,
                _ => write!(f, "{key}={value},")?,
            }
        }
        Ok(())
    }
}

impl Images {
    /// Takes a chunk; returns the command with all its data once that is there.
    pub(crate) fn load(&mut self, payload: &[u8]) -> Option<(GraphicsCommand, String)> {
        let at = payload.iter().position(|byte| *byte == b';').unwrap_or(payload.len());
        let (control, data) = (&payload[..at], payload.get(at + 1..).unwrap_or_default());
        let chunk = GraphicsCommand::parse(control);
        let continues = chunk.get(b'm') == 1;
        let (command, mut encoded) = match self.loading.take() {
            Some(loading) if chunk.is_continuation() => loading,
            _ => (chunk, String::new()),
        };
        let data = str::from_utf8(data).ok().filter(|data| data.is_ascii())?;
        if encoded.len() + data.len() > MAX_LOADING {
            return None;
        }
        encoded.push_str(data);
        if continues {
            self.loading = Some((command, encoded));
            return None;
        }
        Some((command, encoded))
    }
}

/// Writes the chunks of a command.
fn write_chunks(text: &mut String, mut command: &str, encoded: &str, is_whole: bool) {
    let mut rest = encoded;
    loop {
        let (chunk, behind) = rest.split_at(rest.len().min(CHUNK));
        rest = behind;
        let more = u8::from(!is_whole || !rest.is_empty());
        let _ = write!(text, "\x1b_G{command}m={more};{chunk}\x1b\\");
        command = "";
        if rest.is_empty() {
            return;
        }
    }
}

/// Writes the transmission that is not complete.
pub(crate) fn write_loading(text: &mut String, (command, encoded): &(GraphicsCommand, String)) {
    write_chunks(text, &command.to_string(), encoded, false);
}

/// Writes an image: under its name only, or, if it has none, where it is shown.
pub(crate) fn write_image(text: &mut String, image: &ImageEntry, placement: Option<&Placement>) {
    let ImageData { width, height, format, compressed, bytes } = &image.data;
    let format = match format {
        ImageFormat::Rgb => 24,
        ImageFormat::Rgba => 32,
        ImageFormat::Png => 100,
    };
    let action = match placement {
        Some(placement) => format!("a=T,{}", control_data(placement)),
        None => format!("a=t,i={},", image.id),
    };
    let compression = if *compressed { "o=z," } else { "" };
    let command = format!("{action}q=2,f={format},s={width},v={height},{compression}");
    write_chunks(text, &command, &BASE64.encode(bytes), true);
}

/// Writes where an image is shown that has a name.
pub(crate) fn write_placement(text: &mut String, image: u32, id: u32, placement: &Placement) {
    let control = control_data(placement);
    let _ = write!(text, "\x1b_Ga=p,i={image},p={id},{control}q=2\x1b\\");
}

/// How an image is shown; the cursor stays where it is.
fn control_data(placement: &Placement) -> String {
    let Placement { offset, cells, source: [x, y, width, height], z, .. } = placement;
    let mut control =
        format!("x={x},y={y},w={width},h={height},X={},Y={},z={z},C=1,", offset.0, offset.1);
    if placement.scaled {
        let _ = write!(control, "c={},r={},", cells.0, cells.1);
    }
    control
}
