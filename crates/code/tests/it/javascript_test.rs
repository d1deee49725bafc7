//! node:test and vitest.

use termbridge_code::test_finder::Runner;

use crate::project::Project;

const NODE: &str = "\
const { describe, it, test } = require('node:test');

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
    Project::new(&[("package.json", "{}"), ("test/a.test.js", NODE)])
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
    let error = project.test_at("test/a.test.js", 1).await.expect_err("no test");
    assert_eq!(error.code(), "E_NO_TEST_AT_CURSOR");
}
