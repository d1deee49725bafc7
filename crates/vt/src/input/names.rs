//! The names of keys: one table of canonical names, one of aliases, and the nearest name to a
//! misspelt one.

use std::fmt;

use super::key::{Key, KeyPress, KeypadKey, Modifiers};

/// Where a name stands; an alias that is also an ordinary word counts only where it cannot be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// The whole of what the caller sent.
    Whole,
    /// Between `<` and `>`.
    Bracket,
    /// After a modifier.
    Chord,
}

/// Shift and Tab, under the name that terminfo and ncurses gave it.
const BACK_TAB: &str = "BackTab";

/// Other names of it; the last is tmux's.
const BACK_TAB_ALIASES: [&str; 2] = ["Back_Tab", "BTab"];

/// Longest text for which a nearest name is sought.
const MAX_MISSPELLING: usize = 24;

/// The canonical name of every named key.
const KEYS: &[(&str, Key)] = &[
    ("Enter", Key::Enter),
    ("Tab", Key::Tab),
    ("Backspace", Key::Backspace),
    ("Escape", Key::Escape),
    ("Space", Key::Char(' ')),
    ("Up", Key::Up),
    ("Down", Key::Down),
    ("Left", Key::Left),
    ("Right", Key::Right),
    ("Home", Key::Home),
    ("End", Key::End),
    ("PageUp", Key::PageUp),
    ("PageDown", Key::PageDown),
    ("Insert", Key::Insert),
    ("Delete", Key::Delete),
    ("F1", Key::F(1)),
    ("F2", Key::F(2)),
    ("F3", Key::F(3)),
    ("F4", Key::F(4)),
    ("F5", Key::F(5)),
    ("F6", Key::F(6)),
    ("F7", Key::F(7)),
    ("F8", Key::F(8)),
    ("F9", Key::F(9)),
    ("F10", Key::F(10)),
    ("F11", Key::F(11)),
    ("F12", Key::F(12)),
    ("F13", Key::F(13)),
    ("F14", Key::F(14)),
    ("F15", Key::F(15)),
    ("F16", Key::F(16)),
    ("F17", Key::F(17)),
    ("F18", Key::F(18)),
    ("F19", Key::F(19)),
    ("F20", Key::F(20)),
    ("F21", Key::F(21)),
    ("F22", Key::F(22)),
    ("F23", Key::F(23)),
    ("F24", Key::F(24)),
    ("KP0", Key::Keypad(KeypadKey::Digit(0))),
    ("KP1", Key::Keypad(KeypadKey::Digit(1))),
    ("KP2", Key::Keypad(KeypadKey::Digit(2))),
    ("KP3", Key::Keypad(KeypadKey::Digit(3))),
    ("KP4", Key::Keypad(KeypadKey::Digit(4))),
    ("KP5", Key::Keypad(KeypadKey::Digit(5))),
    ("KP6", Key::Keypad(KeypadKey::Digit(6))),
    ("KP7", Key::Keypad(KeypadKey::Digit(7))),
    ("KP8", Key::Keypad(KeypadKey::Digit(8))),
    ("KP9", Key::Keypad(KeypadKey::Digit(9))),
    ("KPEnter", Key::Keypad(KeypadKey::Enter)),
    ("KPPlus", Key::Keypad(KeypadKey::Plus)),
    ("KPMinus", Key::Keypad(KeypadKey::Minus)),
    ("KPMultiply", Key::Keypad(KeypadKey::Multiply)),
    ("KPDivide", Key::Keypad(KeypadKey::Divide)),
    ("KPDecimal", Key::Keypad(KeypadKey::Decimal)),
    ("KPEqual", Key::Keypad(KeypadKey::Equal)),
    ("KPSeparator", Key::Keypad(KeypadKey::Separator)),
    ("KPUp", Key::Keypad(KeypadKey::Up)),
    ("KPDown", Key::Keypad(KeypadKey::Down)),
    ("KPLeft", Key::Keypad(KeypadKey::Left)),
    ("KPRight", Key::Keypad(KeypadKey::Right)),
    ("KPHome", Key::Keypad(KeypadKey::Home)),
    ("KPEnd", Key::Keypad(KeypadKey::End)),
    ("KPPageUp", Key::Keypad(KeypadKey::PageUp)),
    ("KPPageDown", Key::Keypad(KeypadKey::PageDown)),
    ("KPInsert", Key::Keypad(KeypadKey::Insert)),
    ("KPDelete", Key::Keypad(KeypadKey::Delete)),
    ("KPBegin", Key::Keypad(KeypadKey::Begin)),
    ("Menu", Key::Menu),
    ("CapsLock", Key::CapsLock),
    ("ScrollLock", Key::ScrollLock),
    ("NumLock", Key::NumLock),
    ("PrintScreen", Key::PrintScreen),
    ("Pause", Key::Pause),
];

