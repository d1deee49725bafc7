//! What is read comes back, what is stored loads, and whatever a killed process leaves opens.

use std::io::Write;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};

use super::*;
use crate::{Checkpoint, JournalSize};

const RING: u64 = 64 << 10;

fn size() -> JournalSize {
    JournalSize { ring: RING, big: 300 << 10, small: 4096 }
}

fn file(size: JournalSize) -> OwnedFd {
    make(&Layout::of(size).expect("a size"), None).expect("made")
}

fn journal() -> Journal {
    Journal::open(file(size())).expect("opens")
}

/// As the next process has it.
fn reopened(journal: Journal) -> Journal {
    Journal::open(journal.file.into()).expect("opens again")
}

/// Memory that the file uses.
fn used(journal: &Journal) -> u64 {
    journal.file.metadata().expect("metadata").blocks() * 512
}

/// Reads bytes as from a terminal.
fn feed(journal: &mut Journal, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let (read, write) = rustix::pipe::pipe().expect("a pipe");
        let part = &bytes[..bytes.len().min(1000)];
        std::fs::File::from(write).write_all(part).expect("written");
        let count = journal.read_from(&read, 777).expect("read");
        assert!((1..=777).contains(&count));
        bytes = &bytes[count..];
    }
}

/// A stream in which every place is known.
fn stream(range: Range<u64>) -> Vec<u8> {
    range.map(|position| (position.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect()
}

#[test]
fn the_ring_has_the_last_bytes_at_every_wrap() {
    let mut journal = journal();
    let mut fed = 0;
    // Steps that meet the end at all kinds of places.
    for step in [1, 777, 5000, RING - 3, 2, RING, 3 * RING + 11, 40_000, 40_001] {
        feed(&mut journal, &stream(fed..fed + step));
        fed += step;
        assert_eq!(journal.head(), fed);
        // A read takes the place of as much as it may bring.
        let oldest = journal.oldest();
        assert!((fed.saturating_sub(RING)..=(fed + 777).saturating_sub(RING)).contains(&oldest));
        assert_eq!(journal.bytes(oldest..fed), Some(stream(oldest..fed)));
        assert_eq!(journal.room_until_lost(oldest), (oldest + RING) - fed);
        assert_eq!(journal.room_until_lost(fed), RING);
        assert_eq!(journal.bytes(fed..fed), Some(Vec::new()));
        assert_eq!(journal.bytes(oldest..fed + 1), None, "not yet");
        if oldest > 0 {
            assert_eq!(journal.bytes(oldest - 1..fed), None, "no longer");
            assert_eq!(journal.room_until_lost(oldest - 1), 0);
        }
    }
    let journal = reopened(journal);
    assert_eq!(journal.head(), fed);
    let oldest = journal.oldest();
    assert_eq!(journal.bytes(oldest..fed), Some(stream(oldest..fed)));
}

#[test]
fn a_byte_stays_while_no_more_is_read_than_there_is_room() {
    let mut journal = journal();
    feed(&mut journal, &stream(0..RING - 10));
    let kept = 1000;
    while journal.room_until_lost(kept) > 0 {
        let (read, write) = rustix::pipe::pipe().expect("a pipe");
        std::fs::File::from(write).write_all(b"seven b").expect("written");
        let limit = journal.room_until_lost(kept).min(500) as usize;
        journal.read_from(&read, limit).expect("read");
        assert_eq!(journal.bytes(kept..kept + 1), Some(stream(kept..kept + 1)));
    }
}

#[test]
fn a_read_that_fails_moves_nothing() {
    let mut journal = journal();
    feed(&mut journal, b"abc");
    let (read, write) = rustix::pipe::pipe().expect("a pipe");
    rustix::io::ioctl_fionbio(&read, true).expect("non-blocking");
    let error = journal.read_from(&read, 100).expect_err("nothing there");
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    drop(write);
    assert_eq!(journal.read_from(&read, 100).expect("the end"), 0);
    let journal = reopened(journal);
    assert_eq!(journal.bytes(0..3).as_deref(), Some(&b"abc"[..]));
    assert_eq!(journal.head(), 3);
}

#[test]
fn a_killed_read_counts_if_it_happened() {
    for way in 0..3 {
        for before in [0, 1, 63, RING - 2000] {
            for count in [1, 2, 63, 64, 65, 1999] {
                let mut journal = journal();
                feed(&mut journal, &stream(0..before));
                journal.announce(count, way);
                let mut journal = reopened(journal);
                assert_eq!(journal.head(), before, "it did not happen");
                journal.announce(count, way);
                // Not what the pattern begins with at any of these places.
                let text = vec![b'x'; count];
                journal.fill_announced(&text);
                let journal = reopened(journal);
                assert_eq!(journal.head(), before + count as u64, "it did");
                assert_eq!(journal.bytes(before..journal.head()), Some(text));
            }
        }
    }
}

#[test]
fn a_killed_read_of_less_than_was_asked_for_counts_what_came() {
    for came in [0, 1, 17, 1000] {
        let mut journal = journal();
        // What is left of the place is blank for the next read.
        feed(&mut journal, b"some text");
        journal.announce(1000, 0);
        journal.fill_announced(&vec![b'x'; came]);
        let mut journal = reopened(journal);
        assert_eq!(journal.head(), 9 + came as u64);
        feed(&mut journal, b"and more");
        assert_eq!(
            journal.bytes(9 + came as u64..journal.head()).as_deref(),
            Some(&b"and more"[..])
        );
    }
}

#[test]
fn a_kill_at_each_change_between_text_and_other_bytes() {
    // Each piece, then a read that is announced as the next would be, and a kill.
    let pieces: [&[u8]; 6] = [b"text", b"\xff\xff\xff", b"more", b"\xfe", &[b'a'; 3000], b"\xff"];
    let mut journal = journal();
    let mut all = Vec::new();
    for _ in 0..60 {
        for piece in pieces {
            feed(&mut journal, piece);
            all.extend(piece);
            for way in [0, 1, 2, 0] {
                journal.announce(100, way);
                assert_eq!(journal.head(), all.len() as u64);
            }
            // Without opening it again, which would begin with text.
            journal.settle();
            assert_eq!(journal.head(), all.len() as u64);
            let from = journal.oldest();
            let read = journal.bytes(from..journal.head()).expect("there");
            assert!(read == all[from as usize..], "what is there is what was read");
            assert!(from <= (all.len() as u64 + 777).saturating_sub(RING), "no more is given up");
        }
    }
}

#[test]
fn what_is_forgotten_costs_nothing_and_is_not_taken_for_zeros() {
    let mut journal = Journal::open(file(JournalSize { ring: 1 << 20, ..size() })).expect("opens");
    assert!(used(&journal) <= 8192, "an empty one has its header");
    feed(&mut journal, &stream(0..900_000));
    let full = used(&journal);
    journal.forget_before(60_000);
    assert_eq!(used(&journal), full, "too little to be worth it");
    assert!(journal.bytes(0..1).is_some());
    journal.forget_before(800_000);
    assert!(used(&journal) <= full - 790_000, "{} of {full}", used(&journal));
    assert_eq!(journal.bytes(0..10), None);
    assert_eq!(journal.room_until_lost(0), 0);
    assert_eq!(journal.bytes(800_000..900_000), Some(stream(800_000..900_000)));
    // On across the end, from a place within a page.
    feed(&mut journal, &stream(900_000..1_800_000));
    journal.forget_before(u64::MAX);
    assert!(used(&journal) <= 16_384, "{}", used(&journal));
    let kept = 1_800_000 / 4096 * 4096;
    assert_eq!(journal.bytes(kept..1_800_000), Some(stream(kept..1_800_000)));
    assert_eq!(journal.bytes(kept - 1..1_800_000), None);
    feed(&mut journal, &stream(1_800_000..1_900_000));
    assert_eq!(journal.bytes(kept..1_900_000), Some(stream(kept..1_900_000)));
}

#[test]
fn a_store_that_is_cut_at_any_step_leaves_the_last_one() {
    for kind in [Checkpoint::Big, Checkpoint::Small] {
        let mut journal = journal();
        assert_eq!(journal.load(kind), None);
        let length = journal.capacity(kind);
        let mut expected = None;
        for round in 1..9u64 {
            let bytes = stream(round..round + length - round * 7);
            // Header, bytes, the flip, the hole: each the last one once.
            for steps in 0..=4 {
                journal.store_until(kind, round, &bytes, steps).expect("stored");
                if steps >= 3 {
                    expected = Some((round, bytes.clone()));
                }
                journal = reopened(journal);
                assert_eq!(journal.load(kind), expected, "{kind:?} {round} {steps}");
            }
            journal.store(kind, 1000 + round, b"short").expect("stored");
            expected = Some((1000 + round, b"short".to_vec()));
            assert_eq!(journal.load(kind), expected);
            journal.store(kind, round, b"").expect("stored");
            expected = Some((round, Vec::new()));
            assert_eq!(journal.load(kind), expected);
        }
    }
}

#[test]
fn a_spoilt_checkpoint_falls_back_to_the_one_before() {
    let mut journal = journal();
    journal.store(Checkpoint::Small, 1, b"first").expect("stored");
    journal.store(Checkpoint::Small, 2, b"second").expect("stored");
    journal.spoil(Checkpoint::Small);
    assert_eq!(journal.load(Checkpoint::Small), Some((1, b"first".to_vec())));
    assert_eq!(journal.load(Checkpoint::Big), None, "kinds are apart");
}

#[test]
fn a_checkpoint_that_is_replaced_gives_its_memory_back() {
    let mut journal = journal();
    for round in 0..6 {
        journal.store(Checkpoint::Big, round, &vec![7; 300 << 10]).expect("stored");
        journal.store(Checkpoint::Small, round, &[7; 4096]).expect("stored");
    }
    journal.store(Checkpoint::Big, 9, b"short").expect("stored");
    assert!(used(&journal) <= 200 << 10, "{}", used(&journal));
}

#[test]
fn what_is_too_large_is_refused_and_changes_nothing() {
    let mut journal = journal();
    journal.store(Checkpoint::Small, 1, b"kept").expect("stored");
    let error = journal.store(Checkpoint::Small, 2, &[0; 4097]).expect_err("too large");
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(journal.load(Checkpoint::Small), Some((1, b"kept".to_vec())));
    assert!(Layout::of(JournalSize { ring: 1, ..size() }).is_none());
    assert!(Layout::of(JournalSize { ring: u64::MAX, ..size() }).is_none());
    assert!(Layout::of(JournalSize { big: 0, ..size() }).is_none());
}

#[test]
fn every_changed_byte_of_the_header_opens_or_is_refused() {
    for at in 0..256 {
        for value in [0, 1, 0x10, 0x7f, 0x80, 0xff] {
            let mut journal = journal();
            feed(&mut journal, &stream(0..100));
            journal.store(Checkpoint::Small, 5, b"five").expect("stored");
            journal.file.write_all_at(&[value], at).expect("written");
            let copy = journal.file.try_clone().expect("a copy");
            drop(journal);
            let Ok(mut changed) = Journal::open(copy.into()) else { continue };
            let _ = (changed.bytes(0..100), changed.load(Checkpoint::Small));
            let _ = (changed.load(Checkpoint::Big), changed.room_until_lost(7));
            changed.forget_before(u64::MAX);
            let _ = changed.store(Checkpoint::Small, 1, b"again");
        }
    }
}

#[test]
fn a_later_version_is_read_if_it_says_that_it_can_be() {
    let made = std::fs::File::from(file(size()));
    made.write_all_at(&9u32.to_le_bytes(), 8).expect("written");
    // A field that this version does not know.
    made.write_all_at(&7u64.to_le_bytes(), 1024).expect("written");
    let copy = made.try_clone().expect("a copy");
    assert!(Journal::open(copy.into()).is_ok());
    made.write_all_at(&9u32.to_le_bytes(), 12).expect("written");
    let error = Journal::open(made.into()).expect_err("it says that it cannot");
    assert!(error.to_string().contains("version"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn it_cannot_shrink_and_what_could_is_not_opened() {
    let journal = journal();
    assert!(journal.file.set_len(4096).is_err());
    let flags = rustix::fs::MemfdFlags::ALLOW_SEALING;
    let loose = rustix::fs::memfd_create("loose", flags).expect("made");
    let layout = Layout::of(size()).expect("a size");
    let loose = std::fs::File::from(loose);
    loose.set_len(layout.length()).expect("long");
    loose.write_all_at(&layout.header(), 0).expect("written");
    assert!(Journal::open(loose.into()).is_err());
}
