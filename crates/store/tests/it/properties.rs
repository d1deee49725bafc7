//! Whatever is asked, there is an answer.

use std::sync::OnceLock;

use proptest::prelude::*;
use termbridge_store::{Filter, History, Query, Scope};

use crate::support::{Folder, entry, fill, found};

fn history() -> &'static History {
    static HISTORY: OnceLock<(Folder, History)> = OnceLock::new();
    let (_, history) = HISTORY.get_or_init(|| {
        let folder = Folder::new();
        let history = folder.open();
        let words = "error: a.b/c foo-bar \"x\" (y) * ^ NEAR AND é 日本 'q'\n".repeat(80);
        fill(&history, (0..50).map(|n| entry(&format!("c{n}"), "git commit -m \"x\"", &words, n)));
        (folder, history)
    });
    history
}

fn scope() -> impl Strategy<Value = Scope> {
    prop_oneof![Just(Scope::Commands), Just(Scope::Output), Just(Scope::All)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn no_query_is_an_error(text in any::<String>(), scope in scope(), session in any::<Option<String>>()) {
        let filter = Filter { session, ..Filter::default() };
        let query = Query { scope, filter, ..Query::new(text) };
        prop_assert!(history().search(&query).is_ok());
    }

    #[test]
    fn no_query_of_syntax_is_an_error(
        text in "([\"'*^(){}:+,.\\-/ ]|NEAR|AND|OR|NOT|git|x|é|\u{0}|command|tags|foo){0,24}",
        scope in scope(),
        failed: bool,
    ) {
        let filter = Filter { failed, ..Filter::default() };
        let query = Query { scope, filter, ..Query::new(text) };
        prop_assert!(history().search(&query).is_ok());
    }

    #[test]
    fn no_cursor_panics(cursor in any::<String>(), hex in "[0-9a-f.]{0,40}") {
        for cursor in [cursor, hex] {
            let _ = history().search(&Query { cursor: Some(cursor), ..Query::new("git") });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever ran is found by its own words, and by the start of the last.
    #[test]
    fn a_command_is_found_by_itself(words in prop::collection::vec("[a-zA-Zа-яà-ö0-9_./-]{0,6}[a-zа-я0-9]", 1..6)) {
        let folder = Folder::new();
        let history = folder.open();
        let command = words.join(" ");
        fill(&history, [entry("c1", &command, "", 1)]);
        prop_assert_eq!(found(&history, &command), ["c1"], "{}", command);
        let start: String = command.chars().take(command.chars().count() - 1).collect();
        if start.ends_with(char::is_alphanumeric) {
            prop_assert_eq!(found(&history, &start), ["c1"], "{}", start);
        }
    }
}
