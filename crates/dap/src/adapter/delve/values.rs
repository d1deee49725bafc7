//! Values of Go in one line, without the types that their variables have: `{Name: "a", Tags: ["x"]}`, `&{X: 1}`, `nil`.
//!
//! delve writes each type beside its value, leaves out what is two levels deep, and writes an address there. What an
//! interface holds is written so that its type is plain: as a constant of that type (`1`, `1.0`, `"x"`), or with its
//! type (`int64(1)`, `main.Point{X: 1}`).

use super::super::looks::{Bits, Container, Look, Part};
use crate::protocol::Variable;

/// What delve calls the value inside an interface.
const HELD: &str = ".(data)";
/// What the name of a value begins with that is written in the place of the pointer or interface around it, once for
/// each of them.
const INNER: char = '&';
/// The bits of the `wall` of a `time.Time` that count nanoseconds.
const NANOSECONDS: u64 = (1 << 30) - 1;
/// Seconds from the year 1 to 1885.
const TO_1885: i64 = 59_453_308_800;
/// Stands for a large value of a map, which Go keeps elsewhere and delve takes for a pointer.
const LARGE: &str = "large";
/// Containers of anything, as data without a schema has them.
const PLAIN: [&str; 2] = ["[]interface {}", "map[string]interface {}"];

/// How a value is shown.
pub(super) fn look(variable: &Variable) -> Look {
    let kind = kind(variable);
    let value = &*variable.value;
    let bare = bare(value, kind);
    if value.starts_with("(unreadable") {
        return Look::Text(value.to_owned());
    }
    let is_pointer = kind.starts_with('*');
    if is_pointer && variable.variables_reference != 0 {
        return Look::Parts(Container::Entry);
    }
    if is_pointer || bare == "nil" || bare.ends_with(", nil") {
        return Look::Text(format!("{}{}", pointers(variable), nil(variable, kind)));
    }
    if let Some(time) = time_text(bare).filter(|_| kind == "time.Time") {
        return Look::Text(format!("{}{time}", pointers(variable)));
    }
    if let Some(queue) = queue(bare).filter(|_| variable.variables_reference != 0) {
        let kind = if is_held(variable) { &type_name(kind) } else { "chan" };
        return Look::Text(format!("{}{kind}{queue}", pointers(variable)));
    }
    if let Some((held, _)) = held(bare).filter(|_| value.starts_with(kind)) {
        return match is_scalar(held) {
            true => scalar(variable),
            false => Look::Parts(Container::Entry),
        };
    }
    if is_scalar(kind) || variable.variables_reference == 0 && !bare.ends_with(['}', ']']) {
        return scalar(variable);
    }
    let title = title(variable, kind);
    let indexed = variable.indexed_variables.unwrap_or(0) as usize;
    // Types with a name have a list or a map inside, too. The length of a map is a part of it; of those that are
    // empty, a map is taken for what an array of nothing may be, too.
    let is_list = kind.starts_with('[') || bare.starts_with("len: ");
    // Arrays of bytes have a text beside their elements, as maps have a length.
    let is_numbers = !bare.contains(": ")
        && bare.trim_start_matches('[').starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let is_map = kind.starts_with("map[")
        || variable.named_variables.is_some_and(|named| named > 0) && !is_numbers
        || bare == "[]";
    if is_map && !is_list && bare.starts_with('[') {
        return inside(Container::Entries { title, length: indexed }, indexed == 0);
    }
    if is_list || bare.starts_with('[') {
        let length = length(bare, kind).unwrap_or(indexed);
        return inside(Container::List { title, length }, length == 0);
    }
    inside(Container::Fields { title }, bare.ends_with(" {}") || bare == "{}")
}

/// What is inside a container, in the order in which it is written.
pub(super) fn parts(
    container: Container,
    whole: &Variable,
    children: Vec<Variable>,
) -> (Container, Vec<(Part, Variable)>) {
    let preview = &*whole.value;
    let mut parts = Vec::new();
    let mut key = None;
    for mut child in children {
        let is_inside =
            kind(&child).strip_prefix('*').is_some_and(|kind| has_values(preview, kind));
        let part = match &container {
            Container::List { .. } => {
                let index = child.name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
                index.and_then(|index| index.parse().ok()).map(Part::Indexed)
            }
            Container::Entries { .. } if child.name == "len()" => None,
            // Where key and value have something inside, each comes by itself.
            Container::Entries { .. } if child.name.starts_with("[key ") => {
                key = Some(key_text(&child.value, self::kind(&child)));
                None
            }
            Container::Entries { .. } => Some(Part::Named(match key.take() {
                Some(key) => key,
                None => {
                    let (key, is_plain) = key_of(&child);
                    if !is_plain {
                        // What is inside is the key's.
                        child.variables_reference = 0;
                        (child.named_variables, child.indexed_variables) = (None, None);
                    }
                    key
                }
            })),
            Container::Entry => {
                if preview != LARGE {
                    let around = INNER.to_string().repeat(depth(whole) + 1);
                    child.name.insert_str(0, &around);
                }
                Some(Part::Named(String::new()))
            }
            Container::Fields { .. } => Some(Part::Named(child.name.clone())),
        };
        if is_inside && matches!(container, Container::Entries { .. }) {
            LARGE.clone_into(&mut child.value);
        }
        parts.extend(part.map(|part| (part, child)));
    }
    if matches!(container, Container::Entries { .. }) {
        // Their order in the program is none.
        parts.sort_by(|(one, _), (other, _)| match (one, other) {
            (Part::Named(one), Part::Named(other)) => match (one.parse(), other.parse::<f64>()) {
                (Ok(one), Ok(other)) => f64::total_cmp(&one, &other),
                _ => one.cmp(other),
            },
            _ => std::cmp::Ordering::Equal,
        });
    }
    (container, parts)
}

