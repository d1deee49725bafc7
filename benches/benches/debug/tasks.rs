//! What it costs an agent: calls and bytes of text for three tasks, bytes of a stop, and the time of large
//! values.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use termbridge_benches::{client_at, row};
use termbridge_mcp::client::Client;

use super::{js_debug, python, shown};

/// Longest wait, on a machine that does much else.
const PATIENCE_MS: u64 = 60_000;

/// What an agent would do: its calls, and the text that it reads.
struct Agent {
    client: Client,
    calls: usize,
    bytes: usize,
}

impl Agent {
    fn new(folder: &Path, server: &Path) -> Result<Self> {
        let js = js_debug().display().to_string();
        let config = format!("[debug.adapters]\npython = {:?}\njs_debug = {js:?}\n", python());
        std::fs::write(folder.join("config.toml"), config)?;
        let config = folder.join("config.toml").display().to_string();
        Ok(Self { client: client_at(folder, server, &["--config", &config])?, calls: 0, bytes: 0 })
    }

    /// The text of an answer, which must have these words.
    fn call(&mut self, tool: &str, arguments: Value, words: &str) -> Result<()> {
        let answer = self.client.call(tool, arguments)?;
        ensure!(!answer.is_error, "{tool}: {}", answer.text);
        ensure!(answer.text.contains(words), "{tool}: no {words:?} in {}", answer.text);
        self.calls += 1;
        self.bytes += answer.text.len();
        Ok(())
    }

    fn told(&self, task: &str) {
        let cost = format!("{} calls, {} B", self.calls, self.bytes);
        row(&format!("task: {task}"), &cost, "", "");
    }
}

/// The three tasks of the comparison with other servers.
pub(super) fn costs(server: &Path) -> Result<()> {
    failing_test(server)?;
    struct_of_rust(server)?;
    source_maps(server)
}

/// A test fails; the right value of a variable proves why.
fn failing_test(server: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let code = "import click\n\n\ndef discounted(amount, percent):\n    return amount - amount * percent / 100\n\n\n\
        @click.command()\n@click.argument('amount', type=float)\n@click.option('--percent', type=int, default=0)\n\
        def price(amount, percent):\n    click.echo(discounted(amount, percent // 10))\n";
    let test = "from click.testing import CliRunner\n\nfrom shop import price\n\n\ndef test_ten_percent_off():\n    \
        result = CliRunner().invoke(price, ['20', '--percent', '10'])\n    assert result.output == '18.0\\n'\n";
    std::fs::write(folder.path().join("shop.py"), code)?;
    std::fs::write(folder.path().join("test_shop.py"), test)?;
    // The project's own interpreter, which has pytest and click.
    let python = python();
    if let Some(environment) = Path::new(&python).parent().and_then(Path::parent) {
        std::os::unix::fs::symlink(environment, folder.path().join(".venv"))?;
    }
    let mut agent = Agent::new(folder.path(), server)?;
    let place = json!({"path": "shop.py", "text": "return amount - amount"});
    agent.call("breakpoint_set", place, "shop.py:5")?;
    let test =
        json!({"path": "test_shop.py", "name": "test_ten_percent_off", "timeoutMs": PATIENCE_MS});
    agent.call("test_debug_single", test, "percent = 1 ")?;
    agent.call("debug_evaluate", json!({"expression": "percent = 10"}), "")?;
    agent.call("debug_continue", json!({"timeoutMs": PATIENCE_MS}), "exit code 0")?;
    agent.told("a failing pytest, proven by a variable");
    Ok(())
}

