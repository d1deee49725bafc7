//! Editors: what is typed, pasted and clicked ends up in the file.

use serde_json::json;
use termbridge_testkit::TestEnvironment;

use crate::support::{App, numbered, program};

/// Vim without a configuration but its own defaults, on a file of the environment.
fn vim(environment: TestEnvironment, file: &str) -> App {
    let path = environment.path().join(file);
    let mut app = App::launch(
        environment,
        json!({"command": program("vim"), "args": ["-i", "NONE", "-n", path]}),
    );
    // What it says of the file comes last.
    app.wait_for(json!({"regex": r"\[New\]|\d+L, \d+B"}));
    assert!(app.screen().is_alternate());
    app
}

#[test]
fn vim_edits_and_saves() {
    let mut app = vim(TestEnvironment::new(), "notes.txt");
    app.keys("i", json!({"text": "-- INSERT --"}));
    app.until("the cursor", |screen| screen.cursor() == (0, 0));
    app.keys_show("first line<Enter>the second wo<Backspace*2>line", "second line");
    // vim may still be drawing when the text is first there.
    app.until("both lines", |screen| {
        (screen.row(0), screen.row(1)) == ("first line", "the second line")
    });
    // Undo, redo, arrows in normal mode and a command line, each by the keys a person presses.
    app.keys("<Escape>u", json!({"gone": "second line"}));
    app.keys_show("<Ctrl+R>", "the second line");
    app.keys_show("<Up><End>a, <Escape>", "first line,");
    app.keys_show(":s/first/1st/<Enter>", "1st line,");
    let (code, screen) = app.keys_end(":wq<Enter>");
    assert_eq!(code, Some(0));
    assert!(!screen.is_alternate(), "{screen:?}");
    assert_eq!(app.environment.read("notes.txt"), "1st line, \nthe second line\n");
}

#[test]
fn vims_numbers_and_bars_are_no_selection() {
    let environment = TestEnvironment::new();
    environment.write("rows.txt", "alpha\nbeta\ngamma\ndelta\n");
    let mut app = vim(environment, "rows.txt");
    let settings = ":set number hlsearch laststatus=2 | highlight LineNr ctermbg=darkgrey<Enter>";
    app.keys_show(settings, "  4 delta");
    app.keys("/gamma<Enter>", json!({"change": true}));
    let screen = app.until("the match", |screen| screen.highlights_text("gamma"));
    assert_eq!(screen.highlights(), ["gamma"], "{screen:?}");
}

#[test]
fn vim_in_one_call() {
    let mut app = vim(TestEnvironment::new(), "one.txt");
    let (code, _) = app.keys_end("iHello <lt> 100 % süß 漢字<Escape>:wq<Enter>");
    assert_eq!(code, Some(0));
    let written = app.environment.read("one.txt");
    assert!(written.starts_with("Hello "), "{written:?}");
    assert!(written.ends_with(" 100 % süß 漢字\n"), "{written:?}");
}

#[test]
fn vim_ends_without_saving() {
    let environment = TestEnvironment::new();
    environment.write("kept.txt", "as it was\n");
    let mut app = vim(environment, "kept.txt");
    app.keys_show("ddiother<Escape>", "other");
    app.keys_show(":q<Enter>", "E37");
    let (code, _) = app.keys_end(":cquit 4<Enter>");
    assert_eq!(code, Some(4));
    assert_eq!(app.environment.read("kept.txt"), "as it was\n");
}

#[test]
fn vim_takes_the_mouse() {
    let environment = TestEnvironment::new();
    environment.write("mouse.txt", "alpha beta gamma\n漢字 needle end\nlast line\n");
    let mut app = vim(environment, "mouse.txt");
    app.keys_show(":set mouse=a<Enter>", ":set mouse=a");
    // A click by text lands on it, also behind wide characters.
    app.send(json!({"mouse": {"text": "needle"}}), json!({"change": true}));
    let screen = app.until("the click", |screen| screen.cursor().0 == 1);
    let (_, col) = screen.cursor();
    assert!((5..11).contains(&col), "column {col}");
    app.keys("diw", json!({"gone": "needle"}));
    // By row and column.
    app.send(json!({"mouse": {"row": 0, "col": 6}}), json!({"change": true}));
    app.until("the second click", |screen| screen.cursor() == (0, 6));
    app.keys("x", json!({"text": "alpha eta"}));
    // A drag selects.
    app.send(
        json!({"mouse": {"action": "drag", "row": 2, "col": 0, "to_row": 2, "to_col": 3}}),
        json!({"text": "-- VISUAL --"}),
    );
    app.until("the drag", |screen| screen.cursor() == (2, 3));
    app.keys("d", json!({"gone": "last"}));
    // A double click selects a word.
    app.send(
        json!({"mouse": {"action": "double_click", "text": "gamma"}}),
        json!({"text": "-- VISUAL --"}),
    );
    app.keys("d", json!({"gone": "gamma"}));
    let (code, _) = app.keys_end(":wq<Enter>");
    assert_eq!(code, Some(0));
    assert_eq!(app.environment.read("mouse.txt"), "alpha eta \n漢字  end\n line\n");
}