/// Whether a map, as delve writes it, has values of a type.
fn has_values(map: &str, kind: &str) -> bool {
    let inside = map.strip_prefix("map[").unwrap_or_default();
    let mut depth = 1;
    let end = inside.find(|c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth == 0
    });
    let values = end.and_then(|end| inside[end + 1..].strip_prefix(kind));
    values.is_some_and(|behind| behind.starts_with(" ["))
}

/// The type of a value; for a map's entry delve writes that of the key before it.
fn kind(variable: &Variable) -> &str {
    let kind = variable.kind.as_deref().unwrap_or_default();
    kind.split_once(": ").map_or(kind, |(_, kind)| kind)
}

/// The key of a map's entry, without its type, and whether it has nothing inside.
fn key_of(entry: &Variable) -> (String, bool) {
    let kind = entry.kind.as_deref().unwrap_or_default();
    let kind = kind.split_once(": ").map_or("", |(kind, _)| kind);
    // delve writes the type only of what has something inside.
    let key = bare(&entry.name, kind);
    let is_plain = key.len() == entry.name.len() && !is_address(key) || key == "nil";
    (key_text(&entry.name, kind), is_plain)
}

/// A key as delve writes it, as all values are written.
fn key_text(text: &str, kind: &str) -> String {
    let key = bare(text, kind);
    if is_address(key) {
        return format!("{}{{…}}", if key.starts_with('*') { "&" } else { "" });
    }
    let behind = key.trim_start_matches('*');
    if kind.starts_with('*') && key.len() == text.len() && behind.len() < key.len() {
        let pointers = key.len() - behind.len();
        return format!(
            "{}{}",
            "&".repeat(pointers),
            key_text(behind, kind.trim_start_matches('*'))
        );
    }
    if key.len() == text.len() {
        let is_complex = kind.starts_with("complex");
        return number(&if is_complex { doubtful(key) } else { key.to_owned() }, kind);
    }
    match held(key) {
        Some((held, value)) => held_text(&spaced(value), held),
        None if kind.starts_with('*') && key != "nil" => format!("&{}", spaced(key)),
        None => spaced(key),
    }
}

/// Whether nothing but its address was read of a value: `*(*main.Point)(0xc00001e0f0)`.
fn is_address(value: &str) -> bool {
    let inside = parenthesised(value.trim_start_matches('*'));
    inside.is_some_and(|(kind, at)| kind.starts_with('*') && at.starts_with("(0x"))
}

/// A list as delve writes it inside of a key, with a space behind each comma.
fn spaced(text: &str) -> String {
    let (mut written, mut quoted, mut before) = (String::new(), false, ' ');
    for (at, c) in text.char_indices() {
        quoted ^= c == '"' && before != '\\';
        before = if before == '\\' { ' ' } else { c };
        written.push(c);
        if c == ',' && !quoted && !text[at + 1..].starts_with(' ') {
            written.push(' ');
        }
    }
    written
}

/// A value without its type.
fn bare<'a>(value: &'a str, kind: &str) -> &'a str {
    let behind = value.strip_prefix(kind).filter(|_| !kind.is_empty());
    behind.filter(|behind| behind.starts_with([' ', '('])).map_or(value, str::trim_start)
}

/// The type and the value that an interface holds: `(int) 1`.
fn held(bare: &str) -> Option<(&str, &str)> {
    let (kind, behind) = parenthesised(bare)?;
    Some((kind, behind.strip_prefix(' ')?))
}

/// What is in the parentheses at the beginning of a text, and what is behind them.
fn parenthesised(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('(')?;
    let mut depth = 1;
    let end = inside.find(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    })?;
    Some((&inside[..end], &inside[end + 1..]))
}

