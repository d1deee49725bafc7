//! The ways to write a colour that X11 knows, without its names.

use super::cie;

/// `#rgb` with one to four digits each, `rgb:r/g/b`, or a space and its coordinates as `CIEXYZ:x/y/z`.
pub(super) fn parse_color(text: &[u8]) -> Option<(u8, u8, u8)> {
    let text = str::from_utf8(text).ok()?.to_ascii_lowercase();
    let scaled = |digits: &str| {
        let most =
            16u32.checked_pow(digits.len() as u32).filter(|_| (1..=4).contains(&digits.len()))? - 1;
        Some((u32::from_str_radix(digits, 16).ok()? * 255 / most) as u8)
    };
    if let Some(parts) = text.strip_prefix("rgb:") {
        let mut parts = parts.split('/').map(scaled);
        let color = (parts.next()??, parts.next()??, parts.next()??);
        return parts.next().is_none().then_some(color);
    }
    if let Some((space, parts)) = text.split_once(':') {
        let mut parts = parts.split('/').map(|part| part.parse::<f64>().ok());
        let color = [parts.next()??, parts.next()??, parts.next()??];
        let is_sound = parts.next().is_none() && color.iter().all(|part| part.is_finite());
        return is_sound.then(|| cie::levels(space, color)).flatten();
    }
    let digits =
        text.strip_prefix('#').filter(|digits| digits.is_ascii() && digits.len() % 3 == 0)?;
    let each = digits.len() / 3;
    // The digits are the highest ones, as in X11.
    let high = |part: &str| {
        let digits = if each == 1 { format!("{part}0") } else { part.get(..2)?.to_owned() };
        u8::from_str_radix(&digits, 16).ok()
    };
    (1..=4).contains(&each).then_some(())?;
    Some((high(&digits[..each])?, high(&digits[each..2 * each])?, high(&digits[2 * each..])?))
}
