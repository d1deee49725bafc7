use super::*;

/// What is unset at the character `@`, in the scope between `<<` and `>>` or in the whole source.
fn unset(marked: &str) -> Vec<String> {
    let source = marked.replace(['@', '«', '»'], "");
    let place = |mark: char| {
        let before = marked.split(mark).next().expect("a part").replace(['@', '«', '»'], "");
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().expect("a line").encode_utf16().count() as u64 + 1;
        (line, column)
    };
    let (from, to) =
        if marked.contains('«') { (place('«'), place('»')) } else { ((1, 1), place('¤')) };
    let scope = Scope {
        line: Some(from.0),
        column: Some(from.1),
        end_line: Some(to.0),
        end_column: Some(to.1),
        ..Scope::default()
    };
    let (line, column) = place('@');
    declared(&source, &scope, line, column).unset.into_iter().collect()
}

#[test]
fn what_is_declared_further_down_or_here_is_unset() {
    assert_eq!(unset("let a = 1;\n@f();\nlet b = 2, c;\n"), ["b", "c"]);
    assert_eq!(unset("let a = @1, b = 2\nconst c = 3"), ["a", "b", "c"]);
    assert_eq!(unset("let a = 1, b = @2\nconst c = 3"), ["b", "c"]);
    assert_eq!(unset("let a = 1\nlet b = 2\n@a\nclass C {}"), ["C"]);
    assert_eq!(unset("@x;\nexport const a = 1; export default class B { m() {} }"), ["B", "a"]);
}

#[test]
fn other_scopes_do_not_count() {
    assert_eq!(unset("@x; { let inner = 1; } function f() { const g = 1; } var v = 1;"), [""; 0]);
    assert_eq!(
        unset("let v = 0; function f«(a) { @a; let b = 1; if (a) { let c = 1; } }» let d;"),
        ["b"]
    );
    assert_eq!(unset("for (const x of y) «{ @f(); let z = 1; }»"), ["z"]);
    assert_eq!(unset("for «(let i = 0, n = @g(); i < n; i++) { let i = 1; }»"), ["n"]);
    assert_eq!(unset("for «(let i = 0, n = g(); i < n; i++) { @f(); let i = 1; }»"), [""; 0]);
    assert_eq!(unset("for «(const [k, v] of @x()) { f(); }»"), ["k", "v"]);
    assert_eq!(unset("let a; «for (const v of @x) { f(); }»"), ["v"]);
    assert_eq!(unset("let a; «for await (const v of x) { @f(); let z = 1; }»"), ["z"]);
    assert_eq!(unset("try { f(); } catch «({ a, b }) { @g(); let c = 1; }»"), [""; 0]);
    assert_eq!(unset("f(«x => { @g(x); const y = x; }»)"), ["y"]);
}

#[test]
fn patterns_bind_their_names_and_read_others() {
    assert_eq!(
        unset("@x; const { a, b: [c, ...d], e = b, ['k']: f } = g(h);"),
        ["a", "c", "d", "e", "f"]
    );
    assert_eq!(unset("@x; let m: Map<string, number> = new Map(), n;"), ["m", "n"]);
    let nested = "[".repeat(500_000);
    assert_eq!(unset(&format!("@x; let {nested}")), [""; 0]);
    let nested = format!("{}y{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(unset(&format!("@x; let {nested} = 1, z;")), ["z"]);
}

#[test]
fn texts_are_no_declarations() {
    let source = "@x; // let a = 1\n/* let b */ s = 'let c'; t = `let d ${`let e ${{ let: 1 }}`}`; r = /[/]let f/; y = u / 2;\nlet z;";
    assert_eq!(unset(source), ["z"]);
    assert_eq!(unset("@o.let = 1; o = { let: 1, class: 2 }; const A = class B {};"), ["A"]);
}

#[test]
fn log_messages_say_what_has_no_value() {
    let source = "let a = 1;
function f(b) {
  if (b) {
let c = 1;
for (const d of [1]) {
  g(a, b, c);
  let e = { h: 1 };
}
let i = 2;
  }
  const j = () => {
let k = 3;
  };
}
let l = 4;
";
    let logged = |line, names: &[&str]| -> Vec<bool> {
        let is_unset = |name: &&str| log_message(&format!("{{{name}}}"), source, line, "-") == "-";
        names.iter().map(is_unset).collect()
    };
    let names = ["a", "c", "d", "e.h", "i", "j", "l"];
    assert_eq!(logged(6, &names), [false, false, false, true, true, true, false], "in the loop");
    assert_eq!(logged(12, &["k", "j", "l"]), [true, false, false], "of another function");
    assert_eq!(logged(1, &["a", "l"]), [true, true]);
    let message = log_message("x {a} y {l + {b: 1}.b} {a", source, 15, "-");
    assert_eq!(message, "x {a} y - {a");
}

#[test]
fn log_messages_know_what_loops_and_catch_declare() {
    let source = "try {
for (const a of x) {
f(a);
}
for (const b of x)
f(b);
} catch ([c]) {
f(c);
}
const a = 1, b = 2, c = 3;
";
    let logged = |line, names: &[&str]| -> Vec<bool> {
        let is_unset = |name: &&str| log_message(&format!("{{{name}}}"), source, line, "-") == "-";
        names.iter().map(is_unset).collect()
    };
    assert_eq!(logged(3, &["a", "b", "c"]), [false, true, true]);
    assert_eq!(logged(6, &["a", "b", "c"]), [true, false, true]);
    assert_eq!(logged(8, &["a", "b", "c"]), [true, true, false]);
}

#[test]
fn names_that_an_expression_binds_itself_are_not_read() {
    for (expression, read) in [
        ("list.filter(item => item.ok)", &["list"][..]),
        (
            "list.reduce((sum, {id: [key], ...rest} = start) => sum + key + rest.n + other)",
            &["list", "start", "other"],
        ),
        ("list.map(async (item) => f(item))", &["list", "async", "f"]),
        ("list.map(function (item) { return item.id })", &["list", "function", "return"]),
        ("(function* walk(node) { walk(node) })(tree)", &["function", "tree"]),
        ("(() => { try { f() } catch (e) { return e } })()", &["try", "f", "catch", "return"]),
        ("promise.catch(handler)", &["promise", "handler"]),
        ("(a, b)", &["a", "b"]),
    ] {
        assert_eq!(names_read(expression), read, "{expression}");
    }
}

#[test]
fn assignments_name_their_variable() {
    for expression in ["i = 5", "i=f(x)", "i += 1", "i **= 2", "i ??= x == y", "i >>= 1"] {
        assert_eq!(JavaScript.assigned(expression), Some("i"), "{expression}");
    }
    for expression in [
        "i", "i == 5", "i === 5", "i <= 5", "i >= 5", "i.a = 5", "i => 5", "f(i = 5)", "i = 1, j",
        "5",
    ] {
        assert_eq!(JavaScript.assigned(expression), None, "{expression}");
    }
}

#[test]
fn names_of_members_are_not_read() {
    assert_eq!(names_read("a.b + f(c?.d, {e: g, h}, ...i)"), ["a", "f", "c", "g", "h", "i"]);
}