/// Whether a variable is what an interface holds, or what a pointer there refers to.
fn is_held(variable: &Variable) -> bool {
    let name = variable.evaluate_name.as_deref().unwrap_or_default();
    let is_pointed = variable.name.starts_with(INNER);
    name.ends_with(HELD)
        || is_pointed && name.trim_end_matches(')').ends_with(HELD.trim_end_matches(')'))
}

/// In how many pointers and interfaces a value is that is written in the place of them.
fn depth(variable: &Variable) -> usize {
    variable.name.len() - variable.name.trim_start_matches(INNER).len()
}

/// A `&` for each pointer in the place of which a value is written.
fn pointers(variable: &Variable) -> String {
    let mut name = variable.evaluate_name.as_deref().unwrap_or_default();
    let mut pointers = String::new();
    for _ in 0..depth(variable) {
        if let Some(interface) = name.strip_suffix(HELD) {
            name = interface;
        } else if let Some((inside, "")) = parenthesised(name)
            && let Some(pointer) = inside.strip_prefix('*')
        {
            name = pointer;
            pointers.push('&');
        }
    }
    pointers
}

/// A `nil`, in an interface with its type: such an interface is itself not `nil`.
fn nil(variable: &Variable, kind: &str) -> String {
    match is_held(variable) {
        true if kind.starts_with(['*', '<']) || kind.starts_with("func") => {
            format!("({})(nil)", type_name(kind))
        }
        true => format!("{}(nil)", type_name(kind)),
        false => "nil".to_owned(),
    }
}

/// What stands before a value with something inside.
fn title(variable: &Variable, kind: &str) -> String {
    let pointers = pointers(variable);
    match is_held(variable) && !PLAIN.contains(&kind) {
        true => format!("{pointers}{}", type_name(kind)),
        false => pointers,
    }
}

/// A type as Go prints it, with the packages' names in place of their paths: `ast.Node` for `github.com/yuin/goldmark/ast.Node`.
fn type_name(kind: &str) -> String {
    let is_of_path = |c: char| c.is_alphanumeric() || "/._%~-".contains(c);
    let mut name = String::new();
    for part in kind.split_inclusive(|c| !is_of_path(c)) {
        name.push_str(part.rsplit_once('/').map_or(part, |(_, behind)| behind));
    }
    // The linker's way to write it.
    name.replace("%2e", ".")
}

fn inside(container: Container, is_empty: bool) -> Look {
    match is_empty {
        true => Look::Text(container.with("")),
        false => Look::Parts(container),
    }
}

/// How many elements a slice or an array has, as far as its text or its type tells.
fn length(bare: &str, kind: &str) -> Option<usize> {
    let told = bare.strip_prefix("len: ").and_then(|rest| rest.split(',').next());
    let fixed = kind.strip_prefix('[').and_then(|rest| rest.split(']').next());
    told.or(fixed).and_then(|length| length.parse().ok())
}

/// What a channel holds, which delve writes as `1/3`.
fn queue(bare: &str) -> Option<String> {
    let (length, capacity) = bare.split_once('/')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(length) && is_number(capacity)).then(|| format!("(len {length}, cap {capacity})"))
}

/// A `time.Time` by its fields: `{wall: 4, ext: 63844765323, …}`. delve's own text is without fractions, and not always
/// there.
fn time_text(text: &str) -> Option<String> {
    let field = |name: &str| {
        let (_, rest) = text.split_once(name)?;
        rest[..rest.find([',', '}'])?].parse::<i128>().ok()
    };
    let (wall, ext) = (field("{wall: ")? as u64, field(" ext: ")? as i64);
    // The first bit tells which of both has the seconds, since 1885 or since the year 1.
    let seconds = if wall >> 63 == 1 { TO_1885 + (wall << 1 >> 31) as i64 } else { ext };
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let nanoseconds = format!(".{:09}", wall & NANOSECONDS);
    let part = nanoseconds.trim_end_matches('0').trim_end_matches('.');
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{part}Z"))
}

