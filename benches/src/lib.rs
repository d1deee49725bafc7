//! Floors and measures for the benchmark: bare terminals, percentiles, memory.
//!
//! A floor is the same work with nothing of ours in it, measured in the same run, so that a ratio
//! means the same on any machine.

pub mod bare_dap;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use termbridge_mcp::client::Client;

/// A program on a bare pseudo-terminal: no emulator, no event loop.
#[derive(Debug)]
pub struct BarePty {
    /// The terminal's side of ours.
    pub master: File,
    /// The program.
    pub child: Child,
    /// Read and not yet looked for.
    seen: Vec<u8>,
}

/// Whether the terminal edits lines and echoes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// As a shell starts.
    Cooked,
    /// Bytes as they are.
    Raw,
}

impl BarePty {
    /// Starts a program.
    pub fn start(command: &mut Command, mode: Mode) -> io::Result<Self> {
        let pty = rustix_openpty::openpty(None, None)?;
        if mode == Mode::Raw {
            let mut settings = tcgetattr(&pty.user)?;
            settings.make_raw();
            tcsetattr(&pty.user, OptionalActions::Now, &settings)?;
        }
        let (input, output) = (pty.user.try_clone()?, pty.user.try_clone()?);
        let child = command.stdin(input).stdout(output).stderr(pty.user).spawn()?;
        // The command keeps our copies of the descriptors until it is told otherwise.
        command.stdin(Stdio::null());
        command.stdout(Stdio::null());
        command.stderr(Stdio::null());
        Ok(Self { master: pty.controller.into(), child, seen: Vec::new() })
    }

    /// Reads until the program has closed the terminal; the number of bytes.
    pub fn drain(&mut self) -> usize {
        let mut buffer = vec![0; 64 * 1024];
        let mut total = 0;
        while let Ok(count @ 1..) = self.master.read(&mut buffer) {
            total += count;
        }
        total
    }

    /// Writes text, then reads until `wanted` has come.
    pub fn ask(&mut self, text: &str, wanted: &str) -> io::Result<()> {
        self.master.write_all(text.as_bytes())?;
        self.read_until(wanted)
    }

    /// Reads until `wanted` has come; what came behind it counts for the next time.
    pub fn read_until(&mut self, wanted: &str) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            let found = self.seen.windows(wanted.len()).position(|seen| seen == wanted.as_bytes());
            if let Some(at) = found {
                self.seen.drain(..at + wanted.len());
                return Ok(());
            }
            let count = self.master.read(&mut buffer)?;
            self.seen.extend_from_slice(&buffer[..count]);
        }
    }

    /// Writes a byte and reads what comes back.
    pub fn echo(&mut self, byte: u8) -> io::Result<()> {
        let mut buffer = [0; 64];
        self.master.write_all(&[byte])?;
        self.master.read(&mut buffer).map(drop)
    }
}

impl Drop for BarePty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value below which `percent` of the samples lie.
pub fn percentile(samples: &mut [Duration], percent: usize) -> Duration {
    samples.sort_unstable();
    let index = (samples.len() * percent / 100).min(samples.len().saturating_sub(1));
    samples.get(index).copied().unwrap_or_default()
}

/// In which Linux tells processes how long one has worked, on every machine.
const TICKS_PER_SECOND: u64 = 100;

/// Resident memory of a process in bytes, shared pages of files counted in proportion.
pub fn memory(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kilobytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// What a process has worked so far, all of its threads and the kernel for it included.
pub fn work(pid: u32) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name, which may hold anything, come the fields from the third on.
    let fields = text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(11).take(2));
    let ticks: u64 =
        fields.into_iter().flatten().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// Process ids whose parent is `pid`.
