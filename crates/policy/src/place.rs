//! Where a path of a command line leads, by its text alone, and whether that place is protected.
//!
//! No file system here: links are not followed, `..` is taken off as written.

use std::path::Path;

use crate::glob;
use crate::walk::{Arg, UNKNOWN};

/// Directories that hold the system: nobody removes or re-owns them as a whole.
const SYSTEM: &[&str] = &[
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "libx32",
    "proc",
    "run",
    "sbin",
    "sys",
    "usr",
    "usr/bin",
    "usr/include",
    "usr/lib",
    "usr/lib64",
    "usr/libexec",
    "usr/sbin",
    "usr/share",
    "var",
    "var/lib",
    "Applications",
    "Library",
    "System",
    "Users",
    "private",
    "private/etc",
    "private/var",
];

/// Directories that hold what people and packages installed: not removed as a whole, though they
/// may be given to another owner.
const SHARED: &[&str] = &[
    "home/*",
    "media",
    "mnt",
    "opt",
    "root",
    "srv",
    "usr/local",
    "usr/local/bin",
    "usr/local/lib",
    "usr/src",
    "var/log",
    "Users/*",
    "Volumes",
];

/// Directories that are there to be emptied now and then.
const CLEARABLE: &[&str] = &["tmp", "var/tmp", "var/log", "var/cache", "usr/src"];

/// Files without which a system does not start or admit anyone.
const CRITICAL_FILES: &[&str] = &[
    "etc/passwd",
    "etc/shadow",
    "etc/group",
    "etc/gshadow",
    "etc/sudoers",
    "etc/fstab",
    "etc/ld.so.preload",
    "proc/sysrq-trigger",
    "boot/*",
];

/// Names under `/dev` that are disks or memory.
const DEVICES: &[&str] = &[
    "sd[a-z]*", "hd[a-z]*", "vd[a-z]*", "xvd*", "nvme*", "mmcblk*", "disk*", "rdisk*", "dm-*",
    "md[0-9]*", "mapper/*", "loop*", "sr[0-9]*", "nbd*", "zd[0-9]*", "bcache*", "mtd*", "pmem*",
    "root", "mem", "kmem", "port",
];

/// Devices that a pattern in a command line is tried against.
const DEVICE_SAMPLES: &[&str] =
    &["sda", "sda1", "hda", "vda", "vda1", "xvda", "nvme0n1", "mmcblk0", "disk0", "dm-0", "md0"];

/// How much a directory matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guarded {
    Root,
    System,
    Shared,
    Home,
}

/// An absolute path in parts, its `.` and `..` taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    parts: Vec<String>,
    /// Parts are patterns.
    glob: bool,
    /// Everything in the directory rather than the directory.
    pub(crate) contents: bool,
}

impl Place {
    /// Where an argument leads. `None` if that cannot be known.
    pub(crate) fn of(arg: &Arg, cwd: Option<&Path>) -> Option<Self> {
        let text = arg.text.as_str();
        let mut parts = Vec::new();
        if !text.starts_with('/') {
            push_parts(&mut parts, cwd?.to_str()?);
            if text.starts_with(UNKNOWN) {
                return None;
            }
        }
        push_parts(&mut parts, text);
        // The root of a process is the file system's.
        while matches!(parts.as_slice(), [proc, _, root, ..] if proc == "proc" && root == "root") {
            parts.drain(..3);
        }
        let mut place = Self { parts, glob: arg.glob, contents: false };
        while place.glob && place.parts.last().is_some_and(|part| matches_everything(part)) {
            place.parts.pop();
            place.contents = true;
        }
        Some(place)
    }

    /// The path as text.
    pub(crate) fn path(&self) -> String {
        let tail = if self.contents { "/*" } else { "" };
        format!("/{}{tail}", self.parts.join("/"))
    }

    /// Whether this is a directory to guard.
    pub(crate) fn guarded(&self, home: &Path) -> Option<Guarded> {
        if self.contents && CLEARABLE.iter().any(|listed| self.is(listed)) {
            return None;
        }
        // An expansion right under the root may be empty.
        let root = match self.parts.as_slice() {
            [] => true,
            [only] => only.chars().all(|sign| sign == UNKNOWN),
            _ => false,
        };
        if root {
            return Some(Guarded::Root);
        }
        if SYSTEM.iter().any(|listed| self.is(listed)) {
            return Some(Guarded::System);
        }
        let of_home: Vec<&str> =
            home.iter().skip(1).map(|part| part.to_str().unwrap_or_default()).collect();
        let above_home = self.parts.len() <= of_home.len()
            && self.parts.iter().zip(&of_home).all(|(part, name)| self.part_is(part, name));
        if above_home {
            return Some(Guarded::Home);
        }
        SHARED.iter().any(|listed| self.is(listed)).then_some(Guarded::Shared)
    }

    /// Whether this is a directory as a whole, or all that is in it.
    pub(crate) fn is_directory(&self, directory: &Path) -> bool {
        let mut parts = Vec::new();
        directory.to_str().into_iter().for_each(|text| push_parts(&mut parts, text));
        parts == self.parts
    }

    /// Whether this is below `/dev`, or may be.
    pub(crate) fn is_under_dev(&self) -> bool {
        self.parts.first().is_some_and(|first| self.part_is(first, "dev"))
    }

    pub(crate) fn is_critical_file(&self) -> bool {
        !self.contents && CRITICAL_FILES.iter().any(|listed| self.is(listed))
    }

    /// Whether this is a disk or memory. A device named by an expansion counts as one.
    pub(crate) fn is_device(&self) -> bool {
        let [first, rest @ ..] = self.parts.as_slice() else { return false };
        if !self.part_is(first, "dev") {
            return false;
        }
        let name = rest.join("/");
        match name.as_str() {
            "" => self.contents,
            _ if name.contains(UNKNOWN) => !name.contains('/'),
            _ if name.starts_with("disk/") => true,
            _ => {
                DEVICES.iter().any(|listed| glob::matches(listed, &name))
                    || (self.glob && DEVICE_SAMPLES.iter().any(|known| glob::matches(&name, known)))
            }
        }
    }

    /// Whether this is the listed path, either of which may hold patterns.
    fn is(&self, listed: &str) -> bool {
        let mut listed = listed.split('/');
        self.parts.iter().all(|part| listed.next().is_some_and(|name| self.part_is(part, name)))
            && listed.next().is_none()
    }

    fn part_is(&self, part: &str, name: &str) -> bool {
        part == name || name == "*" || (self.glob && glob::matches(part, name))
    }
}

fn push_parts(parts: &mut Vec<String>, text: &str) {
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part.to_owned()),
        }
    }
}

/// Whether a pattern stands for all names, or all but a few: `*`, `.*`, `.??*`, `[!.]*`.
fn matches_everything(part: &str) -> bool {
    part.contains(['*', '?']) && part.chars().all(|sign| "*?.[]!^".contains(sign))
}
