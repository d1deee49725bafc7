//! Go through delve.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use termbridge_dap::{
    Configuration, EndReason, EvaluateContext, Halt, Page, Resume, VariableFilter,
};

use crate::flows;
use crate::subject::{Language, Program, Subject, local, stopped};
use crate::support::LIMIT;

const LANGUAGE: Language = Language::Go;

#[tokio::test]
async fn breakpoints() {
    flows::breakpoints(LANGUAGE).await;
}

#[tokio::test]
async fn function_breakpoint() {
    flows::function_breakpoint(LANGUAGE, "main.add").await;
}

#[tokio::test]
async fn no_data_breakpoints() {
    flows::no_data_breakpoints(LANGUAGE).await;
}

#[tokio::test]
async fn failing_condition() {
    flows::failing_condition(LANGUAGE).await;
}

#[tokio::test]
async fn hit_condition() {
    flows::hit_condition(LANGUAGE).await;
}

#[tokio::test]
async fn entry() {
    flows::entry(LANGUAGE).await;
}

#[tokio::test]
async fn steps() {
    flows::steps(LANGUAGE).await;
}

#[tokio::test]
async fn values() {
    flows::values(LANGUAGE, "values", "20").await;
}

#[tokio::test]
async fn crash() {
    let report = flows::crash(LANGUAGE).await;
    assert_eq!(report.reason, "exception");
    let exception = report.exception.expect("an exception");
    assert_eq!(exception.id, "panic");
    let message = exception.message.expect("a message");
    assert!(message.contains("planted"), "{message}");
}

#[tokio::test]
async fn the_output_ends_with_what_the_program_wrote() {
    let subject = Subject::new(LANGUAGE);
    let session = subject.start("sum").await;
    let Halt::Ended(end) = session.wait(LIMIT).await.expect("an end") else { panic!("a stop") };
    assert!(!end.output.text.contains("has exited with status"), "{}", end.output.text);
}

#[tokio::test]
async fn threads() {
    flows::threads(LANGUAGE).await;
}

#[tokio::test]
async fn restart() {
    flows::restart(LANGUAGE).await;
}

#[tokio::test]
async fn pause_and_stop() {
    flows::pause_and_stop(LANGUAGE).await;
}

#[tokio::test]
async fn drop_ends_all() {
    flows::drop_ends_all(LANGUAGE).await;
}

#[tokio::test]
async fn attach_to_a_process_and_leave_it() {
    let subject = Subject::new(LANGUAGE);
    let built = subject.folder.path().join("built");
    let build = ["build", "-gcflags=all=-N -l", "-o"];
    let folder = subject.folder.path();
    let status = Command::new("go").args(build).arg(&built).current_dir(folder).status();
    assert!(status.expect("go").success());
    let mut program = Program::spawn(Command::new(built).arg("loop"));
    program.line("looping ");
    subject.break_at("loop").await;
    let configuration = Configuration::attach_to_process("go", program.pid(), folder);
    let session = subject.debugger.start(configuration).await.expect("attaches");
    subject.stop_at(&session, "loop").await;
    subject.debugger.clear_breakpoints().await;
    let end = session.stop().await.expect("leaves");
    assert_eq!(end.reason, EndReason::Detached);
    assert!(program.is_running(), "it goes on");
}

#[tokio::test]
async fn attach_to_a_server() {
    let subject = Subject::new(LANGUAGE);
    let folder = subject.folder.path();
    let mut server = Program::spawn(
        Command::new("dlv")
            .args(["debug", "--headless", "--listen=127.0.0.1:0", "--output", "built", "--", "sum"])
            .current_dir(folder),
    );
    let line = server.line("listening at");
    let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    subject.break_at("add").await;
    let configuration = Configuration::attach_to_server("go", "127.0.0.1", port, folder);
    let session = subject.debugger.start(configuration).await.expect("attaches");
    // A headless program waits before its first line.
    let report = subject.stop_at(&session, "add").await;
    assert_eq!(local(&report, "b").value, "0");
    session.stop().await.expect("leaves");
}

