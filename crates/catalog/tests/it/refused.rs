//! Metadata that is wrong, and the line that is told.

use proptest::prelude::*;
use termbridge_catalog::{Strictness, read};

const GOOD: &str = "\
alias: thing.act
name: Act
description: Acts.
params:
  path:
    type: string
    required: true
  line:
    type: integer
    min: 1
mcp:
  description: Act.
  llm:
    when_to_use: Always.
";

#[test]
fn good_metadata_is_read() {
    let tool = read(GOOD, Strictness::Own).expect("good");
    assert_eq!((tool.alias.as_str(), tool.category.as_str()), ("thing.act", "thing"));
    assert!(tool.params["path"].required && tool.mcp.enabled);
}

#[test]
fn ours_is_refused_with_the_line() {
    // What is replaced in the good text by what, and what is then said.
    for (from, to, line, said) in [
        ("alias: thing.act", "alias: thing", 1, "not an alias"),
        ("alias: thing.act", "alias: Thing.Act", 1, "not an alias"),
        ("alias: thing.act\n", "", 1, "missing field `alias`"),
        ("name: Act\n", "", 1, "`name` is missing"),
        ("description: Acts.\n", "", 1, "`description` is missing"),
        ("name: Act", "nam: Act", 2, "unknown field `nam`"),
        ("    type: integer", "    type: int", 9, "unknown variant `int`"),
        ("    type: integer", "    typ: integer", 9, "unknown field `params.line.typ`"),
        ("    min: 1", "    min: one", 10, "params.line.min"),
        ("    min: 1", "    min: 5\n    max: 3", 10, "min is above max"),
        ("    min: 1", "    default: x", 10, "not a value that it may have"),
        ("    min: 1", "    min: 1\n    default: 0", 11, "not a value that it may have"),
        ("    min: 1", "    required: maybe", 10, "expected a boolean"),
        ("    min: 1", "    enum: [1, two]", 10, "another type"),
        ("    required: true", "    required: true\n    default: x", 8, "so it has no default"),
        ("    required: true", "    min: 3", 5, "only numbers have min"),
        ("  line:", "  path:", 8, "`path` is there twice"),
        ("  line:", "  \"li ne\":", 8, "not the name of an argument"),
        ("mcp:", "errors: [E_OK, oops]\nmcp:", 11, "not a code like E_NAME"),
        ("mcp:", "response: maybe\nmcp:", 11, "unknown variant `maybe`"),
        ("  description: Act.\n", "", 11, "`mcp.description` is missing"),
        ("  description: Act.", "  timeout: 0\n  description: Act.", 12, "a timeout is 1 to"),
        ("  description: Act.", "  description: Act.\n  tool: Bad-Name", 13, "not a tool name"),
        ("  description: Act.", "  description: Act.\n  tols: x", 13, "unknown field `mcp.tols`"),
        (
            "    when_to_use: Always.",
            "    when_to_use: Always.\n    parameter_hints:\n      nope: {note: x}",
            16,
            "there is no argument `nope`",
        ),
        (
            "  description: Act.",
            "  description: Act.\n  safety: {read_only: true, destructive: true}",
            13,
            "what only reads",
        ),
        ("name: Act", "name: [Act", 3, ""),
        ("name: Act", "name: &anchor Act\ncategory: *anchor", 3, "anchors"),
        ("name: Act", "name: Act\n---\nx: y", 3, "more than one document"),
        ("name: Act", "? [a, b]\n: c", 2, "a key is not text"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, to, 1);
        let problem = read(&text, Strictness::Own).expect_err(to);
        assert!(problem.message.contains(said), "{to:?}: {problem}");
        assert_eq!(problem.line, line, "{to:?}: {problem}");
    }
}

#[test]
fn long_words_for_models_are_refused() {
    let text = GOOD.replace("description: Act.", &format!("description: {}", "x".repeat(201)));
    assert_eq!(read(&text, Strictness::Own).expect_err("long").line, 12);
    assert!(read(&text, Strictness::Workspace).is_ok());
}

#[test]
fn a_workspace_is_forgiven_what_we_do_not_know() {
    let text = GOOD.replace("name: Act", "dangerOnly: false\ncli: {command: act}");
    assert!(read(&text, Strictness::Own).is_err());
    assert!(read(&text, Strictness::Workspace).is_ok());
}

#[test]
fn no_text_is_too_strange() {
    let deep = "[".repeat(100_000);
    let nested = "- ".repeat(100_000);
    let wide = format!("alias: a.b\nparams: {{{}}}", "x: {},".repeat(10_000));
    for text in [
        "",
        "\0",
        "---",
        "...",
        "- a",
        "42",
        "null",
        "{}",
        "\u{feff}alias: x",
        &deep,
        &nested,
        &wide,
    ] {
        assert!(read(text, Strictness::Workspace).is_err(), "{:?}", text.get(..20));
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[ \\-a-z:\\[\\]{},'\"|>&*#!?%0-9\\n\\t~]{0,200}") {
        let _ = read(&text, Strictness::Workspace);
    }

    #[test]
    fn a_damaged_file_is_read_or_refused_with_a_line_of_it(
        cut in 0..GOOD.len(),
        text in "[ \\-a-z:\\[\\]{},'\"|>\\n]{0,5}",
    ) {
        let damaged = format!("{}{text}{}", &GOOD[..cut], &GOOD[cut..]);
        if let Err(problem) = read(&damaged, Strictness::Own) {
            prop_assert!((1..=damaged.lines().count() + 1).contains(&problem.line), "{problem}");
        }
    }
}
