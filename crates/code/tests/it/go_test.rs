//! `go test`.

use termbridge_code::test_finder::{Place, Runner};

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

func TestFail(t *testing.T) {
\tt.Run(\"inner\", func(t *testing.T) {
\t\tt.Errorf(\"got %d\", 3) // mark: error
\t})
}

func BenchmarkSum(b *testing.B) {
\tfor i := 0; i < b.N; i++ {
\t\t_ = i // mark: bench
\t}
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
    // The runner panics again: the innermost frames are its own and the runtime's.
    let location = stopped.report.location.clone().expect("a location");
    assert!(location.path.ends_with("pkg/app_test.go"), "{location:?}");
    assert_eq!((location.line, &*location.function), (line, "app/pkg.TestPanic"));
    let raised_in = stopped.report.raised_in.clone().expect("a frame of the runtime");
    assert!(raised_in.name.starts_with("runtime."), "{raised_in:?}");
    assert!(stopped.report.source.iter().any(|line| line.current && line.text.contains("none[")));
    let first = stopped.report.frames.first().expect("a frame");
    assert_eq!((first.line, &*first.name), (line, "app/pkg.TestPanic"));
}

#[tokio::test]
async fn a_failing_test_stops_where_it_fails() {
    let stopped = project().fail_at("pkg/app_test.go", "error").await;
    assert_eq!(stopped.run.name, "TestFail/inner");
    assert_eq!(stopped.report.exception.as_ref().expect("an exception").id, "test failure");
    let output = stopped.run_out().await;
    assert!(output.contains("FAIL"), "{output}");
}

#[tokio::test]
async fn a_benchmark_runs_once() {
    let stopped = project().stop_at("pkg/app_test.go", "bench").await;
    assert_eq!(stopped.run.name, "BenchmarkSum");
    let output = stopped.run_out().await;
    assert!(output.contains("BenchmarkSum") && !output.contains("another ran"), "{output}");
}

#[tokio::test]
async fn subtests_and_tests_of_other_files_are_found_by_name() {
    let project = project();
    project.write(
        "pkg/b_test.go",
        "package app\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {}\n",
    );
    let by_name =
        async |name: &str| project.test("pkg/app_test.go", &Place::Name(name.to_owned())).await;
    let expected = [
        ("TestOne", "TestOne", "^TestOne$"),
        ("TestOne/a (b)", "TestOne/a_(b)", r"^TestOne$/^a_\(b\)$"),
        // Only known when it runs.
        ("TestOne/case one", "TestOne/case_one", "^TestOne$/^case_one$"),
        ("TestB", "TestB", "^TestB$"),
    ];
    for (asked, name, pattern) in expected {
        let run = by_name(asked).await.expect("a test");
        assert_eq!(run.name, name);
        assert_eq!(run.configuration.fields["args"][1], pattern, "{asked}");
    }
    for name in ["TestBB", "TestBB/x"] {
        let error = by_name(name).await.expect_err("no such test");
        assert_eq!(error.code(), "E_NO_TEST_AT_CURSOR");
        assert!(error.to_string().contains("near: TestB"), "{error}");
    }
}
