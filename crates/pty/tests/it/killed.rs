//! Servers are killed at any moment: no byte, no checkpoint is lost.

use std::path::PathBuf;
use std::time::Duration;

use termbridge_pty::{Checkpoint, ExitStatus, Journal, JournalSize, Keeper, Lasting, Program};

use crate::servers::{Place, Server, adopt_only, own_role, say};
use crate::support::{limited, sh_spec};

/// What a program prints in `every_byte_is_read_once_over_many_kills`.
const LINES: u64 = 1_500_000;

/// Kills in each test; whoever is alive after that may finish.
const KILLS: usize = 50;

/// Adopts the keeper's program, or starts it.
async fn program(socket: PathBuf, script: &str, journal: JournalSize) -> (Keeper, Program) {
    let keeper = Keeper::lasting(Lasting::new(socket)).await.expect("the keeper");
    let held = keeper.held().await.expect("held");
    let program = match &held[..] {
        [] => {
            let mut spec = sh_spec(script);
            spec.journal = Some(journal);
            keeper.spawn(spec).await.expect("spawned")
        }
        [only] => keeper.adopt(only.id).await.expect("adopted"),
        more => panic!("{more:?}"),
    };
    (keeper, program)
}

/// Digits that are no text: `0xf8` to `0xff` and two that could be.
const STRANGE_DIGITS: &str = r"tr 0-9 '\370\371\372\373\374\375\376\377\300\301'";

/// Counts lines that are numbers from 1 on; what it knows can be kept and restored.
#[derive(Default)]
struct Counter {
    last: u64,
    digits: Vec<u8>,
}

impl Counter {
    fn restore(state: &[u8]) -> Self {
        let (last, digits) = state.split_first_chunk::<8>().expect("a state");
        Self { last: u64::from_le_bytes(*last), digits: digits.to_vec() }
    }

    fn state(&self) -> Vec<u8> {
        [&self.last.to_le_bytes()[..], &self.digits].concat()
    }

    /// An error names the first line that is not the next number.
    fn feed(&mut self, bytes: &[u8]) -> Result<(), String> {
        for &byte in bytes {
            match byte {
                b'\r' => {}
                b'\n' => {
                    let line = String::from_utf8_lossy(&self.digits).into_owned();
                    if line.parse() != Ok(self.last + 1) {
                        return Err(format!("{line:?} follows {}", self.last));
                    }
                    self.last += 1;
                    self.digits.clear();
                }
                strange @ 0xf8.. => self.digits.push(strange - 0xf8 + b'0'),
                strange @ 0xc0.. => self.digits.push(strange - 0xc0 + b'8'),
                digit => self.digits.push(digit),
            }
        }
        Ok(())
    }
}

/// Not a test: reads on where the last server was killed, with a ring far smaller than the output.
#[test]
#[ignore = "run by every_byte_is_read_once_over_many_kills"]
fn reader() {
    let text = own_role("reader").map(|socket| (socket, format!("seq 1 {LINES}; exit 9")));
    let strange = own_role("stranger")
        .map(|socket| (socket, format!("seq 1 {LINES} | LC_ALL=C {STRANGE_DIGITS}; exit 9")));
    let Some((socket, script)) = text.or(strange) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let said = runtime.expect("runtime").block_on(read_all(socket, &script));
    say(&said.unwrap_or_else(|error| format!("wrong: {error}")));
}

async fn read_all(socket: PathBuf, script: &str) -> Result<String, String> {
    let size = JournalSize { ring: 64 << 10, big: 4096, small: 4096 };
    let (_keeper, mut program) = program(socket, script, size).await;
    let mut journal = program.take_journal().expect("a journal");
    // The checkpoint, and then what was read after it.
    let (position, mut counter) = match journal.load(Checkpoint::Small) {
        Some((position, state)) => (position, Counter::restore(&state)),
        None => (0, Counter::default()),
    };
    let since = position..journal.head();
    counter.feed(&journal.bytes(since.clone()).ok_or(format!("{since:?} moved on"))?)?;
    let mut kept = position;
    say("reading");
    loop {
        if journal.room_until_lost(kept) < 16 << 10 {
            kept = journal.head();
            journal.store(Checkpoint::Small, kept, &counter.state()).map_err(|e| e.to_string())?;
        }
        let read = program.read_into(&mut journal, 4096).await.map_err(|e| e.to_string())?;
        if read.is_empty() {
            let status = program.exited().await;
            return Ok(format!("{} lines, {status:?}", counter.last));
        }
        counter.feed(&journal.bytes(read).ok_or("just read")?)?;
    }
}

#[test]
fn every_byte_is_read_once_over_many_kills() {
    read_over_kills("reader");
}

