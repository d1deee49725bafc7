//! Searches over several languages and projects.

use termbridge_code::symbols::{SearchMode, SearchQuery, Symbols};

use super::fake::with_programs;
use super::project::{LIMIT, Project, environment};

fn query(query: &str) -> SearchQuery {
    SearchQuery {
        query: query.to_owned(),
        mode: SearchMode::Workspace,
        path: None,
        kinds: Vec::new(),
        limit: 100,
    }
}

#[tokio::test]
async fn every_language_of_a_workspace_is_asked() {
    let files = [
        ("front/package.json", "{}"),
        ("front/a.js", "export function sharedThing() {}\n"),
        ("back/pyproject.toml", "[project]\nname = \"back\"\n"),
        ("back/b.py", "def shared_thing():\n    shared_inner = 1\n    return shared_inner\n"),
        ("tools/go.mod", "module tools\n\ngo 1.19\n"),
        ("tools/c.go", "package tools\n\nfunc SharedTool() {}\n"),
    ];
    let project = Project::new(&files, environment());
    let found = project.servers.search(&query("shared"), LIMIT).await.expect("symbols");
    assert_eq!(found.unsearched, Vec::<String>::new());
    let ids: Vec<_> = found.symbols.iter().map(|symbol| symbol.node_id.as_str()).collect();
    assert!(ids.contains(&"function:front/a.js:sharedThing"), "{ids:?}");
    assert!(ids.contains(&"function:back/b.py:shared_thing"), "{ids:?}");
    assert!(ids.contains(&"function:tools/c.go:SharedTool"), "{ids:?}");
    let mut one = query("shared");
    one.limit = 1;
    let cut = project.servers.search(&one, LIMIT).await.expect("symbols");
    assert_eq!((cut.symbols.len(), cut.total), (1, found.total));
    // In the shape that a tool answers with.
    let shown = serde_json::to_value(&cut).expect("a value");
    assert!(
        shown["symbols"][0]["nodeId"].is_string() && shown.get("unsearched").is_none(),
        "{shown}"
    );
}

#[tokio::test]
async fn a_language_without_a_server_is_told_of() {
    let project = with_programs(&[("gopls", include_str!("fake_server.py"))]);
    project.write("a.py", "x = 1\n");
    let Symbols { symbols, unsearched, .. } =
        project.servers.search(&query(""), LIMIT).await.expect("symbols of Go");
    assert_eq!(symbols.len(), 4);
    assert_eq!(unsearched.len(), 1);
    assert!(unsearched[0].contains("npm install -g pyright"), "{unsearched:?}");
    let none = with_programs(&[]);
    let error = none.servers.search(&query("x"), LIMIT).await.expect_err("no server at all");
    assert_eq!(error.code(), "E_NO_LANGUAGE_SERVER");
}

#[tokio::test]
async fn a_search_that_cannot_be_is_told() {
    let project = with_programs(&[]);
    let mut document = query("x");
    document.mode = SearchMode::Document;
    let error = project.servers.search(&document, LIMIT).await.expect_err("no path");
    assert_eq!(error.code(), "E_INVALID_PARAMS");
    let mut kinds = query("x");
    kinds.kinds = vec!["Klass".to_owned()];
    let error = project.servers.search(&kinds, LIMIT).await.expect_err("no such kind");
    assert!(error.to_string().contains("no kind \"Klass\"; kinds are File, Module"), "{error}");
    let empty = Project::new(&[], environment());
    assert_eq!(empty.servers.search(&query("x"), LIMIT).await.expect("nothing").total, 0);
}
