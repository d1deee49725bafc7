//! Writing to disks, and making them anew.

use crate::place::Place;
use crate::walk::Arg;

use super::{Options, Subject};

/// `parted` commands that only look.
const PARTED_LOOKS: &[&str] = &["print", "unit", "help", "version", "quit", "align-check"];

pub(super) fn check_write(program: &str, subject: &Subject<'_>) -> Option<String> {
    let options = Options::of(subject.rest());
    let device = |arg: &Arg| subject.place(arg).filter(Place::is_device);
    let target = match program {
        "dd" | "gdd" | "dcfldd" | "ddrescue" => {
            let value = |arg: &&Arg| {
                arg.text
                    .strip_prefix("of=")
                    .map(|text| Arg { text: text.to_owned(), ..(**arg).clone() })
            };
            options.operands.iter().find_map(value).as_ref().and_then(device)
        }
        "tee" | "shred" | "truncate" | "fallocate" | "blkdiscard" | "badblocks" => {
            if program == "badblocks" && !options.has('w', "") {
                return None;
            }
            options.operands.iter().find_map(|arg| device(arg))
        }
        "cp" | "mv" | "install" | "rsync" | "pv" => device(options.operands.last()?),
        "sponge" => device(options.operands.first()?),
        "wget" | "curl" | "aria2c" | "sort" | "qemu-img" => {
            outputs(program, subject.rest()).iter().find_map(device)
        }
        _ => None,
    };
    target.map(|place| written(&place))
}

/// The files that a program is told to write by an option.
pub(super) fn outputs(program: &str, rest: &[Arg]) -> Vec<Arg> {
    let (short, long) = match program {
        "wget" => ("-O", "--output-document"),
        "qemu-img" => return rest.last().cloned().into_iter().collect(),
        _ => ("-o", "--output"),
    };
    let value = |(index, arg): (usize, &Arg)| {
        let text = arg.text.as_str();
        if text == short || text == long {
            return rest.get(index + 1).cloned();
        }
        let joined = text.strip_prefix(long).and_then(|value| value.strip_prefix('='));
        let joined = joined.or(text.strip_prefix(short))?;
        Some(Arg { text: joined.to_owned(), ..arg.clone() })
    };
    rest.iter().enumerate().filter_map(value).collect()
}

pub(super) fn written(place: &Place) -> String {
    let path = place.path().replace(crate::walk::UNKNOWN, "…");
    format!("{path} is a device: writing to it destroys what is on it")
}

pub(super) fn check_format(program: &str, subject: &Subject<'_>) -> Option<String> {
    let options = Options::of(subject.rest());
    if options.only_asks() {
        return None;
    }
    let operands = options.operands.as_slice();
    if !operands.is_empty() && operands.iter().all(|arg| is_plain_file(arg, subject)) {
        return None;
    }
    let makes = match program {
        "mkswap" | "mke2fs" | "newfs" | "mkdosfs" | "mkntfs" | "pvcreate" | "zpool-create" => true,
        "wipefs" => !options.has('n', "no-act") && !operands.is_empty(),
        "fdisk" | "gdisk" | "cfdisk" | "cgdisk" | "sfdisk" | "sgdisk" => {
            let looks = options.has('l', "list")
                || options.has('s', "getsz")
                || options.has('d', "dump")
                || options.has('p', "print")
                || options.has('V', "verify");
            !looks && !operands.is_empty()
        }
        "parted" => {
            let mut commands = operands.iter().skip(1).peekable();
            let looks = commands.peek().is_some()
                && commands.any(|arg| PARTED_LOOKS.contains(&arg.text.as_str()));
            !looks && !options.has('l', "list") && !operands.is_empty()
        }
        "cryptsetup" => {
            let formats = ["luksformat", "erase", "lukserase", "reencrypt"];
            operands.iter().any(|arg| formats.contains(&arg.text.to_ascii_lowercase().as_str()))
        }
        "nvme" => {
            operands.first().is_some_and(|arg| matches!(arg.text.as_str(), "format" | "sanitize"))
        }
        "hdparm" => options.long.iter().any(|long| long.starts_with("security-erase")),
        "diskutil" => operands.first().is_some_and(|arg| {
            let text = arg.text.to_ascii_lowercase();
            text.starts_with("erase") || text.contains("zero") || text.starts_with("partition")
        }),
        _ => program == "mkfs" || program.starts_with("mkfs.") || program.starts_with("newfs_"),
    };
    makes.then(|| format!("`{program}` formats or partitions a disk: everything on it is lost"))
}

/// Whether an argument is no device: the value of an option, or an image in a file.
fn is_plain_file(arg: &Arg, subject: &Subject<'_>) -> bool {
    if arg.text.contains(crate::walk::UNKNOWN) {
        return false;
    }
    match subject.place(arg) {
        Some(place) => !place.is_under_dev(),
        None => !Place::of(arg, Some(std::path::Path::new("/dev")))
            .is_some_and(|place| place.is_device()),
    }
}
