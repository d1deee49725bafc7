//! What a window sees and does.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use termbridge_bridge::{
    BridgeError, Caller, Client, Execute, NewSession, OutputRequest, ReadFrom, Scope,
};
use termbridge_session::vt::Size;
use termbridge_session::{Input, Launch, SessionError, Wait};

use crate::support::{Bed, Extension, LIMIT};

fn panel(id: &str, cols: u16, rows: u16) -> Value {
    json!({"sessionId": id, "cols": cols, "rows": rows})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_watched_typed_to_and_taken_over() {
    let bed = Bed::new();
    let cat = bed.launch(Launch::new("cat").size(60, 20)).await;
    let id = cat.id().to_string();
    let (mut window, welcome) = bed.window("w1", &["/"]).await;
    let row = &welcome["sessions"][0];
    assert_eq!((&row["sessionId"], &row["title"]), (&json!(id), &json!("cat")), "{welcome}");
    assert_eq!((&row["isHere"], &row["driver"]), (&json!(true), &json!("agent")), "{row}");
    let answer = window.does("watch", panel(&id, 80, 24)).await;
    assert_eq!(answer, json!({"cols": 60, "rows": 20, "driver": "agent"}));
    let dump = window.told(|kind, _| kind == "dump").await;
    assert_eq!((&dump["cols"], &dump["rows"]), (&json!(60), &json!(20)));

    window.does("input", json!({"sessionId": id, "data": "h\u{e4}llo\r"})).await;
    // Who types drives, and the terminal gets the panel's size: a new dump.
    let dump = window.told(|kind, data| kind == "dump" && data["cols"] == 80).await;
    assert_eq!(dump["rows"], 24);
    cat.wait(Wait::text("h\u{e4}llo\nh\u{e4}llo")).await.expect("typed");
    let row = window.told(|kind, data| kind == "session" && data["driver"] == "person").await;
    assert_eq!(row["isDriver"], true);
    assert!(matches!(cat.send_keys("x").await, Err(SessionError::TakenOver(_))));

    window.does("hand_back", json!({"sessionId": id})).await;
    window.told(|kind, data| kind == "dump" && data["cols"] == 60).await;
    window.told(|kind, data| kind == "session" && data["driver"] == "agent").await;
    cat.send_keys("agent<Enter>").await.expect("the agent's again");
    window.shown("agent\r\nagent").await;

    window.does("stop", json!({"sessionId": id})).await;
    let ended = window.told(|kind, _| kind == "ended").await;
    assert!(ended["signal"].is_string() || ended["exitCode"].is_number(), "{ended}");
    window.told(|kind, data| kind == "session" && data["state"] == "exited").await;
    let text = window.does("transcript", json!({"sessionId": id})).await;
    assert!(text["text"].as_str().is_some_and(|text| text.contains("h\u{e4}llo")), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_panel_shows_the_part_that_fits_until_its_person_takes_over() {
    let bed = Bed::new();
    let ask = "printf '\\033[c\\033[6n'; printf '%0100d\\n' 7; read a; stty size; read b";
    let session = bed.script(ask).await;
    session.wait(Wait::text("00007")).await.expect("printed");
    let id = session.id().to_string();
    let (mut window, _) = bed.window("w1", &[]).await;
    window.does("watch", panel(&id, 30, 10)).await;
    let frame = window.told(|kind, _| ["frame", "dump"].contains(&kind)).await;
    let data = frame["data"].as_str().expect("text");
    assert!(frame.get("cols").is_none() && data.contains(&"0".repeat(30)), "{data:?}");
    assert!(!data.contains(&"0".repeat(31)), "cut: {data:?}");
    // A larger panel gets all of it.
    window.does("resize", panel(&id, 100, 40)).await;
    let dump = window.told(|kind, _| kind == "dump").await;
    assert_eq!(dump["cols"], 80);
    // Nothing in it makes the panel's terminal answer.
    let data = dump["data"].as_str().expect("text");
    assert!(!data.contains("\x1b[c") && !data.contains("\x1b[6n"), "{data:?}");
    window.does("resize", panel(&id, 30, 10)).await;
    assert_eq!(session.size().await.expect("known"), Size { cols: 80, rows: 24 });
    window.does("take_over", panel(&id, 30, 10)).await;
    window.told(|kind, data| kind == "dump" && data["cols"] == 30).await;
    window.does("input", json!({"sessionId": id, "data": "\r"})).await;
    window.shown("10 30").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_panel_is_scrolled_over_a_full_screen_program_which_nothing_is_typed_to() {
    let bed = Bed::new();
    let paint = "paint() { printf '\\033[?1049h'; for row in $(seq 24); do printf \"\\033[${row}H$1-$row;\"; done; }";
    let script = format!(
        "{paint}; paint a; read x; paint b; read x; paint c; read x; printf '\\033[?1049l'; read x"
    );
    let session = bed.script(&script).await;
    session.wait(Wait::text("a-24;")).await.expect("painted");
    let id = session.id().to_string();
    let scroll = |rows: i32| json!({"sessionId": id, "rows": rows, "cols": 0});
    let (mut window, _) = bed.window("w1", &[]).await;
    window.does("watch", panel(&id, 30, 10)).await;
    let frame = window.told(|kind, _| kind == "frame").await;
    assert_eq!(frame["canScroll"], true);
    let data = frame["data"].as_str().expect("text");
    assert!(data.contains("\x1b[?1000h\x1b[?1006h") && data.contains("a-24;"), "{data:?}");
    assert!(!data.contains("a-14;"), "nothing is above it: {data:?}");
    window.does("scroll", scroll(-3)).await;
    let moved = window.shown("a-12;").await;
    assert!(!moved.contains("a-22;"), "{moved:?}");
    window.does("scroll", scroll(i32::MIN)).await;
    window.shown("a-1;").await;
    // The program paints all of it anew, and the part stays.
    session.send_keys("<Enter>").await.expect("typed");
    session.wait(Wait::text("b-24;")).await.expect("painted");
    let painted = window.shown("b-10;").await;
    assert!(!painted.contains("b-11;"), "{painted:?}");
    // Another panel begins where the cursor is.
    window.does("resize", panel(&id, 30, 9)).await;
    let painted = window.shown("b-24;").await;
    assert!(!painted.contains("b-15;"), "{painted:?}");
    window.does("scroll", scroll(-15)).await;
    window.shown("b-1;").await;
    assert!(session.info().await.expect("known").driver.is_none(), "nobody took over");
    // So it does where a person takes over and hands back.
    window.does("take_over", panel(&id, 30, 9)).await;
    window.told(|kind, data| kind == "dump" && data["cols"] == 30).await;
    window.does("hand_back", json!({"sessionId": id})).await;
    window.told(|kind, _| kind == "frame").await;
    session.send_keys("<Enter>").await.expect("typed");
    window.shown("c-24;").await;
    session.send_keys("<Enter>").await.expect("typed");
    let frame = window.told(|kind, data| kind == "frame" && data["canScroll"] == false).await;
    assert!(frame["data"].as_str().is_some_and(|data| data.contains("\x1b[?1000l")), "{frame}");
    window.does("scroll", json!({"sessionId": "nobody", "rows": 1})).await;
    let refused = window.ask("scroll", json!({"sessionId": id, "rows": "up"})).await;
    assert_eq!(refused["data"]["code"], "INVALID_INPUT", "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sizes_are_right_however_fast_they_come_and_panels_may_be_nothing() {
    let bed = Bed::new();
    let floods = [bed.script("yes").await, bed.script("yes").await];
    let session = bed.launch(Launch::new("yes").size(60, 20)).await;
    let id = session.id().to_string();
    let (mut window, _) = bed.window("w1", &["/"]).await;
    window.does("watch", panel(&id, 0, 5)).await;
    window.told(|kind, _| kind == "frame").await;
    for _ in 0..5 {
        window.does("take_over", panel(&id, 100, 30)).await;
        window.does("resize", panel(&id, 90, 25)).await;
        window.does("hand_back", json!({"sessionId": id})).await;
    }
    window.does("unwatch", json!({"sessionId": id})).await;
    // Whatever was asked for before, this is the last.
    let settled = async {
        while session.size().await.expect("known") != (Size { cols: 60, rows: 20 }) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, settled).await.expect("in the end");
    // A later size would come with the next turn, and this comes after it.
    session.resize(Size { cols: 60, rows: 20 }).await.expect("resized");
    assert_eq!(session.size().await.expect("known"), Size { cols: 60, rows: 20 });
    drop(floods);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_that_no_message_holds_is_left_out() {
    let bed = Bed::new();
    let colours = "i=0; while [ $i -lt 9000 ]; do i=$((i+1)); printf '%s\\n' \"$line\"; done; echo all-printed; read a";
    let cells = (0..118).map(|n| format!("\u{1b}[38;2;{n};{};{}mx", n * 2, 255 - n));
    let line = cells.collect::<Vec<_>>().concat();
    let launch = Launch::new("/bin/sh").args(["-c", colours]).env("line", &line).size(120, 40);
    let session = bed.launch(launch).await;
    session.wait(Wait::text("all-printed").timeout(LIMIT)).await.expect("printed");
    let (mut window, _) = bed.window("w1", &["/"]).await;
    let id = session.id().to_string();
    window.does("watch", panel(&id, 120, 40)).await;
    let dump = window.told(|kind, _| kind == "dump").await;
    let data = dump["data"].as_str().expect("text");
    assert!(data.contains("all-printed") && data.len() < 12 << 20, "{} bytes", data.len());
    session.send_keys("typed<Enter>").await.expect("sent");
    window.shown("typed").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_windows_see_their_own_and_one_that_does_not_read_stops_nobody() {
    let bed = Bed::new();
    let (mut slow, _) = bed.window("slow", &["/nowhere"]).await;
    let (mut window, welcome) = bed.window("w1", &["/"]).await;
    assert_eq!(welcome["sessions"], json!([]));
    let flood = bed.script("read go; seq 1 200000; echo done-flooding; read end").await;
    let id = flood.id().to_string();
    let row = window.told(|kind, _| kind == "session").await;
    assert_eq!((&row["sessionId"], &row["isHere"]), (&json!(id), &json!(true)));
    let row = slow.told(|kind, _| kind == "session").await;
    assert_eq!(row["isHere"], false);
    for window in [&mut slow, &mut window] {
        window.does("watch", panel(&id, 100, 40)).await;
    }
    flood.send_keys("<Enter>").await.expect("typed");
    window.shown("done-flooding").await;
    // It gets what it missed as a dump.
    slow.shown("done-flooding").await;
    let refused = window.ask("watch", panel("nobody", 80, 24)).await;
    assert_eq!(
        (&refused["type"], &refused["data"]["code"]),
        (&json!("error"), &json!("SESSION_NOT_FOUND"))
    );
    for (kind, data) in [("watch", json!({"sessionId": id})), ("dance", json!({}))] {
        let refused = window.ask(kind, data).await;
        assert_eq!(refused["data"]["code"], "INVALID_INPUT", "{refused}");
    }
    // Another folder, and it is here.
    slow.does("update", json!({"folders": ["/"], "trusted": true})).await;
    slow.told(|kind, data| kind == "session" && data["isHere"] == true).await;
    window.does("unwatch", json!({"sessionId": id})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_is_asked_of_the_person_and_asked_again_when_it_is_wrong() {
    let bed = Bed::new();
    let (mut window, _) = bed.window("w1", &["/"]).await;
    let asks = "stty -echo; for i in 1 2; do printf 'Passphrase: '; read a; echo; done; stty echo; echo len ${#a}; read b";
    let session = bed.script(asks).await;
    let id = session.id().to_string();
    for text in ["wrong", "tr\u{e9}s"] {
        let row = window.told(|kind, data| kind == "session" && data["secret"].is_string()).await;
        assert_eq!((&row["secret"], &row["state"]), (&json!("Passphrase:"), &json!("needs_input")));
        window.does("secret", json!({"sessionId": id, "text": text})).await;
        let row = window.told(|kind, data| kind == "session" && data["secret"].is_null()).await;
        assert_eq!(row["driver"], "agent");
    }
    session.wait(Wait::text("len")).await.expect("read");
    let refused = window.ask("secret", json!({"sessionId": id, "text": "again"})).await;
    assert_eq!(refused["type"], "error", "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_learns_which_program_reads_a_password_and_says_that_it_asks() {
    let bed = Bed::new();
    let (mut window, _) = bed.window("w1", &["/"]).await;
    let asked_by = async |window: &mut Extension, id: &str| {
        let is_asked = |row: &Value| row["sessionId"] == id && row["secret"].is_string();
        window.told(|kind, row| kind == "session" && is_asked(row)).await
    };
    let reads = "read -s -p '[sudo] password: ' word";
    let shell = bed.launch(Launch::new("bash").args(["-c", reads])).await;
    let id = shell.id().to_string();
    let asked = asked_by(&mut window, &id).await;
    assert_eq!(
        (&asked["secret"], &asked["secretReader"]),
        (&json!("[sudo] password:"), &json!("bash"))
    );
    assert_eq!(asked["isReadByShell"], true);
    for is_open in [true, false, true] {
        window.does("password_box", json!({"sessionId": id, "isOpen": is_open})).await;
        assert_eq!(shell.info().await.expect("known").asks_person, is_open);
    }
    let program = "import getpass; getpass.getpass('Token: ')";
    let python = bed.launch(Launch::new("python3").args(["-c", program])).await;
    let asked = asked_by(&mut window, python.id().as_str()).await;
    assert_eq!(asked["isReadByShell"], false, "{asked}");
    assert!(asked["secretReader"].as_str().is_some_and(|name| name.contains("python")), "{asked}");

    // A box is gone with its window.
    drop(window);
    let closed = async {
        while shell.info().await.expect("known").asks_person {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, closed).await.expect("closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_fitted_to_the_panel_of_a_window_until_that_is_closed() {
    let bed = Bed::new();
    let cat = bed.launch(Launch::new("cat").size(120, 40)).await;
    let id = cat.id().to_string();
    let (mut window, _) = bed.window("w1", &["/"]).await;
    let (mut other, _) = bed.window("w2", &["/"]).await;
    window.does("watch", panel(&id, 100, 14)).await;
    window.told(|kind, _| kind == "frame").await;
    window.does("fit_to_panel", panel(&id, 100, 14)).await;
    window.told(|kind, data| kind == "dump" && data["rows"] == 14).await;
    let row = window.told(|kind, row| kind == "session" && row["rows"] == 14).await;
    assert_eq!((&row["isFitted"], &row["driver"]), (&json!(true), &json!("agent")), "{row}");
    let row = other.told(|kind, row| kind == "session" && row["rows"] == 14).await;
    assert_eq!(row["isFitted"], false, "it is not this window's panel");
    cat.send_keys("mine<Enter>").await.expect("the agent types");
    window.does("resize", panel(&id, 100, 12)).await;
    window.told(|kind, row| kind == "session" && row["rows"] == 12).await;
    window.does("restore_size", json!({"sessionId": id})).await;
    let row = window.told(|kind, row| kind == "session" && row["rows"] == 40).await;
    assert_eq!(row["isFitted"], false);
    window.does("fit_to_panel", panel(&id, 100, 14)).await;
    other.told(|kind, row| kind == "session" && row["rows"] == 14).await;
    window.does("unwatch", json!({"sessionId": id})).await;
    other.told(|kind, row| kind == "session" && row["rows"] == 40).await;
    other.does("take_over", panel(&id, 80, 24)).await;
    let refused = window.ask("fit_to_panel", panel(&id, 100, 14)).await;
    assert_eq!(refused["data"]["code"], "BUSY", "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_a_person_has_paused_reads_and_changes_nothing() {
    let bed = Bed::new();
    let client =
        |name: &str| Caller::new(Arc::new(Client { name: Some(name.into()), ..Client::default() }));
    let (agent, other) = (client("claude"), client("codex"));
    let made = bed.bridge.create_session(&agent, NewSession::default()).await.expect("made");
    let id = made.id.to_string();
    let (mut window, welcome) = bed.window("w1", &["/"]).await;
    assert_eq!(welcome["sessions"][0]["paused"], false);
    let (mut second, _) = bed.window("w2", &["/"]).await;
    window.does("pause", json!({"sessionId": id})).await;
    second.told(|kind, row| kind == "session" && row["paused"] == true).await;
    let may = |caller: &Caller, scope| bed.bridge.require(caller, scope);
    assert!(matches!(may(&agent, Scope::Write), Err(BridgeError::Paused)));
    let renamed = agent.for_agent(Some("another name"));
    assert!(matches!(may(&renamed, Scope::Write), Err(BridgeError::Paused)));
    assert!(may(&agent, Scope::Read).is_ok() && may(&other, Scope::Write).is_ok());
    second.does("resume", json!({"sessionId": id})).await;
    assert!(may(&agent, Scope::Write).is_ok());
    window.does("pause", json!({"sessionId": id})).await;
    second.does("resume", json!({})).await;
    assert!(may(&agent, Scope::Write).is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_makes_its_current_session_is_brought_to_the_front() {
    let bed = Bed::new();
    let (mut window, _) = bed.window("w1", &["/"]).await;
    let caller = Caller::default();
    let made = bed.bridge.create_session(&caller, NewSession::default()).await.expect("made");
    window.told(|kind, data| kind == "session" && data["sessionId"] == *made.id.to_string()).await;
    bed.bridge.switch_session(&caller, &made.id).await.expect("switched");
    let focus = window.told(|kind, _| kind == "focus").await;
    assert_eq!(focus["sessionId"], *made.id.to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_has_set_binds_the_agents_of_its_folders_while_the_window_is_open() {
    let bed = Bed::new();
    let (mut window, _) = bed.window("w1", &["/tmp"]).await;
    let client = |workspace: &str| {
        let workspace = Some(workspace.into());
        Caller::new(Arc::new(Client { workspace, ..Client::default() }))
    };
    let (here, elsewhere) = (client("/tmp"), client("/usr"));
    let shell = || NewSession { cwd: "/tmp".into(), ..NewSession::default() };
    let launch = |words: &[&str]| Launch::new(words[0]).args(words[1..].iter().copied());
    let may = |caller: &Caller, words: &[&str]| {
        bed.bridge.check_launch(caller, &launch(words).cwd("/tmp")).is_ok()
    };
    assert!(may(&here, &["git", "push", "--force"]));
    let settings = json!({"blockedCommands": ["git push"], "maxConcurrentSessions": 1, "other": 7});
    window
        .does("update", json!({"folders": ["/tmp"], "trusted": true, "settings": settings}))
        .await;
    assert!(!may(&here, &["git", "push", "--force"]) && may(&here, &["git", "status"]));
    let refused = bed.bridge.check_launch(&here, &launch(&["git", "push"]).cwd("/tmp"));
    let why = refused.expect_err("it is blocked").to_string();
    assert!(why.contains("termbridge.blockedCommands") && why.contains("window on /tmp"), "{why}");
    // The list of an earlier extension: each entry is meant as people read it, or named as unusable.
    let blocked = json!({"blockedCommands": ["rm -rf /", "mkfs", "dd if=", ":(){ :|:& };:"]});
    let listed = json!({"folders": ["/tmp"], "trusted": true, "settings": blocked});
    let wrong = window.does("update", listed).await["wrongSettings"].clone();
    assert_eq!(wrong.as_array().map(Vec::len), Some(1), "{wrong}");
    assert!(wrong[0]["reason"].to_string().contains(":(){"), "{wrong}");
    for command in [
        "mkfs disk.img",
        "sudo mkfs.ext4 -F disk.img",
        "cd /tmp && /sbin/mkfs.xfs disk.img",
        "dd if=/dev/zero of=x",
        "dd of=x bs=1M \"if=$source\"",
        "sudo rm -fr /",
    ] {
        let words = ["bash", "-c", command];
        assert!(!may(&here, &words), "{command}");
    }
    assert!(may(&here, &["bash", "-c", "dd of=x; echo mkfs; rm -rf /tmp/x"]));
    let listed = json!({"folders": ["/tmp"], "trusted": true, "settings": settings});
    window.does("update", listed).await;
    bed.bridge.create_session(&here, shell()).await.expect("the first");
    let second = bed.bridge.create_session(&here, shell()).await;
    assert!(second.is_err(), "one is allowed");
    // What is wrong is named and voids nothing else.
    let settings =
        json!({"blockedCommands": ["a | b", 7, "git push"], "maxConcurrentSessions": "x"});
    let bad = json!({"folders": ["/tmp"], "settings": settings});
    let wrong = window.does("update", bad).await["wrongSettings"].clone();
    let names: Vec<&str> =
        wrong.as_array().into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["blockedCommands", "maxConcurrentSessions", "blockedCommands"], "{wrong}");
    assert!(wrong[2]["reason"].as_str().is_some_and(|why| why.contains("a | b")), "{wrong}");
    assert!(!may(&here, &["git", "push"]) && may(&here, &["git", "status"]));
    for (number, reason) in [(json!(1e30), "is too large"), (json!(1.5), "not a whole number")] {
        let settings = json!({"maxOutputLines": number});
        let answer =
            window.does("update", json!({"folders": ["/tmp"], "settings": settings})).await;
        assert!(answer["wrongSettings"][0]["reason"].to_string().contains(reason), "{answer}");
    }
    // Directories of which none can be used allow none; of which one can be, that one.
    for (directories, is_allowed) in [
        (json!(["tmp"]), false),
        (json!("/tmp"), false),
        (json!([7]), false),
        (json!(["tmp", "/tmp"]), true),
    ] {
        let settings = json!({"allowedDirectories": directories});
        let answer =
            window.does("update", json!({"folders": ["/tmp"], "settings": settings})).await;
        assert_eq!(answer["wrongSettings"][0]["name"], "allowedDirectories", "{answer}");
        assert_eq!(may(&here, &["git", "status"]), is_allowed, "{directories}");
    }
    // Of several lists each has to allow it, whatever links lead to.
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink("/", folder.path().join("link")).expect("a link");
    let may_in = |cwd: &str| bed.bridge.check_launch(&here, &Launch::new("true").cwd(cwd)).is_ok();
    let inside = folder.path().to_str().expect("text");
    let lists = json!([[inside], [format!("{inside}/link"), inside]]);
    let settings = json!({"allowedDirectories": lists});
    let answer = window.does("update", json!({"folders": ["/tmp"], "settings": settings})).await;
    assert_eq!(answer["wrongSettings"], json!([]));
    assert!(may_in(inside) && !may_in("/tmp") && !may_in(&format!("{inside}/link/etc")));
    let directories = json!({"allowedDirectories": ["/tmp/project"]});
    window.does("update", json!({"folders": ["/tmp"], "settings": directories})).await;
    assert!(!may(&here, &["git", "status"]));
    let away = Launch::new("true").cwd("/usr");
    assert!(bed.bridge.check_launch(&elsewhere, &away).is_ok(), "another folder's agents are free");
    drop(window);
    let free = async {
        while !may(&here, &["git", "push"]) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), free).await.expect("lifted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_whose_window_is_gone_and_stays_away_does_not_drive() {
    let bed = Bed::new();
    let cat = bed.launch(Launch::new("cat").size(60, 20)).await;
    let id = cat.id().to_string();
    let (mut window, _) = bed.window("w1", &["/"]).await;
    let (mut other, _) = bed.window("w2", &["/"]).await;
    window.does("take_over", panel(&id, 40, 10)).await;
    other.told(|kind, row| kind == "session" && row["driver"] == "person").await;
    drop(window);
    let row = other.told(|kind, row| kind == "session" && row["driver"] == "agent").await;
    assert_eq!((&row["cols"], &row["rows"]), (&json!(60), &json!(20)), "{row}");
    cat.send(vec![Input::Text("mine".into())]).await.expect("the agents type again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_whose_window_comes_back_drives_on_and_takes_nothing_from_another() {
    let bed = Bed::new();
    let cat = bed.launch(Launch::new("cat").size(60, 20)).await;
    let free = bed.launch(Launch::new("cat")).await;
    let (id, free) = (cat.id().to_string(), free.id().to_string());
    let drives = |welcome: &Value, id: &str| {
        let rows = welcome["sessions"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["sessionId"] == id).expect("its row").clone();
        (row["driver"].clone(), row["isDriver"].clone())
    };
    let (mut window, _) = bed.window("w1", &["/"]).await;
    window.does("take_over", panel(&id, 40, 10)).await;
    // Somebody is there: a claim is none.
    let (mut other, welcome) = bed.returning("w2", &["/"], &[&id, &free, "nothing"]).await;
    assert_eq!(drives(&welcome, &id), (json!("person"), json!(false)));
    assert_eq!(drives(&welcome, &free), (json!("agent"), json!(false)), "nobody drove it");
    drop(window);
    // What it leaves is done in its own time; until then it drives.
    let (mut window, welcome) = loop {
        let (window, welcome) = bed.returning("w1", &["/"], &[&id]).await;
        if drives(&welcome, &id).1 == true {
            break (window, welcome);
        }
    };
    assert_eq!(drives(&welcome, &id), (json!("person"), json!(true)), "from the first row on");
    window.does("resize", panel(&id, 44, 11)).await;
    let row = other.told(|kind, row| kind == "session" && row["cols"] == 44).await;
    assert_eq!((&row["driver"], &row["isDriver"]), (&json!("person"), &json!(false)), "{row}");
    let refused = cat.send(vec![Input::Text("mine".into())]).await;
    assert!(matches!(refused, Err(SessionError::TakenOver(_))), "{refused:?}");
    window.does("hand_back", json!({"sessionId": id})).await;
    cat.send(vec![Input::Text("mine".into())]).await.expect("the agents type again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_sessions_of_a_folder_are_held_to_what_its_person_has_set() {
    let bed = Bed::new();
    let (mut window, _) = bed.window("w1", &["/tmp"]).await;
    let workspace = Some("/tmp".into());
    let here = Caller::new(Arc::new(Client { workspace, ..Client::default() }));
    let limits = json!({
        "maxConcurrentSessions": 1, "defaultTimeoutMs": 4000, "maxOutputLines": 5, "idleTimeoutMs": u64::MAX
    });
    window.does("update", json!({"folders": ["/tmp"], "settings": limits})).await;
    let usual = Duration::from_secs(30);
    let timeout = |usual| bed.bridge.default_timeout(&here, None, usual);
    assert_eq!(timeout(usual), Duration::from_secs(4));
    assert_eq!(timeout(Duration::from_secs(2)), Duration::from_secs(2), "it only tightens");

    let run = |command: &str| Execute {
        command: command.to_owned(),
        caller: here.clone(),
        ..Execute::default()
    };
    let started = bed.bridge.start(run("seq 300; cat"), LIMIT).await.expect("the first");
    let screen = bed.bridge.screen(&here, &started.session).expect("it has a screen");
    let wait = Wait { text: Some("300".into()), ..Wait::default() };
    screen.wait(wait).await.expect("it printed");
    let kept = bed.bridge.terminal_text(&here, &started.session, 1000).await.expect("its text");
    // Those on the screen, and five more.
    assert_eq!(kept.total_lines, 45, "{kept:?}");
    // What an answer has of them is bounded too.
    assert_eq!(bed.bridge.max_output_lines(&here, Path::new("/tmp")), Some(5));
    let session = bed.bridge.session(&here, &started.session).await.expect("its row");
    let (command, from) = (Some(started.command), ReadFrom::Line(0));
    let request = OutputRequest { session, command, from, lines: 100, grep: None, most: 1 << 20 };
    let page = bed.bridge.read_output(&request).await.expect("a page");
    assert_eq!((page.text.as_str(), page.remaining), ("1\n2\n3\n4\n5\n", 295));
    // The one that it has is busy, and another is more than may be.
    let second = bed.bridge.start(run("true"), LIMIT).await;
    assert!(matches!(second, Err(BridgeError::FolderFull { limit: 1 })), "{second:?}");

    window.does("update", json!({"folders": ["/tmp"], "settings": {"idleTimeoutMs": 1000}})).await;
    let idle = bed.bridge.create_session(&here, NewSession::default()).await.expect("another");
    let gone = window
        .told(|kind, data| {
            kind == "session" && data["sessionId"] == idle.id.as_str() && data["state"] == "exited"
        })
        .await;
    assert_eq!(gone["signal"], "SIGHUP", "{gone}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_a_person_drives_is_left_to_them() {
    let bed = Bed::new();
    let (mut window, _) = bed.window("w1", &["/"]).await;
    let run = |session| Execute { command: "echo ran".to_owned(), session, ..Execute::default() };
    let mut started = bed.bridge.start(run(None), LIMIT).await.expect("a first shell");
    bed.bridge.wait(&started, LIMIT).await.expect("over");
    started.answered();
    let first = started.session;
    let mut again = bed.bridge.start(run(None), LIMIT).await.expect("the same");
    bed.bridge.wait(&again, LIMIT).await.expect("over");
    again.answered();
    assert_eq!(again.session, first);
    window.does("take_over", panel(first.as_str(), 80, 24)).await;
    let other = bed.bridge.start(run(None), LIMIT).await.expect("another shell").session;
    assert_ne!(other, first);
    let refused = bed.bridge.start(run(Some(first.clone())), LIMIT).await;
    let is_taken = matches!(refused, Err(BridgeError::Session(SessionError::TakenOver(_))));
    assert!(is_taken, "who names it is told: {refused:?}");
}
