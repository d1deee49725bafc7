//! Control sequences that are not left to the emulator crate, or not to it alone.

use super::{Core, SOFT_RESET};
use crate::convert;
use crate::event::{Event, Mark};
use crate::queries::{self, Csi};

/// Longest window title.
const MAX_TITLE: usize = 1024;
/// Longest hyperlink target.
const MAX_LINK: usize = 4096;
/// Titles that can be pushed; with more, the oldest are forgotten.
const MAX_TITLES: usize = 16;
/// Keyboard modes that can be pushed; the emulator panics at 4096. With more, the mode is set only.
const MAX_KEYBOARD_MODES: usize = 1000;

impl Core {
    /// Pushes the title or pops one; the emulator's own stack holds thousands.
    pub(super) fn title_stack(&mut self, csi: &Csi<'_>) {
        if csi.parameter(0) == 22 {
            if self.titles.len() == MAX_TITLES {
                self.titles.remove(0);
            }
            self.titles.push(self.title.clone());
        } else if let Some(title) = self.titles.pop() {
            self.title.clone_from(&title);
            self.event(Event::Title(Some(title).filter(|title| !title.is_empty())));
        }
    }

    /// Pushes a keyboard mode or pops some; each screen has its own stack.
    pub(super) fn keyboard_mode(&mut self, csi: &Csi<'_>, sequence: &[u8]) {
        let depth = self.term.keyboard(self.term.is_alternate()).len();
        if csi.prefix == Some(b'>') && depth >= MAX_KEYBOARD_MODES {
            return self.advance(format!("\x1b[={};1u", csi.parameter(0)).as_bytes());
        }
        self.advance(sequence);
    }

    pub(super) fn soft_reset(&mut self) {
        let point = self.term.grid().cursor.point;
        self.advance(SOFT_RESET);
        self.term.grid_mut().cursor.point = point;
        self.extra.modify_other_keys = 0;
    }

    pub(super) fn osc(&mut self, payload: &[u8], terminator: &'static [u8]) {
        let number = payload.split(|byte| *byte == b';').next().unwrap_or_default();
        let rest = payload.get(number.len() + 1..).unwrap_or_default();
        let text = || String::from_utf8_lossy(rest);
        match number {
            b"7" => self.event(Event::WorkingDirectory(text().into_owned())),
            b"133" | b"633" => {
                if let Some(path) = rest.strip_prefix(b"P;Cwd=") {
                    let path = String::from_utf8_lossy(path).into_owned();
                    self.event(Event::WorkingDirectory(path));
                }
                if let Some(mark) = Mark::parse(&text()) {
                    self.event(Event::Mark(mark));
                }
            }
            b"0" | b"1" | b"2" if rest.len() > MAX_TITLE => {
                let text = text();
                let cut = text.floor_char_boundary(MAX_TITLE);
                self.pass_osc(&[number, b";", &text.as_bytes()[..cut]].concat(), terminator);
            }
            b"8" if rest.len() > MAX_LINK => {}
            b"8" if rest.len() > 1 && !self.has_room(1, rest.len()) => {
                self.pass_osc(b"8;;", terminator);
            }
            _ if rest.ends_with(b"?")
                && number != b"8"
                && !matches!(number, b"0" | b"1" | b"2") =>
            {
                self.ask_emulator(&[b"\x1b]", payload, terminator].concat());
            }
            _ => self.pass_osc(payload, terminator),
        }
    }

    pub(super) fn pass_osc(&mut self, payload: &[u8], terminator: &[u8]) {
        self.advance(&[b"\x1b]", payload, terminator].concat());
    }

    pub(super) fn device_control(&mut self, payload: &[u8]) {
        if let Some(setting) = payload.strip_prefix(b"$q") {
            let template = convert::row(std::slice::from_ref(&self.term.grid().cursor.template));
            let style = template.cells.first().map(|cell| cell.style).unwrap_or_default();
            let region = self.term.region();
            let margins = (region.start as u16 + 1, region.end as u16);
            let answer = queries::status_string(setting, style, margins, self.cursor());
            self.reply(answer.as_bytes());
        } else if let Some(names) = payload.strip_prefix(b"+q") {
            let answer = queries::termcap(names);
            self.reply(answer.as_bytes());
        }
    }
}
