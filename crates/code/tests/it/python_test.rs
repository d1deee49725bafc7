//! pytest and unittest.

use std::process::Command;

use termbridge_code::test_finder::{Place, Runner};

use crate::project::{Project, venv};

const TESTS: &str = "\
import unittest
import pytest

def test_before():
    print('another ran')

class TestGroup:
    class TestDeep:
        @pytest.mark.parametrize('n', [1, 2])
        def test_one(self, n):
            print('this ran', n)
            assert n < 2  # mark: assert

    def test_other(self):
        print('another ran')

class Case(unittest.TestCase):
    def test_case(self):
        value = 3  # mark: case
        self.assertEqual(value, 4)  # mark: unequal

    def test_caught(self):
        with self.assertRaises(ValueError):
            raise ValueError('expected')
        print('caught')  # mark: caught

    def test_next(self):
        print('another ran')

def test_caught():
    with pytest.raises(ValueError):
        int('x')
    try:
        int('x')
    except ValueError:
        print('caught')  # mark: except
";

fn project() -> Project {
    let ini = "[tool.pytest.ini_options]\naddopts = '-q'\n";
    Project::new(&[("app/pyproject.toml", ini), ("app/tests/test_it.py", TESTS)])
}

const FILE: &str = "app/tests/test_it.py";

#[tokio::test]
async fn only_the_test_runs_from_the_folder_of_its_configuration() {
    let project = project();
    let line = project.line(FILE, "assert");
    let run = project.test_at(FILE, line - 3).await.expect("the decorator is part of it");
    assert_eq!(run.line, line - 3);
    let stopped = project.stop_at(FILE, "assert").await;
    assert_eq!(stopped.run.runner, Runner::Pytest);
    assert_eq!(stopped.run.name, "tests/test_it.py::TestGroup::TestDeep::test_one");
    assert_eq!(stopped.run.configuration.folder, project.path("app"));
    assert!(stopped.report.output.text.contains("this ran 1"), "{:?}", stopped.report.output);
    assert!(!stopped.report.output.text.contains("another ran"), "{:?}", stopped.report.output);
}

#[tokio::test]
async fn a_test_is_found_by_its_name() {
    let project = project();
    let by_name = async |name: &str| project.test(FILE, &Place::Name(name.to_owned())).await;
    let line = project.line(FILE, "assert") - 3;
    for name in ["test_one", "TestDeep::test_one", "TestGroup::TestDeep::test_one"] {
        let run = by_name(name).await;
        assert_eq!(run.map(|run| run.line).ok(), Some(line), "{name}");
    }
    for name in ["one", "no_such_test", ""] {
        let error = by_name(name).await.expect_err("no such test");
        assert!(error.to_string().contains("its tests and their lines: "), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_failing_assertion_stops_without_a_breakpoint() {
    let project = project();
    let stopped = project.fail_at(FILE, "assert").await;
    assert_eq!(stopped.report.reason, "exception");
    let exception = stopped.report.exception.clone().expect("an exception");
    assert!(exception.id.starts_with("AssertionError"), "{exception:?}");
    let output = stopped.run_out().await;
    assert!(output.contains("1 failed"), "{output}");
    assert!(!output.contains("another ran"), "{output}");
}

#[tokio::test]
async fn expected_exceptions_do_not_stop() {
    let project = project();
    for mark in ["except", "caught"] {
        let output = project.stop_at(FILE, mark).await.run_out().await;
        assert!(output.contains("1 passed"), "{output}");
    }
}

#[tokio::test]
async fn unittest_runs_it_where_there_is_no_pytest() {
    let project = project();
    let status = Command::new(venv().join("bin/python"))
        .args(["-m", "venv", "--without-pip"])
        .arg(project.path("app/.venv"))
        .status();
    assert!(status.expect("Python").success());
    let case =
        TESTS.replace("import pytest\n", "").replace("@pytest.mark.parametrize('n', [1, 2])", "");
    project.write(FILE, &case);
    let stopped = project.stop_at(FILE, "case").await;
    assert_eq!(stopped.run.runner, Runner::Unittest);
    assert_eq!(stopped.run.name, "test_it.Case.test_case");
    let stopped = project.fail_at(FILE, "unequal").await;
    let output = stopped.run_out().await;
    assert!(output.contains("FAILED (failures=1)"), "{output}");
    assert!(!output.contains("another ran"), "{output}");
    let error = project.test_at(FILE, 4).await.expect_err("pytest's own");
    assert_eq!(error.code(), "E_DISCOVERY_FAILED");
    assert!(error.to_string().contains("-m pip install pytest"), "{error}");
}

#[tokio::test]
async fn where_there_is_no_test_those_of_the_file_are_named() {
    let project = project();
    let error = project.test_at(FILE, 1).await.expect_err("no test");
    assert_eq!(error.code(), "E_NO_TEST_AT_CURSOR");
    assert!(error.to_string().contains("Case::test_case (18-20)"), "{error}");
    let error = project.test_at(FILE, 1000).await.expect_err("no line");
    assert_eq!(error.code(), "E_INVALID_LINE");
    let error = project.test_at("app/no.py", 1).await.expect_err("no file");
    assert_eq!(error.code(), "E_FILE_NOT_FOUND");
    let error = project.test_at("app/pyproject.toml", 1).await.expect_err("no language");
    assert_eq!(error.code(), "E_DISCOVERY_FAILED");
}
