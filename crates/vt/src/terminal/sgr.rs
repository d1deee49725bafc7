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
    while at < params.len() {
        let code = params.get(at);
        let first_sub = at + 1;
        // The numbers behind colons belong to this one.
        let mut next = first_sub;
        while params.is_sub(next) {
            next += 1;
        }
        let attributes = &mut style.attributes;
        match code {
            0 => *style = Style::default(),
            1 => attributes.insert(Attributes::BOLD),
            2 => attributes.insert(Attributes::DIM),
            3 => attributes.insert(Attributes::ITALIC),
            4 => {
                let kind = if next > first_sub { params.get(first_sub) } else { 1 };
                set_underline(attributes, kind);
            }
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
                let (color, end) = if next > first_sub {
                    (with_colons(params, first_sub, next), next)
                } else {
                    with_semicolons(params, first_sub)
                };
                next = end;
                match (color, code) {
                    (Some(color), 38) => style.fg = color,
                    (Some(color), 48) => style.bg = color,
                    (Some(color), _) => style.underline_color = Some(color),
                    (None, _) => {}
                }
            }
            _ => {}
        }
        at = next;
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
fn with_colons(params: &Params, from: usize, end: usize) -> Option<Color> {
    let byte = |at: usize| u8::try_from(params.get(at)).ok();
    match params.get(from) {
        5 if end - from >= 2 => byte(from + 1).map(Color::Indexed),
        2 => {
            let first = match end - from {
                4 => from + 1,
                5.. => from + 2,
                _ => return None,
            };
            Some(Color::Rgb(byte(first)?, byte(first + 1)?, byte(first + 2)?))
        }
        _ => None,
    }
}

/// `5;n` or `2;r;g;b`, and where the next parameter is.
fn with_semicolons(params: &Params, from: usize) -> (Option<Color>, usize) {
    let byte = |at: usize| u8::try_from(params.get(at)).ok().filter(|_| at < params.len());
    match params.get(from) {
        5 => (byte(from + 1).map(Color::Indexed), from + 2),
        2 => {
            let parts = (byte(from + 1), byte(from + 2), byte(from + 3));
            let color = match parts {
                (Some(r), Some(g), Some(b)) => Some(Color::Rgb(r, g, b)),
                _ => None,
            };
            (color, from + 4)
        }
        _ => (None, from + 1),
    }
}
