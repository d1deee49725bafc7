//! Sixels: bands of six rows, in which each character is a column of six bits in the colour that was selected.
//!
//! `# register [; space ; x ; y ; z]` selects and defines colours, `! count` repeats the next column, `$` goes back to the
//! start of the band, `-` to the next one, `" ratio ; ratio ; width ; height` gives the least size. Anything else means
//! nothing. Pixels are square, whatever their ratio.

use super::{ImageData, ImageFormat, MAX_IMAGE_BYTES};

/// Pixels that an image may paint, some of them more than once.
const MAX_PAINTED: u64 = 1 << 25;
/// Pixels for each byte: sizes and repeats cost time without being long.
const MAX_PIXELS_PER_BYTE: u64 = 4096;
/// Colour registers; higher numbers begin again.
const REGISTERS: usize = 256;
/// The colours of the first registers to begin with, as in a VT340.
const VT340: [u32; 16] = [
    0x00_00_00, 0x33_33_cc, 0xcc_21_21, 0x33_cc_33, 0xcc_33_cc, 0x33_cc_cc, 0xcc_cc_33, 0x87_87_87,
    0x42_42_42, 0x54_54_99, 0x99_42_42, 0x54_99_54, 0x99_54_99, 0x54_99_99, 0x99_99_54, 0xcc_cc_cc,
];

type Rgb = (u8, u8, u8);

/// The pixels of what follows `q`. What is not painted has the background, or is transparent without one.
pub(crate) fn decode(data: &[u8], background: Option<Rgb>) -> Option<ImageData> {
    let (mut width, mut height, mut painted) = (0, 0, 0);
    let least = walk(data, |strip| {
        width = width.max(strip.col.saturating_add(strip.count));
        height = height.max(strip.row + 8 - strip.bits.leading_zeros());
        painted += 6 * u64::from(strip.count);
    });
    let (width, height) = (least.0.max(width), least.1.max(height));
    let pixels = u64::from(width) * u64::from(height);
    let most = data.len() as u64 * MAX_PIXELS_PER_BYTE;
    let fits = (1..=most.min(MAX_IMAGE_BYTES as u64 / 4)).contains(&pixels);
    if !fits || painted > most.min(MAX_PAINTED) {
        return None;
    }
    let empty = background.map_or([0; 4], |(r, g, b)| [r, g, b, u8::MAX]);
    let mut bytes = empty.repeat(pixels as usize);
    let stride = width as usize * 4;
    walk(data, |strip| {
        let (r, g, b) = strip.color;
        let (start, len) = (strip.col as usize * 4, strip.count as usize * 4);
        for bit in (0..6).filter(|bit| strip.bits & 1 << bit != 0) {
            let at = (strip.row as usize + bit) * stride + start;
            bytes[at..at + len].as_chunks_mut().0.fill([r, g, b, u8::MAX]);
        }
    });
    Some(ImageData { width, height, format: ImageFormat::Rgba, compressed: false, bytes })
}

/// Columns side by side that are painted alike.
struct Strip {
    row: u32,
    col: u32,
    count: u32,
    /// The lowest bit is the upper pixel; one at least is set.
    bits: u8,
    color: Rgb,
}

/// Hands over all strips and returns the least size.
fn walk(data: &[u8], mut paint: impl FnMut(Strip)) -> (u32, u32) {
    let mut registers = [(0, 0, 0); REGISTERS];
    for (register, color) in registers.iter_mut().zip(VT340) {
        let [_, r, g, b] = color.to_be_bytes();
        *register = (r, g, b);
    }
    let (mut row, mut col, mut count, mut color) = (0, 0_u32, 1, registers[0]);
    let mut least = (0, 0);
    let mut rest = data;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'?'..=b'~' => {
                let bits = byte - b'?';
                if bits != 0 {
                    paint(Strip { row, col, count, bits, color });
                }
                col = col.saturating_add(std::mem::replace(&mut count, 1));
            }
            b'!' => count = numbers(&mut rest)[0].max(1),
            b'$' => col = 0,
            b'-' => (row, col) = (row + 6, 0),
            b'#' => {
                let [register, space, x, y, z] = numbers(&mut rest);
                let register = &mut registers[register as usize % REGISTERS];
                match space {
                    1 => *register = of_hls(x, y, z),
                    2 => *register = (percent(x), percent(y), percent(z)),
                    _ => {}
                }
                color = *register;
            }
            b'"' => {
                let [_, _, width, height, _] = numbers(&mut rest);
                least = (width, height);
            }
            _ => {}
        }
    }
    least
}

