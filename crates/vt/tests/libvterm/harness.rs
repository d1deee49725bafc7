//! libvterm's harness for our terminal: commands in, events and answers checked.

use termbridge_vt::input::{
    Key, KeyPress, KeypadKey, Modifiers, MouseAction, MouseButton, MouseEvent, MouseTracking,
    encode_mouse, encode_paste, encode_press,
};
use termbridge_vt::{CursorShape, Options, Row, Size, Terminal};

use crate::model::Model;
use crate::perl::{evaluate, numbers};
use crate::queries;
use crate::script::{Action, Step};

/// The size that libvterm's harness begins with.
const SIZE: Size = Size { cols: 80, rows: 25 };

/// What became of something that a test expects.
pub(crate) enum Outcome {
    /// It is so.
    Passed,
    /// It is not.
    Failed(String),
    /// Our terminal does not show it: why.
    Unseen(&'static str),
}

/// Which events a test wants.
#[derive(Default)]
struct Wants {
    glyphs: bool,
    scrolls: bool,
    moves: bool,
    erasures: bool,
    damage: bool,
}

enum Logged {
    Bytes(Vec<u8>),
    Size(Size),
}

/// Our terminal in the place of libvterm's.
pub(crate) struct Harness {
    pub(crate) terminal: Terminal,
    /// All that it was given: the pen is shown by another one that is given the same and prints.
    log: Vec<Logged>,
    wants: Wants,
    has_screen: bool,
    utf8: bool,
    title: String,
    clipboard: String,
    pointer: (u16, u16),
    button: MouseButton,
    sent: Vec<u8>,
    unseen: Option<&'static str>,
    /// Damage is reported later, in another form.
    merges_damage: bool,
    /// The parser's findings are not obeyed.
    has_parser_only: bool,
    /// A character continues in the next command.
    input_is_cut: bool,
}

fn new_terminal() -> Terminal {
    Terminal::new(SIZE, Options { scrollback_lines: 1000, ..Options::default() })
}

impl Harness {
    pub(crate) fn new() -> Self {
        Self {
            terminal: new_terminal(),
            log: Vec::new(),
            wants: Wants::default(),
            has_screen: false,
            utf8: false,
            title: String::new(),
            clipboard: String::new(),
            pointer: (0, 0),
            button: MouseButton::None,
            sent: Vec::new(),
            unseen: None,
            merges_damage: false,
            has_parser_only: false,
            input_is_cut: false,
        }
    }

    /// Does a step and returns what became of everything that it expects.
    pub(crate) fn step(&mut self, step: &Step) -> Vec<Outcome> {
        match &step.action {
            Action::Assertion { query, wanted } => vec![queries::check(self, query, wanted)],
            Action::Command { name, argument, events } => self.command(name, argument, events),
        }
    }

    fn command(&mut self, name: &str, argument: &str, events: &[String]) -> Vec<Outcome> {
        let before = self.terminal.screen().rows;
        let history = self.terminal.history_len();
        self.sent.clear();
        self.unseen = None;
        let prints = self.execute(name, argument);
        self.sent.append(&mut self.terminal.take_replies());
        if let Some(reason) = self.unseen {
            return vec![Outcome::Unseen(reason)];
        }
        if name == "ENCIN" {
            self.input_is_cut = events.is_empty();
        }
        let mut outcomes: Vec<Outcome> = self.check_output(events).into_iter().collect();
        // Whether a cursor blinks before a program says so is the terminal's own choice.
        let chosen = |event: &&String| name == "RESET" && event.starts_with("settermprop 2 ");
        let events_to_check = events.iter().filter(|event| !chosen(event));
        outcomes.extend(events_to_check.filter_map(|event| self.check_event(event)));
        outcomes.extend(self.check_history(events, history));
        outcomes.extend(self.check_screen(events, &before, prints));
        if name == "RESET"
            && (self.wants.scrolls || self.wants.moves || self.wants.erasures)
            && !self.has_screen
        {
            self.fill();
        }
        outcomes
    }

