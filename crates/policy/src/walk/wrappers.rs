//! Programs that run the command given after their own options, and which options take a value.

use super::state::Arg;

pub(super) struct Wrapper {
    names: &'static [&'static str],
    /// Short options that take the next argument.
    short: &'static str,
    /// Long options that take the next argument.
    long: &'static [&'static str],
    /// Short options whose value, if they have one, is the rest of the argument.
    attached: &'static str,
    /// Short options without a value.
    flags: &'static str,
    /// Long options without a value.
    long_flags: &'static [&'static str],
    /// Operands before the command.
    operands: usize,
    /// First arguments with which nothing runs.
    pub(super) queries: &'static [&'static str],
    /// Does nothing of its own: an allow list need not name it.
    pub(super) transparent: bool,
}

const PLAIN: Wrapper = Wrapper {
    names: &[],
    short: "",
    long: &[],
    attached: "",
    flags: "",
    long_flags: &[],
    operands: 0,
    queries: &[],
    transparent: true,
};

pub(super) const ENV: Wrapper = Wrapper {
    short: "uCa",
    long: &["--unset", "--chdir", "--argv0"],
    flags: "i0v",
    long_flags: &["--ignore-environment", "--null", "--debug"],
    ..PLAIN
};
pub(super) const SUDO: Wrapper = Wrapper {
    short: "ugpChDRTtr",
    long: &["--user", "--group", "--prompt", "--host", "--chdir", "--chroot", "--close-from"],
    transparent: false,
    ..PLAIN
};
pub(super) const XARGS: Wrapper = Wrapper {
    short: "InPLdEsaJR",
    long: &["--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-chars"],
    attached: "eil",
    flags: "0oprtx",
    long_flags: &[
        "--null",
        "--no-run-if-empty",
        "--verbose",
        "--exit",
        "--interactive",
        "--open-tty",
        "--replace",
        "--max-lines",
        "--eof",
    ],
    ..PLAIN
};
pub(super) const PARALLEL: Wrapper =
    Wrapper { short: "jNnLSPa", long: &["--jobs", "--sshlogin", "--arg-file"], ..PLAIN };
pub(super) const SSH: Wrapper =
    Wrapper { short: "bcDEeFIiJLlmOopQRSWw", operands: 1, transparent: false, ..PLAIN };
pub(super) const WATCH: Wrapper = Wrapper { short: "nqwr", long: &["--interval"], ..PLAIN };

const WRAPPERS: &[Wrapper] = &[
    Wrapper { names: &["command"], flags: "pvV", queries: &["-v", "-V", "-pv"], ..PLAIN },
    Wrapper { names: &["exec"], short: "a", flags: "cl", ..PLAIN },
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
        // Those of `setsid`; the others have none.
        flags: "cfw",
        long_flags: &["--ctty", "--fork", "--wait"],
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
    Wrapper { names: &["nice"], short: "n", long: &["--adjustment"], flags: "0123456789", ..PLAIN },
    Wrapper { names: &["ionice"], short: "cnpPu", flags: "t", queries: &["-p"], ..PLAIN },
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
        flags: "fpv",
        long_flags: &["--foreground", "--preserve-status", "--verbose"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: &["stdbuf"],
        short: "ioe",
        long: &["--input", "--output", "--error"],
        ..PLAIN
    },
    Wrapper { names: &["chrt"], short: "TPD", flags: "abdfimoprRv", operands: 1, ..PLAIN },
    Wrapper { names: &["taskset"], flags: "acp", operands: 1, ..PLAIN },
    Wrapper { names: &["caffeinate"], short: "tw", flags: "dimsu", ..PLAIN },
    Wrapper { names: &["strace", "ltrace"], short: "abeEIoOpPsSuX", transparent: false, ..PLAIN },
    Wrapper {
        names: &["numactl"],
        short: "iwpPmNC",
        long: &[
            "--interleave",
            "--weighted-interleave",
            "--preferred",
            "--preferred-many",
            "--membind",
            "--cpunodebind",
            "--physcpubind",
        ],
        transparent: false,
        ..PLAIN
    },
    Wrapper {
        names: &["prlimit", "systemd-inhibit", "catchsegv", "valgrind"],
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
    let takes_value = |letter| wrapper.short.contains(letter) || wrapper.attached.contains(letter);
    match letters.find(takes_value) {
        Some(at) if at + 1 == letters.len() && !letters.ends_with(in_set(wrapper.attached)) => 2,
        _ => 1,
    }
}

/// Whether the command of a wrapper may start somewhere else than at `start`: an option that is not
/// known may take the next argument, a value may become several words.
pub(super) fn in_doubt(wrapper: &Wrapper, rest: &[Arg], start: usize) -> bool {
    // What needs an entry of its own in an allow list is not looked at as closely.
    wrapper.transparent
        && rest.iter().take(start).any(|arg| {
            let option = arg.text.starts_with('-');
            arg.splits || arg.glob || (option && !is_known(wrapper, &arg.text))
        })
}

fn is_known(wrapper: &Wrapper, text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    if text == "-" || text == "--" || wrapper.long.contains(&name) {
        return true;
    }
    if text.starts_with("--") {
        return wrapper.long_flags.contains(&name);
    }
    let mut letters = text.chars().skip(1);
    let plain = |letter: &char| wrapper.flags.contains(*letter);
    let valued = in_set(wrapper.short);
    let attached = in_set(wrapper.attached);
    letters.find(|letter| !plain(letter)).is_none_or(|letter| valued(letter) || attached(letter))
}

fn in_set(letters: &str) -> impl Fn(char) -> bool + '_ {
    move |letter| letters.contains(letter)
}

/// Whether a short option of `xargs` takes a value.
pub(super) fn takes_value_of_xargs(letter: char) -> bool {
    XARGS.short.contains(letter) || XARGS.attached.contains(letter)
}
