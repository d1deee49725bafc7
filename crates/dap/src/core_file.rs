//! A core file: the memory of a program that a signal has ended, as ELF systems write it. What it says of the
//! program is in its notes.

use std::path::{Path, PathBuf};

use object::elf::{FileHeader32, FileHeader64, NT_AUXV, NT_FILE, NT_PRSTATUS};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind, ReadCache, ReadRef, elf};

use crate::error::DebugError;

/// Where the program's own headers are in its memory, among what the system gave it.
const AT_PHDR: u64 = 3;

/// What a core file says of its program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreFile {
    /// The program's file, which may be gone or another by now.
    pub program: Option<PathBuf>,
    /// The number of the signal that ended it.
    pub(crate) signal: Option<i64>,
}

impl CoreFile {
    /// Reads one. Anything else is refused.
    pub fn read(path: &Path) -> Result<Self, DebugError> {
        let file = termbridge_foreign_files::open(path)
            .map_err(|_| DebugError::FileNotFound(path.to_owned()))?;
        let cache = ReadCache::new(file);
        let read = match FileKind::parse(&cache) {
            Ok(FileKind::Elf64) => of_header::<FileHeader64<Endianness>, _>(&cache),
            Ok(FileKind::Elf32) => of_header::<FileHeader32<Endianness>, _>(&cache),
            _ => None,
        };
        read.ok_or_else(|| DebugError::InvalidPath {
            path: path.to_owned(),
            reason: "no core file (systemd keeps them compressed: coredumpctl dump -o core)"
                .to_owned(),
        })
    }
}

fn of_header<'data, H, R>(data: R) -> Option<CoreFile>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = H::parse(data).ok()?;
    let endian = header.endian().ok()?;
    if header.e_type(endian) != elf::ET_CORE {
        return None;
    }
    let words = Words { endian, is_64: header.is_type_64() };
    let (mut core, mut headers, mut mapped) = (CoreFile::default(), None, Vec::new());
    for segment in header.program_headers(endian, data).ok()? {
        let Ok(Some(mut notes)) = segment.notes(endian, data) else { continue };
        while let Ok(Some(note)) = notes.next() {
            let desc = note.desc();
            match note.n_type(endian) {
                // The first is of the thread that had the signal.
                NT_PRSTATUS if core.signal.is_none() => {
                    let signal = desc.first_chunk().map(|bytes| words.number(*bytes));
                    core.signal = signal.map(i64::from).filter(|signal| *signal > 0);
                }
                NT_AUXV => {
                    let values = words.all(desc);
                    let pairs = values.chunks_exact(2);
                    headers = pairs.into_iter().find(|pair| pair[0] == AT_PHDR).map(|pair| pair[1]);
                }
                NT_FILE => mapped = words.mapped(desc),
                _ => {}
            }
        }
    }
    let own = headers
        .and_then(|at| mapped.into_iter().find(|(start, end, _)| (*start..*end).contains(&at)));
    core.program = own.map(|(_, _, path)| path);
    Some(core)
}

/// Numbers as the program's machine writes them.
#[derive(Clone, Copy)]
struct Words {
    endian: Endianness,
    is_64: bool,
}

impl Words {
    fn number(self, bytes: [u8; 4]) -> u32 {
        match self.endian {
            Endianness::Little => u32::from_le_bytes(bytes),
            Endianness::Big => u32::from_be_bytes(bytes),
        }
    }

    fn size(self) -> usize {
        if self.is_64 { 8 } else { 4 }
    }

    /// The words of a note.
    fn all(self, bytes: &[u8]) -> Vec<u64> {
        let word = |bytes: &[u8]| match (bytes.first_chunk::<8>(), bytes.first_chunk::<4>()) {
            (Some(bytes), _) if self.endian == Endianness::Little => u64::from_le_bytes(*bytes),
            (Some(bytes), _) => u64::from_be_bytes(*bytes),
            (None, Some(bytes)) => self.number(*bytes).into(),
            (None, None) => 0,
        };
        bytes.chunks_exact(self.size()).map(word).collect()
    }

    /// The files that were mapped: where each begins and ends, and its path. Their count and the size of a page come
    /// first, then three words for each, then the paths.
    fn mapped(self, bytes: &[u8]) -> Vec<(u64, u64, PathBuf)> {
        let words = self.all(bytes);
        let count = words.first().map_or(0, |count| *count as usize).min(words.len() / 3);
        let Some(places) = words.get(2..2 + 3 * count) else { return Vec::new() };
        let paths = &bytes[(2 + 3 * count) * self.size()..];
        let paths = paths
            .split(|byte| *byte == 0)
            .map(|path| PathBuf::from(&*String::from_utf8_lossy(path)));
        let places = places.chunks_exact(3);
        places.zip(paths).map(|(place, path)| (place[0], place[1], path)).collect()
    }
}