    /// Does what a command says; true when it prints.
    fn execute(&mut self, name: &str, argument: &str) -> bool {
        match name {
            "INIT" => {}
            "UTF8" => self.utf8 = argument == "1",
            "WANTSTATE" | "WANTSCREEN" => self.want(name, argument),
            "WANTENCODING" => {}
            "WANTPARSER" => self.has_parser_only = true,
            "RESET" => self.feed(b"\x1bc".to_vec()),
            "RESIZE" => {
                let size = numbers(argument);
                let size = Size { rows: size[0] as u16, cols: size[1] as u16 };
                self.terminal.resize(size);
                self.log.push(Logged::Size(size));
            }
            "PUSH" => {
                let bytes = evaluate(argument);
                if !self.utf8 && bytes.iter().any(|byte| *byte >= 0x80) {
                    self.unseen = Some("input of 8 bits: our terminal's input is always UTF-8");
                }
                let prints = prints(&bytes);
                self.feed(bytes);
                return prints;
            }
            "ENCIN" => {
                if !self.input_is_cut {
                    self.feed(b"\x1b[H\x1b[J".to_vec());
                }
                self.feed(evaluate(argument));
            }
            "MOUSEMOVE" => self.move_mouse(argument),
            "MOUSEBTN" => self.press_button(argument),
            "INCHAR" => {
                let (modifiers, code) = modifiers(argument);
                let code = u32::from_str_radix(code, 16).expect("a code");
                let character = char::from_u32(code).expect("a character");
                // A capital letter is typed with Shift.
                let shift = if character.is_ascii_uppercase() {
                    Modifiers::SHIFT
                } else {
                    Modifiers::empty()
                };
                self.press(Key::Char(character), modifiers | shift);
            }
            "INKEY" => {
                let (modifiers, name) = modifiers(argument);
                self.press(key(name), modifiers);
            }
            "PASTE" => {
                let sent = encode_paste("x", &self.terminal.input_modes());
                let at = sent.iter().position(|byte| *byte == b'x').expect("the text");
                let part = if argument == "START" { &sent[..at] } else { &sent[at + 1..] };
                self.sent.extend_from_slice(part);
            }
            "FOCUS" => {
                if self.terminal.input_modes().focus_events {
                    self.sent.extend_from_slice(if argument == "IN" {
                        b"\x1b[I"
                    } else {
                        b"\x1b[O"
                    });
                }
            }
            "SELECTION" => self.unseen = Some("the clipboard is never sent to a program"),
            "DAMAGEMERGE" => self.merges_damage = argument != "CELL",
            "DAMAGEFLUSH" => {}
            "SETDEFAULTCOL" => self.unseen = Some("the default colours are the viewer's"),
            other => panic!("there is no command {other}"),
        }
        false
    }

    fn want(&mut self, name: &str, flags: &str) {
        self.has_screen |= name == "WANTSCREEN";
        let mut sense = true;
        for flag in flags.chars() {
            match flag {
                '+' | '-' => sense = flag == '+',
                'g' => self.wants.glyphs = sense,
                's' => self.wants.scrolls = sense,
                'm' => self.wants.moves = sense,
                'e' => self.wants.erasures = sense,
                'd' | 'D' => self.wants.damage = sense,
                _ => {}
            }
        }
    }

    fn feed(&mut self, bytes: Vec<u8>) {
        self.terminal.feed(&bytes);
        self.log.push(Logged::Bytes(bytes));
    }

    /// Fills the screen, so that it shows what is moved and erased.
    fn fill(&mut self) {
        let Size { cols, rows } = self.terminal.size();
        let mut text = String::new();
        for row in 0..u32::from(rows) {
            let line = (0..u32::from(cols)).map(|col| char::from_u32(0x100 + (row * 7 + col) % 64));
            text.push_str(&format!("\x1b[{}H", row + 1));
            text.extend(line.flatten());
        }
        text.push_str("\x1b[H");
        self.feed(text.into_bytes());
    }

    /// A cell that is printed now.
    pub(crate) fn printed_cell(&self) -> termbridge_vt::Cell {
        let mut terminal = new_terminal();
        for logged in &self.log {
            match logged {
                Logged::Bytes(bytes) => terminal.feed(bytes),
                Logged::Size(size) => terminal.resize(*size),
            }
        }
        terminal.feed(b"\x1b[?6l\x1b[?69l\x1b[4l\x1b(B\x0f\x1b[Hx");
        terminal.screen().rows[0].cells[0].clone()
    }

    fn press(&mut self, key: Key, modifiers: Modifiers) {
        let bytes = encode_press(&KeyPress::new(key, modifiers), &self.terminal.input_modes());
        self.sent.extend(bytes);
    }

    fn move_mouse(&mut self, argument: &str) {
        let (place, modifiers) = place(argument);
        if place != self.pointer {
            self.pointer = place;
            self.mouse(MouseAction::Move, self.button, modifiers);
        }
    }