/// What a struct holds in a loop.
fn struct_of_rust(server: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let code = "#[derive(Debug)]\nstruct User { name: String, age: Option<u8>, tags: Vec<&'static str> }\n\n\
        fn older(user: &mut User) {\n    user.age = Some(37);\n}\n\n\
        fn main() {\n    let mut user = User { name: \"Ada\".into(), age: Some(36), tags: vec![\"a\", \"b\"] };\n    \
        older(&mut user);\n    println!(\"{user:?}\");\n}\n";
    std::fs::write(folder.path().join("user.rs"), code)?;
    run(Command::new("rustc").args(["-g", "user.rs"]).current_dir(folder.path()))?;
    let mut agent = Agent::new(folder.path(), server)?;
    agent.call("breakpoint_set", json!({"path": "user.rs", "text": "user.age ="}), "user.rs:5")?;
    let start = json!({"program": "user", "wait": true, "timeoutMs": PATIENCE_MS});
    agent.call("debug_start", start, r#"User { name: "Ada", age: Some(36), tags: ["a", "b"] }"#)?;
    agent.call("debug_continue", json!({"timeoutMs": PATIENCE_MS}), "age: Some(37)")?;
    agent.told("a struct of Rust");
    Ok(())
}

/// A breakpoint in TypeScript, in a program that runs as JavaScript.
fn source_maps(server: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let code = "interface Item { price: number }\n\nfunction total(items: Item[]): number {\n  let sum: number = 0;\n  \
        for (const item of items) {\n    sum += item.price;\n  }\n  return sum;\n}\n\nconsole.log(total([{ price: 2 }, { price: 3 }]));\n";
    std::fs::create_dir(folder.path().join("src"))?;
    std::fs::write(folder.path().join("src/shop.ts"), code)?;
    let compiler = js_debug().join("../../../../../typescript/bin/tsc");
    run(Command::new("node").arg(compiler).current_dir(folder.path()).args([
        "--sourceMap",
        "--outDir",
        "dist",
        "--target",
        "es2022",
        "--module",
        "commonjs",
        "src/shop.ts",
    ]))?;
    let mut agent = Agent::new(folder.path(), server)?;
    let place = json!({"path": "src/shop.ts", "text": "return sum"});
    agent.call("breakpoint_set", place, "shop.ts:8")?;
    let start = json!({"program": "dist/shop.js", "wait": true, "timeoutMs": PATIENCE_MS});
    agent.call("debug_start", start, "sum = 5")?;
    agent.call("debug_continue", json!({"timeoutMs": PATIENCE_MS}), "exit code 0")?;
    agent.told("TypeScript with source maps");
    Ok(())
}

/// The time that it takes to list the variables of a frame with a vector of a million elements, and of one
/// with about a hundred values of all kinds.
pub(super) fn large_values(server: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let code = "fn main() {\n    let large: Vec<u64> = (0..1_000_000).collect();\n    println!(\"{}\", large.len());\n}\n";
    std::fs::write(folder.path().join("large.rs"), code)?;
    run(Command::new("rustc").args(["-g", "large.rs"]).current_dir(folder.path()))?;
    listed(
        server,
        folder.path(),
        "large",
        json!({"path": "large.rs", "text": "println"}),
        "a vector of 1,000,000",
    )?;
    let values =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/dap/tests/programs/values.rs");
    std::fs::copy(&values, folder.path().join("values.rs"))?;
    run(Command::new("rustc")
        .args(["-g", "--edition=2024", "values.rs"])
        .current_dir(folder.path()))?;
    let text = std::fs::read_to_string(&values)?;
    let line = text.lines().position(|line| line.contains("mark: values"));
    let line = line.context("values.rs has no mark")? + 1;
    listed(
        server,
        folder.path(),
        "values",
        json!({"path": "values.rs", "line": line}),
        "108 values of Rust",
    )
}

fn listed(server: &Path, folder: &Path, program: &str, place: Value, what: &str) -> Result<()> {
    let mut agent = Agent::new(folder, server)?;
    agent.call("breakpoint_set", place, "Breakpoint")?;
    let start = json!({"program": program, "wait": true, "timeoutMs": PATIENCE_MS});
    agent.call("debug_start", start, "Stopped (breakpoint)")?;
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let began = Instant::now();
        agent.call("debug_list_variables", json!({"scope": "local"}), "")?;
        best = best.min(began.elapsed());
    }
    row(&format!("debug_list_variables, {what}"), &shown(best), "", "");
    Ok(())
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
