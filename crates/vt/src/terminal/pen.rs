//! How the next character is printed.

use serde::{Deserialize, Serialize};

use crate::cell::Cell;
use crate::style::Color;
use crate::tables::{CellStyle, Tables};

/// The style, link and protection of what is printed next, and the cells that printing and erasing begin with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pen {
    pub(super) style: CellStyle,
    /// DECSCA.
    pub(super) protected: bool,
    template: Cell,
    blank: Cell,
}

impl Pen {
    /// A cell without text in this style.
    #[inline]
    pub(super) fn template(&self) -> Cell {
        self.template
    }

    /// What erasing leaves: the background.
    #[inline]
    pub(super) fn blank(&self) -> Cell {
        self.blank
    }

    /// What it refers to exists.
    pub(super) fn is_sound(&self, tables: &Tables) -> bool {
        [self.template, self.blank].into_iter().all(|cell| tables.has_entries_of(cell))
    }

    /// Finds the cells again, after a change of the style or of the tables.
    pub(super) fn look_up(&mut self, tables: &mut Tables) {
        self.template = Cell::blank(tables.style_id(&self.style)).with_protection(self.protected);
        self.blank = match self.style.style.bg {
            Color::Default => Cell::EMPTY,
            _ => Cell::blank(tables.style_id(&self.style.erased())),
        };
    }
}
