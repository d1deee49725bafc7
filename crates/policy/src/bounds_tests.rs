//! Hostile lines: bounded work (what blows up runs into the test's time limit), bounded stack, no panic.

use std::path::Path;

use proptest::prelude::*;

use crate::{Decision, Dialect, MAX_COMMAND, Policy, PolicyConfig};

/// Long enough for what is not linear to show, short enough for an unoptimised build.
const LONG: usize = MAX_COMMAND / 4;

fn check(command: &str) -> Decision {
    let config = PolicyConfig {
        deny: vec!["git push --force".into(), "rm -rf /srv/*".into()],
        ..PolicyConfig::default()
    };
    let policy = Policy::new(&config, Path::new("/home/ann")).unwrap();
    policy.check_command(command, Dialect::Bash, Path::new("/work"), Path::new("/home/ann"))
}

fn rule(decision: &Decision) -> &str {
    match decision {
        Decision::Allow { .. } => "",
        Decision::Deny { rule, .. } => rule,
    }
}

#[test]
fn nesting_is_refused_with_its_reason() {
    for (open, close) in [
        ("( ", ")"),
        ("$(", ")"),
        ("{ ", ";}"),
        ("\"$(", ")\""),
        ("if a; then ", ";fi"),
        ("${a:-", "}"),
        ("sudo ", ""),
        ("eval ", ""),
        ("f() { ", ";}"),
        ("[[ $(", ") ]]"),
        ("$((", "))"),
        ("<(", ")"),
        ("for x in $(", "); do a; done"),
    ] {
        for levels in [100, 15_000] {
            let command = format!("{}a{}", open.repeat(levels), close.repeat(levels));
            let decision = check(&command);
            assert!(matches!(rule(&decision), "nesting" | "size"), "{open}: {decision:?}");
        }
        let command = format!("{}ls{}", open.repeat(3), close.repeat(3));
        assert!(check(&command).is_allowed(), "{command}: {:?}", check(&command));
    }
}

#[test]
fn unclosed_nesting_ends_too() {
    for open in ["(", "$(", "((", "$((", "`", "{", "${", "\"", "'", "<<a ", "a() ", "[[ ", "case "]
    {
        check(&open.repeat(200_000 / open.len()));
        check(&format!("{}\n", open.repeat(30)));
    }
}

#[test]
fn growth_is_bounded() {
    let doubling = format!("x=aaaaaaaaaaaaaaaa; {} $x", "x=$x$x; ".repeat(60));
    let braces = "echo ".to_owned() + &"{a,b}".repeat(200);
    let calls: Vec<String> =
        (1..40).map(|n| format!("f{n}() {{ f{0}; f{0}; }}; ", n - 1)).collect();
    let loops = "for a in 1 2 3 4 5 6 7 8; do ".repeat(9) + "echo $a" + &"; done".repeat(9);
    let printed = format!("printf '{}%s' {}", "a".repeat(400_000), "b ".repeat(200_000));
    let replaced = format!("echo {} | xargs -Ib echo {}", "a".repeat(400_000), "b".repeat(400_000));
    for command in [doubling, braces, calls.concat() + "f39", loops, printed, replaced] {
        check(&command);
    }
}

#[test]
fn long_lines_are_judged_to_their_end() {
    let filler = "echo hello world; ".repeat(5_000);
    assert!(check(&filler).is_allowed());
    assert_eq!(rule(&check(&(filler + "rm -rf /"))), "remove-system");
    let padded = format!("bash <<'E'\n{}\nrm -rf /\nE", "# padding\n".repeat(45_000));
    assert_eq!(rule(&check(&padded)), "remove-system");
    assert_eq!(rule(&check(&"echo a;".repeat(70_000))), "size");
    assert_eq!(rule(&check(&"a".repeat(MAX_COMMAND + 1))), "length");
    assert!(check(&"a".repeat(MAX_COMMAND)).is_allowed());
    for unit in ["a ", "$a ", "'a' ", "a=b ", ">a ", "{a,b} ", "$(a) ", "*", "{", "-a ", "\\", "~"]
    {
        check(&unit.repeat(LONG / unit.len()));
        check(&format!("rm -rf {}", unit.repeat(LONG / unit.len())));
    }
}

