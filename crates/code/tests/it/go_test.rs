//! `go test`.

use termbridge_code::test_finder::Runner;

use crate::project::Project;

const TESTS: &str = "\
package app

import \"testing\"

func TestOne(t *testing.T) {
\tt.Run(\"a (b)\", func(t *testing.T) {
\t\tt.Log(\"this ran\") // mark: sub
\t})
\tt.Run(\"a\", func(t *testing.T) {
\t\tt.Log(\"another ran\")
\t})
\tfor _, name := range []string{\"x\", \"y\"} {
\t\tt.Run(name, func(t *testing.T) {
\t\t\tt.Log(name) // mark: table
\t\t})
\t}
}

func TestOneMore(t *testing.T) {
\tt.Log(\"another ran\")
}

func TestPanic(t *testing.T) {
\tvar none map[string]int
\tnone[\"x\"] = 1 // mark: panic
}
";

fn project() -> Project {
    Project::new(&[("go.mod", "module app\n\ngo 1.19\n"), ("pkg/app_test.go", TESTS)])
}

#[tokio::test]
async fn only_the_subtest_runs() {
    let project = project();
    let stopped = project.stop_at("pkg/app_test.go", "sub").await;
    assert_eq!(stopped.run.runner, Runner::GoTest);
    assert_eq!((stopped.run.name.as_str(), stopped.run.line), ("TestOne/a_(b)", 6));
    let output = stopped.run_out().await;
    assert!(output.contains("this ran") && output.contains("PASS"), "{output}");
    assert!(!output.contains("another ran"), "{output}");
}

#[tokio::test]
async fn a_name_that_is_no_literal_runs_the_test_around_it() {
    let project = project();
    let line = project.line("pkg/app_test.go", "table");
    let run = project.test_at("pkg/app_test.go", line).await.expect("a test");
    assert_eq!(run.name, "TestOne");
}

#[tokio::test]
async fn a_panic_stops_without_a_breakpoint() {
    let project = project();
    let line = project.line("pkg/app_test.go", "panic");
    let stopped = project.start_at("pkg/app_test.go", line).await;
    assert_eq!(stopped.run.name, "TestPanic");
    let exception = stopped.report.exception.expect("an exception");
    // The runner panics again, so it is farther up the stack.
    let stack = exception.stack.expect("a stack");
    assert!(stack.contains(&format!("app_test.go:{line}")), "{stack}");
}