    fn press_button(&mut self, argument: &str) {
        let mut fields = argument.split_whitespace();
        let down = fields.next() == Some("d");
        let number = fields.next().expect("a button");
        let (modifiers, _) = modifiers(fields.next().unwrap_or_default());
        let (action, button) = match number {
            "4" => (MouseAction::ScrollUp, MouseButton::None),
            "5" => (MouseAction::ScrollDown, MouseButton::None),
            "6" => (MouseAction::ScrollLeft, MouseButton::None),
            "7" => (MouseAction::ScrollRight, MouseButton::None),
            _ => {
                let buttons = [MouseButton::Left, MouseButton::Middle, MouseButton::Right];
                let button = buttons[number.parse::<usize>().expect("a number") - 1];
                self.button = if down { button } else { MouseButton::None };
                (if down { MouseAction::Press } else { MouseAction::Release }, button)
            }
        };
        self.mouse(action, button, modifiers);
    }

    fn mouse(&mut self, action: MouseAction, button: MouseButton, modifiers: Modifiers) {
        let (row, col) = self.pointer;
        let event = MouseEvent { action, button, row, col, modifiers };
        self.sent.extend(encode_mouse(&event, &self.terminal.input_modes()).unwrap_or_default());
    }

    fn check_output(&self, events: &[String]) -> Option<Outcome> {
        let wanted: Vec<u8> = events
            .iter()
            .filter_map(|event| event.strip_prefix("output "))
            .flat_map(evaluate)
            .collect();
        if self.has_parser_only || (wanted.is_empty() && self.sent.is_empty()) {
            return None;
        }
        Some(equal(
            "output",
            &wanted.escape_ascii().to_string(),
            &self.sent.escape_ascii().to_string(),
        ))
    }

    /// `None` for events that are checked with all others, or need no check of their own.
    fn check_event(&mut self, event: &str) -> Option<Outcome> {
        let (name, rest) = event.split_once(' ').unwrap_or((event, ""));
        Some(match name {
            "output" | "putglyph" | "erase" | "scrollrect" | "moverect" | "damage"
            | "sb_pushline" => {
                return None;
            }
            "movecursor" => {
                let (row, col) = self.terminal.cursor_position();
                equal("the cursor", rest, &format!("{row},{col}"))
            }
            "settermprop" => self.check_property(rest),
            "sb_clear" => {
                equal("lines of the history", "0", &self.terminal.history_len().to_string())
            }
            "selection-set" => return self.check_selection(rest),
            "encout" => {
                let text = self.terminal.screen().rows[0].text();
                let shown: Vec<u32> = text.chars().map(u32::from).collect();
                // Control characters show nothing.
                let wanted: Vec<u32> = numbers(rest)
                    .into_iter()
                    .filter(|code| *code >= 0xa0 || *code < 0x7f)
                    .collect();
                equal("the characters", &format!("{wanted:x?}"), &format!("{shown:x?}"))
            }
            "selection-query" => Outcome::Unseen("the clipboard is never sent to a program"),
            "sb_popline" => Outcome::Unseen("libvterm's harness invents the lines of its history"),
            _ => Outcome::Unseen("what libvterm's parser found, before it means something"),
        })
    }

    fn check_property(&mut self, text: &str) -> Outcome {
        let (property, value) = text.split_once(' ').expect("a value");
        let cursor = self.terminal.screen().cursor;
        let modes = self.terminal.input_modes();
        let shown = match property {
            "1" => cursor.visible.to_string(),
            "2" => cursor.blinking.to_string(),
            "3" => self.terminal.screen().alternate.to_string(),
            "4" => {
                self.title = fragment(std::mem::take(&mut self.title), value);
                if !value.ends_with(']') {
                    return Outcome::Passed;
                }
                return equal("the title", &self.title, self.terminal.title());
            }
            "7" => match cursor.shape {
                CursorShape::Block => "1",
                CursorShape::Underline => "2",
                CursorShape::Bar => "3",
            }
            .to_owned(),
            "8" => match modes.mouse {
                MouseTracking::Off | MouseTracking::X10 => "0",
                MouseTracking::Normal => "1",
                MouseTracking::ButtonMotion => "2",
                MouseTracking::AnyMotion => "3",
            }
            .to_owned(),
            "9" => modes.focus_events.to_string(),
            _ => {
                return Outcome::Unseen(
                    "an icon name or reverse video, which none of our viewers shows",
                );
            }
        };
        equal(&format!("property {property}"), value, &shown)
    }

    /// The clipboard's text comes in fragments, of which only the whole is seen here.
    fn check_selection(&mut self, text: &str) -> Option<Outcome> {
        let (_, data) = text.split_once(' ').expect("data");
        self.clipboard = fragment(std::mem::take(&mut self.clipboard), data);
        data.ends_with(']')
            .then(|| equal("the clipboard", &self.clipboard, self.terminal.clipboard()))
    }

