//! The inspector of a node process that runs: js-debug attaches to its port, and leaves it to us to open it.
//!
//! node opens it on SIGUSR1, which ends any process that does not handle it. So the signal goes only to a
//! process of our user that runs node and that handles the signal, and only when no inspector is open.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use termbridge_pty::{Signal, end_process};

use crate::error::DebugError;
use crate::target::{TargetProcess, status};

/// Where node opens it unless it was told otherwise.
const DEFAULT_PORT: u16 = 9229;
/// How long node may take to open it.
const OPENING: Duration = Duration::from_secs(5);
/// How often it is looked for meanwhile.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a port may take to say whether it is an inspector.
const ANSWER: Duration = Duration::from_secs(1);
/// Bytes of that answer.
const MAX_ANSWER: u64 = 64 * 1024;
/// What only an inspector answers with.
const MARK: &str = "webSocketDebuggerUrl";
/// Descriptors of a process that are looked at.
const MAX_DESCRIPTORS: usize = 100_000;
/// What the kernel calls a socket that listens.
const LISTENS: &str = "0A";
/// What it calls one that is connected.
const CONNECTED: &str = "01";

/// Where the inspector of a process listens, which is opened if need be. Blocks.
pub(super) fn open(pid: u32) -> Result<SocketAddr, DebugError> {
    let failed = |reason: String, hint: &str| {
        Err(DebugError::AttachFailed { reason, hint: hint.to_owned() })
    };
    let target = TargetProcess::find(pid)?;
    if !target.is_node() {
        let reason = format!("process {pid} runs {}, not node", target.shown());
        return failed(reason, "leave `type` out: the debugger is chosen by the program");
    }
    if !target.is_own_users() {
        let reason = format!("process {pid} belongs to another user, and is not signalled");
        return failed(reason, "run the server as that user, or attach by port to node --inspect");
    }
    let before = listening(pid);
    if names_inspector(pid, &before)
        && let Some(open) = before.iter().find(|address| is_inspector(**address))
    {
        return Ok(*open);
    }
    if !handles_usr1(pid) {
        let reason = format!("process {pid} does not open an inspector when it is asked to");
        return failed(reason, "run it with node --inspect=0 and attach by the port it prints");
    }
    if let Err(error) = end_process(pid, Signal::USR1) {
        return failed(format!("process {pid} cannot be signalled: {error}"), "see who owns it");
    }
    let deadline = Instant::now() + OPENING;
    while Instant::now() < deadline {
        let now = listening(pid);
        let mut new = now.iter().filter(|address| !before.contains(address));
        if let Some(open) = new.find(|address| is_inspector(**address)) {
            return Ok(*open);
        }
        std::thread::sleep(PAUSE);
    }
    // It was open at a port that nothing named.
    if let Some(open) = before.iter().find(|address| is_inspector(**address)) {
        return Ok(*open);
    }
    let reason = format!(
        "process {pid} did not open its inspector; its port ({DEFAULT_PORT} by default) may be in use"
    );
    failed(reason, "run it with node --inspect=0 and attach by the port it prints")
}

/// Whether there is reason to ask its ports: a server of the program's own should not be asked in vain.
fn names_inspector(pid: u32, listening: &[SocketAddr]) -> bool {
    let names = |file: &str, flag: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        bytes.split(|byte| *byte == 0).any(|text| String::from_utf8_lossy(text).contains(flag))
    };
    let is_default = |address: &SocketAddr| address.port() == DEFAULT_PORT;
    listening.iter().any(is_default)
        || names("cmdline", "--inspect")
        || names("environ", "--inspect")
}

/// Whether it has a handler for the signal; without one the signal would end it.
fn handles_usr1(pid: u32) -> bool {
    let caught = u64::from_str_radix(&status(pid, "SigCgt").0, 16).unwrap_or(0);
    caught & (1 << (Signal::USR1.number() - 1)) != 0
}

/// Asks a port as an inspector is asked.
fn is_inspector(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, ANSWER)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.write_all(
            b"GET /json/list HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        )?;
        let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
        let mut stream = stream.take(MAX_ANSWER);
        loop {
            let length = stream.read(&mut piece)?;
            answer.extend_from_slice(&piece[..length]);
            let text = String::from_utf8_lossy(&answer);
            if length == 0 || text.contains(MARK) {
                return Ok(text.into_owned());
            }
        }
    };
    ask().is_ok_and(|answer| answer.contains(MARK))
}

/// The ports at which a process listens, each with an address that reaches it.
fn listening(pid: u32) -> Vec<SocketAddr> {
    sockets(pid, LISTENS).into_iter().map(|(_, address)| address).collect()
}

