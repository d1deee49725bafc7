//! Files of finished sessions: `ID.ndjson` in the state folder, the label first, then the records.
//!
//! A file is written beside its place and renamed, so a reader sees all of it or nothing. What
//! cannot be read is skipped: a torn line costs that line. The files hold what programs printed, so only
//! their owner may read them; they go when they are too many, too large or too old, which is looked at
//! when a server starts and when a session ends.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use termbridge_pty::{close_folder, make_private_file, make_private_folders};

use super::record::{EventLimits, Record, SessionLabel};
use super::store::Log;

const EXTENSION: &str = "ndjson";
/// The extension of a file that is being written.
const UNFINISHED: &str = "part";
/// When a file that is being written was surely given up.
const UNFINISHED_AGE: Duration = Duration::from_hours(1);

#[derive(Debug)]
pub(super) struct Spill {
    folder: PathBuf,
    limits: EventLimits,
}

impl Spill {
    /// The files in a folder, which is tidied. Blocks.
    pub(super) fn new(folder: PathBuf, limits: EventLimits) -> Self {
        if folder.is_dir() {
            // Earlier versions made it by the umask; whose it is not cannot change it.
            let _ = close_folder(&folder);
        }
        let spill = Self { folder, limits };
        spill.trim();
        spill
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a session and makes room for it.
    pub(super) fn write(&self, log: &Log) -> std::io::Result<()> {
        let path = self.path(&log.label.id).ok_or(std::io::ErrorKind::InvalidInput)?;
        make_private_folders(&self.folder)?;
        let unfinished = path.with_extension(UNFINISHED);
        // One that a killed server left.
        let _ = std::fs::remove_file(&unfinished);
        let written = write_log(make_private_file(&unfinished)?, log)
            .and_then(|()| std::fs::rename(&unfinished, path));
        if written.is_err() {
            // It takes the place that was missing, perhaps.
            let _ = std::fs::remove_file(&unfinished);
        }
        self.trim();
        written
    }

    /// Reads a session.
    pub(super) fn read(&self, session: &str) -> Option<Log> {
        let file = termbridge_foreign_files::open(&self.path(session)?).ok()?;
        // Twice what may be kept in memory: the same records as text.
        let mut lines = BufReader::new(file.take(self.limits.bytes as u64 * 2 + 1024)).lines();
        let label: SessionLabel = serde_json::from_str(&lines.next()?.ok()?).ok()?;
        let mut log = Log::new(SessionLabel { id: session.to_owned(), ..label });
        for line in lines.map_while(Result::ok) {
            if let Some(record) = Record::from_line(&line) {
                log.push(record, &self.limits);
            }
        }
        Some(log)
    }

    /// Gives a session's file another name; the label inside follows when it is read.
    pub(super) fn rename(&self, session: &str, name: &str) {
        if let (Some(from), Some(to)) = (self.path(session), self.path(name)) {
            // There may be none.
            let _ = std::fs::rename(from, to);
        }
    }

    /// The sessions that have a file, the latest first.
    pub(super) fn sessions(&self) -> Vec<String> {
        let names = self.files(EXTENSION).into_iter();
        let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
        names.filter_map(|(_, _, path)| stem(path)).collect()
    }

    /// Files of a kind with their time and size, the latest first.
    fn files(&self, extension: &str) -> Vec<(SystemTime, u64, PathBuf)> {
        let entries = self.folder.read_dir().into_iter().flatten().flatten();
        let mut files: Vec<_> = entries
            .filter(|entry| entry.path().extension().is_some_and(|ending| ending == extension))
            .filter_map(|entry| {
                let meta = entry.metadata().ok()?;
                Some((meta.modified().ok()?, meta.len(), entry.path()))
            })
            .collect();
        files.sort();
        files.reverse();
        files
    }

    fn trim(&self) {
        let is_older = |time: SystemTime, age: Duration| time.elapsed().is_ok_and(|is| is > age);
        let limits = &self.limits;
        let mut bytes = 0;
        for (number, (time, size, path)) in self.files(EXTENSION).into_iter().enumerate() {
            bytes += size;
            if number >= limits.finished
                || (number > 0 && bytes > limits.finished_bytes)
                || is_older(time, limits.finished_age)
            {
                // Another server may have removed it.
                let _ = std::fs::remove_file(path);
            }
        }
        for (time, _, path) in self.files(UNFINISHED) {
            if is_older(time, UNFINISHED_AGE) {
                let _ = std::fs::remove_file(path);
            }
        }
    }

    /// A session's file; `None` for a name that is no plain name.
    fn path(&self, session: &str) -> Option<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let good = !session.is_empty() && session.len() <= 128 && session.chars().all(plain);
        good.then(|| self.folder.join(format!("{session}.{EXTENSION}")))
    }
}

fn write_log(file: File, log: &Log) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    serde_json::to_writer(&mut file, &log.label)?;
    for record in &log.records {
        file.write_all(b"\n")?;
        serde_json::to_writer(&mut file, record)?;
    }
    file.write_all(b"\n")?;
    file.flush()
}