#[test]
fn memory_is_bounded_with_the_parts_of_a_line() {
    use crate::dialect::Grammar::{Bash, Dash, Fish, Zsh};
    use crate::parse::{self, MAX_PARTS, ParseError};
    assert!(size_of::<parse::Piece>() <= 64, "a line may have many");
    let everywhere = ["a ", "a;", "$a", "'a'", ">a ", "\"$a\"", "\\ba"];
    let more = [
        "a= ", "<<a ", "`a`", "a=(b) ", "${a}", "${a:-b}", "$((1))", "[[ a ]];", "{ a; };", "<(a) ",
    ];
    let all = [Bash, Zsh, Dash, Fish].map(|grammar| (grammar, &everywhere[..]));
    for (grammar, units) in all.into_iter().chain([(Bash, &more[..]), (Zsh, &more[..])]) {
        for unit in units {
            let line = unit.repeat(MAX_COMMAND / unit.len());
            let error = parse::parse(&line, 0, grammar).error;
            assert_eq!(error, Some(ParseError::TooMuch), "{unit} in {grammar:?}");
        }
    }
    let words = format!("echo {}", "a ".repeat(MAX_PARTS / 4));
    assert!(check(&words).is_allowed());
    assert_eq!(rule(&check(&format!("echo {}", "a ".repeat(MAX_PARTS)))), "size");
    let wrapped = format!("{}ls {}", "nice ".repeat(30), "a ".repeat(MAX_PARTS / 4));
    assert_eq!(rule(&check(&wrapped)), "size", "each of them would keep a copy");
}

/// Pieces of shell text, mixed.
fn line() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "rm", "-rf", "/", "~", "$HOME", "sudo", "bash", "-c", "eval", "find", "-exec", "{}", "\\;",
            "xargs", "cd", "echo", "x=", "$x", "${x:-", "}", "$(", ")", "`", "\"", "'", "$'", "((", "))",
            "if", "then", "fi", "for", "in", "do", "done", "case", "esac", ";;", "{", "(", "<<E", "\nE\n",
            "<<<", ">", "|", "&&", "||", "&", ";", "\n", "\\", "#", "f()", "[[", "]]", "=", "*", "a",
            "env", "-S", "git", "ssh", "h", "{a,b}", "@(", "printf", "%s", "read", "set", "--", "kill",
            "-1", "dd", "of=/dev/sda", "timeout", "5", "\u{f8ff}", "é", "\0",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        3 => Just(" ".to_owned()),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_line_panics(line in line()) {
        check(&line);
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn what_follows_on_a_line_of_its_own_is_seen(words in "[a-z ]{0,20}") {
        let decision = check(&format!("echo {words}\nrm -rf /"));
        prop_assert_eq!(rule(&decision), "remove-system");
    }

    #[test]
    fn a_value_allows_nothing(line in line()) {
        let allow = vec!["echo".to_owned(), "cd".to_owned(), "set".to_owned()];
        let config = PolicyConfig { allow, ..PolicyConfig::default() };
        let home = Path::new("/home/ann");
        let policy = Policy::new(&config, home).unwrap();
        for dialect in [Dialect::Bash, Dialect::Zsh, Dialect::Posix] {
            let allowed =
                |line: &str| policy.check_command(line, dialect, Path::new("/work"), home).is_allowed();
            let set = allowed(&format!("x=echo\n{line}"));
            prop_assert!(!set || allowed(&line), "{dialect:?}");
        }
    }

    #[test]
    fn single_quotes_hide_all(text in "[^']{0,40}") {
        let decision = check(&format!("echo '{text}; rm -rf /'"));
        prop_assert!(decision.is_allowed());
    }
}
