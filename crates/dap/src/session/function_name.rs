//! Names of functions as their sources have them.

/// A function's name as its source has it: symbols of Rust may come half decoded
/// (`_$LT$app..User$u20$as$u20$app..Show$GT$::show`).
pub(super) fn plain_function(name: &str) -> String {
    let name = without_hash(name);
    if !name.contains('$') {
        return without_usual_arguments(name);
    }
    let (mut plain, mut rest) = (String::new(), name.strip_prefix('_').unwrap_or(name));
    while let Some((before, behind)) = rest.split_once('$') {
        plain.push_str(before);
        let (code, behind) = behind.split_once('$').unwrap_or((behind, ""));
        plain.push_str(match code {
            "LT" => "<",
            "GT" => ">",
            "RF" => "&",
            "BP" => "*",
            "LP" => "(",
            "RP" => ")",
            "C" => ",",
            "u20" => " ",
            "u7b" => "{",
            "u7d" => "}",
            "u27" => "'",
            "u5b" => "[",
            "u5d" => "]",
            "u3b" => ";",
            "u2b" => "+",
            _ => "?",
        });
        rest = behind;
    }
    plain.push_str(rest);
    plain.replace("..", "::")
}

/// A function of Rust without the hash that its symbol ends with: `app::main::h0123456789abcdef`.
fn without_hash(name: &str) -> &str {
    let is_hash = |end: &str| end.len() == 16 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once("::h") {
        Some((start, end)) if is_hash(end) => start,
        _ => name,
    }
}

/// The default arguments of C++ types.
const USUAL: [&str; 6] = ["allocator", "char_traits", "less", "hash", "equal_to", "default_delete"];

/// A function without the arguments that its generic parameters got (newer symbols of Rust have them), and with the
/// types that a source of C++ has: `std::string`, `std::vector<int>`.
fn without_usual_arguments(name: &str) -> String {
    let mut plain = name.replace("::__cxx11::", "::");
    let mut from = 0;
    while let Some(at) = plain[from..].find("::<").map(|at| from + at) {
        let start = at + "::<".len();
        let rest = &plain[start..];
        if rest.starts_with("impl ") || rest.starts_with("lambda") {
            from = start;
            continue;
        }
        let Some(length) = length_of_arguments(rest) else { break };
        plain.replace_range(at..start + length, "");
        from = at;
    }
    while plain.contains("> >") {
        plain = plain.replace("> >", ">>");
    }
    for usual in USUAL {
        let start = format!(", std::{usual}<");
        while let Some(at) = plain.find(&start) {
            let Some(length) = length_of_arguments(&plain[at + start.len()..]) else { break };
            plain.replace_range(at..at + start.len() + length, "");
        }
    }
    plain.replace("std::basic_string<char>", "std::string")
}

/// How far it is to the end of a list of arguments, behind its last bracket.
fn length_of_arguments(text: &str) -> Option<usize> {
    let mut depth = 1;
    let mut before = ' ';
    let end = text.char_indices().find(|&(_, c)| {
        depth += match c {
            '<' => 1,
            '>' if before != '-' => -1,
            _ => 0,
        };
        before = c;
        depth == 0
    });
    end.map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::plain_function;

    #[test]
    fn functions_have_the_names_of_their_source() {
        for (symbol, name) in [
            ("app::main::h0123456789abcdef", "app::main"),
            ("_$LT$app..User$u20$as$u20$app..Show$GT$::show", "<app::User as app::Show>::show"),
            ("app::run::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef", "app::run::_{{closure}}"),
            ("app::run::<fn() -> i32, Vec<u8>>::{closure#0}", "app::run::{closure#0}"),
            ("<app::List<u8> as app::Show>::show", "<app::List<u8> as app::Show>::show"),
            ("alloc::slice::<impl [T]>::sort::<u8>", "alloc::slice::<impl [T]>::sort"),
            ("main()::<lambda(int)>::operator()", "main()::<lambda(int)>::operator()"),
            ("main", "main"),
            (
                "Box<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >::get(std::map<int, std::vector<int, std::allocator<int>>, std::less<int>, std::allocator<std::pair<int const, std::vector<int, std::allocator<int>>>>> const&)",
                "Box<std::string>::get(std::map<int, std::vector<int>> const&)",
            ),
        ] {
            assert_eq!(plain_function(symbol), name);
        }
    }
}
