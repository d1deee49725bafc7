//! A client's entry for a server that runs already.
//!
//! The server gets one `GET` with the entry's own headers, which opens no session there. Only a server of this machine
//! is asked, and headers with variables of the client (`${…}`) are not sent.

use std::io;
use std::time::Duration;

use termbridge_clients::InstalledEntry;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::check::{Check, Group};
use super::ports::PATIENCE;

/// How long the server may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(3);
/// Longest first line of an answer that is read, in bytes.
const MAX_STATUS_LINE: u64 = 256;
const UNAUTHORIZED: u16 = 401;

pub(super) async fn check(entry: &InstalledEntry, url: &str, label: &str) -> Check {
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let rest = rest.split('#').next().unwrap_or_default();
    let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let is_local =
        ["127.0.0.1:", "localhost:", "[::1]:"].iter().any(|local| host.starts_with(local));
    if !is_local {
        return Check::info(Group::Clients, label, "uses a server elsewhere; not tried");
    }
    let uses = format!("uses the server at {shown}");
    let Ok(Ok(stream)) = timeout(PATIENCE, TcpStream::connect(host)).await else {
        let detail = format!("{uses}, where none listens");
        return Check::failed(Group::Clients, label, detail, "termbridge serve");
    };
    if scheme != "http" || entry.headers.iter().any(|(_, value)| value.contains("${")) {
        let detail = format!("{uses}, which listens; its headers were not tried");
        return Check::ok(Group::Clients, label, detail);
    }
    let failed =
        |why: &str, fix: &str| Check::failed(Group::Clients, label, format!("{uses}, {why}"), fix);
    let has_token =
        entry.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    let new_token =
        "termbridge token create, and put the token into the entry's Authorization header";
    match timeout(ANSWER_LIMIT, status(stream, host, path, &entry.headers)).await {
        Ok(Ok(UNAUTHORIZED)) if has_token => {
            failed("which refuses the entry's token: it is unknown, expired or revoked", new_token)
        }
        Ok(Ok(UNAUTHORIZED)) => failed("which needs a token: the entry has none", new_token),
        Ok(Ok(code @ (403 | 404 | 500..))) => {
            failed(&format!("which answers HTTP {code}"), "termbridge serve prints the right entry")
        }
        Ok(Ok(_)) => Check::ok(Group::Clients, label, format!("{uses}, which accepts it")),
        Ok(Err(_)) | Err(_) => failed("which does not answer HTTP", "termbridge serve"),
    }
}

/// The status of the answer to a `GET` with these headers.
async fn status(
    mut stream: TcpStream,
    host: &str,
    path: &str,
    headers: &[(String, String)],
) -> io::Result<u16> {
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let mut request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\n"
    );
    let is_plain = |text: &str| !text.contains(char::is_control);
    for (name, value) in headers.iter().filter(|(name, value)| is_plain(name) && is_plain(value)) {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_STATUS_LINE)).read_line(&mut line).await?;
    let code = line.strip_prefix("HTTP/1.").and_then(|line| line.split(' ').nth(1));
    code.and_then(|code| code.parse().ok()).ok_or_else(|| io::ErrorKind::InvalidData.into())
}
