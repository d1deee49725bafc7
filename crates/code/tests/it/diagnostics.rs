//! Findings of the real tools.

use termbridge_code::CodeError;
use termbridge_code::diagnostics::{Diagnostic, Findings, Severity, ToolStatus, collect};
use termbridge_dap::Environment;

use crate::project::{LIMIT, Project};

async fn findings(project: &Project, path: Option<&str>) -> Result<Findings, CodeError> {
    let path = path.map(|path| project.path(path));
    collect(path.as_deref(), &project.root(), &project.environment, LIMIT).await
}

type Place = (String, u64, u64, Severity, String);

/// File, line, column, severity and code of each, the file beneath the project.
fn places(project: &Project, found: &Findings) -> Vec<Place> {
    let place = |found: &Diagnostic| {
        let path = found.path.strip_prefix(project.root()).expect("in the project");
        let code = found.code.clone().unwrap_or_default();
        (path.display().to_string(), found.line, found.column, found.severity, code)
    };
    found.diagnostics.iter().map(place).collect()
}

fn place(path: &str, line: u64, column: u64, severity: Severity, code: &str) -> Place {
    (path.to_owned(), line, column, severity, code.to_owned())
}

fn statuses(found: &Findings) -> Vec<(&'static str, ToolStatus)> {
    found.tools.iter().map(|tool| (tool.name, tool.status)).collect()
}

#[tokio::test]
async fn cargo_checks_all_members_and_targets_once() {
    let package = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    };
    let project = Project::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"2\"\n"),
        ("one/Cargo.toml", &package("one")),
        ("one/src/lib.rs", "pub fn one() {\n    let unused = 1;\n}\n"),
        ("one/tests/it.rs", "#[test]\nfn it() {\n    one::two();\n}\n"),
        ("two/Cargo.toml", &package("two")),
        ("two/src/main.rs", "fn main() {\n    println!(\"{}\", missing);\n}\n"),
    ]);
    let found = findings(&project, None).await.expect("findings");
    let expected = [
        place("one/src/lib.rs", 2, 9, Severity::Warning, "unused_variables"),
        place("one/tests/it.rs", 3, 10, Severity::Error, "E0425"),
        place("two/src/main.rs", 2, 20, Severity::Error, "E0425"),
    ];
    assert_eq!(places(&project, &found), expected);
    assert_eq!((found.total, found.cut), (3, false));
    assert_eq!(statuses(&found), [("cargo check", ToolStatus::Ran)]);
    let found = findings(&project, Some("one/src/lib.rs")).await.expect("findings");
    assert_eq!(places(&project, &found), expected[..1]);
    let shown = serde_json::to_value(&found).expect("is written");
    assert_eq!(shown["diagnostics"][0]["endColumn"], 15);
    assert_eq!(shown["diagnostics"][0]["severity"], "warning");
    assert_eq!(shown["tools"][0]["status"], "ran");
    project.write("one/Cargo.toml", "[package\n");
    let found = findings(&project, None).await.expect("findings");
    assert_eq!(statuses(&found), [("cargo check", ToolStatus::Failed)]);
    let message = found.tools[0].message.clone().expect("a message");
    assert!(message.contains("one/Cargo.toml"), "{message}");
}

#[tokio::test]
async fn ruff_and_pyright_look_at_python() {
    let project = Project::new(&[
        ("pyproject.toml", "[project]\nname = \"app\"\nversion = \"1\"\n"),
        ("app/good.py", "x: int = 1\n"),
        ("app/bad.py", "import os\n\nx: int = 'a'\n"),
    ])
    .with_node_modules();
    let found = findings(&project, Some("app")).await.expect("findings");
    let expected = [
        place("app/bad.py", 1, 8, Severity::Warning, "F401"),
        place("app/bad.py", 3, 10, Severity::Error, "reportAssignmentType"),
    ];
    assert_eq!(places(&project, &found), expected, "{:?}", found.tools);
    assert_eq!(statuses(&found), [("pyright", ToolStatus::Ran), ("ruff", ToolStatus::Ran)]);
    let found = findings(&project, Some("app/good.py")).await.expect("findings");
    assert_eq!(found.total, 0);
    assert_eq!(statuses(&found), [("pyright", ToolStatus::Ran), ("ruff", ToolStatus::Ran)]);
}

#[tokio::test]
async fn tsc_looks_at_its_projects() {
    let settings = r#"{"compilerOptions": {"strict": true, "types": []}, "include": ["src"]}"#;
    let project = Project::new(&[
        ("web/tsconfig.json", settings),
        ("web/src/a.ts", "export const x: number = 'a';\n"),
        ("web/src/b.ts", "export const y: number = 1;\n"),
    ])
    .with_node_modules();
    // The project is beneath the workspace.
    let found = findings(&project, None).await.expect("findings");
    let expected = [place("web/src/a.ts", 1, 14, Severity::Error, "TS2322")];
    assert_eq!(places(&project, &found), expected, "{:?}", found.tools);
    let found = findings(&project, Some("web/src/b.ts")).await.expect("findings");
    assert_eq!((found.total, statuses(&found)), (0, vec![("tsc", ToolStatus::Ran)]));
}

#[tokio::test]
async fn go_vet_looks_at_packages() {
    let project = Project::new(&[
        ("go.mod", "module app\n\ngo 1.19\n"),
        ("a.go", "package app\n\nimport \"fmt\"\n\nfunc F() {\n\tfmt.Printf(\"%d\", \"x\")\n}\n"),
        ("sub/b.go", "package sub\n\nfunc F() { undefined_name() }\n"),
    ]);
    let found = findings(&project, None).await.expect("findings");
    let expected =
        [place("a.go", 6, 2, Severity::Warning, ""), place("sub/b.go", 3, 12, Severity::Error, "")];
    assert_eq!(places(&project, &found), expected, "{:?}", found.tools);
    let found = findings(&project, Some("sub/b.go")).await.expect("findings");
    assert_eq!(places(&project, &found), expected[1..]);
}

#[tokio::test]
async fn what_is_missing_is_named_with_its_install() {
    let mut project = Project::new(&[
        ("Cargo.toml", "[workspace]\n"),
        ("go.mod", "module app\n"),
        ("tsconfig.json", "{}"),
        ("a.py", "x = 1\n"),
    ]);
    project.environment = Environment::default();
    let found = findings(&project, None).await.expect("findings");
    let names = ["cargo check", "go vet", "pyright", "ruff", "tsc"];
    assert_eq!(statuses(&found), names.map(|name| (name, ToolStatus::Missing)));
    for tool in &found.tools {
        assert!(tool.message.as_deref().is_some_and(|text| text.contains("install it with: ")));
    }
    let error = findings(&project, Some("no.py")).await.expect_err("no file");
    assert_eq!(error.code(), "E_FILE_NOT_FOUND");
}
