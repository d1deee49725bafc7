//! node:test, vitest, jest and mocha.

use termbridge_code::test_finder::{Place, Runner, TestRun};

use crate::project::Project;

const GLOBALS: &str = "\
test('one more', () => console.log('another ran'));
describe('group', () => {
  it('one (x)', async () => {
    await null;
    console.log('this ran'); // mark: it
  });
  it('other', () => console.log('another ran'));
});
";

const VITEST: &str = "\
import { describe, expect, it, test } from 'vitest';

interface Row { n: number }

test('one more', () => console.log('another ran'));
describe('group', () => {
  it('one (x)', async () => {
    const row: Row = { n: 1 };
    console.log('this ran', row.n); // mark: it
  });
  it.each([1, 2])('row %i', (n) => {
    console.log('row', n); // mark: row
    expect(n).toBe(1);
  });
  it('other', () => console.log('another ran'));
});
";

fn node() -> Project {
    let text = format!("const {{ describe, it, test }} = require('node:test');\n\n{GLOBALS}");
    Project::new(&[("package.json", "{}"), ("test/a.test.js", &text)])
}

fn vitest() -> Project {
    let package = r#"{"type": "module", "devDependencies": {"vitest": "*"}}"#;
    Project::new(&[("package.json", package), ("src/a.test.ts", VITEST)]).with_node_modules()
}

#[tokio::test]
async fn only_the_test_runs_with_node() {
    let project = node();
    let stopped = project.stop_at("test/a.test.js", "it").await;
    assert_eq!(stopped.run.runner, Runner::NodeTest);
    assert_eq!((stopped.run.name.as_str(), stopped.run.line), ("group > one (x)", 5));
    let output = stopped.run_out().await;
    assert!(output.contains("this ran") && output.contains("fail 0"), "{output}");
    assert!(!output.contains("another ran"), "{output}");
}

#[tokio::test]
async fn only_the_test_runs_with_vitest() {
    let project = vitest();
    let stopped = project.stop_at("src/a.test.ts", "it").await;
    assert_eq!(stopped.run.runner, Runner::Vitest);
    assert_eq!((stopped.run.name.as_str(), stopped.run.line), ("group > one (x)", 7));
    let output = stopped.run_out().await;
    assert!(output.contains("this ran") && output.contains("1 passed"), "{output}");
    assert!(!output.contains("another ran"), "{output}");
}

#[tokio::test]
async fn all_rows_of_a_table_run_with_vitest() {
    let project = vitest();
    let stopped = project.stop_at("src/a.test.ts", "row").await;
    assert_eq!(stopped.run.name, "group > row %i");
}

