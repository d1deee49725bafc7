//! Text that a shell evaluates once more: as arithmetic, as a subscript, as the name of a variable.
//!
//! A variable in it is evaluated in its turn, and with it every substitution that its value holds:
//! after `x='a[$(cmd)]'`, `$((x))` runs `cmd`. What variables hold is not known, so the parser notes
//! every place that is more than plain numbers.

use super::cursor::Parser;

/// Operators of `[[ … ]]` whose operands are arithmetic.
const COMPARISONS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Operators of `[[ … ]]` that take the name of a variable, or, in zsh, arithmetic.
const OF_NAMES: &[&str] = &["-v", "-R", "-t"];

impl Parser {
    /// Notes a text that is evaluated as arithmetic.
    pub(super) fn evaluate(&mut self, start: usize, end: usize) {
        self.evaluates |= !is_plain_arithmetic(self.text(start..end));
    }

    /// Notes the text of a subscript.
    pub(super) fn evaluate_subscript(&mut self, start: usize, end: usize) {
        if !matches!(self.text(start..end), "@" | "*") {
            self.evaluate(start, end);
        }
    }

    /// Notes what follows the name in `${name:offset:length}`, up to the closing brace at `end`.
    pub(super) fn evaluate_substring(&mut self, start: usize, end: usize) {
        let Some(offset) = self.text(start..end).strip_prefix(':') else { return };
        let evaluated = match offset.bytes().next() {
            // `:?`, which is an error message.
            Some(b'?') => false,
            // zsh: modifiers, of which one takes a number.
            Some(byte) if byte.is_ascii_alphabetic() && self.is_zsh() => offset.contains(":F"),
            _ => true,
        };
        if evaluated {
            self.evaluate(start, end);
        }
    }

    /// Notes the words of `[[ … ]]`, as written.
    pub(super) fn evaluate_test(&mut self, words: &[String]) {
        for (index, word) in words.iter().enumerate() {
            let operator = word.replace(['\'', '"', '\\'], "");
            let number = |at: Option<usize>| {
                at.and_then(|at| words.get(at)).is_none_or(|word| is_plain_arithmetic(word))
            };
            if COMPARISONS.contains(&operator.as_str()) {
                self.evaluates |= !number(index.checked_sub(1)) || !number(Some(index + 1));
            } else if OF_NAMES.contains(&operator.as_str()) {
                let name = words.get(index + 1).map_or("", String::as_str);
                let plain = name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                self.evaluates |= !plain || (operator == "-t" && !number(Some(index + 1)));
            }
        }
    }
}

/// Whether a text is arithmetic of plain numbers: no variable, subscript, quote or substitution.
pub(crate) fn is_plain_arithmetic(text: &str) -> bool {
    // The status of a command and the count of the parameters are numbers.
    let text = text.replace("$?", "0").replace("$#", "0");
    let is_operator = |sign: char| " \t\n+-*/%()<>=!&|^~,?:;".contains(sign);
    text.split(is_operator).all(|number| {
        let hexadecimal = number.strip_prefix("0x").filter(|digits| !digits.is_empty());
        match hexadecimal {
            Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
            None => number.bytes().all(|byte| byte.is_ascii_digit()),
        }
    })
}
