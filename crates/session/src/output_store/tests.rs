//! Output in memory and in files, and what is dropped of it.

use std::path::Path;
use std::sync::Arc;

use super::{Appended, IN_MEMORY, INLINE, OutputStore, WAITING};

/// All that can be read, piece by piece as a reader does.
fn all(store: &OutputStore) -> String {
    let (mut at, mut text) = (0, Vec::new());
    while at < store.len() {
        let (start, bytes) = store.read(at..at + 10_000).expect("readable");
        assert!(start >= at && !bytes.is_empty(), "a reader gets on");
        at = start + bytes.len() as u64;
        text.extend(bytes);
    }
    String::from_utf8(text).expect("whole characters")
}

fn line(number: usize) -> String {
    format!("line {number} é\n")
}

fn filled(bytes: u64) -> (OutputStore, String) {
    let (mut store, mut expected) = (OutputStore::default(), String::new());
    while store.len() < bytes {
        let line = line(expected.len());
        assert_eq!(store.append(&line), Appended::Kept);
        expected.push_str(&line);
    }
    (store, expected)
}

#[test]
fn what_was_appended_can_be_read_anywhere() {
    let (mut store, mut expected) = (OutputStore::default(), String::new());
    while expected.len() < 3 * IN_MEMORY {
        let line = line(expected.len());
        store.append(&line);
        expected.push_str(&line);
        let from = expected.len() / 2;
        let (start, part) = store.read(from as u64..from as u64 + 5).expect("readable");
        assert_eq!(start, from as u64);
        assert_eq!(part, &expected.as_bytes()[from..(from + 5).min(expected.len())]);
    }
    assert!(store.filed() > 0 && store.in_memory() <= IN_MEMORY);
    assert_eq!(store.len(), expected.len() as u64);
    assert_eq!(store.read(0..u64::MAX).expect("readable").1, expected.as_bytes());
    assert_eq!(store.dropped(), 0);
    let lines = expected.lines().count() as u64;
    assert_eq!((store.newlines(), store.ends_within_line()), (lines, false));
    store.append("unfinished");
    assert_eq!((store.newlines(), store.ends_within_line()), (lines, true));
}

#[test]
fn what_was_saved_is_read_again_and_its_file_goes_with_it() {
    let folder = tempfile::tempdir().expect("made");
    let path: Arc<Path> = folder.path().into();
    let files = || std::fs::read_dir(&path).expect("there").count();
    let mut store = OutputStore::in_folder(Some(Arc::clone(&path)));
    let mut expected = String::new();
    while expected.len() < 3 * IN_MEMORY {
        let line = line(expected.len());
        store.append(&line);
        expected.push_str(&line);
        if expected.len() % 10_000 < 20 {
            let saved = store.save();
            assert!(saved.memory.len() <= INLINE);
            // As a server that is killed does: nothing is dropped.
            std::mem::forget(store);
            store = OutputStore::load(saved, Some(Arc::clone(&path)));
        }
    }
    assert_eq!(all(&store), expected);
    assert_eq!(store.newlines(), expected.lines().count() as u64);
    assert!(store.pieces.len() < 20, "{} pieces", store.pieces.len());
    assert_eq!(files(), 1);
    let saved = store.save();
    drop(store);
    assert_eq!(files(), 0);
    let lost = OutputStore::load(saved, Some(path));
    assert_eq!(lost.len(), expected.len() as u64, "positions stay");
    assert!(all(&lost).starts_with("[… "), "what is gone is told");
}

#[test]
fn a_shortened_file_keeps_the_beginning_and_the_end() {
    let (mut store, mut expected) = filled(5 * IN_MEMORY as u64);
    let (len, filed) = (store.len(), store.filed());
    store.shrink_file(filed / 2);
    assert!(store.filed() > 0 && store.filed() <= filed / 2);
    assert_eq!(store.len(), len, "positions stay");
    for _ in 0..2 {
        let text = all(&store);
        let mark = format!("[… {} bytes of output dropped …]\n", store.dropped());
        let (head, tail) = text.split_once(&mark).expect("the cut is visible");
        assert!(expected.starts_with(head.trim_end_matches('\n')) && expected.ends_with(tail));
        assert_eq!(store.newlines(), text.lines().count() as u64);
        // More is kept, the file does not grow again.
        while (expected.len() as u64) < 2 * len {
            let line = line(expected.len());
            assert_eq!(store.append(&line), Appended::Kept);
            expected.push_str(&line);
        }
        assert!(store.filed() <= filed / 2 && store.in_memory() <= IN_MEMORY);
    }
}

#[test]
fn a_discarded_output_says_so_and_a_small_one_stays() {
    let (mut store, expected) = filled(2 * IN_MEMORY as u64);
    store.discard();
    let text = all(&store);
    assert_eq!(text, format!("[… {} bytes of output dropped …]\n", expected.len()));
    assert_eq!((store.newlines(), store.in_memory(), store.filed()), (1, 0, 0));
    store.append("more\n");
    assert_eq!(all(&store), text + "more\n");
    let mut small = OutputStore::default();
    small.append("short\n");
    small.discard();
    assert_eq!(all(&small), "short\n");
}

#[test]
fn a_file_that_cannot_be_written_costs_the_middle() {
    let (mut store, mut expected) = filled(IN_MEMORY as u64 + 1);
    assert!(store.filed() > 0);
    // Every write to it fails from now on.
    let file = std::fs::File::open("/dev/null").expect("opens");
    store.file = Some(super::OutputFile { file, path: None });
    let mut refused = 0;
    while expected.len() < 4 * WAITING {
        let line = line(expected.len());
        refused += usize::from(store.append(&line) == Appended::DiskFull);
        expected.push_str(&line);
        assert!(store.in_memory() <= WAITING);
    }
    assert!((2..10).contains(&refused), "{refused}: told, and not with every line");
    assert_eq!(store.len(), expected.len() as u64);
    let (start, tail) = store.read(store.kept_from..u64::MAX).expect("readable");
    assert!(expected.as_bytes().ends_with(&tail) && start + tail.len() as u64 == store.len());
    assert!(store.dropped() > 0);
}
