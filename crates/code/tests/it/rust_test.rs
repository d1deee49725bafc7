//! `cargo test`.

use std::time::Duration;

use termbridge_code::test_finder::{Place, Runner, test_at};

use crate::project::{LIMIT, Project};

const LIB: &str = "\
pub mod inner;

pub fn double(n: u32) -> u32 {
    n * 2
}

#[cfg(test)]
mod tests {
    mod deep {
        use super::super::double;

        #[test]
        #[ignore = \"slow\"]
        fn doubles() {
            let result = double(2);
            let after = result + 1; // mark: lib
            println!(\"this ran {}\", std::env::var(\"CARGO_MANIFEST_DIR\").unwrap());
            assert_eq!(after, 5);
        }

        #[test]
        fn doubles_more() {
            println!(\"another ran\");
            assert_eq!(double(2), 5); // mark: panic
        }
    }
}
";
const INNER: &str = "\
#[test]
fn doubles() {
    let n = 3; // mark: inner
    assert_eq!(n, 3);
}
";
const TESTS: &str = "\
mod helper;

#[test]
fn outside() {
    println!(\"another ran\");
}
";
const HELPER: &str = "\
#[test]
fn helped() {
    let n = one::double(1);
    let m = n + 1; // mark: helper
    println!(\"this ran {m}\");
}
";

fn project() -> Project {
    let package = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
    };
    Project::new(&[
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"one\", \"two\"]\nresolver = \"2\"\n\n[profile.dev]\ndebug = 0\n",
        ),
        ("one/Cargo.toml", &package("one")),
        ("one/src/lib.rs", LIB),
        ("one/src/inner.rs", INNER),
        ("one/tests/it/main.rs", TESTS),
        ("one/tests/it/helper.rs", HELPER),
        ("two/Cargo.toml", &package("two")),
        ("two/src/main.rs", "fn main() { missing() }\n"),
    ])
}

#[tokio::test]
async fn only_the_test_runs_with_its_values_shown() {
    let project = project();
    let stopped = project.stop_at("one/src/lib.rs", "lib").await;
    assert_eq!(stopped.run.runner, Runner::CargoTest);
    assert_eq!((stopped.run.name.as_str(), stopped.run.line), ("tests::deep::doubles", 12));
    let result = stopped.report.locals.iter().find(|local| local.name == "result");
    assert_eq!(result.expect("a profile without debug information has it").value, "4");
    let output = stopped.run_out().await;
    assert!(output.contains(&format!("this ran {}", project.path("one").display())), "{output}");
    assert!(output.contains("1 passed"), "{output}");
    assert!(!output.contains("another ran"), "{output}");
    let stopped = project.fail_at("one/src/lib.rs", "panic").await;
    assert!(stopped.report.output.text.contains("another ran"), "{:?}", stopped.report.output);
    let stopped = project.stop_at("one/src/inner.rs", "inner").await;
    assert_eq!(stopped.run.name, "inner::doubles");
}

#[tokio::test]
async fn a_module_of_an_integration_test_is_found() {
    let project = project();
    let stopped = project.stop_at("one/tests/it/helper.rs", "helper").await;
    assert_eq!(stopped.run.name, "helper::helped");
    let output = stopped.run_out().await;
    assert!(output.contains("this ran 3") && !output.contains("another ran"), "{output}");
}

#[tokio::test]
async fn what_does_not_build_says_why() {
    let project = project();
    let broken = format!("{INNER}\nfn broken() {{ undefined_name() }}\n");
    project.write("one/src/inner.rs", &broken);
    let error = project.test_at("one/src/inner.rs", 3).await.expect_err("does not build");
    assert_eq!(error.code(), "E_DISCOVERY_FAILED");
    assert!(error.to_string().contains("undefined_name"), "{error}");
    project.write("one/src/lost.rs", INNER);
    let error = project.test_at("one/src/lost.rs", 3).await.expect_err("no module");
    assert!(error.to_string().contains("not a module of a target of one"), "{error}");
}

#[tokio::test]
async fn a_build_ends_with_whoever_waits_for_it() {
    let project = project();
    let build = "fn main() {
        std::fs::write(\"pid\", std::process::id().to_string()).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(300));
    }";
    project.write("one/build.rs", build);
    let (file, root) = (project.path("one/src/inner.rs"), project.root());
    let waiting = test_at(&file, &Place::Line(3), &root, &project.environment, None, LIMIT);
    let pid_file = project.path("one/pid");
    let started = async {
        while std::fs::read_to_string(&pid_file).unwrap_or_default().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        run = waiting => panic!("it waits for the build: {run:?}"),
        () = started => {}
    }
    let pid = std::fs::read_to_string(&pid_file).expect("a number");
    let stat = format!("/proc/{pid}/stat");
    // Killed is not yet reaped.
    let alive = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    let gone = async {
        while alive() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, gone).await.expect("the build is gone");
}

#[tokio::test]
async fn a_build_that_takes_too_long_is_a_timeout() {
    let project = project();
    let (file, root) = (project.path("one/src/inner.rs"), project.root());
    let short = Duration::from_millis(1);
    let error = test_at(&file, &Place::Line(3), &root, &project.environment, None, short)
        .await
        .expect_err("too long");
    assert_eq!(error.code(), "E_TIMEOUT");
}

#[tokio::test]
async fn tests_that_a_macro_makes_are_found() {
    let project = project();
    let source = "\
macro_rules! doubles {
    ($($name:ident: $value:expr,)*) => {
        $(#[test] fn $name() { assert_eq!(super::double($value), $value * 2); })*
    };
}

mod a {
    doubles! {
        of_one: 1,
        of_two: 2,
    }
}

mod b {
    doubles! { of_one: 1, }
}

fn double(n: u32) -> u32 {
    debug_assert!(n < 5, \"of_two\");
    n * 2
}
";
    project.write("one/tests/it/helper.rs", source);
    project.write("one/tests/it/main.rs", "mod helper;\n");
    let file = "one/tests/it/helper.rs";
    let by_name = async |name: &str| project.test(file, &Place::Name(name.to_owned())).await;
    for name in ["of_two", "a::of_two", "helper::a::of_two"] {
        let run = by_name(name).await.expect("the harness lists it");
        assert_eq!((run.name.as_str(), run.line), ("helper::a::of_two", 10), "{name}");
        assert_eq!(run.configuration.fields["args"][1], "--exact");
    }
    let error = by_name("of_one").await.expect_err("two");
    assert_eq!(error.code(), "E_AMBIGUOUS_SYMBOL");
    assert!(error.to_string().ends_with("helper::a::of_one, helper::b::of_one"), "{error}");
    let error = by_name("of_twoo").await.expect_err("none");
    assert!(error.to_string().contains("near: helper::a::of_two"), "{error}");
    // By the line that names it; a macro in a function makes none.
    assert_eq!(
        project.test_at(file, 10).await.map(|run| run.name),
        Ok("helper::a::of_two".to_owned())
    );
    assert_eq!(project.test_at(file, 18).await.expect_err("none").code(), "E_NO_TEST_AT_CURSOR");
}
