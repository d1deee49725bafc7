//! libvterm's own tests, for our terminal.
//!
//! The files come from Debian's source package; `scripts/setup-tests` unpacks them below `target`. Their language is that
//! of libvterm's `t/harness.c` and `t/run-test.pl`: commands, the events that they cause inside of libvterm, and
//! questions about the screen. Events are checked by what they do to a screen ([`model`]), since ours shows nothing else.
//!
//! `LIBVTERM_VERBOSE=1` with `--no-capture` prints every test.

mod differences;
mod harness;
mod model;
mod perl;
mod queries;
mod script;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::differences::{DIFFERENT, FEWEST};
use crate::harness::{Harness, Outcome};
use crate::script::Test;

/// What became of a named test.
enum Verdict {
    Passed,
    Failed(Vec<String>),
    /// Nothing of it is seen, for this reason.
    Unseen(&'static str),
    /// It expects nothing.
    Nothing,
}

/// Runs the tests of a file one after another: each begins with what the one before left.
fn run(file: &str, text: &str) -> Vec<(String, Verdict)> {
    let mut harness = Harness::new();
    script::parse(file, text)
        .into_iter()
        .map(|test| (test.name.clone(), judge(&mut harness, &test)))
        .collect()
}

fn judge(harness: &mut Harness, test: &Test) -> Verdict {
    let (mut passed, mut failures, mut reason) = (0, Vec::new(), None);
    for step in &test.steps {
        let outcomes =
            catch_unwind(AssertUnwindSafe(|| harness.step(step))).unwrap_or_else(|panic| {
                vec![Outcome::Failed(format!("panic: {:?}", panic.downcast_ref::<String>()))]
            });
        for outcome in outcomes {
            match outcome {
                Outcome::Passed => passed += 1,
                Outcome::Failed(message) => failures.push(format!("line {}: {message}", step.line)),
                Outcome::Unseen(why) => reason = Some(why),
            }
        }
    }
    match (failures.is_empty(), passed, reason) {
        (false, _, _) => Verdict::Failed(failures),
        (true, 0, Some(reason)) => Verdict::Unseen(reason),
        (true, 0, None) => Verdict::Nothing,
        (true, _, _) => Verdict::Passed,
    }
}

/// The folders with libvterm's tests.
fn folders() -> Vec<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target =
        target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    let mut folders: Vec<PathBuf> = std::fs::read_dir(target.join("libvterm"))
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.path().join("t"))
                .filter(|path| path.is_dir())
                .collect()
        })
        .unwrap_or_default();
    assert!(!folders.is_empty(), "libvterm's tests are missing: run scripts/setup-tests");
    folders.sort();
    folders
}

#[test]
fn libvterms_tests_pass() {
    for folder in folders() {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
            .expect("a folder")
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "test"));
        files.sort();
        let mut report = Report::default();
        for path in &files {
            let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(path).expect("a file");
            run(&file, &text)
                .into_iter()
                .for_each(|(name, verdict)| report.add(&file, &name, verdict));
        }
        eprintln!("{}\n{}", folder.display(), report.summary());
        assert!(report.wrong.is_empty(), "{}\n{}", report.summary(), report.wrong);
        assert!(report.passed >= FEWEST, "only {} tests were understood and passed", report.passed);
    }
}

/// Counts of one run.
#[derive(Default)]
struct Report {
    passed: usize,
    different: BTreeMap<&'static str, usize>,
    unseen: BTreeMap<&'static str, usize>,
    /// Tests that fail and are not listed, or are listed and pass.
    wrong: String,
}

impl Report {
    fn add(&mut self, file: &str, name: &str, verdict: Verdict) {
        let verbose = std::env::var_os("LIBVTERM_VERBOSE").is_some();
        let listed = DIFFERENT
            .iter()
            .find(|(in_file, named, _)| file.starts_with(in_file) && *named == name);
        let text = match (verdict, listed) {
            (Verdict::Passed, None) => {
                self.passed += 1;
                "passes".to_owned()
            }
            (Verdict::Passed, Some(_)) => {
                let _ = writeln!(self.wrong, "{file}: {name}: it passes; take it out of the list");
                "passes, and is listed".to_owned()
            }
            (Verdict::Failed(_), Some((_, _, reason))) => {
                *self.different.entry(reason).or_default() += 1;
                format!("differs: {reason}")
            }
            (Verdict::Failed(failures), None) => {
                let _ = writeln!(self.wrong, "{file}: {name}:");
                failures.iter().take(4).for_each(|failure| {
                    let _ = writeln!(self.wrong, "    {failure}");
                });
                format!("fails: {}", failures.join("; "))
            }
            (Verdict::Nothing, _) => "expects nothing".to_owned(),
            (Verdict::Unseen(reason), _) => {
                *self.unseen.entry(reason).or_default() += 1;
                format!("not seen: {reason}")
            }
        };
        if verbose {
            eprintln!("{file}: {name}: {text}");
        }
    }

    fn summary(&self) -> String {
        let different: usize = self.different.values().sum();
        let mut text = format!("{} of {} tests pass", self.passed, self.passed + different);
        for (title, counts) in [("differ", &self.different), ("are not seen", &self.unseen)] {
            for (reason, count) in counts {
                let _ = write!(text, "\n  {count:3} {title}: {reason}");
            }
        }
        text
    }
}
