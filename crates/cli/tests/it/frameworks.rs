//! The fruit menu of `tests/programs` in five frameworks: the same steps for each, each a test.

use serde_json::json;
use termbridge_testkit::TestEnvironment;

use crate::support::{App, Screen, built, program, repository};

#[derive(Debug, Clone, Copy)]
enum Framework {
    Curses,
    Textual,
    Ink,
    BubbleTea,
    Ratatui,
}

impl Framework {
    fn command(self) -> Vec<String> {
        let python = || built("test-venv/bin/python");
        match self {
            Self::Curses => vec![python(), repository("tests/programs/curses_menu.py")],
            Self::Textual => vec![python(), repository("tests/programs/textual_menu.py")],
            Self::Ink => {
                repository("tests/programs/ink/node_modules");
                vec![program("node"), repository("tests/programs/ink/menu.mjs")]
            }
            Self::BubbleTea => vec![built("test-programs/bubbletea-menu")],
            Self::Ratatui => vec![built("examples/ratatui_menu")],
        }
    }

    fn start(self) -> App {
        let command = self.command();
        let mut app = App::launch(
            TestEnvironment::new(),
            json!({"command": command[0], "args": command[1..]}),
        );
        let screen = app.until("the first screen", |screen| {
            is_selected(screen, 2, "Apple") && screen.row(9) == "Size: 80x24"
        });
        assert_eq!(screen.row(0), "Fruit menu", "{self:?}");
        assert!(screen.is_alternate(), "{self:?}");
        app
    }
}

/// The item stands in that row and nothing else is highlighted.
fn is_selected(screen: &Screen, row: usize, item: &str) -> bool {
    let line = format!("> {item}");
    screen.row(row) == line && screen.highlights() == [line.as_str()]
}

fn moves_filters_resizes_and_chooses(framework: Framework) {
    let mut app = framework.start();
    app.keys_show("<Down*2>", "> Cherry");
    app.until("Cherry selected", |screen| is_selected(screen, 4, "Cherry"));
    app.keys_show("<Down*9>", "> Elderberry");
    app.until("the last selected", |screen| is_selected(screen, 6, "Elderberry"));
    app.keys_show("<Up*3>", "> Banana");
    app.keys_show("j", "> Cherry");

    app.keys_show("/", "Filter:");
    app.keys_show("ERRx", "Filter: ERRx");
    let screen = app.keys_show("Backspace", "> Cherry");
    assert!(!screen.contains("Apple"), "{framework:?}");
    app.until("the filtered list", |screen| {
        is_selected(screen, 2, "Cherry")
            && screen.row(3) == "  Elderberry"
            && screen.row(8) == "Filter: ERR"
    });
    app.keys("Escape", json!({"gone": "Filter:"}));
    app.until("the whole list", |screen| {
        is_selected(screen, 2, "Apple") && screen.row(6) == "  Elderberry"
    });

    for (cols, rows) in [(100, 30), (60, 15)] {
        let size = format!("Size: {cols}x{rows}");
        app.resize_shows(cols, rows, |screen| {
            screen.row(9) == size && is_selected(screen, 2, "Apple")
        });
    }

    app.keys_show("<Down*2>", "> Cherry");
    let (code, screen) = app.keys_end("Enter");
    assert_eq!(code, Some(0), "{framework:?}: {screen:?}");
    assert!(
        screen.contains("You chose: Cherry") && !screen.is_alternate(),
        "{framework:?}: {screen:?}"
    );
}

fn ends_without_a_choice(framework: Framework) {
    for keys in ["q", "Ctrl+C", "/q<Ctrl+C>"] {
        let mut app = framework.start();
        // ink draws its first frame before it takes the terminal out of line mode, in which Ctrl+C
        // is a signal: a key that had its effect tells that this is over.
        app.keys_show("Down", "> Banana");
        let (code, screen) = app.keys_end(keys);
        assert_eq!(code, Some(3), "{framework:?} {keys}: {screen:?}");
        assert!(
            screen.contains("No choice") && !screen.is_alternate(),
            "{framework:?} {keys}: {screen:?}"
        );
    }
}

fn a_click_selects(framework: Framework) {
    let mut app = framework.start();
    for (row, item) in [(5, "Dragonfruit"), (3, "Banana"), (6, "Elderberry")] {
        app.send(json!({"mouse": {"text": item}}), json!({"text": format!("> {item}")}));
        app.until(item, |screen| is_selected(screen, row, item));
    }
    let (code, screen) = app.keys_end("Enter");
    assert_eq!(code, Some(0), "{framework:?}");
    assert!(screen.contains("You chose: Elderberry"), "{framework:?}");
}

fn restarts_on_a_clean_screen(framework: Framework) {
    let mut app = framework.start();
    app.keys_show("<Down*2>", "> Cherry");
    app.call("restart_app", json!({}));
    app.until("the first screen again", |screen| {
        is_selected(screen, 2, "Apple") && screen.row(9) == "Size: 80x24"
    });
    app.keys_show("Down", "> Banana");
    let (code, screen) = app.keys_end("Enter");
    assert_eq!(code, Some(0), "{framework:?}");
    assert!(screen.contains("You chose: Banana"), "{framework:?}");
}

/// The tests of one framework, in a module of its name.
macro_rules! tests_of {
    ($($name:ident: $framework:expr;)*) => {$(
        mod $name {
            use super::Framework;

            #[test]
            fn moves_filters_resizes_and_chooses() {
                super::moves_filters_resizes_and_chooses($framework);
            }

            #[test]
            fn ends_without_a_choice() {
                super::ends_without_a_choice($framework);
            }

            #[test]
            fn restarts_on_a_clean_screen() {
                super::restarts_on_a_clean_screen($framework);
            }
        }
    )*};
}

tests_of! {
    curses: Framework::Curses;
    textual: Framework::Textual;
    ink: Framework::Ink;
    bubbletea: Framework::BubbleTea;
    ratatui: Framework::Ratatui;
}

#[test]
fn textual_takes_clicks() {
    a_click_selects(Framework::Textual);
}

#[test]
fn bubbletea_takes_clicks() {
    a_click_selects(Framework::BubbleTea);
}
