//! Colours in terms of light instead of a device: `rgbi:`, the spaces of the CIE and `TekHVC:`.
//!
//! ```text
//! space:a/b/c ─► CIE XYZ ─► intensities of red, green and blue ─► levels from 0 to 255
//! ```
//!
//! The device is the one that libX11 assumes if a screen does not say more: a monitor with a white of 9300 K and curves of
//! its own. What it cannot show loses chroma until it can; hue and luminance stay.

/// Coordinates in a space.
type Triple = [f64; 3];

/// From CIE XYZ to intensities, for primaries at (0.625, 0.340), (0.280, 0.595) and (0.155, 0.070).
const TO_INTENSITIES: [Triple; 3] = [
    [3.483_404_4, -1.521_763_6, -0.559_231_3],
    [-1.071_527_5, 1.965_937_9, 0.036_736_9],
    [0.063_511_8, -0.200_205_0, 0.810_709_4],
];
/// The white at (0.283, 0.298), which has Y = 1.
const WHITE: Triple = [0.949_664_4, 1.0, 1.406_040_3];
/// What is a little out of the gamut is in it.
const SLACK: f64 = 0.001;
/// Each halves the error of the chroma.
const STEPS: usize = 40;
/// Of the CIE: below this Y, lightness is proportional to it.
const DARK: f64 = 0.008_856;
/// The lightness there.
const DARK_LIGHTNESS: f64 = 7.999_536_24;
/// The red from which `TekHVC` counts hues, and the scale of its chroma.
const TEK_RED: (f64, f64) = (0.7127, 0.4931);
const TEK_CHROMA: f64 = 7.507_25;

/// How the intensity of a primary depends on its level.
struct Curve {
    /// The highest level without light.
    dark: u8,
    /// The logarithm of the intensity is a polynomial of that of the level / 255; the constant is 0. Fitted to libX11's
    /// table, to about 1 %.
    powers: [f64; 5],
}

const CURVES: [Curve; 3] = [
    Curve { dark: 9, powers: [2.4734, -0.1137, -0.0350, 0.0095, 0.0] },
    Curve { dark: 19, powers: [2.0921, -0.4591, -0.0242, 0.1125, 0.0366] },
    Curve { dark: 14, powers: [2.0851, -0.6418, -0.3515, -0.1020, -0.0166] },
];

/// The levels of a colour; `None` if there is no such space or colour. The name of the space is in lower case.
pub(super) fn levels(space: &str, color: Triple) -> Option<(u8, u8, u8)> {
    let [a, b, c] = color;
    let upto = |value: f64, most: f64| (0.0..=most).contains(&value);
    let xyz = match space {
        "rgbi" => return Some(of_intensities(color)),
        "ciexyz" if upto(b, 1.0) => color,
        "cieuvy" if upto(c, 1.0) => of_uv(a, b, c),
        "ciexyy" if color.iter().all(|value| upto(*value, 1.0)) => {
            let sum = -2.0 * a + 12.0 * b + 3.0;
            of_uv(4.0 * a / sum, 9.0 * b / sum, c)
        }
        "cielab" if upto(a, 100.0) => of_lab(color),
        "cieluv" if upto(a, 100.0) => of_luv(color),
        "tekhvc" if upto(b, 100.0) && c >= 0.0 => of_tek_hvc(color),
        _ => return None,
    };
    Some(of_intensities(in_gamut(xyz)))
}

/// The libX11 form of L*a*b*, in which a* and b* are a hundredth of the usual.
fn of_lab([lightness, a, b]: Triple) -> Triple {
    let root = (lightness + 16.0) / 116.0;
    if root.powi(3) < DARK {
        let y = lightness / 9.032_92;
        return [WHITE[0] * (a / 3893.5 + y), y, WHITE[2] * (y - b / 1557.4)];
    }
    [WHITE[0] * (root + a / 5.0).powi(3), root.powi(3), WHITE[2] * (root - b / 2.0).powi(3)]
}

