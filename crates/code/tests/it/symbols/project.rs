//! Small projects in folders of their own, one for each language, all of the same shape.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use termbridge_code::symbols::{LanguageServers, SymbolRef};
use termbridge_dap::Environment;

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(50);

/// What a language's project is made of: a function that a method of the same file and a function
/// of another file call, the latter after characters of several bytes.
pub(crate) struct Shape {
    pub(crate) main: &'static str,
    pub(crate) other: &'static str,
    /// Files by name and text.
    pub(crate) files: &'static [(&'static str, &'static str)],
    /// The function, and a name to give it.
    pub(crate) function: &'static str,
    pub(crate) new_name: &'static str,
    /// The method, which another type has too.
    pub(crate) method: &'static str,
    pub(crate) caller: &'static str,
    /// A new text for the method, at the margin, that calls `new_name` once.
    pub(crate) replacement: &'static str,
    /// A file with one more use of `new_name`.
    pub(crate) late: (&'static str, &'static str),
}

pub(crate) const PYTHON: Shape = Shape {
    main: "calc.py",
    other: "user.py",
    files: &[
        (
            "calc.py",
            "def add(a, b):\n    return a + b\n\n\nclass Calc:\n    @staticmethod\n    def twice(n):\n        \
             return add(n, n)\n\n\nclass Other:\n    def twice(self):\n        return 2\n",
        ),
        ("user.py", "from calc import add\n\n\ndef use_it():\n    return \"é𝄞\", add(1, 2)\n"),
    ],
    function: "add",
    new_name: "plus",
    method: "Calc.twice",
    caller: "use_it",
    replacement: "def twice(n):\n    m = n\n    return plus(m, m)\n",
    late: ("late.py", "import calc\n\nprint(calc.plus(1, 2))\n"),
};

pub(crate) const TYPESCRIPT: Shape = Shape {
    main: "src/calc.ts",
    other: "src/user.ts",
    files: &[
        ("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}, \"include\": [\"src\"]}\n"),
        (
            "src/calc.ts",
            "/* é𝄞 */ export function add(a: number, b: number): number {\n  return a + b;\n}\n\n\
             export class Calc {\n  /** Doubles. */\n  twice(n: number): number {\n    return add(n, n);\n  \
             }\n}\n\nexport class Other {\n  twice(): number {\n    return 2;\n  }\n}\n",
        ),
        (
            "src/user.ts",
            "import { add } from \"./calc\";\n\nexport function useIt(): unknown {\n  return [\"é𝄞\", \
             add(1, 2)];\n}\n",
        ),
    ],
    function: "add",
    new_name: "plus",
    method: "Calc.twice",
    caller: "useIt",
    replacement: "twice(n: number): number {\n  const m = n;\n  return plus(m, m);\n}",
    late: ("src/late.ts", "import { plus } from \"./calc\";\nplus(1, 2);\n"),
};

pub(crate) const GO: Shape = Shape {
    main: "calc.go",
    other: "user.go",
    files: &[
        ("go.mod", "module demo\n\ngo 1.19\n"),
        (
            "calc.go",
            "package demo\n\n/* é𝄞 */ func add(a, b int) int { return a + b }\n\ntype Calc struct{}\n\n// \
             Twice doubles.\nfunc (c *Calc) Twice(n int) int {\n\treturn add(n, n)\n}\n\ntype Other \
             struct{}\n\nfunc (o Other) Twice() int { return 2 }\n",
        ),
        (
            "user.go",
            "package demo\n\nfunc useIt() (string, int) {\n\treturn \"é𝄞\", add(1, 2)\n}\n",
        ),
    ],
    function: "add",
    new_name: "plus",
    method: "Calc.Twice",
    caller: "useIt",
    replacement: "func (c *Calc) Twice(n int) int {\n\tm := n\n\treturn plus(m, m)\n}",
    late: ("late.go", "package demo\n\nvar late = plus(1, 2)\n"),
};

pub(crate) const RUST: Shape = Shape {
    main: "src/lib.rs",
    other: "src/user.rs",
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n",
        ),
        (
            "src/lib.rs",
            "pub mod user;\n\n/* é𝄞 */ pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n\npub struct \
             Calc;\n\nimpl Calc {\n    /// Doubles.\n    #[inline]\n    pub fn twice(&self, n: u32) -> u32 \
             {\n        add(n, n)\n    }\n}\n\npub struct Other;\n\nimpl Other {\n    pub fn twice(&self) -> \
             u32 {\n        2\n    }\n}\n",
        ),
        (
            "src/user.rs",
            "use crate::add;\n\npub fn use_it() -> (&'static str, u32) {\n    (\"é𝄞\", add(1, 2))\n}\n",
        ),
    ],
    function: "add",
    new_name: "plus",
    method: "Calc::twice",
    caller: "use_it",
    replacement: "pub fn twice(&self, n: u32) -> u32 {\n    let m = n;\n    plus(m, m)\n}",
    // Part of the crate by the edit of another file.
    late: ("src/user.rs", "pub fn late() -> u32 {\n    crate::plus(1, 2)\n}\n"),
};

/// A project, and the servers for it.
pub(crate) struct Project {
    pub(crate) folder: TempDir,
    pub(crate) servers: LanguageServers,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)], environment: Environment) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let servers = LanguageServers::new(folder.path().to_owned(), environment);
        let project = Self { folder, servers };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a text")
    }

    /// Where a text is written first in a file: its line, and its column in characters.
    pub(crate) fn place(&self, name: &str, wanted: &str) -> (u64, u64) {
        let text = self.text(name);
        let at = text.find(wanted).unwrap_or_else(|| panic!("no {wanted} in {name}"));
        let before = &text[..at];
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() as u64 + 1, line.chars().count() as u64 + 1)
    }
}

/// A symbol of a file.
pub(crate) fn named(path: &str, symbol: &str) -> SymbolRef {
    SymbolRef::Named { path: path.into(), symbol: symbol.to_owned() }
}

/// This process's environment, with the servers that `scripts/setup-tests` installs.
pub(crate) fn environment() -> Environment {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let modules = root.join("tests/debuggers/node_modules/.bin");
    let modules = modules.canonicalize().expect("no node_modules: run scripts/setup-tests");
    let environment = Environment::of_process();
    let path = environment.get("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(modules).chain(std::env::split_paths(path)));
    environment.with("PATH", path.expect("a search path"))
}