#[tokio::test]
async fn what_cannot_be_built_says_why() {
    let subject = Subject::new(LANGUAGE);
    std::fs::write(&subject.source, "package main\n\nfunc main() { undefined_name() }\n").unwrap();
    let error = subject.debugger.start(subject.configuration("sum")).await.expect_err("fails");
    assert_eq!(error.code(), "E_LAUNCH_FAILED");
    assert!(error.to_string().contains("undefined_name"), "{error}");
}

#[tokio::test]
async fn an_expression_cannot_be_changed_where_the_adapter_cannot() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("print").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "print").await;
    let error = session.set_expression("place.x", "5", None).await.expect_err("it cannot");
    assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn an_assignment_is_an_expression_too() {
    let subject = Subject::new(LANGUAGE);
    subject.break_at("print").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "print").await;
    let evaluate = async |text: &str| session.evaluate(text, None, EvaluateContext::Repl).await;
    for (assignment, value) in [
        ("total = total * 2", "20"),
        ("place.x = 7", "7"),
        ("values[1] = 5", "5"),
        ("values = values", "[10, 5, 30]"),
    ] {
        assert_eq!(evaluate(assignment).await.expect("is set").value, value, "{assignment}");
    }
    assert_eq!(evaluate("values[1] == 5").await.expect("a comparison").value, "true");
    assert!(evaluate("nothing = 1").await.is_err());
    let end = subject.run_out(&session).await;
    assert!(end.output.text.contains("total 20 3 7\n"), "{}", end.output.text);
}

#[tokio::test]
async fn what_was_built_is_removed() {
    let built = || -> Vec<_> {
        let inside = |folder: PathBuf| folder.read_dir().into_iter().flatten().flatten();
        let runtimes = inside(std::env::temp_dir())
            .filter(|folder| folder.file_name().to_string_lossy().starts_with("termbridge-"));
        let folders = runtimes.flat_map(|folder| inside(folder.path()));
        folders.map(|folder| folder.path().join("program")).filter(|file| file.exists()).collect()
    };
    let before = built();
    let subject = Subject::new(LANGUAGE);
    subject.break_at("print").await;
    let session = subject.start("sum").await;
    subject.stop_at(&session, "print").await;
    let own: Vec<_> = built().into_iter().filter(|name| !before.contains(name)).collect();
    assert!(!own.is_empty(), "it is built there");
    for path in &own {
        let folder = path.parent().expect("a folder").metadata().expect("there");
        assert_eq!(folder.permissions().mode() & 0o777, 0o700, "only its owner gets there");
    }
    drop((subject, session));
    for path in own {
        let removed = async {
            while path.exists() {
                tokio::task::yield_now().await;
            }
        };
        crate::support::limited("the file to go", removed).await;
    }
}

#[tokio::test]
async fn no_exceptions_by_type() {
    flows::no_exceptions_by_type(LANGUAGE).await;
}

#[tokio::test]
async fn values_have_no_types_addresses_or_lost_signs() {
    let subject = Subject::new(LANGUAGE);
    let source = "package main\n\nimport (\n\t\"fmt\"\n\t\"math\"\n)\n\n\
                  type User struct {\n\tName string\n\tNext *User\n}\n\n\
                  func find() (int, error) {\n\
                  \tzero := math.Copysign(0, -1)\n\
                  \tuser := &User{\"a\", &User{\"b\", &User{\"c\", nil}}}\n\
                  \tdata := map[string]any{\"users\": []any{map[string]any{\"id\": 1.0, \"n\": int64(2)}}}\n\
                  \tfmt.Println(zero, user, data) // mark: here\n\
                  \treturn 1, nil\n}\n\n\
                  func main() { find() }\n";
    std::fs::write(&subject.source, source).expect("a source");
    subject.break_at("here").await;
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "here").await;
    let names: Vec<_> = report.locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(names, ["zero", "user", "data"], "results without a name are not set yet");
    for (name, value) in [
        ("zero", "-0"),
        ("user", "&{Name: \"a\", Next: &{Name: \"b\", Next: &{Name: \"c\", Next: nil}}}"),
        ("data", "{\"users\": [{\"id\": 1.0, \"n\": int64(2)}]}"),
    ] {
        assert_eq!(local(&report, name).value, value);
        let evaluated = session.evaluate(name, None, EvaluateContext::Watch).await;
        assert_eq!(evaluated.expect("a value").value, value);
    }
    session.stop().await.expect("ends");
}

