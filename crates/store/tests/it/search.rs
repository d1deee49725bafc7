//! What is found, in which order, and how it is shown.

use termbridge_store::{Field, Filter, History, Markers, Query, Scope, StoreError};

use crate::support::{Folder, entry, fill, filtered, found, ids};

fn sample() -> (Folder, History) {
    let folder = Folder::new();
    let history = folder.open();
    let rows = [
        ("git", "git commit -m \"fix: foo-bar\"", "[main 1a2b3c] fix: foo-bar"),
        ("path", "vim /home/me/src/main.rs", ""),
        ("flag", "cargo build --no-default-features", "Compiling termbridge_store v0.1.0"),
        ("unicode", "echo Größe Ελλάδα", "ПРИВЕТ мир café 日本語"),
        ("near", "echo NEAR AND OR NOT", "column: value^2 {curly}"),
        ("dots", "python a.b/c.py", "Traceback: ModuleNotFoundError: no module named 'x_y'"),
        ("sql", "sqlite3 t.db 'select 1'", "it's 100% done; drop table runs"),
        ("empty", "true", ""),
    ];
    let entry = |(at, row): (usize, &(&str, &str, &str))| entry(row.0, row.1, row.2, at as i64);
    fill(&history, rows.iter().enumerate().map(entry));
    (folder, history)
}

#[test]
fn words_are_found_as_they_are_typed() {
    let (_folder, history) = sample();
    let table: [(&str, &[&str]); 42] = [
        ("git commit -m \"fix", &["git"]),
        ("git commit -m \"x\"", &[]),
        ("foo-bar", &["git"]),
        ("bar-foo", &[]),
        ("FOO", &["git"]),
        ("commit -m", &["git"]),
        ("1a2b", &["git"]),
        ("a2b3c", &[]),
        ("src/main.rs", &["path"]),
        ("/home/me", &["path"]),
        ("main.rs", &["path"]),
        ("main.r", &["path"]),
        ("main rs src", &["path"]),
        ("rs/main", &[]),
        ("--no-default-features", &["flag"]),
        ("no-default", &["flag"]),
        ("termbridge_store", &["flag"]),
        ("store", &["flag"]),
        ("compi", &["flag"]),
        ("compi cargo", &[]),
        ("cargo compi", &["flag"]),
        ("GRÖSSE", &[]),
        ("GRÖßE", &["unicode"]),
        ("größe", &["unicode"]),
        ("ελλάδα", &["unicode"]),
        ("привет", &["unicode"]),
        ("café", &["unicode"]),
        ("日本", &["unicode"]),
        ("NEAR", &["near"]),
        ("NEAR(and", &["near"]),
        ("NEAR(echo", &[]),
        ("echo AND OR", &["near"]),
        ("AND", &["near"]),
        ("column:", &["near"]),
        ("command: echo", &[]),
        ("value^2", &["near"]),
        ("{curly}", &["near"]),
        ("a.b/c", &["dots"]),
        ("modulenotfounderror", &["dots"]),
        ("x_y", &["dots"]),
        ("100%", &["sql"]),
        ("it's done; drop", &["sql"]),
    ];
    for (text, wanted) in table {
        assert_eq!(found(&history, text), wanted, "{text:?}");
    }
    for text in ["*", "\"", "-", "--", "''", "()", "^", "\u{0}", "🎉", "%", ":", "\\"] {
        assert_eq!(found(&history, text), [""; 0], "{text:?} has no word");
    }
    for text in ["git *", "\"git", "git\"", "git -", "(git", "git)", "^git", "git\u{0}", "{git} :"]
    {
        assert_eq!(found(&history, text), ["git"], "{text:?}");
    }
    for text in ["", " ", "\n\t"] {
        assert_eq!(found(&history, text).len(), 8, "{text:?} lists all");
        assert_eq!(found(&history, text)[0], "empty", "newest first");
    }
}

