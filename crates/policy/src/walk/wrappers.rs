//! Programs that run the command given after their own options, and which options take a value.

use super::state::Arg;

pub(super) struct Wrapper {
    names: &'static [&'static str],
    /// Short options that take the next argument.
    short: &'static str,
    /// Long options that take the next argument.
    long: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
    /// First arguments with which nothing runs.
    pub(super) queries: &'static [&'static str],
    /// Does nothing of its own: an allow list need not name it.
    pub(super) transparent: bool,
}

const PLAIN: Wrapper =
    Wrapper { names: &[], short: "", long: &[], operands: 0, queries: &[], transparent: true };

pub(super) const ENV: Wrapper = Wrapper { short: "uC", long: &["--unset", "--chdir"], ..PLAIN };
pub(super) const SUDO: Wrapper = Wrapper {
    short: "ugpChDRTtr",
    long: &["--user", "--group", "--prompt", "--host", "--chdir", "--chroot", "--close-from"],
    transparent: false,
    ..PLAIN
};
pub(super) const XARGS: Wrapper = Wrapper {
    short: "InPLdEsaJR",
    long: &["--max-args", "--max-procs", "--max-lines", "--delimiter", "--arg-file", "--max-chars"],
    ..PLAIN
};
pub(super) const PARALLEL: Wrapper =
    Wrapper { short: "jNnLSPa", long: &["--jobs", "--sshlogin", "--arg-file"], ..PLAIN };
pub(super) const SSH: Wrapper =
    Wrapper { short: "bcDEeFIiJLlmOopQRSWw", operands: 1, transparent: false, ..PLAIN };
pub(super) const WATCH: Wrapper = Wrapper { short: "nqwr", long: &["--interval"], ..PLAIN };

const WRAPPERS: &[Wrapper] = &[
    Wrapper { names: &["command"], queries: &["-v", "-V", "-pv"], ..PLAIN },
    Wrapper { names: &["exec"], short: "a", ..PLAIN },
    Wrapper {
        names: &[
            "builtin",
            "nohup",
            "setsid",
            "noglob",
            "nocorrect",
            "-",
            "not",
            "and",
            "or",
            "then",
            "do",
            "else",
        ],
        ..PLAIN
    },
    Wrapper {
        names: &[
            "unbuffer",
            "chronic",
            "linux32",
            "linux64",
            "busybox",
            "toybox",
            "xvfb-run",
            "dbus-run-session",
            "proxychains",
            "proxychains4",
            "torsocks",
            "torify",
            "eatmydata",
            "setarch",
            "winpty",
            "fakeroot",
            "rlwrap",
        ],
        queries: &["--list"],
        transparent: false,
        ..PLAIN
    },
    Wrapper { names: &["nice"], short: "n", long: &["--adjustment"], ..PLAIN },
    Wrapper { names: &["ionice"], short: "cnpPu", queries: &["-p"], ..PLAIN },
    Wrapper {
        names: &["time", "gtime"],
        short: "fo",
        long: &["--format", "--output"],
        transparent: false,
        ..PLAIN
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        short: "ks",
        long: &["--kill-after", "--signal"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { names: &["stdbuf"], short: "ioe", ..PLAIN },
    Wrapper { names: &["chrt"], operands: 1, ..PLAIN },
    Wrapper { names: &["taskset"], operands: 1, ..PLAIN },
    Wrapper { names: &["caffeinate"], short: "tw", ..PLAIN },
    Wrapper { names: &["strace", "ltrace"], short: "abeEIoOpPsSuX", transparent: false, ..PLAIN },
    Wrapper {
        names: &["prlimit", "numactl", "systemd-inhibit", "catchsegv", "valgrind"],
        transparent: false,
        ..PLAIN
    },
    Wrapper { names: &["doas"], short: "uC", transparent: false, ..PLAIN },
    Wrapper { names: &["pkexec"], long: &["--user"], transparent: false, ..PLAIN },
    Wrapper { names: &["systemd-run"], short: "puEHM", transparent: false, ..PLAIN },
    Wrapper { names: &["unshare", "nsenter"], short: "tSGwW", transparent: false, ..PLAIN },
    Wrapper { names: &["chroot"], operands: 1, transparent: false, ..PLAIN },
];

pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))
}

/// Where the command starts after the options and operands of a wrapper.
pub(super) fn command_start(wrapper: &Wrapper, rest: &[Arg]) -> usize {
    let mut at = 0;
    let mut operands = 0;
    while let Some(arg) = rest.get(at) {
        let length = option_length(wrapper, &arg.text);
        if length > 0 {
            at += length;
            if arg.text == "--" {
                return at + wrapper.operands - operands;
            }
        } else if operands < wrapper.operands {
            operands += 1;
            at += 1;
        } else {
            break;
        }
    }
    at
}

/// How many arguments an option takes up. 0 if it is none.
pub(super) fn option_length(wrapper: &Wrapper, text: &str) -> usize {
    let Some(letters) = text.strip_prefix('-') else { return 0 };
    if letters.is_empty() {
        return 1;
    }
    if letters.starts_with('-') {
        return 1 + usize::from(wrapper.long.contains(&text));
    }
    // The first letter that takes a value takes the rest of the cluster, or the next argument.
    match letters.find(|letter| wrapper.short.contains(letter)) {
        Some(at) if at + 1 == letters.len() => 2,
        _ => 1,
    }
}
