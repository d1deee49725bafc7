//! What a command writes, as far as its arguments and input tell.

use std::rc::Rc;

use super::state::{Arg, FETCHED, Feed, State, UNKNOWN};
use super::wrap::base_name;

/// Programs that bring text from elsewhere.
const FETCHERS: &[&str] = &[
    "curl", "wget", "fetch", "aria2c", "lynx", "nc", "ncat", "netcat", "socat", "http", "https",
    "xh", "curlie", "ftp",
];

/// Programs that turn one text into another which nobody has read.
const DECODERS: &[&str] = &["base64", "base32", "basenc", "xxd", "uudecode", "openssl"];

/// Longest text that `printf` is followed to; beyond it the text counts as unreadable.
const MAX_PRINTED: usize = 1 << 20;

/// The output of a command.
pub(super) fn of(args: &[Arg], state: &State) -> Feed {
    let rest = args.get(1..).unwrap_or_default();
    match base_name(args) {
        "echo" => echo(rest),
        "printf" if rest.first().is_some_and(|arg| arg.text == "-v") => Feed::empty(),
        "printf" => printf(rest).map_or(Feed::Unknown, Feed::text),
        "pwd" => match state.cwd.as_ref().and_then(|cwd| cwd.to_str()) {
            Some(cwd) => Feed::text(format!("{cwd}\n")),
            None => Feed::Unknown,
        },
        "cat" if rest.iter().all(|arg| arg.text.starts_with('-')) => state.feed.clone(),
        "cat" if rest.len() == 1 && rest[0].feed.is_some() => {
            rest[0].feed.clone().unwrap_or_default()
        }
        "tee" | "psub" => state.feed.clone(),
        "sort" | "uniq" | "shuf" if matches!(state.feed, Feed::Found(_)) => state.feed.clone(),
        "find" | "gfind" if !rest.iter().any(|arg| acts(&arg.text)) => {
            Feed::Found(Rc::new(args.to_vec()))
        }
        "cd" | "true" | ":" | "export" | "set" | "read" | "unset" => Feed::empty(),
        name if FETCHERS.contains(&name) || DECODERS.contains(&name) => Feed::Fetched,
        // A text known here, made into one that is not.
        "rev" | "tr" if matches!(state.feed, Feed::Text(_)) => Feed::Fetched,
        _ if state.feed == Feed::Fetched => Feed::Fetched,
        _ => Feed::Unknown,
    }
}

/// Whether a word of `find` does something else than print.
fn acts(text: &str) -> bool {
    matches!(text, "-delete" | "-printf" | "-fprint" | "-ls" | "-quit")
        || text.starts_with("-exec")
        || text.starts_with("-ok")
}

fn echo(args: &[Arg]) -> Feed {
    let mut words = args;
    let (mut newline, mut escapes) = (true, false);
    while let [flag, rest @ ..] = words
        && let Some(letters) = flag.text.strip_prefix('-')
        && !letters.is_empty()
        && letters.bytes().all(|byte| b"neE".contains(&byte))
    {
        newline &= !letters.contains('n');
        escapes |= letters.contains('e');
        words = rest;
    }
    let mut text = words.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ");
    if escapes {
        text = unescape(&text);
    }
    if newline {
        text.push('\n');
    }
    Feed::text(text)
}

/// `printf` with `%s` and `%b`; other conversions are unknown.
pub(super) fn printf(args: &[Arg]) -> Option<String> {
    let [format, words @ ..] = args else { return None };
    let format = unescape(&format.text);
    let mut words = words.iter();
    let mut text = String::new();
    loop {
        let before = words.len();
        let mut signs = format.chars();
        while let Some(sign) = signs.next() {
            if sign != '%' {
                text.push(sign);
                continue;
            }
            match signs.next() {
                Some('%') => text.push('%'),
                Some('s') => text.push_str(words.next().map_or("", |arg| &arg.text)),
                Some('b') => text.push_str(&unescape(words.next().map_or("", |arg| &arg.text))),
                Some(_) => {
                    words.next();
                    text.push(UNKNOWN);
                }
                None => text.push('%'),
            }
            if text.len() > MAX_PRINTED {
                return Some(FETCHED.to_string());
            }
        }
        if words.len() == 0 || words.len() == before {
            return Some(text);
        }
    }
}

/// Backslash escapes of `echo -e` and `printf`.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            bytes.extend(sign.encode_utf8(&mut [0; 4]).bytes());
            continue;
        }
        match signs.next() {
            Some('n') => bytes.push(b'\n'),
            Some('t') => bytes.push(b'\t'),
            Some('x') => {
                let byte = number_after(&mut signs, 16, 0, 2);
                bytes.push(byte);
            }
            Some(digit @ '0'..='7') => {
                let first = digit.to_digit(8).unwrap_or_default();
                let byte = number_after(&mut signs, 8, first, if first == 0 { 3 } else { 2 });
                bytes.push(byte);
            }
            Some('\\') | None => bytes.push(b'\\'),
            Some(other) => {
                bytes.push(b'\\');
                bytes.extend(other.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn number_after(
    signs: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    first: u32,
    digits: usize,
) -> u8 {
    let mut value = first;
    for _ in 0..digits {
        let Some(digit) = signs.peek().and_then(|sign| sign.to_digit(radix)) else { break };
        signs.next();
        value = value * radix + digit;
    }
    value as u8
}