#[test]
fn so_is_every_byte_that_is_no_text() {
    read_over_kills("stranger");
}

fn read_over_kills(role: &str) {
    let place = Place::new();
    let mut kills = 0;
    let end = loop {
        let mut server = Server::start(&place, "killed::reader", role);
        let said = server.hears().expect("a word");
        if said != "reading" {
            break said;
        }
        if kills < KILLS {
            // Any moment will do; these are different ones.
            std::thread::sleep(Duration::from_micros(1000 + 397 * (kills as u64 % 17)));
            server.kill();
            kills += 1;
        } else {
            break server.hears().expect("the end");
        }
    };
    assert_eq!(end, format!("{LINES} lines, {:?}", ExitStatus::Code(9)));
    assert_eq!(kills, KILLS, "it was over too soon to tell");
}

/// A checkpoint's bytes, known by its position.
fn content(position: u64) -> Vec<u8> {
    // Cheap to make, so that the kill meets the store.
    vec![position as u8; (position * 7919 % 200_000) as usize]
}

/// What is stored is whole; gives the last position.
fn check(journal: &Journal, kind: Checkpoint) -> Result<u64, String> {
    match journal.load(kind) {
        None => Ok(0),
        Some((position, bytes)) if bytes == content(position) => Ok(position),
        Some((position, bytes)) => Err(format!("{kind:?} {position}: {} bytes", bytes.len())),
    }
}

/// Not a test: checks what the last one stored, and stores until it is killed.
#[test]
#[ignore = "run by a_store_that_is_killed_leaves_a_whole_checkpoint"]
fn storer() {
    let Some(socket) = own_role("storer") else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("runtime").block_on(async {
        let size = JournalSize { big: 200_000, small: 200_000, ..JournalSize::default() };
        let (_keeper, mut program) = program(socket, "read x", size).await;
        let mut journal = program.take_journal().expect("a journal");
        let found = check(&journal, Checkpoint::Big)
            .and_then(|big| Ok((big, check(&journal, Checkpoint::Small)?)));
        let (big, small) = match found {
            Ok(found) => found,
            Err(error) => return say(&format!("wrong: {error}")),
        };
        // The two are stored in turn.
        if big != small && big != small + 1 {
            return say(&format!("wrong: {big} beside {small}"));
        }
        say(&format!("found {small}"));
        for position in small + 1.. {
            for kind in [Checkpoint::Big, Checkpoint::Small] {
                journal.store(kind, position, &content(position)).expect("stored");
            }
        }
    });
}

#[test]
fn a_store_that_is_killed_leaves_a_whole_checkpoint() {
    let place = Place::new();
    let mut last = 0;
    for kill in 0..KILLS {
        let mut server = Server::start(&place, "killed::storer", "storer");
        let said = server.hears().expect("a word");
        let found = said.strip_prefix("found ").and_then(|number| number.parse::<u64>().ok());
        let found = found.unwrap_or_else(|| panic!("{said}"));
        assert!(found >= last, "{found} after {last}");
        last = found;
        std::thread::sleep(Duration::from_micros(500 + 331 * (kill as u64 % 13)));
        server.kill();
    }
    assert!(last > KILLS as u64 / 2, "hardly any was stored: {last}");
}

/// A reader is taken over from while it reads: what it read and what the next reads is all there is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_takeover_in_a_flood_loses_nothing() {
    let place = Place::new();
    let mut keeper = place.server().await;
    let mut spec = sh_spec("seq 1 300000; exit 2");
    spec.journal = Some(JournalSize { ring: 16 << 20, ..JournalSize::default() });
    let mut program = keeper.spawn(spec).await.expect("spawned");
    for _ in 0..6 {
        let mut journal = program.take_journal().expect("a journal");
        let before = journal.head();
        let reader = tokio::spawn(async move {
            let mut read = 0;
            while program.read_into(&mut journal, 4096).await.is_ok_and(|range| !range.is_empty()) {
                read += 1;
            }
            (read, journal.head())
        });
        let next = place.taking_over().await.expect("taken over");
        program = adopt_only(&next).await;
        keeper = next;
        let (_, head) = limited("the reader", reader).await.expect("it stops by itself");
        assert!(head >= before);
    }
    let mut journal = program.take_journal().expect("a journal");
    while !limited("a read", program.read_into(&mut journal, 4096)).await.expect("read").is_empty()
    {
    }
    let mut counter = Counter::default();
    let all = journal.bytes(0..journal.head()).expect("all");
    counter.feed(&all).expect("every line once and in order");
    assert_eq!(counter.last, 300_000);
    assert_eq!(program.exited().await, ExitStatus::Code(2));
    drop((keeper, program));
    place.end().await;
}
