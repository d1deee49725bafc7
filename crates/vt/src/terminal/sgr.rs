//! SGR: colours and attributes.

use super::core::Core;
use crate::parser::Params;
use crate::style::{Attributes, Color, Style};

impl Core {
    /// Changes the style of what is printed next.
    #[inline]
    pub(super) fn select_graphics(&mut self, params: &Params) {
        apply(&mut self.pen.style.style, params, 0);
        self.pen.style_changed();
    }
}

/// Changes a style by the parameters from one on.
pub(super) fn apply(style: &mut Style, params: &Params, from: usize) {
    if params.len() <= from {
        *style = Style::default();
        return;
    }
    let mut at = from;
    while let Some((&code, behind)) = params.all().get(at..).and_then(<[u16]>::split_first) {
        // The numbers behind colons belong to this one.
        let (subs, _) = behind.split_at(params.subs(at));
        at += 1 + subs.len();
        let attributes = &mut style.attributes;
        match code {
            0 => *style = Style::default(),
            1 => attributes.insert(Attributes::BOLD),
            2 => attributes.insert(Attributes::DIM),
            3 => attributes.insert(Attributes::ITALIC),
            4 => set_underline(attributes, subs.first().copied().unwrap_or(1)),
            5 | 6 => attributes.insert(Attributes::BLINK),
            7 => attributes.insert(Attributes::INVERSE),
            8 => attributes.insert(Attributes::HIDDEN),
            9 => attributes.insert(Attributes::STRIKE),
            21 => set_underline(attributes, 2),
            22 => attributes.remove(Attributes::BOLD | Attributes::DIM),
            23 => attributes.remove(Attributes::ITALIC),
            24 => attributes.remove(Attributes::ANY_UNDERLINE),
            25 => attributes.remove(Attributes::BLINK),
            27 => attributes.remove(Attributes::INVERSE),
            28 => attributes.remove(Attributes::HIDDEN),
            29 => attributes.remove(Attributes::STRIKE),
            30..=37 => style.fg = Color::Indexed((code - 30) as u8),
            39 => style.fg = Color::Default,
            40..=47 => style.bg = Color::Indexed((code - 40) as u8),
            49 => style.bg = Color::Default,
            59 => style.underline_color = None,
            90..=97 => style.fg = Color::Indexed((code - 90 + 8) as u8),
            100..=107 => style.bg = Color::Indexed((code - 100 + 8) as u8),
            38 | 48 | 58 => {
                let (color, taken) = match subs {
                    [] => with_semicolons(behind),
                    _ => (with_colons(subs), 0),
                };
                at += taken;
                match (color, code) {
                    (Some(color), 38) => style.fg = color,
                    (Some(color), 48) => style.bg = color,
                    (Some(color), _) => style.underline_color = Some(color),
                    (None, _) => {}
                }
            }
            _ => {}
        }
    }
}

fn set_underline(attributes: &mut Attributes, kind: u16) {
    attributes.remove(Attributes::ANY_UNDERLINE);
    attributes.insert(match kind {
        0 => Attributes::empty(),
        2 => Attributes::DOUBLE_UNDERLINE,
        3 => Attributes::CURLY_UNDERLINE,
        4 => Attributes::DOTTED_UNDERLINE,
        5 => Attributes::DASHED_UNDERLINE,
        _ => Attributes::UNDERLINE,
    });
}

/// `5:n`, `2:r:g:b` or `2:space:r:g:b`.
fn with_colons(subs: &[u16]) -> Option<Color> {
    match *subs {
        [5, index, ..] => indexed(index),
        [2, r, g, b] | [2, _, r, g, b, ..] => rgb(r, g, b),
        _ => None,
    }
}

/// `5;n` or `2;r;g;b`, and how many numbers that is.
#[inline]
fn with_semicolons(behind: &[u16]) -> (Option<Color>, usize) {
    match *behind {
        [5, index, ..] => (indexed(index), 2),
        [2, r, g, b, ..] => (rgb(r, g, b), 4),
        // The rest is missing.
        [5 | 2, ..] => (None, behind.len()),
        _ => (None, 1),
    }
}

fn indexed(index: u16) -> Option<Color> {
    u8::try_from(index).ok().map(Color::Indexed)
}

fn rgb(r: u16, g: u16, b: u16) -> Option<Color> {
    let byte = |value: u16| u8::try_from(value).ok();
    Some(Color::Rgb(byte(r)?, byte(g)?, byte(b)?))
}
