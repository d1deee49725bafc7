//! Which process listens on a port, as far as this user may see.
//!
//! Linux: `/proc/net/tcp` gives the socket's inode, a process's descriptors give the socket. Bounds: [`MAX_PROCESSES`]
//! processes, [`MAX_DESCRIPTORS`] descriptors of each.

use std::fs;
use std::path::Path;

/// Processes that are looked at.
const MAX_PROCESSES: usize = 65_536;
/// Descriptors of a process that are looked at.
const MAX_DESCRIPTORS: usize = 4096;
/// The state "listens" in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// The pid and name of who listens on a port.
pub(crate) fn holder_of(port: u16) -> Option<(u32, String)> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
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

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn who_listens_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (pid, name) = super::holder_of(port).expect("it is us");
        assert_eq!(pid, std::process::id());
        assert!(!name.is_empty());
        drop(listener);
        assert_eq!(super::holder_of(port), None);
    }
}
