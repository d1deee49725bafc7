//! How the next character is printed.

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::style::Color;
use crate::tables::{CellStyle, Tables};

/// The style, link and protection of what is printed next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pen {
    pub(super) style: CellStyle,
    /// DECSCA.
    pub(super) protected: bool,
    /// A cell without text in this style, if it was looked up since the style was changed.
    #[serde(skip)]
    template: Option<Cell>,
}

impl Pen {
    /// A cell without text in this style.
    #[inline]
    pub(super) fn template(&mut self, tables: &mut Tables) -> Cell {
        *self.template.get_or_insert_with(|| {
            Cell::blank(tables.style_id(&self.style)).with_protection(self.protected)
        })
    }

    /// What erasing leaves: the background.
    #[inline]
    pub(super) fn blank(&self, tables: &mut Tables) -> Cell {
        match self.style.style.bg {
            Color::Default => Cell::EMPTY,
            _ => Cell::blank(tables.style_id(&self.style.erased())),
        }
    }

    /// The style, the protection or the numbers of styles have changed.
    #[inline]
    pub(super) fn style_changed(&mut self) {
        self.template = None;
    }
}
