//! The pieces of which streams are made: a table of their kinds.
//!
//! Some are made so that they avoid what xterm.js does unlike xterm:
//! - Where a wrap is pending, its cursor is behind the last column: there it erases nothing, tabulates nowhere and is
//!   reported. Such a sequence follows a move by one column, which ends the wait.
//! - ED 1 in the lower right corner throws an error.
//! - REP repeats only what is directly before it.
//! - SD clears rows without the background colour.
//! - All of a link is lost when one of its rows is deleted or scrolls off: it has one row.
//! - RIS leaves the cursor hidden.
//! - `38:2:R:G:B` is taken for `38:2:SPACE:R:G`, and missing components for 0.

use termbridge_vt::Size;

use crate::compare::Compared;
use crate::make::*;
use crate::random::Random;
use crate::stream::Body;

/// A kind of piece.
pub(crate) struct Kind {
    /// The name, for `XTERM_PIECES` and in what is printed about a difference.
    pub(crate) name: &'static str,
    /// Whether it is part of the usual run.
    pub(crate) status: Status,
    /// What can be compared with this in the stream.
    pub(crate) compared: Compared,
    /// Makes one.
    pub(crate) make: fn(&mut Random, Size) -> Body,
}

/// Whether a kind of piece is part of the usual run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Both terminals agree.
    Agrees,
    /// Both are meant to differ, for this reason.
    Intended(&'static str),
}

use Status::{Agrees, Intended};

/// It prints, and wraps lines.
const PRINTS: Compared = Compared { wraps: true, history: true };
/// It moves the cursor up or changes rows above: xterm.js notes at a row that the one before continues in it, xterm and
/// we note it at the end of the one before, and each forgets it when that place is overwritten.
const EDITS: Compared = Compared { wraps: false, history: true };
/// What it moves off the top goes to the scrollback in one of the terminals only.
const SCREEN: Compared = Compared { wraps: false, history: false };

const fn kind(
    name: &'static str,
    compared: Compared,
    status: Status,
    make: fn(&mut Random, Size) -> Body,
) -> Kind {
    Kind { name, status, compared, make }
}

const SAVED_ROW: &str = "in xterm.js a saved row moves with the text that scrolls";

/// Pieces that are in every stream: there is something to change then.
pub(crate) const BASE: &[&str] = &["text", "crlf", "cup"];
/// Pieces that are in every stream where wrapped rows are compared.
pub(crate) const PRINTING_BASE: &[&str] = &["text", "long-text", "crlf"];

/// Kinds that differ together, by the reason: there is a piece of each list in the simplest stream.
pub(crate) const KNOWN: &[(&str, &[&[&str]])] = &[
    (
        "half of a wide character that is overwritten has the default style, in xterm.js the current one",
        &[
            &["wide", "emoji", "combining", "joiners", "rep"],
            &[
                "sgr",
                "sgr-odd",
                "sgr-underlines",
                "sgr-underline-colors",
                "sgr-colors",
                "sgr-256",
                "sgr-rgb",
                "sgr-colons",
                "many-parameters",
                "link",
                "save-restore",
                "alternate-visit",
            ],
        ],
    ),
    (
        "DECALN fills the screen in the default style, as in xterm",
        &[
            &["decaln"],
            &[
                "sgr",
                "sgr-odd",
                "sgr-underlines",
                "sgr-underline-colors",
                "sgr-colors",
                "sgr-256",
                "sgr-rgb",
                "sgr-colons",
                "many-parameters",
                "link",
                "save-restore",
                "alternate-visit",
                "decsca",
            ],
        ],
    ),
    (
        "margins are those of both screens, as in xterm",
        &[&["decstbm"], &["alternate-1049", "alternate-visit", "alternate-end"]],
    ),
    (
        "without autowrap, xterm.js drops a wide character that does not fit in the row",
        &[&["wide", "emoji", "combining", "joiners", "rep"], &["decawm", "several-modes"]],
    ),
];