/// One `&` for each, and none for those that the expression follows itself.
#[tokio::test]
async fn pointers_to_pointers() {
    let source = "package main\n\nimport \"fmt\"\n\ntype box struct{ in **int }\n\nfunc main() {\n\
                  \tnumber := 5\n\tone := &number\n\ttwo := &one\n\tthree := &two\n\
                  \tvar held any = two\n\tlist := []**int{two}\n\tinside := &box{two}\n\
                  \tkeys := map[*int]string{one: \"a\"}\n\
                  \tfmt.Println(three, held, list, inside, keys) // mark: here\n}\n";
    let subject = Subject::written(LANGUAGE, "subject", source);
    subject.break_at("here").await;
    let session = subject.start("").await;
    subject.stop_at(&session, "here").await;
    let evaluate = async |text: &str| session.evaluate(text, None, EvaluateContext::Repl).await;
    for (expression, value) in [
        ("two", "&&5"),
        ("*two", "&5"),
        ("**two", "5"),
        ("three", "&&&5"),
        ("*three", "&&5"),
        ("**three", "&5"),
        ("held", "&&5"),
        ("list", "[&&5]"),
        ("*list[0]", "&5"),
        ("inside", "&{in: &&5}"),
        ("*inside", "{in: &&5}"),
        ("*inside.in", "&5"),
        ("keys", "{&5: \"a\"}"),
    ] {
        assert_eq!(evaluate(expression).await.expect("a value").value, value, "{expression}");
    }
    let mut reference = evaluate("three").await.expect("a value").reference;
    let all = Page { start: 0, count: 0 };
    for value in ["&&5", "&5", "5"] {
        let inside = session.variables(reference, VariableFilter::All, all).await.expect("inside");
        assert_eq!(inside[0].value, value);
        reference = inside[0].reference;
    }
    session.stop().await.expect("ends");
}

#[tokio::test]
async fn a_test_that_fails_stops_where_it_fails() {
    let subject = Subject::new(LANGUAGE);
    let tests = "package main\n\nimport \"testing\"\n\n\
                 func check(t *testing.T, got int) {\n\
                 \tif got != 2 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n\n\
                 func TestSum(t *testing.T) {\n\
                 \tcheck(t, 3)\n\
                 \tt.Run(\"inner\", func(t *testing.T) { t.Fatal(\"bad\") })\n}\n";
    let file = subject.folder.path().join("subject_test.go");
    std::fs::write(&file, tests).expect("tests");
    let folder = subject.folder.path();
    let configuration = Configuration::launch("go", folder, folder).with("mode", "test");
    let session = subject.debugger.start(configuration).await.expect("starts");
    let mut halt = session.wait(LIMIT).await.expect("a halt");
    let mut stops = Vec::new();
    while let Halt::Stopped(report) = halt {
        let place = report.location.expect("a location");
        assert!(place.path.ends_with("subject_test.go"), "{place:?}");
        stops.push((place.line, report.exception.expect("an exception").id));
        halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
    }
    assert_eq!(stops, [(7, "test failure".to_owned()), (13, "test failure".to_owned())]);
}

#[tokio::test]
async fn the_next_line_cannot_be_set() {
    flows::no_next_line(LANGUAGE).await;
}

const THREADS: &str = r#"
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

var ready int32

func work(number int) int {
	seen := number * 10
	for turn := 0; turn < 3; turn++ {
		all := int32((turn + 1) * 2)
		atomic.AddInt32(&ready, 1)
		for atomic.LoadInt32(&ready) < all {
		}
		seen += turn // mark: seen
	}
	return seen
}

func main() {
	var group sync.WaitGroup
	sums := make([]int, 2)
	for number := 0; number < 2; number++ {
		group.Add(1)
		go func(n int) { sums[n] = work(n); group.Done() }(number)
	}
	group.Wait()
	fmt.Println(sums)
}
"#;

