//! Programs that show and choose: pager, process list, file manager, finder, dialogs, multiplexer.

use serde_json::{Value, json};
use termbridge_testkit::TestEnvironment;

use crate::support::{App, await_end_of, is_running, numbered, program};

#[test]
fn less_pages_and_searches() {
    let environment = TestEnvironment::new();
    let lines = numbered("line", 1..=300);
    let path = environment.write("long.txt", lines);
    let mut app = App::launch(environment, json!({"command": program("less"), "args": [path]}));
    app.until("the first page", |screen| {
        screen.row(0) == "line 001" && screen.row(22) == "line 023"
    });
    app.keys_show("Space", "line 046");
    app.until("the second page", |screen| screen.row(0) == "line 024");
    app.keys_show("PageDown", "line 069");
    app.keys_show("b", "line 024");
    app.keys_show("/line 15[05]<Enter>", "line 150");
    let screen = app.until("the search", |screen| {
        screen.row(0) == "line 150" && screen.highlights_text("line 155")
    });
    assert!(screen.highlights_text("line 150"), "{screen:?}");
    app.keys_show("n", "line 155");
    app.until("the next match", |screen| screen.row(0) == "line 155");
    app.keys_show("G", "(END)");
    let screen = app.until("the end", |screen| {
        screen.row(22) == "line 300" && screen.row(23) == "(END)" && screen.cursor() == (23, 5)
    });
    assert!(!screen.highlights_text("END"), "{:?}", screen.highlights());
    app.keys("g", json!({"text": "line 001"}));
    let (code, screen) = app.keys_end("q");
    assert_eq!(code, Some(0));
    assert!(!screen.is_alternate() && !screen.contains("line"));
}

#[test]
fn htop_starts_and_quits() {
    for quit in [json!({"keys": "F10"}), json!({"keys": "q"}), json!({"mouse": {"text": "Quit"}})] {
        let mut app = App::launch(
            TestEnvironment::new(),
            json!({"command": program("htop"), "cols": 120, "rows": 30}),
        );
        let screen = app.until("htop's screen", |screen| {
            screen.contains("Load average:")
                && screen.contains("Tasks:")
                && screen.contains("PID")
                && screen.contains("F10Quit")
        });
        assert!(screen.is_alternate());
        assert!(!screen.highlights().is_empty(), "the selected process: {screen:?}");
        for decoration in ["PID", "Main", "Help"] {
            assert!(!screen.highlights_text(decoration), "{:?}", screen.highlights());
        }
        // The help needs a key that is not text.
        app.keys_show("F1", "htop 3");
        app.keys_show("Escape", "F10Quit");
        app.send(quit.clone(), json!({"exit": true}));
        assert_eq!(app.exit_code(), Some(0), "{quit}");
    }
}

#[test]
fn mc_shows_panels_and_the_selected_row() {
    let environment = TestEnvironment::new();
    environment.write("files/alpha.txt", "the first file\n");
    environment.write("files/beta.txt", "the second file\n");
    environment.write("files/gamma.txt", "the third file\n");
    let folder = environment.path().join("files");
    let mut app = App::launch(
        environment,
        json!({"command": program("mc"), "args": [folder, folder], "cwd": folder}),
    );
    let screen = app.until("both panels", |screen| {
        screen.content().matches("gamma.txt").count() == 2 && screen.contains("10Quit")
    });
    assert!(screen.is_alternate());
    for name in ["alpha", "beta", "gamma"] {
        app.keys("Down", json!({"change": true}));
        app.until("the selected row", |screen| screen.highlights_text(&format!("{name}.txt")));
    }
    app.keys("Up", json!({"change": true}));
    app.until("the row above", |screen| screen.highlights_text("beta.txt"));
    app.keys_show("F3", "the second file");
    app.keys("F10", json!({"text": "gamma.txt"}));
    // The mouse selects in the other panel.
    app.send(json!({"mouse": {"row": 4, "col": 45}}), json!({"change": true}));
    app.until("the clicked row", |screen| screen.highlights_text("alpha.txt"));
    let (code, screen) = app.keys_end("F10");
    assert_eq!(code, Some(0));
    assert!(!screen.is_alternate());
}

