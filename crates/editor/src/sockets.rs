//! Whose socket that is: the process that listens on a port, and the user at the other end of a connection.
//!
//! Linux: `/proc/net/tcp` and `tcp6` give a socket's user and inode, a process's descriptors give the socket. On other
//! systems nothing is known: [`holder_of`] is `None`, [`users_of`] gives [`PeerUser::Unknown`]. Reads files: call it off the
//! runtime's threads. Bounds: [`MAX_PROCESSES`] processes, [`MAX_DESCRIPTORS`] descriptors of each.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Processes that are looked at.
const MAX_PROCESSES: usize = 65_536;
/// Descriptors of a process that are looked at.
const MAX_DESCRIPTORS: usize = 4096;
/// The state "listens" in `/proc/net/tcp`.
const LISTENS: &str = "0A";
/// The state "established" in `/proc/net/tcp`.
const ESTABLISHED: &str = "01";
/// The inode of a socket that no process holds any more.
const NO_INODE: &str = "0";
/// The tables of sockets.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// The pid and name of who listens on a port, as far as this user may see.
pub fn holder_of(port: u16) -> Option<(u32, String)> {
    let inodes: Vec<String> = TABLES
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|table| listening(&table, port))
        .collect();
    let wanted: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let processes = fs::read_dir("/proc").ok()?.flatten().take(MAX_PROCESSES);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let holds = |pid: &u32| {
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        descriptors.take(MAX_DESCRIPTORS).any(|descriptor| {
            let target = fs::read_link(descriptor.path()).unwrap_or_default();
            wanted.iter().any(|socket| target == Path::new(socket))
        })
    };
    let pid = { pids }.find(holds)?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some((pid, name.trim().to_owned()))
}

/// The user at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeerUser {
    /// Our own.
    Own,
    /// Another.
    Other,
    /// No live socket is in our tables: another system, another network namespace, or already closed.
    Unknown,
}

/// The two ends of a connection on this machine: the peer's, ours.
type Ends = (SocketAddr, SocketAddr);

/// Who is at the other end of each connection; `None` is one whose ends are not known. The answer is about the process
/// that has the address now: the caller makes sure that its connection was not reset meanwhile.
pub(crate) fn users_of(connections: &[Option<Ends>]) -> Vec<PeerUser> {
    let tables = TABLES.iter().filter_map(|path| fs::read_to_string(path).ok());
    let found: HashMap<_, _> = tables.flat_map(|table| users_in(&table, connections)).collect();
    let user_of = |ends| match (found.get(&ends), own_user()) {
        (Some(user), Some(own)) if *user == own => PeerUser::Own,
        (Some(_), Some(_)) => PeerUser::Other,
        _ => PeerUser::Unknown,
    };
    connections.iter().map(|ends| ends.map_or(PeerUser::Unknown, user_of)).collect()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "not every system has it")]
fn own_user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn own_user() -> Option<u32> {
    None
}

/// The users of the live sockets in a table that are the other ends of these connections.
///
/// Only an established socket that a process holds counts: the kernel writes user 0, which is root's, for every other.
fn users_in(table: &str, connections: &[Option<Ends>]) -> Vec<(Ends, u32)> {
    // A socket of the IPv6 family that is connected over IPv4 is in the other table, with mapped addresses.
    let rows_of = |ends: &Ends| written(ends.0).into_iter().zip(written(ends.1));
    let wanted: HashMap<_, _> = connections
        .iter()
        .flatten()
        .flat_map(|ends| rows_of(ends).map(move |row| (row, *ends)))
        .collect();
    let row = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (own, peer, state) = (fields.next()?, fields.next()?, fields.next()?);
        if state != ESTABLISHED {
            return None;
        }
        let ends = wanted.get(&(own.to_owned(), peer.to_owned()))?;
        let (user, inode) = (fields.nth(3)?, fields.nth(1)?);
        let is_held = inode != NO_INODE;
        Some((*ends, user.parse().ok().filter(|_| is_held)?))
    };
    table.lines().skip(1).filter_map(row).collect()
}

/// An address as the tables write it: words in the machine's own order.
fn written(address: SocketAddr) -> Vec<String> {
    let words = |octets: &[u8]| -> String {
        let words = octets.chunks_exact(4).map(|word| {
            // The chunks have four bytes each.
            format!("{:08X}", u32::from_ne_bytes(word.try_into().unwrap_or_default()))
        });
        words.collect()
    };
    let port = address.port();
    match address.ip() {
        IpAddr::V4(ip) => {
            let mapped = words(&ip.to_ipv6_mapped().octets());
            vec![format!("{}:{port:04X}", words(&ip.octets())), format!("{mapped}:{port:04X}")]
        }
        IpAddr::V6(ip) => vec![format!("{}:{port:04X}", words(&ip.octets()))],
    }
}

