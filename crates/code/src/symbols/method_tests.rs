use std::sync::Arc;

use super::super::protocol::Range as Lines;
use super::*;

/// Replaces the function from the first line that holds `from` to the end of that with `to`.
fn replaced(language: Language, text: &str, from: &str, name: &str, to: &str, new: &str) -> String {
    let text = Text::new(text.to_owned());
    let start = text.as_str().find(from).expect("a beginning");
    let end = start + text.as_str()[start..].find(to).expect("an end") + to.len();
    let at = start + text.as_str()[start..].find(name).expect("a name");
    let place = |offset| text.position(offset, Encoding::Utf16);
    let symbol = Symbol {
        name: name.to_owned(),
        qualified: name.to_owned(),
        kind: 12,
        range: Lines { start: place(start), end: place(end) },
        selection: Lines { start: place(at), end: place(at + name.len()) },
        is_local: false,
    };
    let outline = Outline { text: Arc::new(text), symbols: Vec::new() };
    let replacement = Replacement::of(&outline, &symbol, language, Encoding::Utf16, new);
    replacement.expect("a replacement").apply(outline.text.as_str())
}

const PYTHON: &str = "class A:\n    # plain\n    @property\n    def f(self):\n        return 1\n\n    \
                      def g(self):\n        return 2\n";

fn python(new: &str) -> String {
    replaced(Language::Python, PYTHON, "@property", "f(", "return 1", new)
}

#[test]
fn each_way_of_indenting_fits() {
    let wanted = PYTHON.replace("return 1", "return 3");
    for new in [
        "def f(self):\n    return 3\n",
        "    def f(self):\n        return 3",
        "def f(self):\n        return 3",
        "\n        def f(self):\n            return 3\n\n",
    ] {
        assert_eq!(python(new), wanted, "{new:?}");
    }
}

#[test]
fn what_is_above_stays_unless_the_new_text_has_its_own() {
    let bare = python("@cached(\n    1,\n)\ndef f(self):\n    return 3");
    assert!(bare.contains("# plain\n    @cached(\n        1,\n    )\n    def f"), "{bare}");
    assert!(!bare.contains("@property"), "{bare}");

    let rust = "mod m {\n    /// Old.\n    #[test]\n    fn f() {}\n}\n";
    let with = |new| replaced(Language::Rust, rust, "/// Old", "f()", "{}", new);
    assert_eq!(with("fn f() { 1 }"), rust.replace("{}", "{ 1 }"));
    let docs = with("/// New.\nfn f() { 1 }");
    assert_eq!(docs, "mod m {\n    /// New.\n    #[test]\n    fn f() { 1 }\n}\n");
    let attribute = with("#[inline]\nfn f() { 1 }");
    assert_eq!(attribute, "mod m {\n    /// Old.\n    #[inline]\n    fn f() { 1 }\n}\n");
    let both = with("/// New.\n#[inline]\nfn f() {\n    1\n}");
    assert_eq!(both, "mod m {\n    /// New.\n    #[inline]\n    fn f() {\n        1\n    }\n}\n");

    let go = "package a\n\n// Old is.\nfunc f() {}\n";
    let with = |new| replaced(Language::Go, go, "func", "f()", "{}", new);
    assert_eq!(with("func f() int { return 1 }"), go.replace("{}", "int { return 1 }"));
    assert_eq!(with("// New is.\nfunc f() {}"), go.replace("Old", "New"));

    let script = "/**\n * Old.\n */\nfunction f() {}\n";
    let with = |new| replaced(Language::TypeScript, script, "function", "f()", "{}", new);
    assert_eq!(with("/** New. */\nfunction f() {}"), "/** New. */\nfunction f() {}\n");
    assert_eq!(with("function f() { 1 }"), script.replace("{}", "{ 1 }"));
}

#[test]
fn an_empty_text_deletes_all_of_it() {
    let deleted = "class A:\n    # plain\n\n    def g(self):\n        return 2\n";
    assert_eq!(python(""), deleted);
    let go = "package a\n\n// Old is.\nfunc f() {}\n\nfunc g() {}\n";
    let without = |from, name| replaced(Language::Go, go, from, name, "{}", " \n");
    assert_eq!(without("func f", "f()"), "package a\n\nfunc g() {}\n");
    assert_eq!(without("func g", "g()"), "package a\n\n// Old is.\nfunc f() {}\n");
}

#[test]
fn a_function_within_a_line_leaves_the_rest_of_it() {
    let text = "class A { f() { return 1 } g() {} }\r\n";
    let with = |new| replaced(Language::TypeScript, text, "f()", "f", "1 }", new);
    assert_eq!(with("f() { return 2 }"), "class A { f() { return 2 } g() {} }\r\n");
    assert_eq!(with(""), "class A {  g() {} }\r\n");
}

#[test]
fn lines_end_as_in_the_file() {
    let text = "é()\r\nfunction f() {\r\n}\r\n";
    let new =
        replaced(Language::TypeScript, text, "function", "f()", "}", "function f() {\n  1\n}\n");
    assert_eq!(new, "é()\r\nfunction f() {\r\n  1\r\n}\r\n");
}

#[test]
fn a_diff_shows_the_change_and_is_cut_visibly() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9";
    let new = old.replace('5', "five");
    let wanted = "--- a/x\n+++ b/x\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
    assert_eq!(diff("x", old, &new), wanted);
    let wanted = "--- a/x\n+++ b/x\n@@ -1,1 +0,0 @@\n-1\n\\ No newline at end of file\n";
    assert_eq!(diff("x", "1", ""), wanted);
    assert_eq!(diff("x", "1", "1"), "");
    let long = diff("x", "", &"line of text\n".repeat(5000));
    assert!(long.len() < MAX_DIFF + 100 && long.ends_with(" more lines\n"), "{}", long.len());
}
