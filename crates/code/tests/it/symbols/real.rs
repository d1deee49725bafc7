//! The same questions to the real server of each language.

use termbridge_code::CodeError;
use termbridge_code::symbols::{
    Direction, Navigation, SearchMode, SearchQuery, SymbolInfo, SymbolRef, servers,
};

use super::project::{GO, LIMIT, PYTHON, Project, RUST, Shape, TYPESCRIPT, environment, named};
use crate::project::repository;

#[tokio::test]
async fn python() {
    flow(&PYTHON).await;
}

#[tokio::test]
async fn typescript() {
    flow(&TYPESCRIPT).await;
}

/// TypeScript 7 of the project itself is its language server.
#[tokio::test]
async fn typescript_7() {
    let project = Project::new(TYPESCRIPT.files, environment());
    let modules = repository().join("tests/typescript-7/node_modules");
    assert!(modules.is_dir(), "no node_modules: run scripts/setup-tests");
    std::os::unix::fs::symlink(modules, project.path("node_modules")).expect("a link");
    let status = servers(&environment(), &project.path(""));
    let program = status[3].program.as_deref().expect("a server");
    assert!(program.ends_with("node_modules/.bin/tsc"), "{status:?}");
    flow_in(&project, &TYPESCRIPT).await;
}

#[tokio::test]
async fn go() {
    flow(&GO).await;
}

#[tokio::test]
async fn rust() {
    flow(&RUST).await;
}

/// One server for all of it: most of the time goes into its start.
async fn flow(shape: &Shape) {
    flow_in(&Project::new(shape.files, environment()), shape).await;
}

async fn flow_in(project: &Project, shape: &Shape) {
    references(project, shape).await;
    calls(project, shape).await;
    names(project, shape).await;
    search(project, shape).await;
    rename(project, shape).await;
    replace(project, shape).await;
    late(project, shape).await;
    project.servers.shutdown().await;
}

async fn places(project: &Project, path: &str, symbol: &str) -> Vec<(String, u64, u64)> {
    let which = named(path, symbol);
    let found = project.servers.navigate(&which, Navigation::References, LIMIT).await;
    let found = found.expect("references");
    assert_eq!(found.total, found.locations.len());
    assert_eq!(found.incomplete, None);
    let places = found.locations.into_iter();
    places.map(|place| (place.path, place.line, place.column)).collect()
}

async fn references(project: &Project, shape: &Shape) {
    let found = places(project, shape.main, shape.function).await;
    let mut expected = vec![
        (shape.main, project.place(shape.main, "add(a")),
        (shape.main, project.place(shape.main, "add(n")),
        (shape.other, project.place(shape.other, "add(1")),
    ];
    if project.text(shape.other).contains("import") || project.text(shape.other).contains("use ") {
        let (line, column) = project.place(shape.other, "add");
        expected.push((shape.other, (line, column)));
    }
    let mut expected: Vec<_> = expected
        .into_iter()
        .map(|(path, (line, column))| (path.to_owned(), line, column))
        .collect();
    expected.sort();
    assert_eq!(found, expected);
}

async fn called(project: &Project, which: SymbolRef, way: Direction) -> Vec<(String, String, u64)> {
    let calls = project.servers.calls(&which, way, LIMIT).await.expect("calls");
    calls.calls.into_iter().map(|call| (call.name, call.path, call.line)).collect()
}

async fn calls(project: &Project, shape: &Shape) {
    let callers = called(project, named(shape.main, shape.function), Direction::Incoming).await;
    let method = shape.method.replace("::", ".");
    let name = method.rsplit('.').next().expect("a name");
    let expected = [
        (method.clone(), shape.main.to_owned(), project.place(shape.main, &format!("{name}(")).0),
        (
            shape.caller.to_owned(),
            shape.other.to_owned(),
            project.place(shape.other, shape.caller).0,
        ),
    ];
    assert_eq!(callers, expected);
    let callees = called(project, named(shape.main, shape.method), Direction::Outgoing).await;
    let (line, _) = project.place(shape.main, "add(a");
    assert_eq!(callees, [(shape.function.to_owned(), shape.main.to_owned(), line)]);
}

