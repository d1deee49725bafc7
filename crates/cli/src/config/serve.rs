//! The `[serve]` table, and the shared server's settings from it and the arguments.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use termbridge_bridge::policy::RateLimit;
use termbridge_mcp::http::HttpSettings;
use termbridge_session::machine::descriptor_limit;
use termbridge_web::{Limits, TlsFiles, WebSettings};

use super::{Config, Whole, number};
use crate::args::ServeArguments;
use crate::duration::Time;

/// Where the server listens unless it is told otherwise.
const DEFAULT_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const DEFAULT_PORT: u16 = 8080;
const CONNECTIONS: RangeInclusive<usize> = 1..=65_536;
const RATE: RangeInclusive<usize> = 1..=1_000_000;
/// So many seconds' worth of requests may come at once.
const BURST_SECONDS: u32 = 10;

/// The `[serve]` table.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServeTable {
    listen: Option<String>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    allow_hosts: Option<Vec<String>>,
    allow_origins: Option<Vec<String>>,
    max_connections: Option<Whole>,
    max_connections_per_token: Option<Whole>,
    rate_limit: Option<Whole>,
    max_clients: Option<Whole>,
    client_timeout: Option<Time>,
}

/// How the shared server listens.
#[derive(Debug)]
pub(crate) struct ServeConfig {
    /// Ends the server that runs and takes its sessions over.
    pub(crate) replaces: bool,
    /// A client of ours started it: it listens on the socket alone, and ends when nobody uses it.
    pub(crate) started_by_client: bool,
    pub(crate) address: SocketAddr,
    pub(crate) web: WebSettings,
    pub(crate) http: HttpSettings,
}

impl ServeConfig {
    /// The settings; arguments come before the file. The arguments of `mcp` in them are not looked at.
    pub(crate) fn new(arguments: ServeArguments, config: &mut Config) -> Result<Self> {
        let table = std::mem::take(&mut config.serve);
        let listen = arguments.listen.or(table.listen);
        let address = address(listen.as_deref(), config.port)?;
        let tls = match (arguments.tls_cert.or(table.tls_cert), arguments.tls_key.or(table.tls_key))
        {
            (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
            (None, None) => None,
            _ => bail!("tls_cert and tls_key must be set together"),
        };
        let defaults = Limits::default();
        let rate = number(arguments.rate_limit, "rate_limit", table.rate_limit, RATE)?;
        let limits = Limits {
            max_connections: number(
                arguments.max_connections,
                "max_connections",
                table.max_connections,
                CONNECTIONS,
            )?
            .unwrap_or(defaults.max_connections)
            .min(connection_room()),
            max_per_token: number(
                arguments.max_connections_per_token,
                "max_connections_per_token",
                table.max_connections_per_token,
                CONNECTIONS,
            )?
            .unwrap_or(defaults.max_per_token),
            rate: rate.map_or(defaults.rate, |rate| RateLimit {
                calls: rate as u32 * BURST_SECONDS,
                per_seconds: BURST_SECONDS,
            }),
            ..defaults
        };
        let defaults = HttpSettings::default();
        let clients = number(arguments.max_clients, "max_clients", table.max_clients, CONNECTIONS)?;
        let idle = arguments.client_timeout.or(table.client_timeout.map(|time| time.0));
        Ok(Self {
            replaces: arguments.replace,
            started_by_client: arguments.started_by_client,
            address,
            web: WebSettings {
                allowed_hosts: arguments.allow_hosts.or(table.allow_hosts).unwrap_or_default(),
                allowed_origins: arguments
                    .allow_origins
                    .or(table.allow_origins)
                    .unwrap_or_default(),
                tls,
                limits,
            },
            http: HttpSettings {
                max_sessions: clients.unwrap_or(defaults.max_sessions),
                session_idle: idle.filter(|idle| !idle.is_zero()).unwrap_or(defaults.session_idle),
            },
        })
    }
}

/// An address with a port or without.
fn address(listen: Option<&str>, given: Option<u16>) -> Result<SocketAddr> {
    let port = given.unwrap_or(DEFAULT_PORT);
    let Some(listen) = listen else { return Ok((DEFAULT_ADDRESS, port).into()) };
    if listen.eq_ignore_ascii_case("localhost") {
        return Ok((DEFAULT_ADDRESS, port).into());
    }
    if let Ok(address) = listen.parse::<SocketAddr>() {
        if let Some(port) = given.filter(|port| *port != address.port()) {
            bail!("listen is {listen} and the port (--port, MCP_PORT) is {port}: give one of them");
        }
        return Ok(address);
    }
    let bare = listen.trim_start_matches('[').trim_end_matches(']');
    let address: IpAddr = bare.parse().with_context(|| {
        format!("listen is {listen:?}: it takes an address, as 127.0.0.1 or [::1]:8080")
    })?;
    Ok((address, port).into())
}

/// How many connections each transport may hold. The rest of the descriptors is for sessions, and for asking the kernel
/// about them: without any, no end of a command is seen.
pub(crate) fn connection_room() -> usize {
    descriptor_limit().map_or(usize::MAX, |limit| (limit / 8 * 3).max(1) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_a_port() {
        let shown = |listen, port| address(listen, port).map(|address| address.to_string()).ok();
        for (listen, port, expected) in [
            (None, None, "127.0.0.1:8080"),
            (None, Some(9), "127.0.0.1:9"),
            (Some("localhost"), Some(9), "127.0.0.1:9"),
            (Some("0.0.0.0"), Some(9), "0.0.0.0:9"),
            (Some("0.0.0.0:7"), Some(7), "0.0.0.0:7"),
            (Some("::1"), Some(9), "[::1]:9"),
            (Some("[::1]"), None, "[::1]:8080"),
            (Some("[::1]:7"), None, "[::1]:7"),
        ] {
            assert_eq!(shown(listen, port).as_deref(), Some(expected), "{listen:?} {port:?}");
        }
        assert_eq!(shown(Some("0.0.0.0:7"), Some(9)), None, "two ports");
        for listen in ["", "box.example", "1.2.3", "1.2.3.4:x"] {
            assert_eq!(shown(Some(listen), None), None, "{listen}");
        }
    }
}