#[test]
fn operators_phrases_and_groups_are_understood() {
    let (_folder, history) = sample();
    let table: [(&str, &[&str]); 14] = [
        ("commit OR cargo", &["flag", "git"]),
        ("commit AND cargo", &[]),
        ("git AND commit", &["git"]),
        ("nothing OR commit", &["git"]),
        ("nothing here OR git commit", &["git"]),
        ("(commit OR cargo) git", &["git"]),
        ("git (nothing OR (commit foo))", &["git"]),
        ("\"git commit\"", &["git"]),
        ("\"commit git\"", &[]),
        // In quotes the last word is whole.
        ("\"git comm\"", &[]),
        ("\"git commit\" OR \"no default\"", &["flag", "git"]),
        ("commit OR", &[]),
        ("git and commit", &[]),
        ("\"AND OR\"", &["near"]),
    ];
    for (text, wanted) in table {
        let mut hits = found(&history, text);
        hits.sort();
        assert_eq!(hits, wanted, "{text:?}");
    }
    // The same where the index is probed for rare words.
    let filter = Filter { session: Some("none".into()), ..Filter::default() };
    let query = Query { filter, ..Query::new("commit OR cargo") };
    assert!(history.search(&query).expect("searched").hits.is_empty());
}

#[test]
fn the_scope_says_where() {
    let (_folder, history) = sample();
    let look = |text: &str, scope| {
        let page = history.search(&Query { scope, ..Query::new(text) }).unwrap();
        ids(&page).join(" ")
    };
    assert_eq!(look("traceback", Scope::All), "dots");
    assert_eq!(look("traceback", Scope::Output), "dots");
    assert_eq!(look("traceback", Scope::Commands), "");
    assert_eq!(look("python", Scope::Commands), "dots");
    assert_eq!(look("python", Scope::Output), "");
    assert_eq!(look("python trace", Scope::All), "dots", "a term may be in either");
    assert_eq!(look("python trace", Scope::Output), "");
    assert_eq!(look("python trace", Scope::Commands), "");
}

#[test]
fn others_entries_take_no_place_in_a_page() {
    let folder = Folder::new();
    let history = folder.open();
    // Many enough that no word is rare; the user's own are the oldest.
    let entries = (0..600).map(|number| {
        let mut entry = entry(&format!("c{number}"), "build it", "some words", number * 1000);
        entry.run.principal = (number >= 10).then(|| format!("other {}", number % 2));
        entry
    });
    fill(&history, entries);
    for words in ["", "words", "build words", "buil"] {
        let page = |principal: &str| {
            let filter = Filter { principal: Some(principal.to_owned()), ..Filter::default() };
            let query = Query { filter, limit: 20, ..Query::new(words) };
            history.search(&query).unwrap().hits
        };
        let own = page("");
        assert_eq!(own.len(), 10, "{words:?}");
        assert!(own.iter().all(|hit| hit.run.principal.is_none()));
        let others = page("other 1");
        assert_eq!(others.len(), 20, "{words:?}");
        assert!(others.iter().all(|hit| hit.run.principal.as_deref() == Some("other 1")));
    }
}

#[test]
fn filters_hold_together() {
    let folder = Folder::new();
    let history = folder.open();
    let entries = (0..40).map(|number| {
        let mut entry = entry(&format!("c{number}"), "build it", "some words", number * 1000);
        entry.run.session = format!("session {}", number % 4);
        entry.run.project = Some(format!("/p/{}", number % 2));
        entry.run.agent = (number % 5 == 0).then(|| "agent/1".to_owned());
        entry.run.principal = (number % 8 == 0).then(|| "ada".to_owned());
        entry.run.exit_code = (number != 38).then_some((number % 3) as i32 - 1);
        entry.run.signal = (number == 38).then(|| "KILL".to_owned());
        entry
    });
    fill(&history, entries);
    let text = |text: &str| Some(text.to_owned());
    let cases = [
        (Filter { session: text("session 3"), ..Filter::default() }, 10),
        (Filter { session: text("session"), ..Filter::default() }, 0),
        (Filter { project: text("/p/1"), ..Filter::default() }, 20),
        (Filter { agent: text("agent/1"), ..Filter::default() }, 8),
        (Filter { agent: text("agent/1"), project: text("/p/1"), ..Filter::default() }, 4),
        (Filter { principal: text("ada"), ..Filter::default() }, 5),
        (Filter { principal: text(""), ..Filter::default() }, 35),
        (Filter { principal: text(""), agent: text("agent/1"), ..Filter::default() }, 7),
        (Filter { principal: text("bob"), ..Filter::default() }, 0),
        (Filter { exit_code: Some(-1), ..Filter::default() }, 14),
        (Filter { exit_code: Some(0), ..Filter::default() }, 13),
        (Filter { failed: true, ..Filter::default() }, 27),
        (Filter { failed: true, exit_code: Some(0), ..Filter::default() }, 0),
        (Filter { since_ms: Some(35_000), ..Filter::default() }, 5),
        (Filter { since_ms: Some(35_001), ..Filter::default() }, 4),
        (Filter { until_ms: Some(3_000), ..Filter::default() }, 4),
        (Filter { until_ms: Some(2_999), ..Filter::default() }, 3),
        (Filter { since_ms: Some(3_000), until_ms: Some(3_000), ..Filter::default() }, 1),
        (Filter { since_ms: Some(i64::MAX), ..Filter::default() }, 0),
        (Filter { until_ms: Some(i64::MIN), ..Filter::default() }, 0),
    ];
    for (filter, count) in cases {
        for words in ["", "words", "build", "wor", "build wor", "buil"] {
            let query = Query { filter: filter.clone(), limit: 200, ..Query::new(words) };
            let hits = history.search(&query).unwrap().hits;
            assert_eq!(hits.len(), count, "{words:?} {filter:?}");
        }
    }
    let tagged = Filter { failed: true, ..Filter::default() };
    assert_eq!(filtered(&history, "failed", tagged), [""; 0], "tags are no words");
}

