//! A command as it is typed into an editor's terminal, and what zsh prints after its output.
//!
//! The editor learns from marks of the shell where a command begins and ends. Of a line that the shell reads on at, rewrites
//! (`!`) or does not run, no mark tells, or not of the line that was typed. So whatever is not plainly one command on one
//! line is given to `eval`, in one piece and without a character that the line editor takes for a key.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use termbridge_session::{CommandSetup, SessionError, Shell};

/// Words after which a shell may read on at the next line.
const OPENING: [&str; 14] = [
    "for", "while", "until", "if", "then", "else", "elif", "case", "select", "do", "function", "{",
    "[[", "time",
];

/// What to type for a command.
pub(super) fn typed(shell: Shell, command: &str) -> Cow<'_, str> {
    if is_plain(command) || !matches!(shell, Shell::Bash | Shell::Zsh) {
        return Cow::Borrowed(command);
    }
    let mut line = String::from("eval $'");
    for c in command.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            '\\' => line.push_str("\\\\"),
            '\'' => line.push_str("\\'"),
            // The shell looks for its history even where it is quoted.
            '!' => line.push_str("\\041"),
            c if c.is_ascii_control() => _ = write!(line, "\\{:03o}", u32::from(c)),
            c => line.push(c),
        }
    }
    line.push('\'');
    Cow::Owned(line)
}

/// A line that changes the directory and exports variables, in POSIX shells and in fish.
pub(super) fn setup(cwd: &Path, env: &BTreeMap<String, String>) -> Result<String, SessionError> {
    let cwd = cwd.to_string_lossy();
    if let Some(name) = env.keys().find(|name| !CommandSetup::is_variable_name(name)) {
        let why =
            format!("{name:?} is not a name that a shell can export in the editor's terminal");
        return Err(SessionError::NotSupported(why));
    }
    if std::iter::once(&*cwd).chain(env.values().map(String::as_str)).any(has_control) {
        let why = "control characters in `cwd` or `env` cannot be typed into the editor's terminal";
        return Err(SessionError::NotSupported(why.into()));
    }
    let mut line = format!("cd -- {}", quoted(&cwd));
    if !env.is_empty() {
        line.push_str(" && export");
        env.iter().for_each(|(name, value)| _ = write!(line, " {name}={}", quoted(value)));
    }
    Ok(line)
}

/// A command that runs only after its setup.
pub(super) fn after(setup: &str, command: &str) -> String {
    // In a list, `&&` would apply to the first command alone.
    match is_plain(command) && !command.contains([';', '&', '|']) {
        true => format!("{setup} && {command}"),
        false => format!("{setup} && eval {}", quoted(command)),
    }
}

fn has_control(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_control())
}

/// One word in POSIX shells and in fish, where a backslash between single quotes is an escape.
fn quoted(text: &str) -> String {
    let pieces = text.split_inclusive(['\\', '\'']).map(|piece| match piece.strip_suffix('\\') {
        Some(before) => format!(r"{before}'\\'"),
        None => piece.replace('\'', r#"'"'"'"#),
    });
    format!("'{}'", pieces.collect::<String>())
}

/// Whether a line is simple enough for the shell to run as it stands, and as one command.
fn is_plain(command: &str) -> bool {
    let begins = command.starts_with(|c: char| c.is_ascii_alphanumeric() || "_./~".contains(c));
    let is_usual = |c: char| !c.is_ascii_control() && !"!\\()`#".contains(c);
    let quotes = |quote| command.matches(quote).count() % 2 == 0;
    let ends =
        !command.ends_with(['|', '&', ';']) && !command.contains(";;") && !command.contains("<<");
    let opens = command.split([' ', ';', '&', '|']).any(|word| OPENING.contains(&word));
    begins && command.chars().all(is_usual) && quotes('"') && quotes('\'') && ends && !opens
}

/// How zsh begins to mark that the cursor was not at the beginning of a line; it fills the line with blanks, to be on
/// the next one only if it was not.
const PROMPT_MARK: &[u8] = b"\x1b[1m\x1b[7m";
/// The longest such mark: a line of blanks, and what is around it.
const LONGEST_MARK: usize = 4096;

/// Takes the mark that zsh prints before its prompt off the end of what a command printed.
#[derive(Debug, Default)]
pub(super) struct MarkFilter {
    /// What may be the mark.
    held: Vec<u8>,
}

impl MarkFilter {
    /// What can be passed on of the output so far.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(bytes);
        let all = self.held.as_slice();
        let from = all.len().saturating_sub(LONGEST_MARK);
        let whole = memchr::memmem::rfind(&all[from..], PROMPT_MARK).map(|at| from + at);
        let whole = whole.filter(|at| may_be_mark(&all[at + PROMPT_MARK.len()..]));
        let cut = || (from..all.len()).find(|at| PROMPT_MARK.starts_with(&all[*at..]));
        let split = whole.or_else(cut).unwrap_or(all.len());
        let kept = self.held.split_off(split);
        std::mem::replace(&mut self.held, kept)
    }

    /// The rest of the output, without the mark.
    pub(super) fn finish(self) -> Vec<u8> {
        if self.held.starts_with(PROMPT_MARK) && self.held.ends_with(b"\r \r") {
            Vec::new()
        } else {
            self.held
        }
    }
}

