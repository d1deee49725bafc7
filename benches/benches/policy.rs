//! How long the policy takes to decide: `cargo bench -p termbridge-benches --bench policy`.
//!
//! The floor is a split of the same bytes into shell words (the `shlex` crate), which any judge of
//! command lines needs at least. `--quick` takes few samples: it shows that everything runs, not how
//! fast.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use termbridge_benches::{row, times};
use termbridge_bridge::policy::{Decision, Dialect, MAX_COMMAND, Policy, PolicyConfig};

fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick" || argument == "--test");
    let samples = if quick { 20 } else { 2000 };
    row("measure", "ours", "floor", "ratio");
    let home = Path::new("/home/ann");
    let open = Policy::new(&PolicyConfig::default(), home)?;
    let allow = ["cd", "cargo", "git", "tail", "grep", "echo"].map(str::to_owned).to_vec();
    let listed = Policy::new(&PolicyConfig { allow, ..PolicyConfig::default() }, home)?;

    let line = "cd crates/policy && cargo test --all-features 2>&1 | grep -v PASS | tail -n 20";
    measure("a line", &open, line, Dialect::Bash, samples);
    measure("a line, sh", &open, line, Dialect::Posix, samples);
    measure("a line, fish", &open, line, Dialect::Fish, samples);
    measure("a line, allow list", &listed, line, Dialect::Bash, samples);

    let script =
        "for f in src/*.rs; do\n  if [ -f \"$f\" ]; then grep -n \"x y\" \"$f\"; fi\ndone\n";
    let long = script.repeat(64 * 1024 / script.len());
    measure("a script of 64 KB", &open, &long, Dialect::Bash, samples / 20 + 1);

    let few = samples / 200 + 2;
    for (name, text) in hostile() {
        measure(&format!("hostile: {name}"), &open, &text, Dialect::Posix, few);
    }
    Ok(())
}

/// Lines made to cost much; what exceeds a bound is refused.
fn hostile() -> Vec<(&'static str, String)> {
    let longest = MAX_COMMAND;
    let calls: Vec<String> =
        (1..40).map(|n| format!("f{n}() {{ f{0}; f{0}; }}; ", n - 1)).collect();
    let loops = "for a in 1 2 3 4 5 6 7 8; do ".repeat(9) + "echo $a" + &"; done".repeat(9);
    vec![
        ("functions that double", calls.concat() + "f39"),
        ("nested loops", loops),
        ("variables that double", format!("x=aaaa; {} $x", "x=$x$x; ".repeat(60))),
        ("braces", "echo ".to_owned() + &"{a,b}".repeat(200)),
        ("unclosed parentheses", "$((".repeat(longest / 3)),
        ("many commands", "a;".repeat(longest / 2)),
        ("many words", "a ".repeat(longest / 2)),
        ("many patterns", "rm -rf ".to_owned() + &"*".repeat(longest - 7)),
    ]
}

fn measure(name: &str, policy: &Policy, text: &str, dialect: Dialect, samples: usize) {
    let (cwd, home) = (Path::new("/home/ann/project"), Path::new("/home/ann"));
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        let began = Instant::now();
        let decision = policy.check_command(text, dialect, cwd, home);
        ours.push(began.elapsed());
        std::hint::black_box::<Decision>(decision);
        let began = Instant::now();
        std::hint::black_box(shlex::split(text));
        // A clock has steps; a floor of nothing has no ratio.
        floor.push(began.elapsed().max(Duration::from_nanos(1)));
    }
    times(name, &mut ours, &mut floor);
}
