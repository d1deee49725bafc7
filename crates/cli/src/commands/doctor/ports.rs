//! The ports of the shared server and of editors, and who holds them.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::json;

use super::check::{Check, Group};
use crate::config::Config;

/// How long a connection to this machine may take.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);
/// Where `termbridge serve` listens unless it is told otherwise.
const HTTP_PORT: u16 = 8080;

pub(super) fn check(config: &Config) -> Vec<Check> {
    let http = config.port.unwrap_or(HTTP_PORT);
    let mut checks =
        vec![port(http, "HTTP", &format!("termbridge serve --port {}", http.wrapping_add(1)))];
    if config.editor.is_enabled {
        let editor = config.editor.port;
        let fix = format!("termbridge serve --editor-port {}", editor.wrapping_add(1));
        checks.push(port(editor, "editors", &fix));
    }
    checks
}

fn port(port: u16, what: &str, other: &str) -> Check {
    let name = format!("port {port} ({what})");
    if port == 0 {
        return Check::info(Group::Server, format!("port of {what}"), "any that is free");
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    if TcpStream::connect_timeout(&address, PATIENCE).is_err() {
        return Check::ok(Group::Server, name, "free");
    }
    let holder = holder(port);
    let data = json!({"port": port, "holder": holder.as_ref().map(|(pid, name)| json!({"pid": pid, "program": name}))});
    let check = match holder {
        Some((pid, program)) if program == "termbridge" => {
            Check::ok(Group::Server, name, format!("termbridge (pid {pid}) listens there"))
        }
        Some((pid, program)) => Check::warning(
            Group::Server,
            name,
            format!("{program} (pid {pid}) listens there"),
            other,
        ),
        None => Check::warning(
            Group::Server,
            name,
            "a program of another user, or one that is not known, listens there",
            format!("sudo lsof -nP -iTCP:{port} -sTCP:LISTEN names it; {other}"),
        ),
    };
    check.data(data)
}

/// The process of this user that listens on a port.
#[cfg(target_os = "linux")]
fn holder(port: u16) -> Option<(u32, String)> {
    use std::fs;
    /// The state of a socket that listens.
    const LISTENS: &str = "0A";
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"]
        .map(|path| fs::read_to_string(path).unwrap_or_default());
    let sockets: Vec<String> = tables
        .iter()
        .flat_map(|table| table.lines().skip(1))
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let local = u16::from_str_radix(fields.get(1)?.rsplit(':').next()?, 16).ok()?;
            (local == port && *fields.get(3)? == LISTENS)
                .then(|| fields.get(9).map(|inode| format!("socket:[{inode}]")))?
        })
        .collect();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let links = fs::read_dir(entry.path().join("fd")).into_iter().flatten().flatten();
        let mut targets = links.filter_map(|link| fs::read_link(link.path()).ok());
        if targets
            .any(|target| target.to_str().is_some_and(|name| sockets.iter().any(|one| one == name)))
        {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            return Some((pid, name.trim().to_owned()));
        }
    }
    None
}

#[cfg(not(target_os = "linux"))]
fn holder(_: u16) -> Option<(u32, String)> {
    None
}