/// The descriptors of a process that are sockets in a state, each with its own address.
fn sockets(pid: u32, state: &str) -> Vec<(i32, SocketAddr)> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let sockets: HashMap<String, i32> = descriptors
        .take(MAX_DESCRIPTORS)
        .filter_map(|entry| {
            let target = std::fs::read_link(entry.path()).ok()?;
            let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            Some((inode.to_owned(), entry.file_name().to_str()?.parse().ok()?))
        })
        .collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6"] {
        let table = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        found.extend(table.lines().skip(1).filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let descriptor = sockets.get(*fields.get(9)?)?;
            let address = address(fields.get(1)?).filter(|_| fields.get(3) == Some(&state))?;
            Some((*descriptor, address))
        }));
    }
    found
}

/// Lets the inspector of a program write what it has at once. It writes its messages one by one, and the kernel
/// holds each back until the one before was acknowledged, for 40 ms. Blocks until js-debug is connected to it. Without a port, the program's ports are asked
/// which is the inspector's.
pub(super) fn hasten(pid: u32, mut port: Option<u16>) {
    let deadline = Instant::now() + OPENING;
    while Instant::now() < deadline && std::fs::exists(format!("/proc/{pid}")).unwrap_or(false) {
        let mut inspector = port;
        if port.is_none() {
            match &listening(pid)[..] {
                [only] => inspector = Some(only.port()),
                several => {
                    let found = several.iter().find(|address| is_inspector(**address));
                    port = found.map(SocketAddr::port);
                    inspector = port;
                }
            }
        }
        let mut connected = sockets(pid, CONNECTED);
        connected.retain(|(_, address)| Some(address.port()) == inspector);
        if !connected.is_empty() {
            connected.into_iter().for_each(|(descriptor, _)| write_at_once(pid, descriptor));
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Sets the option on the socket that a process has as a descriptor. Where that is not allowed it stays slow.
#[cfg(target_os = "linux")]
fn write_at_once(pid: u32, descriptor: i32) {
    use rustix::net::sockopt::set_tcp_nodelay;
    use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

    let set = || -> rustix::io::Result<()> {
        let process = Pid::from_raw(pid.cast_signed()).ok_or(rustix::io::Errno::SRCH)?;
        let process = pidfd_open(process, PidfdFlags::empty())?;
        let socket = pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty())?;
        set_tcp_nodelay(socket, true)
    };
    if let Err(error) = set() {
        tracing::debug!(%error, pid, "the inspector stays slow");
    }
}

#[cfg(not(target_os = "linux"))]
fn write_at_once(_pid: u32, _descriptor: i32) {}

/// An address as the kernel writes it: `0100007F:240D`, words in the order of the machine.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let words = host.as_bytes().chunks(8).map(|word| {
        let word = std::str::from_utf8(word).ok()?;
        Some(u32::from_str_radix(word, 16).ok()?.to_ne_bytes())
    });
    let bytes = words.collect::<Option<Vec<_>>>()?.concat();
    let host = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(bytes) => IpAddr::from(bytes),
        Err(_) => IpAddr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?),
    };
    let reached = match host {
        IpAddr::V4(host) if host.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(host) if host.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        host => host,
    };
    Some(SocketAddr::new(reached, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_ports_of_a_process_are_its_own() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        assert!(listening(std::process::id()).contains(&address));
        assert!(!listening(1).contains(&address));
    }

    #[test]
    fn only_the_inspectors_port_is_connected_to() {
        let listen = || TcpListener::bind("127.0.0.1:0").expect("a port");
        let (inspector, own) = (listen(), listen());
        let address = inspector.local_addr().expect("an address");
        let _client = TcpStream::connect(address).expect("connects");
        let _connected = inspector.accept().expect("is connected");
        hasten(std::process::id(), Some(address.port()));
        own.set_nonblocking(true).expect("is set");
        let asked = own.accept().expect_err("nobody asks");
        assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock);
    }

    #[test]
    fn addresses_are_read_as_the_kernel_writes_them() {
        let any = super::address("00000000:240D").expect("an address");
        assert_eq!(any.to_string(), "127.0.0.1:9229");
        let six = super::address("00000000000000000000000001000000:0050");
        assert_eq!(six.expect("an address").to_string(), "[::1]:80");
        assert_eq!(super::address("nothing"), None);
    }

    #[test]
    fn a_process_that_is_not_node_is_never_signalled() {
        let mut child = std::process::Command::new("sleep").arg("300").spawn().expect("sleep");
        let error = open(child.id()).expect_err("refused");
        assert_eq!(error.code(), "E_LAUNCH_FAILED");
        assert!(error.to_string().contains("runs sleep, not node"), "{error}");
        assert!(child.try_wait().expect("is known").is_none(), "it lives");
        child.kill().expect("ends");
        child.wait().expect("is reaped");
    }
}