/// Takes numbers between semicolons; those that are missing are 0.
fn numbers(rest: &mut &[u8]) -> [u32; 5] {
    let mut numbers = [0_u32; 5];
    let mut at = 0;
    while let Some((&byte, behind)) = rest.split_first() {
        match byte {
            b'0'..=b'9' => {
                if let Some(number) = numbers.get_mut(at) {
                    *number = number.saturating_mul(10).saturating_add((byte - b'0').into());
                }
            }
            b';' => at += 1,
            _ => break,
        }
        *rest = behind;
    }
    numbers
}

fn percent(value: u32) -> u8 {
    ((value.min(100) * 255 + 50) / 100) as u8
}

/// Hue from 0 to 360, where 0 is blue; lightness and saturation in percent.
fn of_hls(hue: u32, lightness: u32, saturation: u32) -> Rgb {
    let part = |percent: u32| f64::from(percent.min(100)) / 100.0;
    let (lightness, saturation) = (part(lightness), part(saturation));
    let chroma = (1.0 - (2.0 * lightness - 1.0).abs()) * saturation;
    let sixth = f64::from((hue % 360 + 240) % 360) / 60.0;
    let second = chroma * (1.0 - (sixth % 2.0 - 1.0).abs());
    let (r, g, b) = match sixth as u8 {
        0 => (chroma, second, 0.0),
        1 => (second, chroma, 0.0),
        2 => (0.0, chroma, second),
        3 => (0.0, second, chroma),
        4 => (second, 0.0, chroma),
        _ => (chroma, 0.0, second),
    };
    let byte = |value: f64| ((value + lightness - chroma / 2.0) * 255.0).round() as u8;
    (byte(r), byte(g), byte(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];
    const NONE: [u8; 4] = [0; 4];

    /// Width, height and pixels.
    fn decoded(data: &str) -> Option<(u32, u32, Vec<[u8; 4]>)> {
        let image = decode(data.as_bytes(), None)?;
        Some((image.width, image.height, image.bytes.as_chunks().0.to_vec()))
    }

    #[test]
    fn columns_bands_and_repeats_are_painted() {
        let data = "#1;2;100;0;0@!2A$#2;2;0;0;100?@-#1C";
        let mut expected = vec![NONE; 27];
        (expected[0], expected[1], expected[4], expected[5]) = (RED, BLUE, RED, RED);
        expected[3 * 8] = RED;
        assert_eq!(decoded(data), Some((3, 9, expected)));
    }

    #[test]
    fn colours_are_defined_in_both_spaces_and_begin_as_in_a_vt340() {
        let color = |data: &str| decoded(data).map(|(_, _, pixels)| pixels[0]);
        assert_eq!(color("#7;1;120;50;100@"), Some(RED));
        assert_eq!(color("#7;1;0;50;100@"), Some(BLUE));
        assert_eq!(color("#7;1;240;50;100@"), Some([0, 255, 0, 255]));
        assert_eq!(color("#7;1;77;100;100@"), Some([255; 4]));
        assert_eq!(color("#7;2;50;20;999@"), Some([128, 51, 255, 255]));
        assert_eq!(color("#1@"), Some([51, 51, 204, 255]));
        assert_eq!(color("#257@"), color("#1@"));
        assert_eq!(color("@"), Some([0, 0, 0, 255]));
    }

    #[test]
    fn raster_attributes_give_the_least_size_and_the_background_fills_it() {
        let image = decode(b"\"1;1;2;1#1;2;100;0;0@", Some((0, 0, 255))).unwrap();
        assert_eq!((image.width, image.height), (2, 1));
        assert_eq!(image.bytes, [RED, BLUE].concat());
        assert_eq!(decoded("\"1;1;1;1!3~").map(|(width, height, _)| (width, height)), Some((3, 6)));
    }

    #[test]
    fn what_is_not_painted_or_too_large_is_no_image() {
        let huge = format!("!65536~{}", "-~".repeat(10_000));
        let repeated = "!4000~$".repeat(20_000);
        for data in [
            "",
            "????",
            "#1;2;3",
            "\"1;1;9999;9999~",
            "!4294967295~",
            "!999999~!999999~",
            &huge,
            &repeated,
        ] {
            assert_eq!(decoded(data), None, "{}", &data[..data.len().min(40)]);
        }
    }
}
