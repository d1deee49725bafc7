//! Files that cannot be used never stop anyone.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use termbridge_store::{Filter, History, Limits, Opened, Query, Storage, StoreError, Warning};

use crate::support::{Folder, entry, fill, found, limits};

fn works(history: &History) {
    fill(history, [entry("new", "still works", "yes", 1)]);
    assert_eq!(found(history, "still"), ["new"]);
    assert_eq!(history.health().failed, 0);
}

fn set_aside(folder: &Folder, opened: &Opened, part: &str) {
    let [Warning::SetAside { to, reason }] = &opened.warnings[..] else {
        panic!("{:?}", opened.warnings)
    };
    assert!(reason.contains(part), "{reason}");
    assert!(to.exists() && folder.names("history.db.corrupt-").len() == 1, "{}", to.display());
    assert_eq!(opened.history.health().storage, Storage::File(folder.path()));
    works(&opened.history);
}

fn in_memory(opened: &Opened, part: &str) {
    let [Warning::InMemory { reason, .. }] = &opened.warnings[..] else {
        panic!("{:?}", opened.warnings)
    };
    assert!(reason.contains(part), "{reason}");
    assert_eq!(opened.history.health().storage, Storage::Memory);
    works(&opened.history);
}

fn filled(folder: &Folder) {
    let history = folder.open();
    let words = "some words of output ".repeat(20);
    fill(&history, (0..500).map(|number| entry(&format!("c{number}"), "run", &words, number)));
}

#[test]
fn a_file_that_is_no_database_is_set_aside() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().parent().unwrap()).unwrap();
    let garbage = b"this is not a database, whatever it is ".repeat(100);
    fs::write(folder.path(), &garbage).unwrap();
    let opened = folder.open_with(limits());
    set_aside(&folder, &opened, "not a database");
    let [Warning::SetAside { to, .. }] = &opened.warnings[..] else { unreachable!() };
    assert_eq!(fs::read(to).unwrap(), garbage, "nothing is lost");
}

#[test]
fn a_damaged_file_is_set_aside_with_its_wal() {
    let folder = Folder::new();
    filled(&folder);
    let mut bytes = fs::read(folder.path()).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(folder.path(), bytes).unwrap();
    fs::write(folder.path().with_extension("db-wal"), b"torn").unwrap();
    let opened = folder.open_with(limits());
    set_aside(&folder, &opened, "malformed");
}

#[test]
fn a_truncated_file_is_set_aside() {
    let folder = Folder::new();
    filled(&folder);
    let length = fs::metadata(folder.path()).unwrap().len();
    fs::File::options().write(true).open(folder.path()).unwrap().set_len(length / 2).unwrap();
    set_aside(&folder, &folder.open_with(limits()), "malformed");
}

#[test]
fn damage_found_in_use_is_set_aside_at_the_next_start() {
    let folder = Folder::new();
    filled(&folder);
    let page = root_page(&folder.path(), "search_1_idx");
    let mut bytes = fs::read(folder.path()).unwrap();
    bytes[(page - 1) * 4096..page * 4096].fill(0xa5);
    fs::write(folder.path(), bytes).unwrap();
    let opened = folder.open_with(limits());
    if opened.warnings.is_empty() {
        let error = opened.history.search(&termbridge_store::Query::new("words")).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
        drop(opened);
        set_aside(&folder, &folder.open_with(limits()), "damaged while in use");
    } else {
        set_aside(&folder, &opened, "malformed");
    }
    assert_eq!(folder.open_with(limits()).warnings, [], "once");
}