#[tokio::test]
async fn the_runner_is_that_of_the_file_or_its_package() {
    let project = node();
    let text = "test('one', () => {\n  expect(1).toBe(1);\n});\n";
    project.write("test/b.test.js", text);
    let error = project.test_at("test/b.test.js", 2).await.expect_err("no runner");
    assert_eq!(error.code(), "E_DISCOVERY_FAILED");
    project.write("package.json", r#"{"devDependencies": {"jest": "*"}}"#);
    let error = project.test_at("test/b.test.js", 2).await.expect_err("an unknown runner");
    assert!(error.to_string().contains("jest"), "{error}");
    project.write("package.json", r#"{"devDependencies": {"vitest": "*"}}"#);
    let error = project.test_at("test/b.test.js", 2).await.expect_err("not installed");
    assert!(error.to_string().contains("npm install"), "{error}");
    let all = r#"{"devDependencies": {"vitest": "1", "jest": "1", "mocha": "1"}}"#;
    project.write("package.json", all);
    let error = project.test_at("test/b.test.js", 2).await.expect_err("none is installed");
    let expected = "package.json lists vitest, jest, mocha, but none is installed: run npm install";
    assert!(error.to_string().contains(expected), "{error}");
    let error = project.test_at("test/a.test.js", 1).await.expect_err("no test");
    assert_eq!(error.code(), "E_NO_TEST_AT_CURSOR");
}

#[tokio::test]
async fn names_that_are_made_are_found_by_vitest() {
    let project = vitest();
    let by_name =
        async |name: &str| project.test("src/a.test.ts", &Place::Name(name.to_owned())).await;
    // Full names begin with a space in vitest 1.
    let pattern = |run: &TestRun| run.configuration.fields["args"][3].clone();
    let run = by_name("group > other").await.expect("a test");
    assert_eq!(
        (run.name.as_str(), pattern(&run)),
        ("group > other", "^ ?group(?: >)? other$".into())
    );
    for name in ["row 2", "group > row 2"] {
        let run = by_name(name).await.expect("one row");
        assert_eq!(pattern(&run), "^ ?group(?: >)? row 2$");
    }
    let error = by_name("row 3").await.expect_err("no such row");
    assert_eq!(error.code(), "E_NO_TEST_AT_CURSOR");
    assert!(error.to_string().contains("near: group > row 1, group > row 2"), "{error}");
}

#[tokio::test]
async fn vitest_1_lists_no_names() {
    let package = r#"{"devDependencies": {"vitest": "*"}}"#;
    let project = Project::new(&[
        ("package.json", package),
        ("src/a.test.ts", VITEST),
        ("node_modules/vitest/package.json", r#"{"version": "1.6.1"}"#),
        ("node_modules/vitest/vitest.mjs", "throw new Error('not to be run')\n"),
    ]);
    let by_name = Place::Name("row 2".to_owned());
    let error = project.test("src/a.test.ts", &by_name).await.expect_err("no such name");
    assert_eq!(error.code(), "E_DISCOVERY_FAILED");
    assert!(error.to_string().contains("vitest 1.6 cannot list"), "{error}");
}

/// A file that imports nothing, in a project where vitest, jest and mocha are installed.
async fn only_the_test_runs(runner: Runner, package: &str, passed: &str) {
    // mocha's default functions have no `test`.
    let text = if runner == Runner::Mocha {
        GLOBALS.replacen("test(", "it(", 1)
    } else {
        GLOBALS.to_owned()
    };
    let files = [("package.json", package), ("test/a.test.js", &*text)];
    let project = Project::new(&files).with_node_modules();
    let stopped = project.stop_at("test/a.test.js", "it").await;
    assert_eq!(stopped.run.runner, runner);
    assert_eq!((stopped.run.name.as_str(), stopped.run.line), ("group > one (x)", 3));
    let output = stopped.run_out().await;
    assert!(output.contains("this ran") && output.contains(passed), "{output}");
    assert!(!output.contains("another ran"), "{output}");
}

#[tokio::test]
async fn only_the_test_runs_with_jest() {
    let package =
        r#"{"scripts": {"test": "jest"}, "devDependencies": {"mocha": "*", "jest": "*"}}"#;
    only_the_test_runs(Runner::Jest, package, "1 passed").await;
}

#[tokio::test]
async fn only_the_test_runs_with_mocha() {
    let package = r#"{"scripts": {"test": "c8 mocha"}, "jest": {}, "mocha": {}}"#;
    only_the_test_runs(Runner::Mocha, package, "1 passing").await;
}

#[tokio::test]
async fn the_nearest_configuration_tells_the_runner() {
    let package = r#"{"scripts": {"test": "vitest"}, "devDependencies": {"vitest": "*"}}"#;
    let files = [
        ("package.json", package),
        ("vitest.config.ts", "export default {};\n"),
        ("old/.mocharc.json", "{}"),
        ("old/a.test.js", GLOBALS),
        ("b.test.js", GLOBALS),
        ("c.test.js", "import { test } from '@jest/globals';\ntest('one', () => {});\n"),
    ];
    let project = Project::new(&files).with_node_modules();
    for (file, line, runner) in [
        ("old/a.test.js", 1, Runner::Mocha),
        ("b.test.js", 1, Runner::Vitest),
        ("c.test.js", 2, Runner::Jest),
    ] {
        assert_eq!(project.test_at(file, line).await.expect("a test").runner, runner, "{file}");
    }
    let project =
        Project::new(&[("package.json", "{}"), ("a.test.js", GLOBALS)]).with_node_modules();
    let error = project.test_at("a.test.js", 3).await.expect_err("three are installed");
    assert!(error.to_string().contains("vitest or jest or mocha"), "{error}");
}