    fn check_history(&self, events: &[String], before: usize) -> Option<Outcome> {
        let pushed: Vec<String> = events
            .iter()
            .filter_map(|event| event.strip_prefix("sb_pushline "))
            .map(pushed_text)
            .collect();
        if pushed.is_empty() {
            return None;
        }
        let new = (before..self.terminal.history_len())
            .filter_map(|index| self.terminal.history_row(index));
        let new: Vec<String> = new.map(|row: Row| row.text()).collect();
        Some(equal("new lines of the history", &format!("{pushed:?}"), &format!("{new:?}")))
    }

    fn check_screen(&self, events: &[String], before: &[Row], prints: bool) -> Option<Outcome> {
        let after = self.terminal.screen().rows;
        let Wants { glyphs, scrolls, moves, erasures, damage } = self.wants;
        if self.merges_damage {
            return Some(Outcome::Unseen("how libvterm merges damage"));
        }
        let same_size =
            before.len() == after.len() && before[0].cells.len() == after[0].cells.len();
        let sees_all = same_size && (damage || ((scrolls || moves) && (glyphs || !prints)));
        let mut model = if sees_all { Model::of(before) } else { Model::unknown(&after) };
        let changes = events.iter().filter(|event| model.apply(event)).count();
        if changes == 0 && !sees_all {
            return None;
        }
        let erasing = erasures || damage || !sees_all;
        Some(model.difference(&after, erasing).map_or(Outcome::Passed, Outcome::Failed))
    }
}

/// Compares two texts.
pub(crate) fn equal(what: &str, wanted: &str, shown: &str) -> Outcome {
    if wanted == shown {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("{what}: wanted {wanted}, shown {shown}"))
    }
}

/// Adds a fragment such as `["Hello"` or `"lo"]`.
fn fragment(so_far: String, fragment: &str) -> String {
    let mut text = if fragment.starts_with('[') { String::new() } else { so_far };
    let string = fragment.trim_start_matches('[').trim_end_matches(']').trim();
    if !string.is_empty() {
        text.push_str(&String::from_utf8_lossy(&evaluate(string)));
    }
    text
}

/// The text of a line such as `80 = 41 42`.
fn pushed_text(event: &str) -> String {
    let (_, codes) = event.split_once('=').unwrap_or_default();
    let code = |code: &str| u32::from_str_radix(code, 16).ok().filter(|code| *code > 0);
    codes
        .split_whitespace()
        .map(|text| code(text).and_then(char::from_u32).unwrap_or(' '))
        .collect()
}

/// Bytes outside of control sequences that print something.
fn prints(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let [first, others @ ..] = rest {
        let end = |ends: fn(u8) -> bool, from: usize| {
            rest.iter()
                .skip(from)
                .position(|byte| ends(*byte))
                .map_or(rest.len(), |at| from + at + 1)
        };
        rest = match (first, others.first()) {
            (0x1b, Some(b'[')) => &rest[end(|byte| (0x40..=0x7e).contains(&byte), 2)..],
            (0x1b, Some(b']' | b'P' | b'_' | b'^' | b'X')) => {
                &rest[end(|byte| matches!(byte, 7 | b'\\'), 2)..]
            }
            (0x1b, _) => &rest[end(|byte| byte >= 0x30, 1)..],
            (0..0x20 | 0x7f, _) => others,
            _ => return true,
        };
    }
    false
}

/// Modifiers at the start, and what is behind them.
fn modifiers(text: &str) -> (Modifiers, &str) {
    let (names, rest) = text.split_once(' ').unwrap_or((text, ""));
    let modifier = |name| match name {
        'S' => Modifiers::SHIFT,
        'C' => Modifiers::CTRL,
        'A' => Modifiers::ALT,
        _ => Modifiers::empty(),
    };
    (names.chars().map(modifier).fold(Modifiers::empty(), |all, one| all | one), rest.trim())
}

fn place(text: &str) -> ((u16, u16), Modifiers) {
    let (place, names) = text.split_once(' ').unwrap_or((text, ""));
    let place = numbers(place);
    ((place[0] as u16, place[1] as u16), modifiers(names).0)
}

fn key(name: &str) -> Key {
    match name {
        "Up" => Key::Up,
        "Tab" => Key::Tab,
        "Enter" => Key::Enter,
        "KP0" => Key::Keypad(KeypadKey::Digit(0)),
        "F1" => Key::F(1),
        other => panic!("there is no key {other}"),
    }
}