fn root_page(path: &Path, table: &str) -> usize {
    let raw = Connection::open(path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    raw.query_row(sql, [table], |row| row.get::<_, i64>(0)).unwrap() as usize
}

#[test]
fn a_file_of_the_first_version_is_brought_up_to_date() {
    let folder = Folder::new();
    let output = "line\n".repeat(100);
    let history = folder.open_with(Limits { max_output_bytes: 100, ..limits() }).history;
    fill(&history, [entry("c1", "noisy", &output, 1)]);
    drop(history);
    let raw = Connection::open(folder.path()).unwrap();
    let older = "ALTER TABLE runs DROP COLUMN principal; ALTER TABLE runs DROP COLUMN cut_lines;
                 PRAGMA user_version = 1";
    raw.execute_batch(older).unwrap();
    drop(raw);
    let opened = folder.open_with(limits());
    assert_eq!(opened.warnings, []);
    let cut = opened.history.get("c1").unwrap().unwrap().output.cut.expect("a cut");
    assert_eq!((cut.bytes, cut.lines), (400, None));
    fill(&opened.history, [entry("c2", "another", "", 2)]);
    assert!(opened.history.get("c2").unwrap().is_some());
}

#[test]
fn what_ran_before_there_were_principals_is_the_user_s_own() {
    let folder = Folder::new();
    let history = folder.open();
    fill(&history, [entry("c1", "before", "", 1)]);
    drop(history);
    let raw = Connection::open(folder.path()).unwrap();
    raw.execute_batch("ALTER TABLE runs DROP COLUMN principal; PRAGMA user_version = 2").unwrap();
    drop(raw);
    let opened = folder.open_with(limits());
    assert_eq!(opened.warnings, []);
    let found = |principal: &str, text: &str| {
        let filter = Filter { principal: Some(principal.to_owned()), ..Filter::default() };
        let query = Query { filter, ..Query::new(text) };
        opened.history.search(&query).unwrap().hits.len()
    };
    assert_eq!((found("", ""), found("", "before")), (1, 1));
    assert_eq!((found("someone", ""), found("someone", "before")), (0, 0));
}

#[test]
fn a_newer_file_is_set_aside() {
    let folder = Folder::new();
    filled(&folder);
    Connection::open(folder.path()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    set_aside(&folder, &folder.open_with(limits()), "schema 99");
}

#[test]
fn another_programs_file_is_set_aside() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().parent().unwrap()).unwrap();
    let raw = Connection::open(folder.path()).unwrap();
    raw.execute_batch("CREATE TABLE bookmarks(url)").unwrap();
    drop(raw);
    set_aside(&folder, &folder.open_with(limits()), "another program's");
}

#[test]
fn a_locked_file_leaves_memory() {
    let folder = Folder::new();
    filled(&folder);
    let holder = Connection::open(folder.path()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    in_memory(&folder.open_with(limits()), "another process holds it");
    holder.execute_batch("COMMIT").unwrap();
    drop(holder);
    assert_eq!(folder.open().search(&termbridge_store::Query::new("")).unwrap().hits.len(), 20);
}

#[test]
fn an_exclusively_locked_file_leaves_memory() {
    let folder = Folder::new();
    filled(&folder);
    let holder = Connection::open(folder.path()).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    in_memory(&folder.open_with(limits()), "another process holds it");
}

#[test]
fn a_folder_that_cannot_be_written_leaves_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    // The second is refused to root, too.
    for path in [file.join("state/history.db"), "/proc/termbridge/history.db".into()] {
        in_memory(&History::open(&path, limits()).unwrap(), "os error");
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_leaves_memory() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(folder.path().join("probe"), "").is_ok() {
        return; // Root writes anywhere.
    }
    in_memory(&History::open(&folder.path().join("history.db"), limits()).unwrap(), "ermission");
}

#[test]
fn two_histories_in_memory_are_apart() {
    let open = || History::open("/proc/termbridge/history.db".as_ref(), limits()).unwrap().history;
    let (one, two) = (open(), open());
    works(&one);
    assert_eq!(found(&two, ""), [""; 0]);
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let history = folder.open();
    fill(&history, [entry("c1", "secret", "", 1)]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let state = folder.path().parent().unwrap().to_owned();
    assert_eq!(mode(&state), 0o700);
    for name in folder.names("") {
        let path = state.join(&name);
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{name}");
    }
    assert!(folder.names("-wal").len() == 1, "{:?}", folder.names(""));
    drop(history);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o644)).unwrap();
    let _history = folder.open();
    assert_eq!(mode(&folder.path()), 0o600, "a laxer one is tightened");
}