/// All kinds.
pub(crate) const KINDS: &[Kind] = &[
    // Text.
    kind("text", PRINTS, Agrees, |r, _| text(r, 1..=12, ASCII)),
    kind("long-text", PRINTS, Agrees, |r, s| text(r, 1..=usize::from(s.cols) * 2, ASCII)),
    kind("letters", PRINTS, Agrees, |r, _| text(r, 1..=8, "aéßñĀλЖשع€│─█▀→✓")),
    kind("wide", PRINTS, Agrees, |r, _| text(r, 1..=8, "漢字仮名ひらカナ한글ａ。ab")),
    kind("emoji", PRINTS, Agrees, |r, _| text(r, 1..=5, "🙂🚀🔥🦀a")),
    kind("combining", PRINTS, Agrees, |r, _| marked(r, "ae漢", "\u{301}\u{308}\u{327}\u{20d0}")),
    kind("joiners", PRINTS, Agrees, |r, _| marked(r, "👩💻a", "\u{200d}\u{200b}")),
    // C0.
    kind("crlf", PRINTS, Agrees, |r, _| pick(r, &["\r\n", "\r\n\r\n"])),
    kind("cr", PRINTS, Agrees, |_, _| fixed("\r")),
    kind("lf", PRINTS, Agrees, |r, _| pick(r, &["\n", "\n", "\x0b", "\x0c"])),
    kind("bs", EDITS, Agrees, |r, _| pick(r, &["\x08", "\x08\x08\x08"])),
    kind("tab", PRINTS, Agrees, |r, _| pick(r, &["\t", "\t\t"])),
    kind("ignored-c0", PRINTS, Agrees, |r, _| {
        pick(r, &["\0", "\x05", "\x06", "\x11", "\x13", "\x7f"])
    }),
    kind("bel", PRINTS, Agrees, |_, _| fixed("\x07")),
    // The cursor.
    kind("cup", EDITS, Agrees, |r, s| csi(vec![row(r, s), column(r, s)], "H")),
    kind("hvp", EDITS, Agrees, |r, s| csi(vec![row(r, s), column(r, s)], "f")),
    kind("cup-odd", EDITS, Agrees, |r, s| {
        let choices = [vec![], vec![row(r, s)], vec![String::new(), column(r, s)]];
        csi(r.pick(&choices).clone(), "H")
    }),
    kind("cuu", EDITS, Agrees, |r, s| csi(vec![row(r, s)], "A")),
    kind("cud", EDITS, Agrees, |r, s| csi(vec![row(r, s)], "B")),
    kind("cuf", EDITS, Agrees, |r, s| csi(vec![column(r, s)], "C")),
    kind("cub", EDITS, Agrees, |r, s| csi(vec![column(r, s)], "D")),
    kind("cnl", EDITS, Agrees, |r, s| csi(vec![row(r, s)], "E")),
    kind("cpl", EDITS, Agrees, |r, s| csi(vec![row(r, s)], "F")),
    kind("cha", EDITS, Agrees, |r, s| csi(vec![column(r, s)], "G")),
    kind("hpa", EDITS, Agrees, |r, s| csi(vec![column(r, s)], "`")),
    kind("hpr", EDITS, Agrees, |r, s| csi(vec![column(r, s)], "a")),
    kind("vpa", EDITS, Agrees, |r, s| csi(vec![row(r, s)], "d")),
    kind("vpr", EDITS, Agrees, |r, s| csi(vec![row(r, s)], "e")),
    kind("ind", EDITS, Agrees, |_, _| fixed("\x1bD")),
    kind("nel", EDITS, Agrees, |_, _| fixed("\x1bE")),
    kind("ri", EDITS, Agrees, |_, _| fixed("\x1bM")),
    kind("save-restore", EDITS, Agrees, |r, s| {
        saved(r, s, &[("\x1b7", "\x1b8"), ("\x1b[s", "\x1b[u"), ("\x1b[?1048h", "\x1b[?1048l")])
    }),
    kind("restore", EDITS, Intended(SAVED_ROW), |r, _| {
        pick(r, &["\x1b7", "\x1b8", "\x1b[s", "\x1b[u"])
    }),
    // Tab stops.
    kind("hts", EDITS, Agrees, |_, _| fixed("\x1bH")),
    kind("tbc", EDITS, Agrees, |r, _| pick(r, &["\x1b[g", "\x1b[0g", "\x1b[3g"])),
    kind("cht", EDITS, Agrees, |r, _| anchored(vec![few(r)], "I")),
    kind("cbt", EDITS, Agrees, |r, _| anchored(vec![few(r)], "Z")),
    // Erasing, inserting, deleting.
    kind("ed-below", EDITS, Agrees, |r, _| pick(r, &["\x1b[C\x1b[J", "\x1b[C\x1b[0J"])),
    kind("ed-above", EDITS, Agrees, |_, _| fixed("\x1b[D\x1b[1J")),
    kind("ed-all", SCREEN, Agrees, |_, _| fixed("\x1b[2J")),
    kind("ed-saved", EDITS, Agrees, |_, _| fixed("\x1b[3J")),
    kind("el-right", EDITS, Agrees, |r, _| pick(r, &["\x1b[C\x1b[K", "\x1b[C\x1b[0K"])),
    kind("el-left", EDITS, Agrees, |_, _| fixed("\x1b[C\x1b[1K")),
    kind("el-all", EDITS, Agrees, |_, _| fixed("\x1b[2K")),
    kind("ech", EDITS, Agrees, |r, s| csi(vec![column(r, s)], "X")),
    kind("ich", EDITS, Agrees, |r, s| csi(vec![column(r, s)], "@")),
    kind("dch", EDITS, Agrees, |r, s| csi(vec![column(r, s)], "P")),
    kind("il", EDITS, Agrees, |r, s| csi(vec![lines(r, s)], "L")),
    kind("dl", EDITS, Agrees, |r, s| csi(vec![lines(r, s)], "M")),
    kind("su", SCREEN, Agrees, |r, s| csi(vec![lines(r, s)], "S")),
    kind("sd", EDITS, Agrees, |r, s| Body::Sequence {
        start: "\x1b[m\x1b[",
        parameters: vec![lines(r, s)],
        end: "T",
    }),
    kind("sl", EDITS, Agrees, |r, s| csi(vec![lines(r, s)], " @")),
    kind("sr", EDITS, Agrees, |r, s| csi(vec![lines(r, s)], " A")),
    kind("decic", EDITS, Agrees, |r, s| Body::Sequence {
        start: "\x1b[C\x1b[",
        parameters: vec![lines(r, s)],
        end: "'}",
    }),
    kind("decdc", EDITS, Agrees, |r, s| Body::Sequence {
        start: "\x1b[C\x1b[",
        parameters: vec![lines(r, s)],
        end: "'~",
    }),
    // Behind anything else than a character, xterm.js repeats nothing.
    kind("rep", EDITS, Agrees, |r, _| Body::Sequence {
        start: if r.one_in(2) { "a\x1b[" } else { "漢\x1b[" },
        // No more than a row: ours stops there.
        parameters: vec![(*r.pick(&["", "1", "2", "3"])).to_owned()],
        end: "b",
    }),
    kind("decaln", EDITS, Agrees, |_, _| fixed("\x1b#8")),
    // Protected characters.
    kind("decsca", EDITS, Agrees, |r, _| {
        pick(r, &["\x1b[1\"q", "\x1b[0\"q", "\x1b[2\"q", "\x1b[\"q"])
    }),
    kind("decsed", EDITS, Agrees, |r, _| pick(r, &["\x1b[C\x1b[?J", "\x1b[D\x1b[?1J", "\x1b[?2J"])),
    kind("decsel", EDITS, Agrees, |r, _| pick(r, &["\x1b[C\x1b[?K", "\x1b[C\x1b[?1K", "\x1b[?2K"])),
    // Styles.
    kind("sgr-reset", PRINTS, Agrees, |r, _| pick(r, &["\x1b[m", "\x1b[0m"])),
    kind("sgr", PRINTS, Agrees, |r, _| attributes(r)),
    kind("sgr-colors", PRINTS, Agrees, |r, _| colors(r)),
    kind("sgr-256", PRINTS, Agrees, |r, _| indexed(r)),
    kind("sgr-rgb", PRINTS, Agrees, |r, _| rgb(r)),
    kind("sgr-colons", PRINTS, Agrees, |r, _| {
        pick(r, &["\x1b[38:5:9m", "\x1b[48:5:17m", "\x1b[38:2::1:2:3m", "\x1b[48:2::9:8:7;1m"])
    }),
    kind("sgr-underlines", PRINTS, Agrees, |r, _| {
        pick(
            r,
            &[
                "\x1b[4m",
                "\x1b[21m",
                "\x1b[4:0m",
                "\x1b[4:1m",
                "\x1b[4:2m",
                "\x1b[4:3m",
                "\x1b[4:4m",
                "\x1b[4:5m",
                "\x1b[24m",
            ],
        )
    }),
    kind("sgr-underline-colors", PRINTS, Agrees, |r, _| {
        pick(r, &["\x1b[4;58;5;9m", "\x1b[58:2::1:2:3m", "\x1b[4;58:5:200m", "\x1b[59m"])
    }),
    kind("sgr-odd", PRINTS, Agrees, |r, _| {
        pick(r, &["\x1b[;31m", "\x1b[1;;4m", "\x1b[10;20;26;60;99;120m", "\x1b[38m"])
    }),
    kind("link", PRINTS, Agrees, |r, _| {
        pick(
            r,
            &[
                "\r\x1b]8;;http://a\x07ab\x1b]8;;\x07",
                "\r\x1b]8;id=1;http://b?x;y\x1b\\a\x1b]8;;\x1b\\",
            ],
        )
    }),
    // Margins and modes.
    kind("decstbm", EDITS, Agrees, |r, s| csi(vec![row(r, s), row(r, s)], "r")),
    kind("decstbm-none", EDITS, Agrees, |_, _| fixed("\x1b[r")),
    kind(
        "decslrm",
        EDITS,
        Intended("xterm.js has no left and right margins; libvterm's tests have them"),
        |r, s| {
            let margins = [column(r, s), column(r, s)].join(";");
            fixed(&format!("\x1b[?69h\x1b[{margins}s"))
        },
    ),
    kind("decom", EDITS, Agrees, |r, _| switch(r, "\x1b[?6")),
    kind("decawm", EDITS, Agrees, |r, _| switch(r, "\x1b[?7")),
    kind("reverse-wrap", EDITS, Agrees, |r, _| switch(r, "\x1b[?45")),
    kind("irm", EDITS, Agrees, |r, _| switch(r, "\x1b[4")),
    kind("lnm", PRINTS, Agrees, |r, _| switch(r, "\x1b[20")),
    kind("dectcem", PRINTS, Agrees, |r, _| switch(r, "\x1b[?25")),
    kind(
        "alternate-47",
        EDITS,
        Intended("the alternate screen keeps what it shows, as in xterm"),
        |r, _| switch(r, "\x1b[?47"),
    ),
    kind(
        "alternate-1047",
        EDITS,
        Intended("the alternate screen is cleared when it is left, as in xterm"),
        |r, _| switch(r, "\x1b[?1047"),
    ),
    kind("alternate-1049", EDITS, Agrees, |_, _| fixed("\x1b[?1049h")),
    kind("alternate-visit", EDITS, Agrees, |r, s| saved(r, s, &[("\x1b[?1049h", "\x1b[?1049l")])),
    kind("alternate-end", EDITS, Agrees, |_, _| fixed("\x1b[?1049l")),
    kind("synchronized", PRINTS, Agrees, |r, _| switch(r, "\x1b[?2026")),
    kind("input-modes", PRINTS, Agrees, |r, _| {
        let mode = *r.pick(&["?1", "?66", "?1004", "?2004"]);
        switch(r, &format!("\x1b[{mode}"))
    }),
    kind("keypad", PRINTS, Agrees, |r, _| pick(r, &["\x1b=", "\x1b>"])),
    kind("mouse-modes", PRINTS, Agrees, |r, _| {
        let mode = *r.pick(&["?9", "?1000", "?1002", "?1003"]);
        switch(r, &format!("\x1b[{mode}"))
    }),
    kind("several-modes", EDITS, Agrees, |r, _| {
        pick(r, &["\x1b[?7;25h", "\x1b[?1;25;2004l", "\x1b[4;20l"])
    }),
    kind("decstr", EDITS, Agrees, |_, _| fixed("\x1b[C\x1b[!p")),
    kind("ris", EDITS, Agrees, |_, _| fixed("\x1bc\x1b[?25h")),
    // Character sets.
    kind("charset-g0", PRINTS, Agrees, |r, _| pick(r, &["\x1b(0", "\x1b(B", "\x1b(0lqqk\x1b(B"])),
    kind("charset-g1", PRINTS, Agrees, |r, _| {
        pick(r, &["\x1b)0", "\x1b)B", "\x0e", "\x0f", "\x1b)0\x0elqk\x0f"])
    }),
    kind("charset-uk", PRINTS, Agrees, |r, _| pick(r, &["\x1b(A#\x1b(B", "\x1b)A\x0e#\x0f"])),
    kind("charset-g2-g3", PRINTS, Agrees, |r, _| {
        pick(r, &["\x1b*0\x1bnlqk\x0f", "\x1b+0\x1bolqk\x0f"])
    }),
    kind(
        "charset-utf8",
        PRINTS,
        Intended("in xterm.js it also resets the character sets"),
        |r, _| pick(r, &["\x1b%G", "\x1b%@"]),
    ),
    // Strings, unknown, cut and invalid sequences.
    kind("title", PRINTS, Agrees, |r, _| {
        pick(r, &["\x1b]2;title\x07", "\x1b]0;t\x1b\\", "\x1b]1;icon\x1b\\"])
    }),
    kind("strings", PRINTS, Agrees, |r, _| {
        pick(
            r,
            &[
                "\x1b]777;a;b\x07",
                "\x1b]\x07",
                "\x1bPqx#1\x1b\\",
                "\x1b_Gi=1;x\x1b\\",
                "\x1b^private\x1b\\",
                "\x1bXstart\x1b\\",
                "\x1b]4;1;rgb:00/ff/00\x07",
            ],
        )
    }),
    kind("strings-cut", PRINTS, Agrees, |r, _| {
        pick(
            r,
            &[
                "\x1b]2;cut\x18",
                "\x1bPq\x1a",
                "\x1b]2;a\x1b[1m",
                "\x1bPx\x1b[31m",
                "\x1b_x\x18",
                "\x1b]0;a\nb\x07",
            ],
        )
    }),
    kind("unknown", PRINTS, Agrees, |r, _| {
        pick(
            r,
            &[
                "\x1b[5~",
                "\x1b[>1z",
                "\x1b[1y",
                "\x1b[=3v",
                "\x1bk",
                "\x1b y",
                "\x1b[ \"z",
                "\x1b[<5i",
                "\x1b[?1000$z",
            ],
        )
    }),
    kind("prefixes", EDITS, Agrees, |r, _| {
        pick(
            r,
            &[
                "\x1b[>2K", "\x1b[=1A", "\x1b[?5C", "\x1b[<2P", "\x1b[?2@", "\x1b[>5X", "\x1b[?3g",
                "\x1b[>4m", "\x1b[2 K", "\x1b[3$A",
            ],
        )
    }),
    kind("interrupted", EDITS, Agrees, |r, _| {
        pick(
            r,
            &[
                "\x1b[3\x18",
                "\x1b[2\x1a",
                "\x1b[1\x1b[31m",
                "\x1b\x1b[1m",
                "\x1b[3\r1m",
                "\x1b[3\r\n1m",
                "\x1b[\x082C",
                "\x1b(\x18",
            ],
        )
    }),
    kind("invalid-csi", PRINTS, Agrees, |r, _| {
        pick(r, &["\x1b[1?m", "\x1b[3>1m", "\x1b[ 1m", "\x1b[1<m", "\x1b[!31m"])
    }),
    kind("many-parameters", PRINTS, Agrees, |r, _| {
        pick(
            r,
            &[
                "\x1b[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;32;33;34m",
            ],
        )
    }),
    kind("invalid-utf8", PRINTS, Agrees, |r, _| bytes(r)),
    kind(
        "c1",
        EDITS,
        Intended("C1 controls are ignored: text in a wrong encoding must swallow nothing"),
        |r, _| {
            pick(
                r,
                &[
                    "\u{9b}1m",
                    "\u{84}",
                    "\u{85}",
                    "\u{88}",
                    "\u{8d}",
                    "\u{9d}2;t\u{9c}",
                    "\u{90}q\u{9c}",
                ],
            )
        },
    ),
    // Questions.
    kind("cursor-report", EDITS, Agrees, |r, _| pick(r, &["\x1b[C\x1b[6n", "\x1b[C\x1b[?6n"])),
    kind("status-report", PRINTS, Agrees, |_, _| fixed("\x1b[5n")),
    kind("mode-report", PRINTS, Agrees, |r, _| {
        let mode = *r.pick(&[
            "?1", "?6", "?7", "?25", "?1000", "?1002", "?1003", "?1004", "?1006", "?1049", "?2004",
            "4", "20",
        ]);
        fixed(&format!("\x1b[{mode}$p"))
    }),
    kind("margin-report", EDITS, Agrees, |_, _| fixed("\x1bP$qr\x1b\\")),
];

/// The kind of this name, if there is one.
pub(crate) fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The kind of this name.
pub(crate) fn named(name: &str) -> &'static Kind {
    find(name).unwrap_or_else(|| panic!("there is no piece named {name}"))
}

/// Why pieces of these kinds differ together, if that is known.
pub(crate) fn known_reason(kinds: &[&str]) -> Option<&'static str> {
    let has_one = |list: &&[&str]| list.iter().any(|name| kinds.contains(name));
    KNOWN.iter().find(|(_, lists)| lists.iter().all(has_one)).map(|(reason, _)| *reason)
}