/// Other names, with the narrowest place where each still counts.
const ALIASES: &[(&str, Key, Scope)] = &[
    ("Esc", Key::Escape, Scope::Whole),
    ("Return", Key::Enter, Scope::Whole),
    ("Del", Key::Delete, Scope::Whole),
    ("Ins", Key::Insert, Scope::Whole),
    ("PgUp", Key::PageUp, Scope::Whole),
    ("PgDn", Key::PageDown, Scope::Whole),
    ("PgDown", Key::PageDown, Scope::Whole),
    ("Page_Up", Key::PageUp, Scope::Whole),
    ("Page_Down", Key::PageDown, Scope::Whole),
    ("NPage", Key::PageDown, Scope::Whole),
    ("PPage", Key::PageUp, Scope::Whole),
    ("BSpace", Key::Backspace, Scope::Whole),
    ("ArrowUp", Key::Up, Scope::Whole),
    ("ArrowDown", Key::Down, Scope::Whole),
    ("ArrowLeft", Key::Left, Scope::Whole),
    ("ArrowRight", Key::Right, Scope::Whole),
    ("Caps_Lock", Key::CapsLock, Scope::Whole),
    ("Scroll_Lock", Key::ScrollLock, Scope::Whole),
    ("Num_Lock", Key::NumLock, Scope::Whole),
    ("Print_Screen", Key::PrintScreen, Scope::Whole),
    ("CR", Key::Enter, Scope::Bracket),
    ("BS", Key::Backspace, Scope::Bracket),
    ("lt", Key::Char('<'), Scope::Bracket),
    ("gt", Key::Char('>'), Scope::Chord),
    ("Plus", Key::Char('+'), Scope::Chord),
    ("Minus", Key::Char('-'), Scope::Chord),
];

/// Names of tmux and Emacs that count in capitals only: `dc` is a program.
const CAPITAL_ALIASES: &[(&str, Key)] =
    &[("DC", Key::Delete), ("IC", Key::Insert), ("RET", Key::Enter), ("SPC", Key::Char(' '))];

/// Other names for the part after the keypad prefix.
const KEYPAD_ALIASES: &[(&str, KeypadKey)] = &[
    ("Add", KeypadKey::Plus),
    ("Subtract", KeypadKey::Minus),
    ("Point", KeypadKey::Decimal),
    ("Dot", KeypadKey::Decimal),
    ("Equals", KeypadKey::Equal),
    ("Comma", KeypadKey::Separator),
    ("+", KeypadKey::Plus),
    ("-", KeypadKey::Minus),
    ("*", KeypadKey::Multiply),
    ("/", KeypadKey::Divide),
    (".", KeypadKey::Decimal),
    ("Page_Up", KeypadKey::PageUp),
    ("Page_Down", KeypadKey::PageDown),
];

/// What a keypad key's name may begin with, longest first; the canonical one is `KP`.
const KEYPAD_PREFIXES: &[&str] = &["keypad_", "numpad_", "keypad", "numpad", "kp_"];

/// The names of all keys, in the order in which documentation should list them.
///
/// A key that makes a character is named by that character and is not listed.
pub fn known_key_names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(name, _)| *name).chain([BACK_TAB])
}

/// The known name nearest to a misspelt one, with its modifiers in canonical form.
///
/// `Ctrl+Entr` gives `Ctrl+Enter`; `None` when nothing is near enough to be worth suggesting.
pub fn nearest_key_name(text: &str) -> Option<String> {
    let (modifiers, name) = split_chord(text, '+', modifier_named)
        .or_else(|| split_chord(text, '-', short_modifier))
        .unwrap_or((Modifiers::empty(), text));
    let typed: Vec<char> =
        name.chars().take(MAX_MISSPELLING + 1).flat_map(char::to_lowercase).collect();
    if typed.len() < 2 || typed.len() > MAX_MISSPELLING {
        return None;
    }
    let allowed = if typed.len() < 4 { 1 } else { 2 };
    let aliases = ALIASES.iter().filter_map(|(alias, key, _)| Some((*alias, name_of(*key)?)));
    let (_, nearest) = known_key_names()
        .map(|canonical| (canonical, canonical))
        .chain(aliases)
        .map(|(candidate, canonical)| (distance(&typed, candidate), canonical))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)?;
    Some(format!("{modifiers}{nearest}"))
}