/// The date of so many days after the first of the year 1.
fn date(days: i64) -> (i64, i64, i64) {
    // Years begin in March, so that the day that some years have more is their last.
    let days = days + 306;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

/// Types that have nothing inside.
fn is_scalar(kind: &str) -> bool {
    let plain = ["bool", "string", "int", "uint", "float", "complex", "uintptr", "unsafe.Pointer"];
    let name = kind.trim_end_matches(|c: char| c.is_ascii_digit());
    plain.contains(&kind) || plain[2..6].contains(&name)
}

/// A value that has nothing inside, or an interface that holds one: its type, its text, and whether it is held.
fn plain(variable: &Variable) -> (&str, &str, bool) {
    let (kind, value) = (kind(variable), &*variable.value);
    match held(bare(value, kind)).filter(|_| !is_scalar(kind) && value.starts_with(kind)) {
        Some((kind, value)) => (kind, value, true),
        None => (kind, value, is_held(variable)),
    }
}

fn scalar(variable: &Variable) -> Look {
    let (kind, value, is_held) = plain(variable);
    // The sign of a zero is lost, a long text is cut, and what of a complex number is not finite is written as 0.
    if let (Some(bits), Some(name)) = (bits(kind), &variable.evaluate_name)
        && (value == "0" || value.ends_with("...") || kind.starts_with("complex"))
    {
        let held = if is_held && !name.ends_with(HELD) { HELD } else { "" };
        return Look::Bits(format!("*(*{bits})(uintptr(&({name}{held})))"));
    }
    Look::Text(written(variable, value))
}

/// The text of a float or a complex number by its bits.
pub(super) fn by_bits(variable: &Variable, bits: Bits) -> String {
    let (kind, value, _) = plain(variable);
    let text = match (&bits, kind) {
        (Bits::Known(bits), "complex64" | "complex128") => match bits[..] {
            [real, imaginary] => complex(real, imaginary, kind),
            _ => value.to_owned(),
        },
        (Bits::Known(bits), _) if !bits.is_empty() => float(bits[0], kind),
        (Bits::Unknown, _) => value.to_owned(),
        // delve computes no negative zero, but cannot name each part of a value.
        (Bits::Computed, _) if variable.name.is_empty() => value.to_owned(),
        (_, "complex64" | "complex128") => doubtful(value),
        _ if value == "0" => "±0".to_owned(),
        _ => value.to_owned(),
    };
    written(variable, &text)
}

/// A float by its bits, with all its digits.
fn float(bits: u64, kind: &str) -> String {
    let (number, text) = match kind {
        "float32" | "complex64" => {
            let number = f32::from_bits(bits as u32);
            (f64::from(number), number.to_string())
        }
        _ => (f64::from_bits(bits), f64::from_bits(bits).to_string()),
    };
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() => if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned(),
        _ => text,
    }
}

/// A complex number as Go writes it: `(1-0i)`.
fn complex(real: u64, imaginary: u64, kind: &str) -> String {
    let part = |bits| {
        let float_kind = if kind == "complex64" { "float32" } else { "float64" };
        number(&float(bits, float_kind), float_kind)
    };
    let (real, imaginary) = (part(real), part(imaginary));
    let sign = if imaginary.starts_with(['+', '-']) { "" } else { "+" };
    format!("({real}{sign}{imaginary}i)")
}

/// A complex number as delve writes it, whose zeros may be anything that is not finite, too.
fn doubtful(value: &str) -> String {
    value.replace("(0 ", "(? ").replace(" 0i)", " ?i)")
}

/// A plain value with what stands before it.
fn written(variable: &Variable, value: &str) -> String {
    let (kind, _, is_held) = plain(variable);
    let text = if is_held { held_text(value, kind) } else { number(value, kind) };
    format!("{}{text}", pointers(variable))
}

/// The integers that are as large as a number.
fn bits(kind: &str) -> Option<&'static str> {
    match kind {
        "float64" => Some("uint64"),
        "float32" => Some("uint32"),
        "complex128" => Some("[2]uint64"),
        "complex64" => Some("[2]uint32"),
        _ => None,
    }
}

/// A value that an interface holds, so that its type is plain.
fn held_text(value: &str, kind: &str) -> String {
    let text = number(value, kind);
    let name = type_name(kind);
    match kind {
        "int" | "string" | "bool" => text,
        "float64" if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => {
            format!("{text}.0")
        }
        "float64" => text,
        _ if text.starts_with(['{', '[']) => format!("{name}{text}"),
        _ if kind.starts_with("complex") => format!("{name}{text}"),
        _ => format!("{name}({text})"),
    }
}

/// A number as Go writes it; delve writes all digits of a float, and unsigned numbers twice.
fn number(value: &str, kind: &str) -> String {
    // A constant's name may stand before it: `High (2) = 0x0`.
    if let Some((number, hex)) = value.rsplit_once(" = 0x")
        && !number.starts_with('"')
        && number.trim_end_matches(')').ends_with(|last: char| last.is_ascii_digit())
        && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return number.to_owned();
    }
    if kind.starts_with("complex") {
        return value.replace(" + -", "-").replace(" + ", "+");
    }
    let is_digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    if !kind.starts_with("float") && (value.len() < 21 || !value.chars().all(is_digits)) {
        return value.to_owned();
    }
    let written = match kind {
        "float32" => value.parse::<f32>().map(|number| format!("{number:e}")),
        _ => value.parse::<f64>().map(|number| format!("{number:e}")),
    };
    let Some((digits, exponent)) = written.as_deref().ok().and_then(|text| text.split_once('e'))
    else {
        return value.to_owned();
    };
    match exponent.parse::<i32>() {
        Ok(power) if !(-4..21).contains(&power) => {
            let sign = if power < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", power.abs())
        }
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests;