/// The libX11 form of L*u*v*, in which u* and v* are a hundredth of the usual.
fn of_luv([lightness, u, v]: Triple) -> Triple {
    if lightness == 0.0 {
        return [0.0; 3];
    }
    let (white_u, white_v) = to_uv(WHITE);
    let scale = 13.0 * lightness / 100.0;
    of_uv(white_u + u / scale, white_v + v / scale, luminance(lightness))
}

fn of_tek_hvc([hue, value, chroma]: Triple) -> Triple {
    if value == 0.0 {
        return [0.0; 3];
    }
    let (u, v) = to_uv(WHITE);
    let angle = hue.to_radians() + ((TEK_RED.1 - v) / (TEK_RED.0 - u)).atan();
    let distance = chroma / (value * TEK_CHROMA);
    of_uv(u + angle.cos() * distance, v + angle.sin() * distance, luminance(value))
}

/// The Y of a lightness from 0 to 100.
fn luminance(lightness: f64) -> f64 {
    if lightness < DARK_LIGHTNESS {
        lightness / 903.29
    } else {
        ((lightness + 16.0) / 116.0).powi(3)
    }
}

fn to_uv([x, y, z]: Triple) -> (f64, f64) {
    let sum = x + 15.0 * y + 3.0 * z;
    (4.0 * x / sum, 9.0 * y / sum)
}

fn of_uv(u: f64, v: f64, luminance: f64) -> Triple {
    let sum = 6.0 * u - 16.0 * v + 12.0;
    let (x, y) = (9.0 * u / sum, 4.0 * v / sum);
    [x * luminance / y, luminance, (1.0 - x - y) * luminance / y]
}

/// Intensities that the device can show: those of a colour, or of one with less chroma.
fn in_gamut(xyz: Triple) -> Triple {
    let intensities = |xyz: Triple| {
        TO_INTENSITIES.map(|row| row.iter().zip(xyz).map(|(factor, value)| factor * value).sum())
    };
    let fits = |color: Triple, slack: f64| {
        color.iter().all(|intensity| (-slack..=1.0 + slack).contains(intensity))
    };
    let given = intensities(xyz);
    if fits(given, SLACK) {
        return given;
    }
    let ((u, v), (white_u, white_v)) = (to_uv(xyz), to_uv(WHITE));
    let with_chroma = |part: f64| {
        intensities(of_uv(white_u + (u - white_u) * part, white_v + (v - white_v) * part, xyz[1]))
    };
    let (mut inside, mut outside) = (0.0_f64, 1.0_f64);
    for _ in 0..STEPS {
        let half = inside.midpoint(outside);
        match fits(with_chroma(half), 0.0) {
            true => inside = half,
            false => outside = half,
        }
    }
    with_chroma(inside)
}

fn of_intensities([red, green, blue]: Triple) -> (u8, u8, u8) {
    (CURVES[0].level(red), CURVES[1].level(green), CURVES[2].level(blue))
}

impl Curve {
    /// The level for an intensity; between every fifth, intensities are in a line.
    fn level(&self, intensity: f64) -> u8 {
        if intensity.is_nan() || intensity <= 0.0 {
            return 0;
        }
        let mut from = self.dark;
        for to in (self.dark / 5 + 1..=51).map(|fifth| fifth * 5) {
            let (low, high) = (self.intensity(from), self.intensity(to));
            if intensity < high {
                let part = (intensity - low) / (high - low);
                return (f64::from(from) + f64::from(to - from) * part).round() as u8;
            }
            from = to;
        }
        u8::MAX
    }

    fn intensity(&self, level: u8) -> f64 {
        if level <= self.dark {
            return 0.0;
        }
        let base = (f64::from(level) / 255.0).ln();
        let sum = self.powers.iter().rev().fold(0.0, |sum, factor| (sum + factor) * base);
        sum.exp()
    }
}
