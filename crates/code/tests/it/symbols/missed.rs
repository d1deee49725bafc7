//! Uses of a name outside of what a language server's project includes.

use termbridge_code::symbols::{MaybeMissed, Navigation};

use super::project::{LIMIT, Project, environment, named};

/// The files and lines, as `path:line,line`.
fn shown(missed: &[MaybeMissed]) -> Vec<String> {
    let line = |file: &MaybeMissed| {
        let lines: Vec<_> = file.lines.iter().map(u64::to_string).collect();
        format!("{}:{}", file.path, lines.join(","))
    };
    missed.iter().map(line).collect()
}

/// What references and a rename find of a name: the files that they hold, and what they may have missed.
async fn uses(project: &Project, path: &str, symbol: &str) -> [(Vec<String>, Vec<String>); 2] {
    let which = named(path, symbol);
    let found = project.servers.navigate(&which, Navigation::References, LIMIT).await;
    let found = found.expect("references");
    let mut files: Vec<_> = found.locations.iter().map(|place| place.path.clone()).collect();
    files.dedup();
    let renamed = project.servers.rename(&which, "plus", LIMIT).await.expect("renames");
    let changed = renamed.changed.iter().map(|file| file.path.clone()).collect();
    project.servers.shutdown().await;
    [(files, shown(&found.maybe_missed)), (changed, shown(&renamed.maybe_missed))]
}

fn both<T: Clone>(one: T) -> [T; 2] {
    [one.clone(), one]
}

fn texts(all: &[&str]) -> Vec<String> {
    all.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn python_files_that_pyright_leaves_out_are_looked_at() {
    let files = [
        ("pyrightconfig.json", r#"{"include": ["src"], "extraPaths": ["src"]}"#),
        ("src/calc.py", "def add(a, b):\n    return a + b\n"),
        ("src/user.py", "from calc import add\n\nprint(add(1, 2))\n"),
        ("tests/test_calc.py", "from calc import add\n\n\ndef test_it():\n    assert add(1, 2)\n"),
        // Another symbol of the name, a name in words only, and one that nothing can tell.
        ("tests/other.py", "def add():\n    pass\n\n\nadd()\n"),
        ("tests/words.py", "# add is named here\nprint(\"add\")\n"),
        ("tools/script.py", "import unknown\n\nunknown.add(1, 2)\n"),
    ];
    let project = Project::new(&files, environment());
    let found = uses(&project, "src/calc.py", "add").await;
    let held = texts(&["src/calc.py", "src/user.py", "tests/test_calc.py"]);
    // pyright finds uses in files that are open, and renames only those in files of its project.
    let renamed = (held[..2].to_vec(), texts(&["tests/test_calc.py:1,5", "tools/script.py:3"]));
    assert_eq!(found, [(held, texts(&["tools/script.py:3"])), renamed]);
    assert!(project.text("src/user.py").contains("plus(1, 2)"));
}

#[tokio::test]
async fn typescript_files_outside_of_the_tsconfig_are_looked_at() {
    let files = [
        ("tsconfig.json", r#"{"compilerOptions": {"strict": true}, "include": ["src"]}"#),
        ("src/calc.ts", "export function add(a: number, b: number) {\n  return a + b;\n}\n"),
        ("src/user.ts", "import { add } from \"./calc\";\nexport const three = add(1, 2);\n"),
        ("tests/calc.test.ts", "import { add } from \"../src/calc\";\nadd(1, 2);\n"),
        ("tests/other.ts", "function add() {}\nadd();\nexport {};\n"),
        ("tests/untyped.ts", "declare const unknown: any;\nunknown.add(1);\nexport {};\n"),
    ];
    let project = Project::new(&files, environment());
    let found = uses(&project, "src/calc.ts", "add").await;
    let held = texts(&["src/calc.ts", "src/user.ts", "tests/calc.test.ts"]);
    assert_eq!(found, both((held, texts(&["tests/untyped.ts:2"]))));
}

#[tokio::test]
async fn rust_that_no_module_declares_is_named() {
    let manifest =
        "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    let files = [
        ("Cargo.toml", manifest),
        (
            "src/lib.rs",
            "pub fn add() {}\n\n#[cfg(windows)]\npub fn on_windows() {\n    add();\n}\n\npub mod other {\n    \
             pub fn add() {}\n}\n",
        ),
        ("src/lost.rs", "pub fn lost() {\n    crate::add();\n}\n"),
    ];
    let project = Project::new(&files, environment());
    let found = uses(&project, "src/lib.rs", "add@1").await;
    assert_eq!(found, both((texts(&["src/lib.rs"]), texts(&["src/lost.rs:2"]))));
}

#[tokio::test]
async fn go_behind_a_build_tag_is_named() {
    let files = [
        ("go.mod", "module demo\n\ngo 1.19\n"),
        ("calc.go", "package demo\n\nfunc add() {}\n\nfunc use() { add() }\n"),
        ("tagged.go", "//go:build special\n\npackage demo\n\nfunc tagged() { add() }\n"),
    ];
    let project = Project::new(&files, environment());
    let found = uses(&project, "calc.go", "add").await;
    assert_eq!(found, both((texts(&["calc.go"]), texts(&["tagged.go:5"]))));
}
