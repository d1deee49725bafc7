//! OSC, DCS and APC: titles, links, the clipboard, marks of shells, settings that are asked for.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;

use super::core::Core;
use super::reports::readable;
use crate::event::{Event, Mark};
use crate::tables::Link;

/// Longest window title.
const MAX_TITLE: usize = 1024;
/// Longest hyperlink target.
const MAX_LINK: usize = 4096;
/// Titles that can be pushed; with more, the oldest are forgotten.
const MAX_TITLES: usize = 16;

impl Core {
    pub(super) fn operating_system_command(&mut self, payload: &[u8], terminator: &'static str) {
        let number = payload.split(|byte| *byte == b';').next().unwrap_or_default();
        let rest = payload.get(number.len() + 1..).unwrap_or_default();
        let text = || String::from_utf8_lossy(rest);
        match number {
            b"0" | b"2" => {
                let text = text();
                let cut = text.floor_char_boundary(MAX_TITLE);
                self.set_title(Some(text[..cut].chars().filter(|c| !c.is_control()).collect()));
            }
            b"4" => self.palette_colors(rest, terminator),
            b"5" => self.special_colors(rest, terminator),
            b"7" => self.event(Event::WorkingDirectory(text().into_owned())),
            b"8" => self.set_link(rest),
            b"10" | b"11" | b"12" => self.dynamic_colors(number, rest, terminator),
            b"22" => {}
            b"52" => self.set_clipboard(rest, terminator),
            b"104" => self.reset_palette(rest),
            b"105" => self.reset_special_colors(rest),
            b"110" | b"111" | b"112" => self.reset_dynamic_color(number),
            b"133" | b"633" => self.shell_mark(&text()),
            _ if rest.ends_with(b"?") && number != b"1" => {
                let query = [b"\x1b]", payload].concat();
                self.unanswered = Some(readable(&query));
            }
            _ => {}
        }
    }

    pub(super) fn set_title(&mut self, title: Option<String>) {
        self.title = title.clone().unwrap_or_default();
        self.event(Event::Title(title));
    }

    pub(super) fn push_title(&mut self) {
        if self.titles.len() == MAX_TITLES {
            self.titles.remove(0);
        }
        self.titles.push(self.title.clone());
    }

    pub(super) fn pop_title(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.title.clone_from(&title);
            self.event(Event::Title(Some(title).filter(|title| !title.is_empty())));
        }
    }

    /// OSC 8: `parameters;URI`.
    fn set_link(&mut self, rest: &[u8]) {
        let Some(at) = rest.iter().position(|byte| *byte == b';') else { return };
        let (parameters, uri) = (&rest[..at], &rest[at + 1..]);
        self.pen.style.link = None;
        if !uri.is_empty() && rest.len() <= MAX_LINK {
            let id =
                parameters.split(|byte| *byte == b':').find_map(|one| one.strip_prefix(b"id="));
            let text = |bytes: &[u8]| {
                String::from_utf8_lossy(bytes)
                    .chars()
                    .filter(|c| !c.is_control())
                    .collect::<String>()
            };
            let id = id.filter(|id| !id.is_empty()).map(text);
            self.pen.style.link = self.tables.link(Link { id, uri: text(uri) });
        }
        self.pen.style_changed();
        self.sweep_tables();
    }

    /// OSC 133 and 633, and the directory that 633 carries.
    fn shell_mark(&mut self, text: &str) {
        if let Some(path) = text.strip_prefix("P;Cwd=") {
            self.event(Event::WorkingDirectory(path.to_owned()));
        }
        if let Some(mark) = Mark::parse(text) {
            self.place_command_line(&mark);
            self.event(Event::Mark(mark));
        }
    }

    /// OSC 52: the clipboard is the session's own, so a program may read what it wrote.
    fn set_clipboard(&mut self, rest: &[u8], terminator: &str) {
        let Some(at) = rest.iter().position(|byte| *byte == b';') else { return };
        let (target, data) = (&rest[..at], &rest[at + 1..]);
        if !target.iter().all(|byte| b"cps01234567q".contains(byte)) {
            return;
        }
        if data == b"?" {
            let target = char::from(target.first().copied().unwrap_or(b'c'));
            let data = BASE64.encode(&self.clipboard);
            return self.reply(&format!("\x1b]52;{target};{data}{terminator}"));
        }
        if let Some(text) = BASE64.decode(data).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        {
            self.clipboard.clone_from(&text);
            self.event(Event::Clipboard(text));
        }
    }

    pub(super) fn device_control(&mut self, payload: &[u8]) {
        if let Some(setting) = payload.strip_prefix(b"$q") {
            self.report_setting(setting);
        } else if let Some(names) = payload.strip_prefix(b"+q") {
            self.report_capabilities(names);
        } else if let Some(at) = payload.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))
            && payload[at] == b'q'
        {
            self.draw_sixels(&payload[..at], &payload[at + 1..]);
        }
    }

    /// Kitty graphics. They are not answered: programs follow a question with DA1, which ends their wait.
    pub(super) fn application_command(&mut self, payload: &[u8]) {
        if let Some(payload) = payload.strip_prefix(b"G") {
            self.unanswered = Some(String::from("APC G (kitty graphics)"));
            self.graphics_command(payload);
        }
    }
}