/// The canonical name of a key, unless it is named by its character.
pub(super) fn name_of(key: Key) -> Option<&'static str> {
    KEYS.iter().find(|(_, known)| *known == key).map(|(name, _)| *name)
}

/// The key with this name, in any case, where the name stands in `scope`.
pub(super) fn key_named(name: &str, scope: Scope) -> Option<KeyPress> {
    let is_name = |known: &&str| name.eq_ignore_ascii_case(known);
    if is_name(&BACK_TAB) || BACK_TAB_ALIASES.iter().any(is_name) {
        return Some(KeyPress::new(Key::Tab, Modifiers::SHIFT));
    }
    canonical(name)
        .or_else(|| {
            let mut aliases = ALIASES.iter();
            let found =
                aliases.find(|(alias, _, s)| *s <= scope && alias.eq_ignore_ascii_case(name));
            found.map(|(_, key, _)| *key)
        })
        .or_else(|| CAPITAL_ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, key)| *key))
        .or_else(|| keypad_named(name, scope))
        .map(KeyPress::from)
}

/// The modifier with this name, in any case.
pub(super) fn modifier_named(name: &str) -> Option<Modifiers> {
    const NAMES: &[(&str, Modifiers)] = &[
        ("ctrl", Modifiers::CTRL),
        ("control", Modifiers::CTRL),
        ("alt", Modifiers::ALT),
        ("option", Modifiers::ALT),
        ("meta", Modifiers::ALT),
        ("shift", Modifiers::SHIFT),
        ("super", Modifiers::SUPER),
        ("cmd", Modifiers::SUPER),
        ("command", Modifiers::SUPER),
        ("win", Modifiers::SUPER),
    ];
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, bit)| *bit)
}

/// The modifier that one letter stands for before a dash, as in Emacs and Vim, in any case.
pub(super) fn short_modifier(letter: &str) -> Option<Modifiers> {
    Some(match letter {
        "C" | "c" => Modifiers::CTRL,
        "M" | "m" | "A" | "a" => Modifiers::ALT,
        "S" | "s" => Modifiers::SHIFT,
        "D" | "d" => Modifiers::SUPER,
        _ => return None,
    })
}

/// Takes the modifiers off the front of a chord; `None` when it does not begin with one.
///
/// A separator right after a separator is the key itself, as in `Ctrl++`.
pub(super) fn split_chord(
    text: &str,
    separator: char,
    modifier: impl Fn(&str) -> Option<Modifiers>,
) -> Option<(Modifiers, &str)> {
    let mut modifiers = Modifiers::empty();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once(separator) {
        let Some(found) = modifier(head) else { break };
        modifiers |= found;
        rest = tail;
    }
    (!modifiers.is_empty()).then_some((modifiers, rest))
}

impl fmt::Display for KeyPress {
    /// Writes the canonical name, as `Ctrl+Shift+F5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.modifiers)?;
        match (name_of(self.key), self.key) {
            (Some(name), _) => f.write_str(name),
            (None, Key::Char(c)) if self.modifiers.is_empty() => write!(f, "{c}"),
            (None, Key::Char(c)) => write!(f, "{}", c.to_ascii_uppercase()),
            (None, Key::F(number)) => write!(f, "F{number}"),
            (None, other) => write!(f, "{other:?}"),
        }
    }
}

fn canonical(name: &str) -> Option<Key> {
    KEYS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, key)| *key)
}

/// A keypad key by another prefix than `KP`; Vim's bare `k` (`<kEnter>`) only where it is no word.
fn keypad_named(name: &str, scope: Scope) -> Option<Key> {
    let vim: &[&str] = if scope == Scope::Whole { &[] } else { &["k"] };
    let rest = KEYPAD_PREFIXES.iter().chain(["kp"].iter()).chain(vim).find_map(|prefix| {
        let head = name.get(..prefix.len())?;
        head.eq_ignore_ascii_case(prefix).then(|| &name[prefix.len()..])
    })?;
    let alias = KEYPAD_ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(rest));
    alias.map(|(_, key)| Key::Keypad(*key)).or_else(|| canonical(&format!("KP{rest}")))
}

/// Edit distance (insert, delete, replace, swap of neighbours) to a name, case aside.
fn distance(typed: &[char], name: &str) -> usize {
    let name: Vec<char> = name.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=name.len()).collect();
    for (i, a) in typed.iter().enumerate() {
        let mut current = vec![i + 1];
        for (j, b) in name.iter().enumerate() {
            let replaced = previous[j] + usize::from(a != b);
            let mut best = replaced.min(previous[j + 1] + 1).min(current[j] + 1);
            if i > 0 && j > 0 && *a == name[j - 1] && typed[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut previous, current);
    }
    previous[name.len()]
}
