use super::{Command, MAX_NESTING, ParseError, Reading, Script};
use crate::dialect::Grammar;

fn parse(text: &str, depth: usize) -> (std::rc::Rc<Script>, Option<ParseError>) {
    let Reading { script, error, .. } = super::parse(text, depth, Grammar::Bash);
    (script, error)
}

/// The simple commands at the top, as written.
fn simple(text: &str) -> Vec<String> {
    let (script, error) = parse(text, 0);
    assert_eq!(error, None, "{text}");
    stages(&script)
        .filter_map(|command| match command {
            Command::Simple(simple) => Some(text[simple.span.clone()].to_owned()),
            _ => None,
        })
        .collect()
}

fn stages(script: &Script) -> impl Iterator<Item = &Command> {
    script.items.iter().flat_map(|item| &item.stages)
}

#[test]
fn simple_commands_keep_their_text() {
    assert_eq!(simple("a b; c 'd;e' | f && g \"h | i\" &"), ["a b", "c 'd;e'", "f", "g \"h | i\""]);
    assert_eq!(simple("cat <<E; ls\nx ; y\nE\nrm x"), ["cat <<E", "ls", "rm x"]);
    assert_eq!(simple("a \\\n b # c\n\n d"), ["a \\\n b", "d"]);
    assert_eq!(simple("x=1 y=(a b) z a=b"), ["x=1 y=(a b) z a=b"]);
    assert_eq!(simple("2>&1 a >x 3<y &>z b"), ["2>&1 a >x 3<y &>z b"]);
}

#[test]
fn what_a_shell_takes_is_taken() {
    for text in [
        "if a; then b; elif c; then d; else e; fi >x",
        "while a; do b; done < f | g",
        "for x in a b; do c; done",
        "for x; do c; done",
        "for ((i=0; i<3; i++)) do c; done",
        "case a in (b|c) d;; *) e;& f) ;; esac",
        "a() { b; }; function c { d; }; function e() (f)",
        "{ a; } && (b)",
        "[[ a == b && ( c < d ) ]] && e",
        "((a + (b))) && c",
        "$((1 + (2))) $( (a) ) ${a:-${b:-c}} ${a[0]} ${#a} ${a//b/c}",
        "a <(b) >(c) <<< d",
        "`a \\`b\\``",
        "cat <<-A <<'B'\n\tx\n\tA\n$(y)\nB\n",
        "echo $ $% \"$\" a$",
        "echo {a,b} {} }",
        "time -p a; ! b",
    ] {
        assert_eq!(parse(text, 0).1, None, "{text}");
    }
}

#[test]
fn what_is_no_syntax_is_said() {
    for text in ["'", "\"", "`", "$(", "${", "(", "{ a", "if a", "a |", "a &&", ")", "a ;;", "fi"] {
        assert!(matches!(parse(text, 0).1, Some(ParseError::Syntax { .. })), "{text}");
    }
}

#[test]
fn nesting_is_bounded() {
    let deep = |open: &str, close: &str, levels: usize| {
        let text = format!("{}a{}", open.repeat(levels), close.repeat(levels));
        parse(&text, 0).1
    };
    for (open, close) in [("( ", ")"), ("$(", ")"), ("{ ", ";}"), ("\"$(", ")\""), ("${a:-", "}")] {
        assert_eq!(deep(open, close, 5), None, "{open}");
        assert_eq!(deep(open, close, MAX_NESTING + 1), Some(ParseError::TooDeep), "{open}");
        assert_eq!(deep(open, close, 100_000), Some(ParseError::TooDeep), "{open}");
    }
}