#[test]
fn vim_scrolls_by_the_wheel() {
    let environment = TestEnvironment::new();
    let lines = numbered("row", 0..=199);
    environment.write("long.txt", lines);
    let mut app = vim(environment, "long.txt");
    app.keys_show(":set mouse=a<Enter>", ":set mouse=a");
    app.send(
        json!({"mouse": {"action": "scroll_down", "row": 5, "col": 5}, "repeat": 4}),
        json!({"text": "row 030"}),
    );
    app.until("the scrolled page", |screen| screen.row(0) == "row 012");
    let (code, _) = app.keys_end(":q<Enter>");
    assert_eq!(code, Some(0));
}

#[test]
fn vim_gets_a_paste_as_a_paste() {
    let pasted = "if here:\n    one\n    two <Escape>\n        three\nend\n";
    let mut app = vim(TestEnvironment::new(), "paste.txt");
    app.keys_show(":set autoindent<Enter>", ":set autoindent");
    app.keys("i", json!({"text": "-- INSERT --"}));
    // Typed text would gain an indent with each line, and `<Escape>` is not a key here.
    app.send(json!({"paste": pasted}), json!({"text": "end"}));
    let (code, _) = app.keys_end("<Escape>:wq<Enter>");
    assert_eq!(code, Some(0));
    let written = app.environment.read("paste.txt");
    assert_eq!(written.trim_end_matches('\n'), pasted.trim_end_matches('\n'));
}

#[test]
fn vim_takes_a_long_paste_whole() {
    let pasted = numbered("pasted line", 0..=3999);
    let mut app = vim(TestEnvironment::new(), "long.txt");
    app.keys("i", json!({"text": "-- INSERT --"}));
    app.send(json!({"paste": pasted}), json!({"text": "pasted line 3999"}));
    let (code, _) = app.keys_end("<Escape>:wq<Enter>");
    assert_eq!(code, Some(0));
    let written = app.environment.read("long.txt");
    assert_eq!(written.trim_end_matches('\n'), pasted.trim_end_matches('\n'));
}

#[test]
fn vim_follows_the_size() {
    let mut app = vim(TestEnvironment::new(), "size.txt");
    for (cols, rows) in [(100, 30), (40, 10), (132, 43)] {
        app.resize(cols, rows);
        // One row of text, one for the command line, a tilde in each other.
        let screen = app.until("the new size", |screen| {
            let tildes = screen.content().lines().filter(|line| *line == "~").count();
            screen.size() == (cols, rows) && tildes as u64 == rows - 2
        });
        assert!(screen.is_alternate());
        app.keys_show(
            ":echo 'size' &columns . 'x' . &lines<Enter>",
            &format!("size {cols}x{rows}"),
        );
    }
    let (code, _) = app.keys_end(":q<Enter>");
    assert_eq!(code, Some(0));
}

#[test]
fn nano_edits_and_saves() {
    let environment = TestEnvironment::new();
    environment.write("nano.txt", "delete me\nkeep me\n");
    let path = environment.path().join("nano.txt");
    let mut app = App::launch(
        environment,
        json!({"command": program("nano"), "args": ["--ignorercfiles", path]}),
    );
    app.wait_for(json!({"text": "Read 2 lines"}));
    app.keys("<Ctrl+K>", json!({"gone": "delete me"}));
    // Neither the title nor the keys at the bottom are a selection, and its message goes with the next key.
    app.until("nothing selected", |screen| screen.highlights().is_empty());
    app.keys_show("written by hand<Enter>", "written by hand");
    // Alt is a prefix that nano must tell from Escape.
    app.keys("<Alt+U>", json!({"change": true}));
    app.until("the undone newline", |screen| {
        screen.row_of("keep me") == screen.row_of("written by hand")
    });
    app.keys_show("<Alt+E>", "Redid");
    app.keys_show("<Ctrl+O>", "File Name to Write");
    app.keys_show("<Enter>", "Wrote 2 lines");
    let (code, screen) = app.keys_end("<Ctrl+X>");
    assert_eq!(code, Some(0));
    assert!(!screen.is_alternate());
    assert_eq!(app.environment.read("nano.txt"), "written by hand\nkeep me\n");
}

#[test]
fn emacs_takes_chords_as_models_write_them() {
    let environment = TestEnvironment::new();
    let path = environment.write("code.txt", "one\ntwo\n");
    let mut app =
        App::launch(environment, json!({"command": program("emacs"), "args": ["-Q", "-nw", path]}));
    app.wait_for(json!({"text": "two"}));
    app.keys("Ctrl+e x Down Home C-k C-k", json!({"gone": "two"}));
    app.keys_show("C-x C-s", "Wrote");
    assert_eq!(app.environment.read("code.txt"), "onex\n");
    // A mixture is refused before anything is typed.
    let arguments = json!({"session_id": app.id(), "keys": "C-x save"});
    let (code, message) = app.server.error("send_keys", arguments);
    assert_eq!(code, "INVALID_INPUT");
    assert!(message.contains("`<C-x>save`") && message.contains("`text`"), "{message}");
    assert_eq!(app.keys_end("Ctrl+x Ctrl+c").0, Some(0));
    assert_eq!(app.environment.read("code.txt"), "onex\n");
}
