//! Keys, modifiers, and a press of one with the other.

use std::fmt;

use bitflags::bitflags;

bitflags! {
    /// Modifier keys, with the bits that xterm and the kitty protocol use.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct Modifiers: u8 {
        /// Shift.
        const SHIFT = 1;
        /// Alt, Option or Meta.
        const ALT = 2;
        /// Control.
        const CTRL = 4;
        /// Super, Command or Windows.
        const SUPER = 8;
    }
}

impl Modifiers {
    /// The parameter that stands for these modifiers in a control sequence: 1 for none.
    pub fn param(self) -> u8 {
        self.bits() + 1
    }
}

impl fmt::Display for Modifiers {
    /// Writes each modifier with a `+` after it, in the canonical order.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ORDER: [(Modifiers, &str); 4] = [
            (Modifiers::CTRL, "Ctrl+"),
            (Modifiers::ALT, "Alt+"),
            (Modifiers::SHIFT, "Shift+"),
            (Modifiers::SUPER, "Super+"),
        ];
        ORDER
            .iter()
            .filter(|(bit, _)| self.contains(*bit))
            .try_for_each(|(_, name)| f.write_str(name))
    }
}

/// A key of the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// A key that makes this character.
    Char(char),
    /// Enter, also called Return.
    Enter,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Escape.
    Escape,
    /// Cursor up.
    Up,
    /// Cursor down.
    Down,
    /// Cursor left.
    Left,
    /// Cursor right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Insert.
    Insert,
    /// Delete, forwards.
    Delete,
    /// A function key, 1 to 24; others send nothing.
    F(u8),
    /// A key of the numeric keypad.
    Keypad(KeypadKey),
    /// The menu key.
    Menu,
    /// Caps lock.
    CapsLock,
    /// Scroll lock.
    ScrollLock,
    /// Num lock.
    NumLock,
    /// Print screen.
    PrintScreen,
    /// Pause.
    Pause,
}

impl Key {
    /// The number and final character of the control sequence of a functional key, where xterm and
    /// the kitty protocol agree: `CSI number ; modifiers final`.
    pub(super) fn functional(self) -> Option<(u32, char)> {
        Some(match self {
            Self::Up => (1, 'A'),
            Self::Down => (1, 'B'),
            Self::Right => (1, 'C'),
            Self::Left => (1, 'D'),
            Self::End => (1, 'F'),
            Self::Home => (1, 'H'),
            Self::Insert => (2, '~'),
            Self::Delete => (3, '~'),
            Self::PageUp => (5, '~'),
            Self::PageDown => (6, '~'),
            Self::F(1) => (1, 'P'),
            Self::F(2) => (1, 'Q'),
            Self::F(4) => (1, 'S'),
            Self::F(5) => (15, '~'),
            Self::F(number @ 6..=10) => (u32::from(number) + 11, '~'),
            Self::F(number @ 11..=12) => (u32::from(number) + 12, '~'),
            _ => return None,
        })
    }
}

/// A key of the numeric keypad: as with num lock on, or, for the navigation keys, off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeypadKey {
    /// A digit, 0 to 9; others send nothing.
    Digit(u8),
    /// Enter.
    Enter,
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `.`.
    Decimal,
    /// `=`.
    Equal,
    /// `,`.
    Separator,
    /// Cursor up.
    Up,
    /// Cursor down.
    Down,
    /// Cursor left.
    Left,
    /// Cursor right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Insert.
    Insert,
    /// Delete.
    Delete,
    /// The 5 of a keypad with num lock off.
    Begin,
}

impl KeypadKey {
    /// The character this key makes, when it makes one.
    pub fn character(self) -> Option<char> {
        Some(match self {
            Self::Digit(digit) => char::from_digit(u32::from(digit), 10)?,
            Self::Plus => '+',
            Self::Minus => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
            Self::Decimal => '.',
            Self::Equal => '=',
            Self::Separator => ',',
            _ => return None,
        })
    }

    /// The key elsewhere on the keyboard that does the same, when there is one.
    pub fn equivalent(self) -> Option<Key> {
        Some(match self {
            Self::Enter => Key::Enter,
            Self::Up => Key::Up,
            Self::Down => Key::Down,
            Self::Left => Key::Left,
            Self::Right => Key::Right,
            Self::Home => Key::Home,
            Self::End => Key::End,
            Self::PageUp => Key::PageUp,
            Self::PageDown => Key::PageDown,
            Self::Insert => Key::Insert,
            Self::Delete => Key::Delete,
            other => Key::Char(other.character()?),
        })
    }
}

/// A key pressed together with modifiers.
///
/// [`KeyPress::new`] makes the canonical form, which is the one that parsing gives and that
/// survives [`Display`](fmt::Display) and [`FromStr`](std::str::FromStr).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyPress {
    /// The key.
    pub key: Key,
    /// What is held with it.
    pub modifiers: Modifiers,
}

impl KeyPress {
    /// Makes a press in canonical form.
    ///
    /// With modifiers an ASCII letter is its lower-case key (`Ctrl+C` is Ctrl and `c`), and a
    /// control character is the key that makes it (`\r` is Enter, `\x01` is Ctrl and `a`).
    pub fn new(key: Key, modifiers: Modifiers) -> Self {
        let Key::Char(character) = key else {
            return Self { key, modifiers };
        };
        let (key, modifiers) = match character {
            '\r' | '\n' => (Key::Enter, modifiers),
            '\t' => (Key::Tab, modifiers),
            '\x1b' => (Key::Escape, modifiers),
            '\x7f' => (Key::Backspace, modifiers),
            '\0' => (Key::Char(' '), modifiers | Modifiers::CTRL),
            '\x01'..='\x1f' => {
                let made = char::from(character as u8 | 0x40).to_ascii_lowercase();
                (Key::Char(made), modifiers | Modifiers::CTRL)
            }
            _ if modifiers.is_empty() => (key, modifiers),
            _ => (Key::Char(character.to_ascii_lowercase()), modifiers),
        };
        Self { key, modifiers }
    }
}

impl From<Key> for KeyPress {
    fn from(key: Key) -> Self {
        Self::new(key, Modifiers::empty())
    }
}