fn fzf() -> App {
    let script = format!("printf 'apple\\nbanana\\ncherry\\nblack cherry\\n' | {}", program("fzf"));
    let mut app = App::launch(
        TestEnvironment::new(),
        json!({"command": program("sh"), "args": ["-c", script]}),
    );
    app.until("fzf's list", |screen| screen.contains("4/4"));
    app
}

#[test]
fn fzf_filters_and_chooses() {
    let mut app = fzf();
    let screen = app.keys("cher", json!({"text": "2/4"}));
    assert!(screen.is_alternate());
    app.keys("Up", json!({"text": "> black cherry"}));
    let (code, screen) = app.keys_end("Enter");
    assert_eq!(code, Some(0));
    assert!(!screen.is_alternate());
    assert_eq!(screen.content().trim_end(), "black cherry");

    let mut app = fzf();
    app.keys("nothing", json!({"text": "0/4"}));
    let (code, screen) = app.keys_end("Escape");
    assert_eq!(code, Some(130));
    assert_eq!(screen.content().trim_end(), "");
}

#[test]
fn fzf_takes_the_mouse() {
    let mut app = fzf();
    app.send(json!({"mouse": {"text": "banana"}}), json!({"text": "> banana"}));
    let (code, screen) = app.keys_end("Enter");
    assert_eq!((code, screen.content().trim_end()), (Some(0), "banana"));
}

/// A dialog, the text to wait for, the keys, and the exit code.
type Dialog = (&'static [&'static str], &'static str, &'static str, i64);

const MENU: &[&str] =
    &["--menu", "Which fruit?", "15", "40", "5", "1", "Apple", "2", "Banana", "3", "Cherry"];
const YES_OR_NO: &[&str] = &["--yesno", "Go on?", "10", "40"];

#[test]
fn dialogs_give_their_exit_codes() {
    let table: [Dialog; 6] = [
        (MENU, "Cherry", "Enter", 0),
        (MENU, "Cherry", "<Tab><Tab><Enter>", 1),
        (MENU, "Cherry", "Escape", 255),
        (YES_OR_NO, "Yes", "Enter", 0),
        (YES_OR_NO, "Yes", "<Tab><Enter>", 1),
        (YES_OR_NO, "Yes", "Escape", 255),
    ];
    for name in ["dialog", "whiptail"] {
        for (arguments, shown, keys, expected) in table {
            // In dialog the buttons are one Tab away from the list.
            let keys = match (name, keys) {
                ("dialog", "<Tab><Tab><Enter>") => "<Tab><Enter>",
                _ => keys,
            };
            let mut app = App::launch(
                TestEnvironment::new(),
                json!({"command": program(name), "args": arguments}),
            );
            app.wait_for(json!({"text": shown}));
            let (code, _) = app.keys_end(keys);
            assert_eq!(code, Some(expected), "{name} {arguments:?} {keys}");
        }
    }
}

#[test]
fn dialogs_show_and_give_the_choice() {
    for name in ["dialog", "whiptail"] {
        // The choice goes to standard error: kept apart, to be printed when the screen is restored.
        let script = "choice=$(\"$@\" 3>&1 1>&2 2>&3); echo \"choice <$choice>\"";
        let mut arguments = vec!["-c", script, "sh"];
        let path = program(name);
        arguments.push(&path);
        arguments.extend(MENU);
        let mut app = App::launch(
            TestEnvironment::new(),
            json!({"command": program("sh"), "args": arguments}),
        );
        app.wait_for(json!({"text": "Cherry"}));
        app.until("the first row", |screen| screen.highlights_text("Apple"));
        app.keys("Down", json!({"change": true}));
        app.until("the second row", |screen| screen.highlights_text("Banana"));
        app.keys("Down", json!({"change": true}));
        app.until("the third row", |screen| screen.highlights_text("Cherry"));
        let (code, screen) = app.keys_end("Enter");
        assert_eq!(code, Some(0), "{name}");
        assert!(screen.contains("choice <3>"), "{name}: {screen:?}");
    }
}

