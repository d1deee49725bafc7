//! The size of a terminal.

/// Narrowest terminal.
pub const MIN_COLS: u16 = 2;
/// Widest terminal.
pub const MAX_COLS: u16 = 1000;
/// Lowest terminal.
pub const MIN_ROWS: u16 = 1;
/// Tallest terminal.
pub const MAX_ROWS: u16 = 1000;

/// Width and height of a cell in pixels, as it is reported; there is no real window.
pub(crate) const CELL_PIXELS: (u16, u16) = (8, 16);

/// Columns and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Size {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

impl Size {
    /// The nearest size that a terminal can have.
    pub fn clamped(self) -> Self {
        Self {
            cols: self.cols.clamp(MIN_COLS, MAX_COLS),
            rows: self.rows.clamp(MIN_ROWS, MAX_ROWS),
        }
    }
}
