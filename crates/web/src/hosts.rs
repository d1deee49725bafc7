//! Under which names the server answers, and which pages may call it: against DNS rebinding, where a page of another
//! site gives its own name our address.
//!
//! Pure: names in, yes or no out.

use std::net::{IpAddr, SocketAddr};

/// The names that the server goes by.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    /// Names of this machine, each with our port.
    own: Vec<String>,
    port: u16,
    is_tls: bool,
    /// Names that the user gave, with a port or with any.
    allowed: Vec<(String, Option<u16>)>,
    /// Pages that the user gave.
    origins: Vec<String>,
}

/// A name and a port.
#[derive(Debug, PartialEq, Eq)]
struct Authority {
    name: String,
    port: Option<u16>,
}

impl Hosts {
    pub(crate) fn new(
        bound: SocketAddr,
        is_tls: bool,
        allowed: &[String],
        origins: &[String],
    ) -> Self {
        let mut own: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        if !bound.ip().is_unspecified() {
            own.push(match bound.ip() {
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("[{address}]"),
            });
        }
        let allowed = allowed.iter().filter_map(|name| Authority::parse(name));
        let origins =
            origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase());
        Self {
            own,
            port: bound.port(),
            is_tls,
            allowed: allowed.map(|one| (one.name, one.port)).collect(),
            origins: origins.collect(),
        }
    }

    /// Whether a request's `Host` is one of ours.
    pub(crate) fn knows(&self, host: &str) -> bool {
        Authority::parse(host).is_some_and(|host| self.is_own(&host, self.is_tls))
    }

    /// Whether a page of this `Origin` may call. `null`, the origin of sandboxed pages and files, may not.
    pub(crate) fn admits(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        if self.origins.contains(&origin) {
            return true;
        }
        let (is_tls, host) = match origin.split_once("://") {
            Some(("http", host)) => (false, host),
            Some(("https", host)) => (true, host),
            _ => return false,
        };
        Authority::parse(host).is_some_and(|host| {
            // A name that the user gave may be a proxy's, which speaks TLS for us.
            let is_named = self.is_named(&host);
            is_named || (is_tls == self.is_tls && self.is_own(&host, is_tls))
        })
    }

    fn is_own(&self, host: &Authority, is_tls: bool) -> bool {
        let port = host.port.unwrap_or(if is_tls { 443 } else { 80 });
        (port == self.port && self.own.contains(&host.name)) || self.is_named(host)
    }

    fn is_named(&self, host: &Authority) -> bool {
        let fits = |port: &Option<u16>| port.is_none() || *port == host.port;
        self.allowed.iter().any(|(name, port)| *name == host.name && fits(port))
    }
}

impl Authority {
    /// `name`, `name:port`, `[address]:port`, in lower case and nothing else.
    fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let end = if text.starts_with('[') {
            text.find(']')? + 1
        } else {
            text.find(':').unwrap_or(text.len())
        };
        let (name, port) = text.split_at(end);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._[]:".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return None;
        }
        let port = match port {
            "" => None,
            port => Some(port.strip_prefix(':')?.parse().ok().filter(|_| !port.contains('+'))?),
        };
        Some(Self { name: name.to_owned(), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(bound: &str, is_tls: bool) -> Hosts {
        let allowed = ["box.example".to_owned(), "other.example:8443".to_owned()];
        let origins = ["https://app.example".to_owned(), "vscode-webview://x/".to_owned()];
        Hosts::new(bound.parse().expect("an address"), is_tls, &allowed, &origins)
    }

    #[test]
    fn hosts_are_ours_with_our_port_or_those_that_were_given() {
        let ours = hosts("127.0.0.1:8080", false);
        for host in [
            "localhost:8080",
            "LOCALHOST:8080",
            "127.0.0.1:8080",
            "[::1]:8080",
            "box.example",
            "box.example:8080",
            "Box.Example:1",
            "other.example:8443",
        ] {
            assert!(ours.knows(host), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:80",
            "localhost:8081",
            "127.0.0.1",
            "evil.example:8080",
            "localhost.evil:8080",
            "localhost:8080.evil",
            "localhost:8080:8080",
            "localhost:+8080",
            "localhost@evil:8080",
            "127.0.0.2:8080",
            "::1:8080",
            "[::1",
            "other.example",
            "other.example:1",
            "a b:8080",
            "localhost:8080/",
            "2130706433:8080",
            "localhost.:8080",
        ] {
            assert!(!ours.knows(host), "{host}");
        }
        let default_port = hosts("127.0.0.1:443", true);
        assert!(default_port.knows("localhost") && default_port.knows("localhost:443"));
        assert!(hosts("192.0.2.7:8443", true).knows("192.0.2.7:8443"));
        assert!(!hosts("0.0.0.0:8443", true).knows("0.0.0.0:8443"));
    }

    #[test]
    fn pages_are_ours_or_those_that_were_given() {
        let ours = hosts("127.0.0.1:8080", false);
        for origin in [
            "http://localhost:8080",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "HTTP://LocalHost:8080",
            "https://app.example",
            "https://box.example",
            "http://box.example:3000",
            "vscode-webview://x",
        ] {
            assert!(ours.admits(origin), "{origin}");
        }
        for origin in [
            "null",
            "",
            "http://localhost",
            "http://localhost:3000",
            "https://localhost:8080",
            "http://evil.example",
            "http://evil.example:8080",
            "https://app.example.evil",
            "https://app.example:444",
            "file://",
            "http://localhost:8080/x",
            "ws://localhost:8080",
            "chrome-extension://abc",
        ] {
            assert!(!ours.admits(origin), "{origin}");
        }
    }
}
