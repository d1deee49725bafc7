//! pytest and unittest.

use std::process::Command;

use termbridge_code::test_finder::{Place, Runner};
use termbridge_dap::FrameInfo;

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

    def test_parts(self):
        for n in range(2):
            with self.subTest(n=n):
                self.assertEqual(n, 0)  # mark: part

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
async fn the_configured_python_runs_it() {
    let mut project = project();
    // The one that the environment names has no pytest.
    project.environment = project.environment.clone().with("VIRTUAL_ENV", "/nowhere");
    let python = venv().join("bin/python");
    project.python = Some(python.clone());
    let run = project.test_at(FILE, project.line(FILE, "assert")).await.expect("a test");
    assert_eq!(run.configuration.fields["python"], serde_json::json!([python]));
}

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
    let case = project.line(FILE, "case") - 1;
    for name in ["Case.test_case", "test_case", "tests/test_it.py::Case::test_case"] {
        assert_eq!(by_name(name).await.map(|run| run.line), Ok(case), "{name}");
    }
    for name in ["test_one[2]", "tests/test_it.py::TestGroup::TestDeep::test_one[2]"] {
        let run = by_name(name).await.expect("one case");
        assert_eq!(run.name, "tests/test_it.py::TestGroup::TestDeep::test_one[2]");
        assert_eq!(run.line, line + 1);
    }
    for (name, near) in
        [("one", "test_one[1]"), ("test_one[3]", "test_one[2]"), ("test_nexd", "Case::test_next")]
    {
        let error = by_name(name).await.expect_err("no such test");
        assert_eq!(error.code(), "E_NO_TEST_AT_CURSOR");
        assert!(error.to_string().contains(near), "{name}: {error}");
    }
    let error = by_name("").await.expect_err("no name");
    assert!(error.to_string().contains("its tests and their lines: "), "{error}");
}

#[tokio::test]
async fn an_inherited_test_and_an_ambiguous_name() {
    let project = project();
    project.write("app/tests/base.py", "class Base:\n    def test_shared(self):\n        pass\n");
    let text = "from base import Base\n\nclass TestA(Base):\n    def test_both(self): pass\n\nclass \
                TestB(Base):\n    def test_both(self): pass\n";
    project.write(FILE, text);
    let by_name = async |name: &str| project.test(FILE, &Place::Name(name.to_owned())).await;
    let run = by_name("TestB::test_shared").await.expect("pytest knows it");
    assert_eq!(run.name, "tests/test_it.py::TestB::test_shared");
    for (name, all) in [
        ("test_both", "TestA::test_both (4-4), TestB::test_both (7-7)"),
        ("test_shared", "TestA::test_shared, TestB::test_shared"),
    ] {
        let error = by_name(name).await.expect_err("two");
        assert_eq!(error.code(), "E_AMBIGUOUS_SYMBOL");
        assert!(error.to_string().ends_with(all), "{error}");
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
async fn a_part_of_a_test_stops_at_its_assertion() {
    let stopped = project().fail_at(FILE, "part").await;
    let locals = &stopped.report.locals;
    assert!(locals.iter().any(|local| local.name == "n" && local.value == "1"), "{locals:?}");
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
    let stopped = project.fail_at(FILE, "part").await;
    let frames = &stopped.report.frames;
    let is_test = |frame: &&FrameInfo| frame.name == "test_parts";
    assert_eq!(frames.iter().filter(is_test).count(), 1, "{frames:?}");
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