#[test]
fn better_matches_come_first() {
    let folder = Folder::new();
    let history = folder.open();
    fill(
        &history,
        [
            entry("command", "needle", "", 1),
            entry("long command", &format!("needle {}", "hay ".repeat(50)), "", 2),
            entry("often", "x", "needle needle needle", 3),
            entry("twin", "x", "needle in some hay", 4),
            entry("twin newer", "x", "needle in some hay", 5),
            entry("deep", "x", &format!("{} needle", "hay ".repeat(3000)), 6),
        ],
    );
    let order = ["command", "long command", "often", "twin newer", "twin", "deep"];
    let found = found(&history, "needle");
    assert_eq!(found[0], order[0]);
    assert_eq!(found.len(), 6);
    let at = |id: &str| found.iter().position(|other| other == id).unwrap();
    assert!(at("often") < at("twin newer"), "{found:?}");
    assert_eq!(at("twin newer") + 1, at("twin"), "newer first on ties: {found:?}");
    assert_eq!(at("deep"), 5, "{found:?}");
}

#[test]
fn snippets_mark_the_words() {
    let folder = Folder::new();
    let history = folder.open();
    let output = format!(
        "{}\nerror: cannot\tfind `value_x` here\n{}",
        "a line\n".repeat(900),
        "b ".repeat(90)
    );
    fill(&history, [entry("c1", "cargo build --release", &output, 1), entry("c2", "ls", "", 2)]);
    let snippet = |text: &str| {
        let markers = Markers { open: "<b>".to_owned(), close: "</b>".to_owned() };
        let page = history.search(&Query { markers, ..Query::new(text) }).unwrap();
        page.hits[0].snippet.clone().unwrap()
    };
    let command = snippet("CARGO rel");
    assert_eq!(command.field, Field::Command);
    assert_eq!(command.text, "<b>cargo</b> build --<b>release</b>");
    let deep = snippet("error value_x");
    assert_eq!(deep.field, Field::Output);
    assert!(
        deep.text.contains("a line <b>error</b>: cannot find `<b>value_x</b>` here b b"),
        "{deep:?}"
    );
    assert!(deep.text.starts_with('…') && deep.text.ends_with('…'), "{deep:?}");
    assert!(deep.text.len() < 220, "{deep:?}");
    let both = snippet("cargo error");
    assert!(both.text.contains("<b>"), "{both:?}");
    let listed = history.search(&Query::new("")).unwrap();
    assert!(listed.hits.iter().all(|hit| hit.snippet.is_none()));
    assert_eq!(listed.hits[1].output_bytes, output.len() as u64);
}

#[test]
fn bounds_are_errors_that_say_so() {
    let (_folder, history) = sample();
    for limit in [0, 201, usize::MAX] {
        let error = history.search(&Query { limit, ..Query::new("x") }).unwrap_err();
        assert!(
            matches!(&error, StoreError::Invalid(text) if text.contains("1 to 200")),
            "{error}"
        );
    }
    let long = history.search(&Query::new("a ".repeat(3000))).unwrap_err();
    assert!(matches!(long, StoreError::Invalid(_)), "{long}");
    let many = history.search(&Query::new("a ".repeat(65))).unwrap_err();
    assert!(many.to_string().contains("65 words"), "{many}");
    assert_eq!(found(&history, &"a ".repeat(64)), ["dots"], "as many as may be");
}