/// delve reports one stop, and passes over the breakpoints of the others.
#[tokio::test]
async fn no_stop_is_lost_where_goroutines_stop_at_once() {
    for (condition, turns) in [(None, [0, 1, 2].as_slice()), (Some("turn != 1"), &[0, 2])] {
        let subject = Subject::written(LANGUAGE, "written", THREADS);
        let mut breakpoint = subject.breakpoint("seen");
        breakpoint.condition = condition.map(str::to_owned);
        subject.debugger.set_breakpoint(breakpoint).await.expect("is set");
        let session = subject.start("").await;
        let mut seen = Vec::new();
        let mut halt = session.wait(LIMIT).await.expect("a halt");
        while let Halt::Stopped(report) = halt {
            seen.push(["turn", "number"].map(|name| local(&report, name).value.clone()));
            halt = session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt");
        }
        let expected = turns.iter().flat_map(|turn| [0, 1].map(|number| [*turn, number]));
        let expected: Vec<_> = expected.map(|place| place.map(|n: i32| n.to_string())).collect();
        seen.sort();
        assert_eq!(seen, expected);
    }
}

/// delve takes no step while another goroutine's breakpoint interrupts one.
#[tokio::test]
async fn steps_among_goroutines_come_to_an_end() {
    let subject = Subject::written(LANGUAGE, "written", THREADS);
    subject.break_at("seen").await;
    let session = subject.start("").await;
    let mut halt = session.wait(LIMIT).await.expect("a halt");
    let (mut steps, mut stops) = (0, 0);
    while let Halt::Stopped(report) = halt {
        assert!(["breakpoint", "step"].contains(&report.reason.as_str()), "{report:#?}");
        stops += 1;
        assert!(stops < 50, "the program makes no progress");
        let step = session.resume_and_wait(Resume::StepOver, None, LIMIT).await;
        halt = match step {
            Err(error) => {
                assert_eq!(error.code(), "E_UNSUPPORTED_CAPABILITY");
                assert!(error.hint().starts_with("debug_continue"), "{}", error.hint());
                session.resume_and_wait(Resume::Continue, None, LIMIT).await.expect("a halt")
            }
            Ok(halt) => {
                steps += 1;
                halt
            }
        };
    }
    assert!(steps > 0);
}

#[tokio::test]
async fn arrays_of_bytes_with_a_name_are_lists() {
    let text = "package main\n\
                type ID [16]byte\n\
                type Runes [3]int32\n\
                func (id ID) String() string { return string(id[:]) }\n\
                func main() {\n\
                \tid, runes, names := ID{0: 9, 15: 7}, Runes{-1, 2, 3}, map[int]ID{1: {}}\n\
                \tprintln(id[0], runes[0], len(names)) // mark: here\n\
                }\n";
    let subject = Subject::written(LANGUAGE, "written", text);
    subject.break_at("here").await;
    let session = subject.start("").await;
    let report = stopped(session.wait(LIMIT).await.expect("a stop"));
    let list = "[9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]";
    assert_eq!(local(&report, "id").value, list);
    assert_eq!(local(&report, "runes").value, "[-1, 2, 3]");
    let zeros = format!("{{1: [{}]}}", ["0"; 16].join(", "));
    assert_eq!(local(&report, "names").value, zeros);
    session.stop().await.expect("ends");
}

/// Its fields need more room than a line has.
#[tokio::test]
async fn a_pointer_to_a_large_structure_shows_its_first_fields() {
    let text = "package main\n\
                import \"regexp\"\n\
                func main() {\n\
                \tre := regexp.MustCompile(\"^(a+)|b{2,}$\")\n\
                \tprintln(re.String()) // mark: here\n\
                }\n";
    let subject = Subject::written(LANGUAGE, "written", text);
    subject.break_at("here").await;
    let session = subject.start("").await;
    let report = stopped(session.wait(LIMIT).await.expect("a stop"));
    let shown = &local(&report, "re").value;
    assert!(shown.starts_with("&{expr: \"^(a+)|b{2,}$\", prog: "), "{shown}");
    assert!(shown.ends_with(" more}"), "{shown}");
    session.stop().await.expect("ends");
}