/// The inodes of the sockets that listen on a port.
fn listening(table: &str, port: u16) -> Vec<String> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let at = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        (*state == LISTENS && at == port).then(|| (*inode).to_owned())
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn user_in(table: &str, remote: SocketAddr, local: SocketAddr) -> Option<u32> {
        users_in(table, &[None, Some((remote, local))]).first().map(|(_, user)| *user)
    }

    #[test]
    fn who_listens_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (pid, name) = holder_of(port).expect("it is us");
        assert_eq!(pid, std::process::id());
        assert!(!name.is_empty());
        drop(listener);
        assert_eq!(holder_of(port), None);
    }

    #[test]
    fn who_connects_is_found() {
        for host in ["127.0.0.1", "[::1]"] {
            let Ok(listener) = TcpListener::bind(format!("{host}:0")) else { continue };
            let address = listener.local_addr().expect("an address");
            let _client = TcpStream::connect(address).expect("connects");
            let (accepted, remote) = listener.accept().expect("accepts");
            let local = accepted.local_addr().expect("an address");
            assert_eq!(users_of(&[Some((remote, local))])[0], PeerUser::Own, "{host}");
        }
    }

    #[test]
    fn the_user_is_that_of_the_other_end() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 11 1\n\
            1: 0100007F:0BB8 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000 0 12 1\n\
            2: 0100007F:D431 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1007 0 13 1\n";
        let at = |text: &str| text.parse().expect("an address");
        let local = at("127.0.0.1:3000");
        assert_eq!(user_in(table, at("127.0.0.1:54321"), local), Some(1007));
        assert_eq!(user_in(table, at("127.0.0.1:54322"), local), None);
        assert_eq!(user_in(table, at("[::1]:54321"), local), None);
    }

    /// A dead socket has no user: the kernel writes 0, which is root's.
    #[test]
    fn a_closed_socket_has_no_user() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:0BB8 0100007F:D431 08 00000000:00001000 00:00000000 00000000     0 0 12 1\n\
            1: 0100007F:D431 0100007F:0BB8 05 00000000:00000000 02:00000F00 00000000     0 0 0 2\n\
            2: 0100007F:D432 0100007F:0BB8 06 00000000:00000000 03:00001770 00000000     0 0 0 3\n\
            3: 0100007F:D433 0100007F:0BB8 04 00000001:00000000 01:00000014 00000000     0 0 0 1\n\
            4: 0100007F:D434 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000     0 0 0 1\n\
            5: 0100007F:D435 0100007F:0BB8 02 00000001:00000000 01:00000064 00000000     0 0 14 2\n\
            6: 0100007F:D436 0100007F:0BB8 06 00000000:00000000 03:00001770 00000000     0 0 0 3\n\
            7: 0100007F:D436 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1007 0 15 1\n\
            8: 0100007F:D437 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000\n";
        let local = "127.0.0.1:3000".parse().expect("an address");
        let user = |port| user_in(table, SocketAddr::from(([127, 0, 0, 1], port)), local);
        for port in 0xD431..=0xD435 {
            assert_eq!(user(port), None, "{port:X}");
        }
        assert_eq!(user(0xD436), Some(1007), "a live socket took the port over");
        assert_eq!(user(0xD437), None, "a row that is cut");
    }

    #[test]
    fn a_mapped_address_is_found_in_the_other_table() {
        let table = "  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1007 0 13 1\n\
            1: 0000000000000000FFFF00000100007F:D432 0000000000000000FFFF00000100007F:0BB8 06 00000000:00000000 03:00001770 00000000     0 0 0 3\n";
        let at = |text: &str| text.parse().expect("an address");
        let local = at("127.0.0.1:3000");
        assert_eq!(user_in(table, at("127.0.0.1:54321"), local), Some(1007));
        assert_eq!(user_in(table, at("127.0.0.1:54322"), local), None);
    }

    #[test]
    fn who_has_closed_the_connection_is_not_known() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        drop(TcpStream::connect(address).expect("connects"));
        let (accepted, remote) = listener.accept().expect("accepts");
        let local = accepted.local_addr().expect("an address");
        assert_eq!(users_of(&[Some((remote, local))])[0], PeerUser::Unknown);
    }
}
