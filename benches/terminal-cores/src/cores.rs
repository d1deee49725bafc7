//! The terminals behind one interface.

use crate::streams::{COLS, ROWS};

/// Lines of scrollback.
pub const HISTORY: usize = 10_000;

/// A terminal that is measured.
pub trait Core {
    /// An empty terminal.
    fn new() -> Self
    where
        Self: Sized;
    /// Feeds bytes.
    fn feed(&mut self, bytes: &[u8]);
    /// Changes the size.
    fn resize(&mut self, cols: usize, rows: usize);
    /// The text of the screen's first row: proof that it took what it was fed.
    fn first_row(&self) -> String;
}

/// termbridge-vt, fed as a session does.
pub struct Ours(termbridge_vt::Terminal);

impl Core for Ours {
    fn new() -> Self {
        let size = termbridge_vt::Size { cols: COLS as u16, rows: ROWS as u16 };
        let options = termbridge_vt::Options { scrollback_lines: HISTORY, ..Default::default() };
        Self(termbridge_vt::Terminal::new(size, options))
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(bytes);
        self.0.take_replies();
        self.0.take_events();
    }

    fn resize(&mut self, cols: usize, rows: usize) {
        self.0.resize(termbridge_vt::Size { cols: cols as u16, rows: rows as u16 });
    }

    fn first_row(&self) -> String {
        self.0.screen().rows[0].text()
    }
}

/// alacritty_terminal.
pub struct Alacritty {
    term: alacritty_terminal::Term<alacritty_terminal::event::VoidListener>,
    parser: alacritty_terminal::vte::ansi::Processor,
}

/// A size for alacritty_terminal.
struct Dimensions {
    cols: usize,
    rows: usize,
}

impl alacritty_terminal::grid::Dimensions for Dimensions {
    fn total_lines(&self) -> usize {
        self.rows
    }

    fn screen_lines(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.cols
    }
}

impl Core for Alacritty {
    fn new() -> Self {
        let config =
            alacritty_terminal::term::Config { scrolling_history: HISTORY, ..Default::default() };
        let size = Dimensions { cols: COLS, rows: ROWS };
        let term =
            alacritty_terminal::Term::new(config, &size, alacritty_terminal::event::VoidListener);
        Self { term, parser: alacritty_terminal::vte::ansi::Processor::new() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
    }

    fn resize(&mut self, cols: usize, rows: usize) {
        self.term.resize(Dimensions { cols, rows });
    }

    fn first_row(&self) -> String {
        use alacritty_terminal::index::{Column, Line};
        use alacritty_terminal::term::cell::Flags;
        let row = &self.term.grid()[Line(0)];
        let cells = (0..COLS).map(|col| &row[Column(col)]);
        let cells = cells.filter(|cell| !cell.flags.contains(Flags::WIDE_CHAR_SPACER));
        let mut text = String::new();
        for cell in cells {
            text.push(cell.c);
            text.extend(cell.zerowidth().unwrap_or_default());
        }
        text.trim_end().to_owned()
    }
}

/// rio-vt.
#[cfg(feature = "rio")]
pub struct Rio {
    term: rio_vt::crosswords::Crosswords<rio_vt::event::VoidListener>,
    parser: rio_vt::performer::handler::Processor,
}

#[cfg(feature = "rio")]
impl Core for Rio {
    fn new() -> Self {
        let term = rio_vt::crosswords::Crosswords::new(
            rio_vt::crosswords::CrosswordsSize::new(COLS, ROWS),
            rio_vt::ansi::CursorShape::Block,
            rio_vt::event::VoidListener,
            rio_vt::event::WindowId::from(0),
            0,
            HISTORY,
        );
        Self { term, parser: rio_vt::performer::handler::Processor::default() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.term, bytes);
    }

    fn resize(&mut self, cols: usize, rows: usize) {
        self.term.resize(rio_vt::crosswords::CrosswordsSize::new(cols, rows));
    }

    fn first_row(&self) -> String {
        use rio_vt::crosswords::pos::Column;
        let rows = self.term.visible_rows();
        let text: String = (0..COLS).map(|col| rows[0][Column(col)].c()).collect();
        text.trim_end_matches([' ', '\0']).to_owned()
    }
}