async fn names(project: &Project, shape: &Shape) {
    let ask = |which: SymbolRef| async move {
        project.servers.navigate(&which, Navigation::References, LIMIT).await
    };
    let name = shape.method.rsplit(['.', ':']).next().expect("a name");
    let several = ask(named(shape.main, name)).await.expect_err("two have the name");
    assert_eq!(several.code(), "E_AMBIGUOUS_SYMBOL");
    let (line, _) = project.place(shape.main, &format!("{name}("));
    let id = format!("method:{}:Calc.{name}", shape.main);
    let message = several.to_string();
    assert!(message.contains(&format!("line {line}: {id}")), "{message}");
    assert!(message.contains(&format!("method:{}:Other.{name}", shape.main)), "{message}");
    let found = ask(SymbolRef::Node(id)).await.expect("an id is enough");
    assert_eq!(found.locations[0].line, line);

    let missing = ask(named(shape.main, "Calc.twicee")).await.expect_err("no such name");
    assert_eq!(missing.code(), "E_SYMBOL_NOT_FOUND");
    assert!(missing.to_string().contains(&format!("near: Calc.{name} (line {line})")), "{missing}");
    let missing = ask(named("none.py", "x")).await.expect_err("no such file");
    assert_eq!(missing, CodeError::FileNotFound("none.py".into()));
}

async fn search(project: &Project, shape: &Shape) {
    let query = |query: &str, mode, kinds: &str| SearchQuery {
        query: query.to_owned(),
        mode,
        path: (mode == SearchMode::Document).then(|| shape.main.into()),
        kinds: kinds.split(',').map(str::to_owned).collect(),
        limit: 100,
    };
    let find = |query: SearchQuery| async move {
        let found = project.servers.search(&query, LIMIT).await.expect("symbols");
        assert_eq!(found.unsearched, Vec::<String>::new());
        assert_eq!(found.total, found.symbols.len());
        found.symbols
    };
    let ids = |found: &[SymbolInfo]| -> Vec<String> {
        found.iter().map(|symbol| symbol.node_id.clone()).collect()
    };
    let name = shape.method.rsplit(['.', ':']).next().expect("a name");
    let both = ["Calc", "Other"].map(|class| format!("method:{}:{class}.{name}", shape.main));
    assert_eq!(ids(&find(query("twi", SearchMode::Workspace, "")).await), both);
    assert_eq!(ids(&find(query("TWICE", SearchMode::Document, "Method")).await), both);
    assert_eq!(ids(&find(query("calc.twi", SearchMode::Workspace, "Method")).await), both[..1]);
    let functions = find(query("", SearchMode::Workspace, "function")).await;
    let functions: Vec<_> =
        functions.iter().map(|symbol| (symbol.name.as_str(), symbol.path.as_str())).collect();
    assert_eq!(functions, [(shape.function, shape.main), (shape.caller, shape.other)]);
    assert_eq!(find(query("nothing_has_this_name", SearchMode::Workspace, "")).await, []);
}

async fn rename(project: &Project, shape: &Shape) {
    let (main, other) = (project.text(shape.main), project.text(shape.other));
    let which = named(shape.main, shape.function);
    let renamed = project.servers.rename(&which, shape.new_name, LIMIT).await.expect("renames");
    assert_eq!(renamed.total, 2);
    let paths: Vec<_> = renamed.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [shape.main, shape.other]);
    assert_eq!(renamed.changed[0].edits, 2);
    let replaced = |text: &str| text.replace("add", shape.new_name);
    assert_eq!(project.text(shape.main), replaced(&main));
    assert_eq!(project.text(shape.other), replaced(&other));
    // The server knows of what was written.
    let gone = project.servers.rename(&which, "again", LIMIT).await.expect_err("the name is gone");
    assert_eq!(gone.code(), "E_SYMBOL_NOT_FOUND");
    let found = places(project, shape.main, shape.new_name).await;
    assert!(found.len() >= 3, "{found:?}");
    let refused = project.servers.rename(&named(shape.main, shape.new_name), "a b", LIMIT).await;
    assert_eq!(refused.expect_err("no name").code(), "E_INVALID_PARAMS");
}