/// Whether this can follow the mark's beginning: `%` or `#` in its style, blanks, and back to the line's beginning.
fn may_be_mark(rest: &[u8]) -> bool {
    let style = b"\x1b[27m\x1b[1m\x1b[0m";
    let Some((first, rest)) = rest.split_first() else { return true };
    let same = rest.iter().zip(style).all(|(one, other)| one == other);
    let rest = rest.get(style.len()..).unwrap_or_default();
    let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
    b"%#".contains(first) && same && b"\r \r".starts_with(&rest[blanks..])
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_plain_is_typed_as_it_is() {
        for plain in [
            "echo hi",
            "cargo test --workspace",
            "ls -la ~/x | head -3 && true",
            "./a.out > 'my file'",
            "X=1 env",
        ] {
            assert_eq!(typed(Shell::Bash, plain), plain);
        }
        for other in [
            "for i in 1 2 3; do\n  echo $i\ndone",
            "(exit 5)",
            "echo !!",
            "echo \"a!b\"",
            "echo )",
            "echo a;;",
            "echo 'open",
            "echo\ta",
            "true; for i in 1",
            "echo a \\\n b",
            "# a comment",
            "echo a |",
        ] {
            assert!(typed(Shell::Zsh, other).starts_with("eval $'"), "{other}");
            assert!(!typed(Shell::Bash, other).contains(|c: char| c.is_ascii_control()), "{other}");
            assert_eq!(typed(Shell::Fish, other), other);
        }
    }

    #[test]
    fn what_is_typed_means_the_same() {
        let command =
            "for i in 1 2; do\n\techo \"$i!\" 'a b' \\$x é\ndone; echo $'q\\x41'; (exit 3)";
        let run = |shell: &str, text: &str| {
            let output = Command::new(shell).args(["-c", text]).output().expect("it runs");
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
        };
        for (shell, kind) in [("bash", Shell::Bash), ("zsh", Shell::Zsh)] {
            let wanted = run(shell, command);
            assert_eq!(wanted.0, Some(3), "{wanted:?}");
            assert_eq!(run(shell, &typed(kind, command)), wanted);
        }
    }

    #[test]
    fn a_setup_holds_for_the_whole_command_in_every_shell() {
        let root = tempfile::tempdir().expect("a folder");
        let cwd = root.path().join("it's a \\ \"folder\" $HOME!\\");
        std::fs::create_dir(&cwd).expect("made");
        let env = BTreeMap::from([("A".to_owned(), "1 'two' \\ $3\\".to_owned())]);
        let setup = setup(&cwd, &env).expect("can be typed");
        let wanted = format!("{}\n{}\nlast\n", env["A"], cwd.display());
        for shell in ["sh", "dash", "bash", "zsh", "fish"] {
            let run = |line: &str| {
                let output = Command::new(shell).args(["-c", line]).current_dir("/").output();
                String::from_utf8_lossy(&output.expect("it runs").stdout).into_owned()
            };
            let command = r"printf '%s\n' $A; pwd; echo last";
            let command = command.replace("$A", "\"$A\"");
            assert_eq!(run(&after(&setup, &command)), wanted, "{shell}");
            let line = after("cd -- /nowhere", "echo ran; echo ran");
            assert_eq!(run(&line), "", "{shell}: nothing runs elsewhere");
        }
        assert_eq!(after("cd -- '/w'", "npm install"), "cd -- '/w' && npm install");
        let refused = |cwd: &str, name: &str| {
            super::setup(Path::new(cwd), &BTreeMap::from([(name.to_owned(), String::new())]))
        };
        assert!(refused("/a\nb", "A").is_err() && refused("/a", "A;x").is_err());
        assert!(refused("/a", "1A").is_err() && refused("/a", "").is_err());
    }

    #[test]
    fn the_mark_before_the_prompt_is_no_output() {
        let mark = format!("\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m{}\r \r", " ".repeat(119));
        let read = |pieces: &[&str]| {
            let mut filter = MarkFilter::default();
            let mut all: Vec<u8> =
                pieces.iter().flat_map(|piece| filter.feed(piece.as_bytes())).collect();
            all.extend(filter.finish());
            String::from_utf8(all).expect("text")
        };
        assert_eq!(read(&["abc\r\n", &mark]), "abc\r\n");
        let bytes: Vec<String> = format!("50%{mark}").chars().map(String::from).collect();
        let bytes: Vec<&str> = bytes.iter().map(String::as_str).collect();
        assert_eq!(read(&bytes), "50%");
        // A program's own is none.
        let own = "\x1b[1m\x1b[7mtitle\x1b[0m";
        assert_eq!(read(&[own, "\r\nmore"]), format!("{own}\r\nmore"));
        assert_eq!(read(&[&mark, "more"]), format!("{mark}more"));
        let mut filter = MarkFilter::default();
        assert_eq!(filter.feed(b"at once \x1b[31mred"), b"at once \x1b[31mred");
    }
}
