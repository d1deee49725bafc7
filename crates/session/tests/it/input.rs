//! Input: complete, in order, bounded, paced.

use termbridge_session::vt::input::{Modifiers, MouseAction, MouseButton};
use termbridge_session::{
    Input, Launch, Mouse, MouseTarget, Session, SessionError, Signal, State, Wait,
};

use crate::support::{
    LIMIT, end, exit_code, fires, limited, python, script, see, sessions, sh, start, state, text,
};

/// Reads as many bytes as it is told from a raw terminal, a little at a time, into a file.
const SLOW_READER: &str = r"
import os, sys, time, tty
tty.setraw(0)
print('\x1b[?2004hREADY', end='', flush=True)
left = int(sys.argv[1])
with open(sys.argv[2], 'wb') as file:
    while left > 0:
        data = os.read(0, 8192)
        left -= len(data)
        file.write(data)
        time.sleep(0.001)
print('DONE', end='', flush=True)
";

/// Writes down what each read brings, up to a `q`.
const LOGGER: &str = r"
import os, tty
tty.setraw(0)
print('\x1b[?1000h\x1b[?1006hREADY', end='', flush=True)
reads = []
while not reads or b'q' not in reads[-1]:
    reads.append(os.read(0, 1024))
print('\r\n' + ' '.join(read.hex() for read in reads) + ' DONE', end='', flush=True)
";

/// Text in which no two places are alike.
fn long_text(len: usize) -> String {
    let mut text = String::with_capacity(len + 8);
    let mut count = 0_u32;
    while text.len() < len {
        text.push_str(&format!("{count:07},"));
        count += 1;
    }
    text.truncate(len);
    text
}

#[tokio::test]
async fn a_long_paste_to_a_slow_reader_arrives_whole_and_blocks_nobody() {
    const LEN: usize = 1_000_000;
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("file");
    let sessions = sessions();
    let brackets = "\x1b[200~\x1b[201~".len();
    let launch = python(SLOW_READER).arg((LEN + brackets).to_string()).arg(&file);
    let session = start(&sessions, launch).await;
    let other = sh(&sessions, "exec cat").await;
    see(&session, "READY").await;
    let pasted = long_text(LEN);
    let sent = session.send(vec![Input::Paste(pasted.clone())]).await.expect("sent");
    assert_eq!(sent.bytes, LEN + brackets);
    assert!(sent.queued > LEN / 2, "the kernel does not hold that much");
    // Meanwhile both answer.
    other.send_keys("hello<Enter>").await.expect("sent");
    see(&other, "hello").await;
    assert!(!text(&session).await.contains("DONE"));
    assert_eq!(state(&session).await, State::Running);
    see(&session, "DONE").await;
    let arrived = std::fs::read_to_string(&file).expect("file");
    assert!(arrived == format!("\x1b[200~{pasted}\x1b[201~"), "{} bytes", arrived.len());
}

#[tokio::test]
async fn many_lines_to_a_program_that_reads_lines_arrive_whole() {
    let folder = tempfile::tempdir().expect("folder");
    let sessions = sessions();
    let session = start(&sessions, script("echo READY; exec cat > file").cwd(folder.path())).await;
    see(&session, "READY").await;
    let lines: Vec<String> = (0..4000).map(|n| format!("{n:06} {}", "x".repeat(n % 120))).collect();
    let sent = lines.join("\n") + "\n";
    session.send(vec![Input::Paste(sent.clone())]).await.expect("sent");
    session.send_keys("<Ctrl+D>").await.expect("sent");
    end(&session).await;
    let arrived = std::fs::read_to_string(folder.path().join("file")).expect("file");
    assert!(arrived == sent, "{} of {} bytes", arrived.len(), sent.len());
}

