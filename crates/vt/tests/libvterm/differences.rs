//! Tests of libvterm that our terminal does not pass, with the reasons.
//!
//! A reason that begins with `today:` is a fault of our terminal; the others are meant to be so.

/// Tests that pass at least: fewer were not understood.
pub(crate) const FEWEST: usize = 200;

/// The start of the file's name, the name of the test, and the reason.
pub(crate) const DIFFERENT: &[(&str, &str, &str)] = &[
    ("03encoding", "4 byte", "beyond U+10FFFF is invalid, not a character"),
    (
        "03encoding",
        "Overlong",
        "one replacement character for each maximal part, as Unicode recommends",
    ),
    (
        "03encoding",
        "UTF-16 Surrogates",
        "one replacement character for each maximal part, as Unicode recommends",
    ),
    ("11state", "Horizontal Position Backward", "HPB and VPB are missing: xterm has none"),
    ("11state", "Vertical Position Backward", "HPB and VPB are missing: xterm has none"),
    ("13", "DECRQSS on DECSCA", "today: protected characters are missing"),
    ("13", "IL", "the cursor goes to the left margin, as in xterm"),
    ("16", "Resize shrink moves cursor", "lines are wrapped again when the width changes"),
    ("17", "Bounds checking", "a position that cannot be written is an error"),
    ("17", "rxvt extended encoding mode", "today: the last mode that is set does not win"),
    ("22", "Restore", "DECRC restores no shape of the cursor, as in xterm"),
    ("22", "Save/restore using DECSC/DECRC", "DECRC restores no shape of the cursor, as in xterm"),
    (
        "22",
        "Save twice, restore twice happens on both edge transitions",
        "DECRC restores no shape of the cursor, as in xterm",
    ),
    (
        "25",
        "Ctrl modifier on ASCII letters",
        "libvterm sends modified keys as CSI u, we as xterm does",
    ),
    (
        "25",
        "Ctrl-Alt modifier on ASCII letters",
        "libvterm sends modified keys as CSI u, we as xterm does",
    ),
    ("25", "Special handling of Ctrl-I", "libvterm sends modified keys as CSI u, we as xterm does"),
    ("25", "Special handling of Space", "libvterm sends modified keys as CSI u, we as xterm does"),
    (
        "25",
        "Shift-Tab should be different",
        "libvterm sends modified keys as CSI u, we as xterm does",
    ),
    ("26", "DA", "what we are"),
    ("26", "XTVERSION", "what we are"),
    ("26", "DECRQSS on SGR", "SGR is reported as xterm reports it"),
    ("26", "DECRQSS on SGR ANSI colours", "SGR is reported as xterm reports it"),
    ("26", "DECRQSS on SGR ANSI hi-bright colours", "SGR is reported as xterm reports it"),
    ("26", "DECRQSS on SGR 256-palette colours", "SGR is reported as xterm reports it"),
    ("26", "DECRQSS on SGR RGB8 colours", "SGR is reported as xterm reports it"),
    ("26", "S8C1T on DSR", "answers are always of 7 bits"),
    ("28", "Double Width, Single Height", "lines of double width are not kept"),
    ("67", "Double Width, Single Height", "lines of double width are not kept"),
    ("67", "Double Height", "lines of double width are not kept"),
    ("67", "Late change", "lines of double width are not kept"),
    ("67", "DWL doesn't spill over on scroll", "lines of double width are not kept"),
    ("30", "Bold+ANSI colour == highbright", "a bold colour stays what it is"),
    ("31", "REP with UTF-8 combining character", "today: only the mark is repeated"),
    ("31", "REP till end of line", "today: REP is not limited to the row"),
    ("40", "Query clipboard", "a query is answered with an empty clipboard"),
    (
        "63",
        "Resize shorter does not send the cursor to a negative row",
        "today: rows below the cursor are cut off",
    ),
    (
        "63",
        "Resize taller attempts to pop scrollback",
        "libvterm's harness invents the lines of its history",
    ),
    ("64", "Font", "fonts, small and raised characters are not kept"),
    ("64", "Super/subscript", "fonts, small and raised characters are not kept"),
    ("64", "DECSCNM xors reverse for entire screen", "reverse video of the screen is not shown"),
    ("64", "Set default colours", "the default colours are the viewer's"),
    ("69", "Shell wrapped prompt behaviour", "today: rows do not come back from the history"),
];
