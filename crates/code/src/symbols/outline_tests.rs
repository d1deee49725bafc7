use serde_json::{Value, json};

use super::*;

fn entry(name: &str, kind: u32, lines: (u32, u32), children: Value) -> Value {
    json!({
        "name": name, "kind": kind, "children": children,
        "range": {"start": {"line": lines.0, "character": 0}, "end": {"line": lines.1, "character": 9}},
        "selectionRange": {
            "start": {"line": lines.0, "character": 3}, "end": {"line": lines.0, "character": 6},
        },
    })
}

fn outline(entries: Value) -> Outline {
    let answer = serde_json::from_value(entries).expect("symbols");
    Outline::new(answer, Arc::new(Text::new(String::new())), Encoding::Utf8)
}

fn rust() -> Outline {
    outline(json!([
        entry("Calc", 23, (0, 0), json!([])),
        entry("impl Calc", 19, (1, 5), json!([entry("twice", 6, (2, 3), json!([]))])),
        entry(
            "impl<T: Into<u8>> fmt::Display for Calc<T>",
            19,
            (6, 9),
            json!([entry("fmt", 6, (7, 8), json!([])),])
        ),
        entry("impl Debug for Calc", 19, (10, 12), json!([entry("fmt", 6, (11, 11), json!([]))])),
        entry(
            "tests",
            2,
            (13, 20),
            json!([entry("twice", 12, (14, 16), json!([entry("fmt", 13, (15, 15), json!([]))])),])
        ),
    ]))
}

fn found(outline: &Outline, name: &str) -> u64 {
    outline.resolve(name, None, "src/calc.rs").expect("one symbol").line()
}

#[test]
fn a_name_is_exact_then_a_suffix_then_within_the_module() {
    let outline = rust();
    assert_eq!(found(&outline, "Calc"), 1);
    assert_eq!(found(&outline, "Calc.twice"), 3);
    assert_eq!(found(&outline, "Calc::twice()"), 3);
    assert_eq!(found(&outline, "tests::twice"), 15);
    assert_eq!(found(&outline, "crate::calc::Calc::twice"), 3);
    assert_eq!(found(&outline, "src.calc.Calc"), 1);
    assert_eq!(found(&outline, "tests.twice.fmt"), 16);
}

#[test]
fn several_are_named_so_that_each_can_be_asked_for() {
    let outline = rust();
    let error = outline.resolve("Calc.fmt", None, "src/calc.rs").expect_err("two");
    let CodeError::AmbiguousSymbol(message) = error else { panic!("{error:?}") };
    assert!(message.contains("line 8: method:src/calc.rs:Calc.fmt@8"), "{message}");
    assert!(message.contains("line 12: method:src/calc.rs:Calc.fmt@12"), "{message}");
    assert_eq!(found(&outline, "Calc.fmt@12"), 12);
    assert!(outline.resolve("Calc.fmt@9", None, "src/calc.rs").is_err());
    // The kind decides.
    assert!(outline.resolve("twice", None, "src/calc.rs").is_err());
    let function = outline.resolve("twice", Some("function"), "src/calc.rs").expect("one");
    assert_eq!(function.line(), 15);
}

#[test]
fn a_missing_name_tells_of_near_ones() {
    let outline = rust();
    let message = |name| match outline.resolve(name, None, "src/calc.rs") {
        Err(CodeError::SymbolNotFound(message)) => message,
        other => panic!("{other:?}"),
    };
    assert!(
        message("Calc.twise").contains("near: Calc.twice (line 3)"),
        "{}",
        message("Calc.twise")
    );
    assert!(message("other.twice").contains("near: Calc.twice"), "{}", message("other.twice"));
    assert!(message("quite_different").contains("it has Calc (line 1)"));
    let empty = super::Outline { text: outline.text.clone(), symbols: Vec::new() };
    let error = empty.resolve("x", None, "a.rs").expect_err("none");
    assert_eq!(error.to_string(), "a.rs has no symbol x; it has none at all");
}

#[test]
fn receivers_of_go_are_types() {
    let outline = outline(json!([
        entry("(*Calc[T]).Twice", 6, (0, 1), json!([])),
        entry("(Calc).Once", 6, (2, 3), json!([])),
    ]));
    let names: Vec<_> = outline.symbols.iter().map(|symbol| symbol.qualified.as_str()).collect();
    assert_eq!(names, ["Calc.Twice", "Calc.Once"]);
    assert_eq!(outline.symbols[0].name, "Twice");
    assert_eq!(found(&outline, "Once"), 3);
}

#[test]
fn a_flat_list_is_understood_too() {
    let text = Text::new("class A:\n    def é(self): é2()\n    def be(self): pass\n".to_owned());
    let range = |line: u32, end: u32| {
        json!({
            "start": {"line": line, "character": 4}, "end": {"line": end, "character": 99},
        })
    };
    let entries = json!([
        {"name": "A", "kind": 5, "location": {"uri": "file:///a", "range": range(0, 2)}},
        {"name": "be", "kind": 6, "containerName": "A",
         "location": {"uri": "file:///a", "range": range(2, 2)}},
    ]);
    let answer = serde_json::from_value(entries).expect("symbols");
    let outline = Outline::new(answer, Arc::new(text), Encoding::Utf16);
    let be = outline.resolve("A.be", None, "a.py").expect("one");
    assert_eq!(be.selection.start, Position { line: 2, character: 8 });
    assert_eq!(outline.node_id(be, "a.py"), "method:a.py:A.be");
}
