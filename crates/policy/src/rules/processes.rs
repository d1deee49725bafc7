//! The machine and all its processes; scheduled work.

use super::{Options, Subject};

pub(super) fn check_power(program: &str, subject: &Subject<'_>) -> Option<String> {
    let options = Options::of(subject.rest());
    if options.only_asks() {
        return None;
    }
    let first = options.operands.first().map_or("", |arg| arg.text.as_str());
    let stops = match program {
        "shutdown" => !options.has('c', ""),
        "reboot" | "halt" | "poweroff" => !options.has('w', "wtmp-only"),
        "init" | "telinit" => matches!(first, "0" | "1" | "6" | "s" | "S"),
        "systemctl" | "loginctl" => matches!(
            first,
            "poweroff"
                | "reboot"
                | "halt"
                | "kexec"
                | "suspend"
                | "hibernate"
                | "soft-reboot"
                | "emergency"
                | "rescue"
        ),
        _ => false,
    };
    stops.then(|| "the machine would stop, and every session with it".to_owned())
}

pub(super) fn check_kill(program: &str, subject: &Subject<'_>) -> Option<String> {
    let rest = subject.rest();
    let all = match program {
        "kill" => {
            // The first word with a dash is a signal, unless one was named in another way.
            let mut signal_given = false;
            let mut words = rest.iter().map(|arg| arg.text.as_str());
            let mut all = false;
            while let Some(word) = words.next() {
                match word {
                    "-s" | "-n" | "--signal" => {
                        signal_given = true;
                        words.next();
                    }
                    "--" => signal_given = true,
                    "-1" if signal_given => all = true,
                    "-l" | "-L" => return None,
                    _ if word.starts_with('-') => signal_given = true,
                    _ => {}
                }
            }
            all
        }
        "killall5" => true,
        "pkill" => {
            let options = Options::of(rest);
            options.operands.iter().any(|arg| matches!(arg.text.as_str(), "" | "." | ".*" | "^"))
        }
        _ => false,
    };
    all.then(|| "every process of the user would be ended".to_owned())
}

pub(super) fn check_crontab(program: &str, subject: &Subject<'_>) -> Option<String> {
    (program == "crontab" && Options::of(subject.rest()).has('r', ""))
        .then(|| "all scheduled jobs would be removed: `crontab -l` shows them first".to_owned())
}