const PROMPT: &str = "ready>";

/// Tmux with a server and a socket of its own: nobody else's is touched.
fn tmux() -> App {
    let environment = TestEnvironment::new();
    let env = json!({
        "TMUX_TMPDIR": environment.path(),
        "SHELL": program("dash"),
        "ENV": environment.write("prompt.sh", format!("PS1='{PROMPT} '")),
    });
    let args = ["-L", "termbridge", "-f", "/dev/null", "new-session"];
    let mut app =
        App::launch(environment, json!({"command": program("tmux"), "args": args, "env": env}));
    app.until("tmux's first pane", |screen| {
        screen.row(0).starts_with(PROMPT) && screen.row(23).starts_with("[0]")
    });
    app
}

/// A key of tmux. It takes keys that come within a millisecond of others for a paste, so nothing may
/// have been typed just before.
#[track_caller]
fn prefix(app: &mut App, key: &str, wait: Value) {
    app.wait_for(json!({"idle_ms": 50}));
    app.keys(&format!("<Ctrl+B>{key}"), wait);
}

#[test]
fn tmux_inside_a_session() {
    let mut app = tmux();
    let screen = app.screen();
    assert!(screen.is_alternate() && screen.row(23).contains("0:"));
    app.keys_show("echo left-$((20+1))<Enter>", "left-21");
    prefix(&mut app, "%", json!({"text": "│"}));
    app.until("the second pane", |screen| screen.row(0).ends_with("│ready>"));
    app.keys_show("echo right-$((40+2))<Enter>", "right-42");
    let screen = app.until("the right pane", |screen| screen.row(1).ends_with("│right-42"));
    assert!(screen.row(1).starts_with("left-21"), "{screen:?}");
    app.resize(100, 30);
    app.until("the new size", |screen| screen.row(29).starts_with("[0]"));
    prefix(&mut app, "\"", json!({"text": "─"}));
    app.keys("exit<Enter>", json!({"gone": "─"}));
    // What comes too soon is for the pane: the command line has to be there first.
    prefix(&mut app, ":", json!({"change": true}));
    app.until("tmux's command line", |screen| screen.row(29).starts_with(':'));
    let (code, screen) = app.keys_end("kill-server<Enter>");
    assert_eq!(code, Some(1), "{screen:?}");
    assert!(screen.contains("[server exited]") && !screen.is_alternate(), "{screen:?}");
}

#[test]
fn keys_with_a_delay_reach_tmux_as_keys() {
    let mut app = tmux();
    let keys = json!({"keys": "C-b c C-b , Ctrl+u", "delay_ms": 50});
    app.send(keys, json!({"text": "(rename-window)"}));
    app.keys("named<Enter>", json!({"text": "1:named*"}));
    let keys = json!({"keys": "echo one<Enter><C-b>p", "delay_ms": 50});
    app.send(keys, json!({"text": "1:named-"}));
    let keys = json!({"keys": "x", "repeat": 300, "delay_ms": 1000, "session_id": app.id()});
    let (code, message) = app.server.error("send_keys", keys);
    assert!(code == "INVALID_INPUT" && message.contains("10 s"), "{message}");
}

#[test]
fn what_tmux_left_running_ends_with_the_server() {
    let mut app = tmux();
    let (code, screen) = app.keys_end("<Ctrl+B>d");
    assert_eq!(code, Some(0));
    assert!(screen.contains("[detached (from session 0)]"), "{screen:?}");
    // Tmux's server left the terminal: it is named, and left alone while ours runs.
    let stopped = app.call("stop_app", json!({})).structured;
    assert_eq!(stopped["already_ended"], true, "{stopped}");
    let detached = stopped["detached"].as_array().expect("a list");
    let is_tmux =
        |process: &&Value| process["name"].as_str().is_some_and(|name| name.starts_with("tmux"));
    let server = detached.iter().find(is_tmux).expect("tmux's server");
    let pid = server["pid"].as_i64().expect("a process id");
    assert!(is_running(pid));
    assert_eq!(app.server.close(), Some(0));
    await_end_of(pid);
}
