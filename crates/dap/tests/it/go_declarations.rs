//! Go: a variable has no value before the last line of its declaration was run.

use termbridge_dap::{EvaluateContext, Resume};

use crate::flows;
use crate::subject::{Language, Subject, local};

const LONG_DECLARATIONS: &str = r#"package main

import "fmt"

type point struct{ a, b int }

func f(x int) int              { return x * 2 }
func s(x int) string           { return fmt.Sprint("s", x) }
func two(x int) (int, error)   { return x, nil }
func run(g func() int) int     { return g() }
func first(c chan int) chan int { return c }

func each(i int) {
	for _, e := range []string{
		s(i), // mark: e
	} {
		fmt.Print(e)
	}
}

func work(n int, err error) {
	for i := 1; i <= 2; i++ {
		sum :=
			f(i) +
				f(i+3) // mark: sum
		list := []string{
			"a",
			s(i), // mark: list
		}
		var p, q = f(i),
			f(i + 1) // mark: p
		var (
			u = f(i)
			v = point{
				f(i), // mark: v
				f(i + 1),
			}
		)
		w, err := two(
			f(i), // mark: w
		)
		w, x := f(i),
			f(w) // mark: x
		z := run(func() int {
			z := f(i)
			return z // mark: inner
		})
		if c :=
			f(i); c >
			f(0) { // mark: behind head
			fmt.Print(c)
		}
		if c, err := two(
			f(i), // mark: c
		); err == nil && c > 0 { // mark: head
			fmt.Print(c)
		}
		each(i)
		messages := make(chan int, 1)
		messages <- i
		select {
		case m :=
			<-first(messages): // mark: m
			fmt.Print(m)
		}
		fmt.Println(sum, list, p, q, u, v, w, x, z, err, n) // mark: set
	}
}

func main() { work(3, nil) }
"#;

/// What the variables have at a mark in a round of the loop, if they have a value.
fn expected(mark: &str, round: i32) -> Vec<(&'static str, Option<String>)> {
    let number = |number: i32| Some(number.to_string());
    match mark {
        "sum" => vec![("sum", None), ("i", number(round))],
        "list" => vec![("sum", number(4 * round + 6)), ("list", None)],
        "p" => vec![("p", None), ("q", None)],
        "v" => vec![("u", number(2 * round)), ("v", None)],
        "w" => vec![("w", None), ("err", None)],
        "x" => vec![("x", None), ("w", number(2 * round))],
        // It is in the lines of another `z`, which has no value yet.
        "inner" => vec![("z", number(2 * round))],
        "behind head" | "head" => vec![("c", number(2 * round))],
        "c" => vec![("c", None), ("err", None)],
        "e" => vec![("e", None)],
        "m" => vec![("m", None)],
        "set" => vec![("sum", number(4 * round + 6)), ("x", number(4 * round))],
        other => panic!("{other}"),
    }
}

/// Also where the last round of the loop has left a value.
#[tokio::test]
async fn a_variable_has_no_value_in_the_later_lines_of_its_declaration() {
    let marks =
        ["sum", "list", "p", "v", "w", "x", "inner", "behind head", "c", "head", "e", "m", "set"];
    let subject = Subject::written(Language::Go, "subject", LONG_DECLARATIONS);
    for mark in marks {
        subject.break_at(mark).await;
    }
    let session = subject.start("").await;
    for (round, mark) in (1..=2).flat_map(|round| marks.map(|mark| (round, mark))) {
        let report = subject.stop_at(&session, mark).await;
        let listed = flows::all_locals(&session, &report).await;
        for (name, value) in expected(mark, round) {
            let shown = value.as_deref().unwrap_or("<not initialised>");
            assert_eq!(local(&report, name).value, shown, "{name} at {mark}, {round}");
            let in_list = listed.iter().find(|local| local.name == name).expect("is listed");
            assert_eq!(in_list.value, shown, "{name} at {mark}, {round}");
            let evaluated = session.evaluate(name, None, EvaluateContext::Repl).await;
            match (evaluated, value) {
                (Ok(evaluated), Some(value)) => assert_eq!(evaluated.value, value, "{name}"),
                (Err(error), None) => {
                    let error = error.to_string();
                    assert!(error.contains(&format!("{name} is not initialised")), "{error}");
                }
                (evaluated, _) => panic!("{name} at {mark}, {round}: {evaluated:?}"),
            }
        }
        if (round, mark) != (2, "set") {
            session.resume(Resume::Continue, None).await.expect("continues");
        }
    }
    session.stop().await.expect("ends");
}

/// A condition fails where it reads it, and nowhere else.
#[tokio::test]
async fn log_messages_and_conditions_know_what_has_no_value() {
    let subject = Subject::written(Language::Go, "subject", LONG_DECLARATIONS);
    let log = subject.breakpoint("sum").log_message("sum {sum} i {i} {\"sum\"}");
    let first = subject.breakpoint("list").condition("i == 2 && len(list) > 0");
    let second = subject.breakpoint("x").condition("i == 2 && w == 4");
    for breakpoint in [log, first, second] {
        subject.debugger.set_breakpoint(breakpoint).await.expect("is set");
    }
    let session = subject.start("").await;
    let report = subject.stop_at(&session, "list").await;
    assert_eq!(local(&report, "i").value, "2");
    let [said] = report.condition_failures.as_slice() else { panic!("{report:#?}") };
    assert!(said.contains("`i == 2 && len(list) > 0` cannot be evaluated"), "{said}");
    assert!(said.contains("list_is_not_initialised"), "{said}");
    session.resume(Resume::Continue, None).await.expect("continues");
    subject.stop_at(&session, "x").await;
    let records = subject.debugger.events().since(session.id().as_str(), 0);
    let logged: String = records.iter().filter_map(|record| record.output()).collect();
    assert!(logged.contains("sum <not initialised> i 1 \"sum\""), "{logged}");
    assert!(logged.contains("sum <not initialised> i 2 "), "{logged}");
    session.stop().await.expect("ends");
}
