//! Pasted text: what a terminal sends when the clipboard is put in.
//!
//! The text is not trusted: control characters are taken out, so that it can neither close its own
//! bracket nor press a key. Tabs stay, and every line end is the CR that Enter would send.

use super::modes::InputModes;

/// The bytes that paste `text`, between brackets when the program has asked for them.
pub fn encode_paste(text: &str, modes: &InputModes) -> Vec<u8> {
    let mut clean = text.to_owned();
    // Whole markers first: without its ESC, what is left of one would be pasted as `[201~`.
    for marker in ["\x1b[200~", "\x1b[201~", "\u{9b}200~", "\u{9b}201~"] {
        if clean.contains(marker) {
            clean = clean.replace(marker, "");
        }
    }
    let clean = clean.replace("\r\n", "\r").replace('\n', "\r");
    let kept = clean.chars().filter(|c| !c.is_control() || matches!(c, '\t' | '\r'));
    if modes.bracketed_paste {
        "\x1b[200~".chars().chain(kept).chain("\x1b[201~".chars()).collect::<String>().into_bytes()
    } else {
        kept.collect::<String>().into_bytes()
    }
}