pub fn children(pid: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    text.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Output such as programs print, about `bytes` of it.
pub fn workload(name: &str, bytes: usize, path: &Path) -> io::Result<()> {
    let mut file = io::BufWriter::new(File::create(path)?);
    let mut written = 0;
    let mut number = 0u64;
    while written < bytes {
        number += 1;
        let piece = match name {
            "plain" => format!("{number:08} the quick brown fox jumps over the lazy dog\n"),
            "colour" => format!(
                "\x1b[01;34mdrwxr-xr-x\x1b[0m {number:6} \x1b[38;5;208mroot\x1b[m \x1b[1;32mfile-{number}\x1b[0m\n"
            ),
            _ => {
                let (row, col) = (number % 24 + 1, number % 60 + 1);
                format!(
                    "\x1b[{row};{col}H\x1b[7m {number:5} \x1b[27m\x1b[K\x1b[38;2;90;180;{}m#\x1b[m",
                    number % 255
                )
            }
        };
        written += piece.len();
        file.write_all(piece.as_bytes())?;
    }
    file.flush()
}

/// The server: the one that `TERMBRIDGE` names, else built for this run with the profile of this benchmark.
pub fn server_binary() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("TERMBRIDGE") {
        return Ok(given.into());
    }
    // This runs as target/PROFILE/deps/NAME-…; the server lies at target/PROFILE/termbridge.
    let own = std::env::current_exe()?;
    let folder = own.parent().and_then(Path::parent).context("no target folder")?;
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "-p", "termbridge"]).stdout(Stdio::null());
    if folder.ends_with("release") {
        build.arg("--release");
    }
    let built = build.status().context("cargo cannot be run")?;
    anyhow::ensure!(built.success(), "the server does not build");
    Ok(folder.join("termbridge"))
}

/// A server with a client that has shaken hands.
pub fn client(server: &Path, arguments: &[&str]) -> Result<Client> {
    start(Command::new(server), arguments)
}

/// The same for a user whose home is `home`.
pub fn client_at(home: &Path, server: &Path, arguments: &[&str]) -> Result<Client> {
    let mut command = Command::new(server);
    command.env("HOME", home).current_dir(home);
    start(command, arguments)
}

fn start(mut command: Command, arguments: &[&str]) -> Result<Client> {
    command.arg("mcp").args(arguments).env("LOG_LEVEL", "error");
    let mut client = Client::start(&mut command)?;
    client.initialize("2025-11-25")?;
    Ok(client)
}

/// Two rows: the median and the 99th percentile.
pub fn times(name: &str, ours: &mut [Duration], floor: &mut [Duration]) {
    for percent in [50, 99] {
        let (ours, floor) = (percentile(ours, percent), percentile(floor, percent));
        let ratio = ours.as_secs_f64() / floor.as_secs_f64();
        row(
            &format!("{name}, p{percent}"),
            &format!("{:.3} ms", ours.as_secs_f64() * 1e3),
            &format!("{:.3} ms", floor.as_secs_f64() * 1e3),
            &format!("{ratio:.2}"),
        );
    }
}

/// The ratios of commit 5ec095f, before people could watch and take over. `TERMBRIDGE=path` measured it.
const FORMER: [(&str, &str); 12] = [
    ("measure", "former"),
    ("start -> initialize (floor: --version), p50", "1.24"),
    ("key -> screen over MCP (floor: bare PTY echo), p50", "10.9"),
    ("launch -> first screen (floor: fork+exec, read), p50", "2.0"),
    ("ingest, plain", "0.52"),
    ("ingest, colour", "0.65"),
    ("ingest, screens", "0.29"),
    ("echo hi in bash (floor: its next prompt), p50", "6.1"),
    ("echo hi in zsh (floor: its next prompt), p50", "4.4"),
    ("echo hi in fish (floor: its next prompt), p50", "2.8"),
    ("echo hi in dash (floor: its next prompt), p50", "16.9"),
    ("1000 commands in a row", "10.0"),
];

/// A row of the table.
#[allow(clippy::print_stdout, reason = "the table is what a benchmark is for")]
pub fn row(measure: &str, ours: &str, floor: &str, ratio: &str) {
    let former = FORMER.iter().find(|(name, _)| measure.starts_with(name));
    let former = former.map_or("", |(_, ratio)| ratio);
    println!("{measure:56} {ours:>12} {floor:>14} {ratio:>7} {former:>7}");
}
