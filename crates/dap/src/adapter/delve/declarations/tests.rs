use super::*;

/// What is unset at each line with a comment `// DEPTH: NAMES`, for a function with so many literals around its code.
#[track_caller]
fn check(source: &str) {
    let statements = Statements::of(source);
    let mut checked = 0;
    for (index, line) in source.lines().enumerate() {
        let comment = line.split_once("// ").and_then(|(_, comment)| comment.split_once(':'));
        let Some((depth, names)) = comment else { continue };
        let unset = statements.unset(index as u64 + 1, depth.parse().expect("a depth"));
        assert_eq!(unset, names.split_whitespace().collect::<Vec<_>>(), "{line}");
        checked += 1;
    }
    assert!(checked > 0, "no line has a comment");
}

#[test]
fn later_lines_of_a_declaration() {
    check(
        "package main\nfunc run(err error) (n int) {\n\
         x := // 0:\nf(1) + // 0: x\nf(2) // 0: x\n\
         l := []string{\n\"; {\", `\n}`, // 0: l\n} // 0: l\n\
         var p, q = f(1), // 0:\ng(1) // 0: p q\n\
         var (\nu = f(1) // 0:\nv int = \n f(2) // 0: v\n) // 0:\n\
         a, err, n := f(\n1, // 0: a\n) // 0: a\n\
         x, y := f(1), \n2 // 0: y\n\
         a = f(\n1) // 0:\n\
         { x := f(\n1) } // 0: x\n}",
    );
}

#[test]
fn heads_of_blocks() {
    check(
        "package main\nfunc run() {\n\
         if x, y := f(\n1, // 0: x y\n); x > // 0:\ny { // 0:\nx, z :=\nf(1) // 0: x z\n\
         } else if y := \nf(1); y > 1 { // 0: y\nfmt.Print() // 0:\n}\n\
         for _, e := range []struct{ a int }{\n{f(1)}, // 0: e\n{a: 2}, // 0: e\n} { // 0:\nfmt.Print(e) // 0:\n}\n\
         for _, e := range []*list.T{\nf(1), // 0: e\n} { // 0:\n}\n\
         for _, e := range append(xs, // 0:\nf(1)) { // 0: e\nfmt.Print(e) // 0:\n}\n\
         for i := 0; // 0:\ni < 2; // 0:\ni++ { // 0:\n}\n\
         switch t := v.(type) { // 0:\ncase int, // 0:\nstring: // 0:\nz := 1\ncase bool:\nz :=\n1 // 0: z\n}\n\
         switch t := any(\nv).(type) { // 0:\n}\n\
         select {\ncase v, ok :=\n<-f( // 0: v ok\n1): // 0: v ok\nfmt.Print(v) // 0:\n}\n}",
    );
}

#[test]
fn bodies_of_other_functions() {
    check(
        "package main\nvar h = func(a struct{ b int }) (func(), error) {\ny := \nf(a) // 1: y\n}\n\
         func (t *T) run(g func(int) struct{ c int }) interface{ m() } {\n\
         x := try(func() {\nx := 1 // 0: x\nuse(x) // 1:\n}) // 1:\n\
         z := f(func(a, b int) int {\ny, a :=\nf(a) // 1: y\nw := func() {\nv := \n1 // 2: v\n}\nreturn 1 // 1:\n}, // 0: z\n\
         f(1)) // 0: z\nvar k func(int) = nil\nm := f(\n1) // 0: m\n}\n",
    );
}

#[test]
fn a_line_is_of_the_innermost_function_that_has_it_to_itself() {
    let statements = Statements::of(
        "package main\nfunc run() {\nx := f(func() {\ny := g(\n1)\n},\n2)\n}\nvar broken = ((}})",
    );
    let unset: Vec<_> = (1..9).map(|line| statements.unset_at(line)).collect();
    let none: Vec<&str> = Vec::new();
    let [x, y] = [vec!["x"], vec!["y"]];
    assert_eq!(unset, [&none, &none, &none, &none, &y, &x, &x, &none].map(Clone::clone));
}

#[test]
fn expressions_in_log_messages_and_conditions() {
    let statements = Statements::of("package main\nfunc run() {\nx := f(\n1)\n}");
    let message = |text: &str| statements.log_message(text, 4, "unset");
    assert_eq!(message("a {x} {y.x} {\"x\"} {f(x[1])} x"), "a unset {y.x} {\"x\"} unset x");
    assert_eq!(statements.log_message("{x}", 3, "unset"), "{x}");
    assert_eq!(
        statements.condition("i == 1 && x.y > 'x' || (x) == xx", 4),
        "i == 1 && x_is_not_initialised.y > 'x' || (x_is_not_initialised) == xx"
    );
}

#[test]
fn literals_around_a_function() {
    for (function, literals) in [
        ("main.run", 0),
        ("main.(*T).run", 0),
        ("main.run.func1", 1),
        ("main.run.func12.3", 2),
        ("main.List[...].run.func1", 1),
        ("example.com/a.func1/b.func2", 0),
        ("main.glob..func1", 1),
    ] {
        assert_eq!(literals_around(function), literals, "{function}");
    }
}
