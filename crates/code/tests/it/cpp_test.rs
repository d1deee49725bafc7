//! `GoogleTest` and Catch2.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use termbridge_code::test_finder::{Place, Runner};

use crate::project::Project;

const CMAKE: &str = "\
cmake_minimum_required(VERSION 3.20)
project(calc CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(GTest REQUIRED)
enable_testing()
add_executable(other other.cpp)
add_subdirectory(tests)
";
const TESTS_CMAKE: &str = "\
add_executable(calc_test calc_test.cpp)
target_link_libraries(calc_test GTest::gtest_main)
include(GoogleTest)
gtest_discover_tests(calc_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES ENVIRONMENT \"GREETING=hello\")
";
/// Names a source of tests and a framework's option, and is no test program: it would leave a file behind.
const OTHER: &str = "\
#include <cstdio>
const char *text = \"calc_test.cpp\";
int main(int argc, char **) { if (argc > 1) fclose(fopen(\"was-run\", \"w\")); puts(text); }
";
const GTESTS: &str = "\
#include <gtest/gtest.h>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unistd.h>

struct Fixture : testing::Test { int base = 40; };
struct Even : testing::TestWithParam<int> {};
template <typename T> struct Sized : testing::Test {};
using Types = testing::Types<int, long>;
TYPED_TEST_SUITE(Sized, Types);

static int add(int a, int b) { return a + b; }

TEST_F(Fixture, Adds) {
    int sum = add(base, 2);
    EXPECT_EQ(sum, 42); // mark: adds
    std::string text = std::to_string(sum);
    printf(\"this ran %s %s\\n\", getcwd(nullptr, 0), getenv(\"GREETING\"));
}

TEST(Calc, Fails) {
    int sum = add(1, 1);
    EXPECT_EQ(sum, 3); // mark: fails
}

TEST(Calc, DISABLED_Throws) {
    throw std::runtime_error(\"oops\"); // mark: throws
}

TEST_P(Even, IsEven) {
    int value = GetParam();
    printf(\"value %d\\n\", value); // mark: values
}
INSTANTIATE_TEST_SUITE_P(All, Even, testing::Values(2, 4));

TYPED_TEST(Sized, HasSize) {
    printf(\"size %zu\\n\", sizeof(TypeParam)); // mark: types
}
";

fn project() -> Project {
    Project::new(&[
        ("CMakeLists.txt", CMAKE),
        ("other.cpp", OTHER),
        ("tests/CMakeLists.txt", TESTS_CMAKE),
        ("tests/calc_test.cpp", GTESTS),
    ])
}

fn run(project: &Project, program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).current_dir(project.root()).output();
    let output = output.expect("runs: see scripts/setup-tests");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {said}");
}

fn build(project: &Project) {
    run(project, "cmake", &["-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug"]);
    run(project, "cmake", &["--build", "build"]);
}

fn change(path: &Path, by: Duration) {
    let file = std::fs::File::options().append(true).open(path).expect("a file");
    file.set_modified(SystemTime::now() + by).expect("a time");
}

#[tokio::test]
async fn a_test_of_googletest_runs_alone_as_ctest_runs_it() {
    let project = project();
    build(&project);
    let stopped = project.stop_at("tests/calc_test.cpp", "adds").await;
    assert_eq!(stopped.run.runner, Runner::GoogleTest);
    assert_eq!((stopped.run.name.as_str(), stopped.run.line), ("Fixture.Adds", 16));
    assert_eq!(stopped.run.warning, None);
    let sum = stopped.report.locals.iter().find(|local| local.name == "sum");
    assert_eq!(sum.expect("a local").value, "42");
    let output = stopped.run_out().await;
    let expected = format!("this ran {} hello", project.root().display());
    assert!(
        output.contains(&expected) && output.contains("1 test from 1 test suite ran"),
        "{output}"
    );
    assert!(!project.path("build/was-run").exists() && !project.path("was-run").exists());

    let stopped = project.fail_at("tests/calc_test.cpp", "fails").await;
    assert!(stopped.report.locals.iter().any(|local| local.name == "sum" && local.value == "2"));
    // It was disabled; asked for by name or line it runs.
    let stopped = project.fail_at("tests/calc_test.cpp", "throws").await;
    assert_eq!(stopped.run.name, "Calc.DISABLED_Throws");
    let stopped = project.stop_at("tests/calc_test.cpp", "types").await;
    assert_eq!(stopped.run.name, "Sized.HasSize");

    let by_name =
        async |name: &str| project.test("tests/calc_test.cpp", &Place::Name(name.to_owned())).await;
    let run = by_name("All/Even.IsEven/1").await.expect("a test");
    assert_eq!(run.configuration.fields["args"][0], "--gtest_filter=All/Even.IsEven/1");
    assert_eq!(by_name("IsEven").await.expect("a test").name, "Even.IsEven");
    let error = by_name("Calc.Fail").await.expect_err("none");
    assert_eq!(error.code(), "E_NO_TEST_AT_CURSOR");
    assert!(error.to_string().contains("near: Calc.Fails"), "{error}");

    change(&project.path("tests/calc_test.cpp"), Duration::from_mins(1));
    let run = by_name("Fixture.Adds").await.expect("a test");
    let warning = run.warning.expect("the source is newer");
    assert!(warning.contains("calc_test.cpp was changed after calc_test was built"), "{warning}");
    assert!(warning.ends_with("cmake --build build"), "{warning}");
    let newer = GTESTS.replace("Calc, Fails", "Calc, IsNew");
    project.write("tests/calc_test.cpp", &newer);
    let error = by_name("Calc.IsNew").await.expect_err("is not built");
    assert_eq!(error.code(), "E_DISCOVERY_FAILED");
    let expected = "does not list Calc.IsNew; build it again: cmake --build build";
    assert!(error.to_string().contains(expected), "{error}");
}

#[tokio::test]
async fn a_test_that_is_not_built_says_how() {
    let project = project();
    let line = project.line("tests/calc_test.cpp", "adds");
    let error = project.test_at("tests/calc_test.cpp", line).await.expect_err("is not built");
    assert_eq!(error.code(), "E_DISCOVERY_FAILED");
    let expected = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build";
    assert!(error.to_string().ends_with(expected), "{error}");
    let error = project.test_at("tests/calc_test.cpp", 14).await.expect_err("no test");
    assert_eq!(error.code(), "E_NO_TEST_AT_CURSOR");
    assert!(error.to_string().contains("Fixture.Adds (16-21)"), "{error}");
}

const CATCH: &str = "\
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cstdio>

TEST_CASE(\"adds, [well]\", \"[calc]\") {
    int sum = 1 + 1;
    printf(\"this ran\\n\"); // mark: case
    SECTION(\"one\") {
        printf(\"one ran\\n\"); // mark: section
    }
    SECTION(\"another\") {
        printf(\"another ran\\n\");
        REQUIRE(sum == 3); // mark: fails
    }
}

TEST_CASE(\"adds\") {
    printf(\"the other ran\\n\");
}
";

#[tokio::test]
async fn a_case_of_catch_runs_alone_and_stops_where_it_fails() {
    let project = Project::new(&[("Makefile", "all:\n"), ("catch_test.cpp", CATCH)]);
    run(&project, "g++", &["-g", "-o", "catch_test", "catch_test.cpp"]);
    let stopped = project.stop_at("catch_test.cpp", "section").await;
    assert_eq!(stopped.run.runner, Runner::Catch2);
    assert_eq!(stopped.run.name, "adds, [well]/one");
    let output = stopped.run_out().await;
    assert!(output.contains("one ran") && !output.contains("other ran"), "{output}");
    let stopped = project.fail_at("catch_test.cpp", "fails").await;
    assert!(stopped.report.output.text.contains("another ran"), "{:?}", stopped.report.output);
    let run = project.test("catch_test.cpp", &Place::Name("adds".to_owned())).await;
    assert_eq!(run.expect("a test").configuration.fields["args"][0], "adds");
}
