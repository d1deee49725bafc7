//! Builtins that evaluate an argument once more: as arithmetic, as the name of a variable, as code;
//! and those that change what a name runs.
//!
//! Only an allow list asks: see `parse::evaluated` for why.

use crate::dialect::Grammar;
use crate::parse::is_plain_arithmetic;

use super::state::{Arg, FETCHED, UNKNOWN};
use super::wrap::base_name;

/// Operators of `test` whose operands are numbers, which zsh and ksh evaluate.
const COMPARISONS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Conversions of `printf` that take a number, which zsh and ksh evaluate.
const NUMBERS: &str = "diouxXeEfFgGaAcn*";

/// Whether a command evaluates an argument that is more than a plain name or number.
pub(super) fn evaluates(args: &[Arg], grammar: Grammar) -> bool {
    let rest = args.get(1..).unwrap_or_default();
    // bash and fish take numbers only where others take arithmetic.
    let arithmetic = !matches!(grammar, Grammar::Bash | Grammar::Fish);
    match base_name(args) {
        "let" => !rest.iter().all(is_number),
        "export" => rest.iter().any(|arg| in_doubt(name_of(arg))),
        "declare" | "typeset" | "local" | "readonly" => declares(rest),
        "integer" | "float" => true,
        "read" | "mapfile" | "readarray" | "getopts" | "vared" | "unset" | "wait" => {
            rest.iter().any(|arg| arg.glob || in_doubt(&arg.text))
        }
        "printf" => prints(rest, arithmetic),
        "print" => rest.iter().any(|arg| is_short(&arg.text, "fvz")),
        "test" | "[" if grammar != Grammar::Fish => tests(rest, arithmetic),
        "shift" | "exit" | "return" | "break" | "continue" | "logout" | "bye" => {
            arithmetic && !rest.iter().all(is_number)
        }
        "set" if grammar == Grammar::Fish => {
            rest.iter().find(|arg| !arg.text.starts_with('-')).is_some_and(|name| {
                // A slice of fish is no arithmetic.
                name.splits || name.text.contains([UNKNOWN, FETCHED])
            })
        }
        "set" => rest.iter().take_while(|arg| arg.text != "--").any(|arg| {
            // `-k` makes every `name=value` a variable, `-A` names an array.
            in_doubt(&arg.text) || is_short(&arg.text, "kA")
        }),
        "string" if grammar == Grammar::Fish => captures(rest),
        _ => false,
    }
}

/// Whether a command changes what the name of another one runs.
pub(super) fn redefines(args: &[Arg]) -> bool {
    let rest = args.get(1..).unwrap_or_default();
    let unknown = |arg: &Arg| arg.text.contains([UNKNOWN, FETCHED]);
    match base_name(args) {
        "alias" => rest.len() > 1 || rest.iter().any(|arg| unknown(arg) || arg.text.contains('=')),
        "hash" => rest
            .iter()
            .any(|arg| unknown(arg) || arg.text.contains('=') || is_short(&arg.text, "pd")),
        "enable" => rest.iter().any(|arg| unknown(arg) || is_short(&arg.text, "f")),
        "mapfile" | "readarray" => rest.iter().any(|arg| is_short(&arg.text, "C")),
        "functions" => rest.iter().any(|arg| unknown(arg) || arg.text.starts_with(['-', '+'])),
        "emulate" | "zmodload" | "autoload" | "sched" | "bindkey" | "zle" | "bind" | "complete"
        | "compgen" | "compctl" | "compdef" | "abbr" | "fish_add_path" | "funcsave" | "fc" => {
            !rest.is_empty()
        }
        _ => false,
    }
}

fn is_number(arg: &Arg) -> bool {
    !arg.glob && is_plain_arithmetic(&arg.text)
}

/// Whether a text may be more than the name of a variable: one with a subscript.
fn in_doubt(name: &str) -> bool {
    name.contains(['[', UNKNOWN, FETCHED])
}

fn name_of(arg: &Arg) -> &str {
    arg.text.split('=').next().unwrap_or_default()
}

/// Whether a text is a cluster of short options with one of some letters.
fn is_short(text: &str, letters: &str) -> bool {
    text.strip_prefix(['-', '+']).is_some_and(|cluster| {
        !cluster.starts_with('-') && cluster.contains(|letter| letters.contains(letter))
    })
}

fn declares(rest: &[Arg]) -> bool {
    rest.iter().any(|arg| {
        // Integers, references and ties; the value of an array is code with subscripts.
        let value = arg.text.split_once('=').map_or("", |(_, value)| value);
        in_doubt(name_of(arg))
            || is_short(&arg.text, "inTEF")
            || value.starts_with(['(', UNKNOWN, FETCHED])
    })
}

/// `printf -v name format words`.
fn prints(rest: &[Arg], arithmetic: bool) -> bool {
    let mut words = rest;
    if let [flag, after @ ..] = words
        && let Some(attached) = flag.text.strip_prefix("-v")
    {
        let name =
            if attached.is_empty() { after.first().map(|arg| &*arg.text) } else { Some(attached) };
        if name.is_none_or(in_doubt) {
            return true;
        }
        words = after.get(usize::from(attached.is_empty())..).unwrap_or_default();
    }
    let ended = words.first().is_some_and(|arg| arg.text == "--");
    let Some((format, values)) = words.get(usize::from(ended)..).and_then(<[Arg]>::split_first)
    else {
        return false;
    };
    // Not known, it may be the option.
    let unknown = format.text.contains([UNKNOWN, FETCHED]);
    if unknown
        && (format.splits || arithmetic || (!ended && format.text.starts_with([UNKNOWN, '-'])))
    {
        return true;
    }
    let conversions = if arithmetic { NUMBERS } else { "n" };
    let converts = format.text.split('%').skip(1).any(|directive| {
        let letter =
            directive.trim_start_matches(|sign: char| "-+ #0123456789.'lhjztL".contains(sign));
        letter.starts_with(|letter| conversions.contains(letter))
    });
    converts && !values.iter().all(is_number)
}

fn tests(rest: &[Arg], arithmetic: bool) -> bool {
    // Words that come of one may be operators.
    rest.iter().any(|arg| arg.splits)
        || rest.windows(2).any(|pair| {
            let operator = &pair[0].text;
            let of_name =
                operator.contains([UNKNOWN, FETCHED]) || matches!(&**operator, "-v" | "-R");
            (of_name && in_doubt(&pair[1].text))
                || (arithmetic && operator == "-t" && !is_number(&pair[1]))
        })
        || rest.windows(3).any(|three| {
            let compares = COMPARISONS.contains(&three[1].text.as_str());
            arithmetic && compares && !(is_number(&three[0]) && is_number(&three[2]))
        })
}

/// `string match -r '(?<name>…)'` of fish sets the variable.
fn captures(rest: &[Arg]) -> bool {
    let regex = rest.iter().any(|arg| arg.text == "--regex" || is_short(&arg.text, "r"));
    let names = |arg: &Arg| {
        arg.text.contains([UNKNOWN, FETCHED])
            || arg.text.contains("(?P<")
            || arg
                .text
                .match_indices("(?<")
                .any(|(at, _)| !arg.text[at + 3..].starts_with(['=', '!']))
    };
    regex && rest.iter().any(names)
}