async fn replace(project: &Project, shape: &Shape) {
    let before = project.text(shape.main);
    let which = named(shape.main, shape.method);
    let replaced = project.servers.replace_method(&which, shape.replacement, LIMIT).await;
    let replaced = replaced.expect("replaces");
    let after = project.text(shape.main);
    assert_eq!(replaced.path, shape.main);
    let name = shape.method.rsplit(['.', ':']).next().expect("a name");
    let signature = before.lines().position(|line| line.contains(&format!("{name}("))).expect("it");
    assert_eq!(replaced.range.start_line, signature as u64 + 1);
    // Its first line and what is above stay, and the rest is indented like it was.
    let lines: Vec<_> = before.lines().zip(after.lines()).collect();
    assert!(lines[..=signature].iter().all(|(old, new)| old == new), "{after}");
    let added: Vec<_> =
        replaced.diff.lines().filter(|line| line.starts_with('+')).skip(1).collect();
    let indent = before.lines().nth(signature + 1).expect("a body");
    let indent = &indent[..indent.len() - indent.trim_start().len()];
    assert_eq!(added.len(), 2, "{}", replaced.diff);
    assert!(added.iter().all(|line| line[1..].starts_with(indent)), "{}", replaced.diff);
    assert_eq!(after.lines().count(), before.lines().count() + 1);

    let callees = called(project, which, Direction::Outgoing).await;
    assert_eq!(callees.len(), 1, "{callees:?}");
    assert_eq!(callees[0].0, shape.new_name);

    let class = project.servers.replace_method(&named(shape.main, "Calc"), "", LIMIT).await;
    assert_eq!(class.expect_err("no function").code(), "E_INVALID_PARAMS");
    let other = format!("Other.{name}");
    let deleted = project.servers.replace_method(&named(shape.main, &other), "", LIMIT).await;
    assert!(deleted.expect("deletes").diff.contains(&format!("{name}(")));
    assert_eq!(project.text(shape.main).matches(&format!("{name}(")).count(), 1);
}

/// A file that changes under a running server.
async fn late(project: &Project, shape: &Shape) {
    let (name, text) = shape.late;
    project.write(name, text);
    let found = places(project, shape.main, shape.new_name).await;
    let use_of_it = project.place(name, &format!("{}(", shape.new_name));
    assert!(found.contains(&(name.to_owned(), use_of_it.0, use_of_it.1)), "{found:?}");
}

#[tokio::test]
async fn javascript_without_a_project_file() {
    let files = [
        ("lib/calc.mjs", "export function add(a, b) {\n  return a + b;\n}\n"),
        (
            "user.mjs",
            "import { add } from \"./lib/calc.mjs\";\nexport const three = () => add(1, 2);\n",
        ),
    ];
    let project = Project::new(&files, environment());
    let found = places(&project, "lib/calc.mjs", "add").await;
    assert_eq!(found.len(), 3, "{found:?}");
    // A function that a variable holds.
    let which = named("user.mjs", "three");
    let new = "export const three = () => {\n  return add(1, 2);\n};";
    project.servers.replace_method(&which, new, LIMIT).await.expect("replaces");
    assert!(
        project.text("user.mjs").ends_with(&format!(";\n{new}\n")),
        "{}",
        project.text("user.mjs")
    );
}

#[tokio::test]
async fn implementations() {
    let go = "package demo\n\ntype Shape interface {\n\tArea() int\n}\n\ntype Square struct{}\n\nfunc (s \
              Square) Area() int { return 1 }\n";
    let python = "class Shape:\n    pass\n";
    let files = [("go.mod", "module demo\n\ngo 1.19\n"), ("a.go", go), ("a.py", python)];
    let project = Project::new(&files, environment());
    let implementations = |path, symbol| {
        let (which, servers) = (named(path, symbol), project.servers.clone());
        async move { servers.navigate(&which, Navigation::Implementations, LIMIT).await }
    };
    let found = implementations("a.go", "Shape").await.expect("found");
    assert_eq!(found.locations.len(), 1);
    assert_eq!(found.locations[0].text, "type Square struct{}");
    let cannot = implementations("a.py", "Shape").await.expect_err("pyright has none");
    assert_eq!(cannot.code(), "E_UNSUPPORTED_CAPABILITY");
}

#[tokio::test]
async fn a_module_of_rust_moves_its_file() {
    let project = Project::new(RUST.files, environment());
    let which = named("src/lib.rs", "user");
    let renamed = project.servers.rename(&which, "client", LIMIT).await.expect("renames");
    let paths: Vec<_> = renamed.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["src/client.rs", "src/lib.rs"]);
    assert!(!project.path("src/user.rs").exists());
    assert!(project.text("src/lib.rs").starts_with("pub mod client;\n"));
}