#[tokio::test]
async fn a_program_that_never_reads_fills_its_queue_and_nothing_else() {
    const BOUND: usize = 1024 * 1024;
    let sessions = sessions();
    let session = sh(&sessions, "stty raw -echo; echo READY; exec sleep 600").await;
    see(&session, "READY").await;
    let piece = Input::Text(long_text(100_000));
    let mut refused = None;
    for _ in 0..12 {
        match session.send(vec![piece.clone()]).await {
            Ok(sent) => assert!(sent.queued <= BOUND),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(SessionError::InputFull { queued }) => {
            assert!((BOUND - 100_000..=BOUND).contains(&queued), "{queued}");
        }
        other => panic!("{other:?}"),
    }
    // All or nothing, and what is small still fits.
    session.send(vec![Input::Text("x".into())]).await.expect("there is room for that");
    assert!(text(&session).await.contains("READY"));
    let other = sh(&sessions, "echo fine; exec cat").await;
    see(&other, "fine").await;
    let stopped = limited("stop", session.stop(Signal::TERM, LIMIT)).await.expect("stops");
    assert_eq!(stopped.ended.signal().as_deref(), Some("SIGTERM"));
    let dead = session.send_keys("x").await;
    assert!(matches!(dead, Err(SessionError::Dead { .. })), "{dead:?}");
}

#[tokio::test]
async fn a_pause_holds_back_what_follows_it() {
    let key = |key: &str| Input::Text(key.to_owned());
    let sessions = sessions();
    let session = start(&sessions, python(LOGGER)).await;
    see(&session, "READY").await;
    // Without a pause the three would be three reads as well; with it they arrive, and in order.
    let short = Input::Pause(std::time::Duration::from_millis(20));
    let input = vec![key("a"), short.clone(), key("b"), short.clone(), key("q")];
    session.send(input).await.expect("sent");
    see(&session, "61 62 71 DONE").await;
    let session = sh(&sessions, "stty raw -echo; echo READY; exec cat -v").await;
    see(&session, "READY").await;
    let long = Input::Pause(termbridge_session::MAX_PAUSE);
    let sent = session.send(vec![key("FIRST"), long.clone(), key("SECOND")]).await.expect("sent");
    assert_eq!((sent.bytes, sent.queued), (11, 6));
    see(&session, "FIRST").await;
    // What is sent later comes later.
    let sent = session.send(vec![key("THIRD")]).await.expect("sent");
    assert_eq!(sent.queued, 11);
    assert!(!text(&session).await.contains("SECOND"));
    match session.send(vec![key("a"), long, short, key("b")]).await {
        Err(SessionError::Invalid(message)) => assert!(message.contains("10 s"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_line_longer_than_the_kernel_keeps_is_refused() {
    let sessions = sessions();
    let session = sh(&sessions, "stty -echo; echo READY; read x; echo \"length ${#x}\"").await;
    see(&session, "READY").await;
    for input in
        [Input::Text("y".repeat(4096)), Input::Paste(format!("a\n{}\nb", "y".repeat(5000)))]
    {
        match session.send(vec![input]).await {
            Err(SessionError::Invalid(message)) => assert!(message.contains("4095"), "{message}"),
            other => panic!("{other:?}"),
        }
    }
    // Nothing of them arrived.
    session.send_keys(&format!("{}<Enter>", "z".repeat(4095))).await.expect("sent");
    see(&session, "length 4095").await;
}

#[tokio::test]
async fn a_line_typed_in_parts_is_no_longer_either() {
    let sessions = sessions();
    let session = sh(&sessions, "stty -echo; echo READY; read x; echo \"length ${#x}\"").await;
    see(&session, "READY").await;
    session.send_keys(&"a".repeat(3000)).await.expect("sent");
    let over = session.send_keys(&"b".repeat(3000)).await;
    assert!(matches!(over, Err(SessionError::Invalid(_))), "{over:?}");
    session.send_keys(&"c".repeat(1000)).await.expect("sent");
    session.send_keys("<Enter>").await.expect("sent");
    see(&session, "length 4000").await;
}

async fn logger() -> (termbridge_session::Sessions, Session) {
    let sessions = sessions();
    let session = start(&sessions, python(LOGGER).size(200, 24)).await;
    see(&session, "READY").await;
    (sessions, session)
}

/// What each read of the logger brought.
async fn reads(session: &Session) -> Vec<String> {
    session.send_keys("q").await.expect("sent");
    see(session, "DONE").await;
    let screen = text(session).await;
    let line = screen.lines().nth(1).expect("a second line");
    line.split(' ').filter(|read| !matches!(*read, "DONE" | "71")).map(str::to_owned).collect()
}

#[tokio::test]
async fn each_key_is_a_read_of_its_own() {
    let (_sessions, session) = logger().await;
    session.send_keys("<Down*5><Escape>ab<Enter><Up>").await.expect("sent");
    let down = "1b5b42";
    let expected = [down, down, down, down, down, "1b", "6162", "0d", "1b5b41"];
    assert_eq!(reads(&session).await, expected);
}

fn click(target: &str) -> Vec<Input> {
    vec![Input::Mouse(Mouse {
        action: MouseAction::Click,
        button: MouseButton::Left,
        modifiers: Modifiers::empty(),
        target: MouseTarget::Text(target.into()),
    })]
}

#[tokio::test]
async fn a_click_finds_its_text_behind_wide_characters_and_marks() {
    let sessions = sessions();
    let show = r"
import os, sys, tty
tty.setraw(0)
print('\x1b[?1000h\x1b[?1006h漢字 ok [Save]\r\ne\u0301o\u0308 [Quit]\r\n', end='', flush=True)
while True:
    read = os.read(0, 64)
    print(read.decode()[2:] + '\r\n', end='', flush=True)
";
    let session = start(&sessions, python(show)).await;
    see(&session, "[Quit]").await;
    // Columns 8 to 13, of which the middle is 11; the protocol counts from 1.
    session.send(click("[Save]")).await.expect("sent");
    see(&session, "<0;12;1M").await;
    see(&session, "<0;12;1m").await;
    // Columns 3 to 8.
    session.send(click("[Quit]")).await.expect("sent");
    see(&session, "<0;7;2M").await;
    session.send(click("字")).await.expect("sent");
    see(&session, "<0;3;1M").await;
    match session.send(click("[Help]")).await {
        Err(SessionError::TextNotOnScreen(text)) => assert_eq!(text, "[Help]"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_click_is_refused_by_a_program_without_a_mouse() {
    let sessions = sessions();
    let session = sh(&sessions, "echo '[Save]'; exec cat").await;
    see(&session, "[Save]").await;
    let refused = session.send(click("[Save]")).await;
    assert!(matches!(refused, Err(SessionError::Mouse(_))), "{refused:?}");
}

#[tokio::test]
async fn an_answer_to_a_query_comes_before_what_is_typed_later() {
    let sessions = sessions();
    let session = sh(
        &sessions,
        r"stty raw -echo; printf '\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c; stty sane; exec cat",
    )
    .await;
    see(&session, "R").await;
    assert!(text(&session).await.contains("033   [   1   ;   1   R"), "{}", text(&session).await);
}

#[tokio::test]
async fn what_was_typed_before_the_end_is_dropped_with_it() {
    let sessions = sessions();
    let session = start(&sessions, Launch::new("true")).await;
    assert_eq!(exit_code(&session).await, 0);
    let refused = session.send_keys("x").await;
    assert!(matches!(refused, Err(SessionError::Dead { .. })), "{refused:?}");
    fires(&session, Wait::exit()).await;
}
