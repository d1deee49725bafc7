//! Programs that are asked about themselves while something is looked for: started like all others, but
//! waited for by a thread.

use std::process::Stdio;
use std::time::{Duration, Instant};

use termbridge_pty::{Signal, end_group};

use crate::process::CommandLine;
use crate::system::read_answer;

/// How long a program may take to answer.
const LIMIT: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(5);
/// Bytes of an answer.
const MAX_ANSWER: u64 = 64 * 1024;

impl CommandLine {
    /// Runs it with no input and returns what it printed, if it succeeded in time. Blocks.
    pub fn probe(&self) -> Option<Vec<u8>> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let deadline = Instant::now() + LIMIT;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => std::thread::sleep(PAUSE),
                _ => {
                    let _ = end_group(child.id(), Signal::KILL);
                    let _ = child.wait();
                    return None;
                }
            }
        };
        let answer = read_answer(child.stdout.take()?, MAX_ANSWER)?;
        status.success().then_some(answer)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Option<String> {
        let answer = CommandLine::new("/bin/sh").args(["-c", script]).probe()?;
        Some(String::from_utf8(answer).expect("text"))
    }

    #[test]
    fn an_answer_is_what_a_program_printed_that_succeeded() {
        assert_eq!(shell("echo yes"), Some("yes\n".to_owned()));
        assert_eq!(shell("true"), Some(String::new()));
        assert_eq!(shell("echo no; exit 1"), None);
        assert_eq!(CommandLine::new("/no/such/program").probe(), None);
    }

    #[test]
    fn a_program_that_is_asked_has_no_terminal() {
        // The session is the fourth field after the name, the terminal the fifth; 0 is none.
        let answer = shell("read -r line </proc/$$/stat; echo $$ ${line##*) }").expect("an answer");
        let fields: Vec<&str> = answer.split(' ').collect();
        assert_eq!((fields[4], fields[5]), (fields[0], "0"), "{answer}");
    }
}
