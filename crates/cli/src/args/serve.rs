//! Arguments of the shared server and its tokens.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use termbridge_mcp::Scope;

use super::McpArguments;
use crate::duration::parse_duration;

pub(crate) const SERVE_EXAMPLES: &str = "\
Agents connect with a token over HTTP (http://127.0.0.1:8080/mcp) or WebSocket (/ws). Programs of your own user connect \
without one over the unix socket. The first start creates a token and prints the configuration to copy.

All settings of `termbridge mcp` apply. In the configuration file:
  port = 8080
  [serve]
  listen = \"0.0.0.0\"
  tls_cert = \"/etc/termbridge/cert.pem\"
  tls_key = \"/etc/termbridge/key.pem\"
  allow_hosts = [\"box.example.org\"]

Examples:
  termbridge serve
  termbridge serve --port 9000 --workspace ~/project
  termbridge serve --replace              after an upgrade; keeps all sessions
  curl http://127.0.0.1:8080/healthz";

#[derive(Debug, Default, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) mcp: McpArguments,
    /// Replace a running server and keep its sessions, for an upgrade or new settings
    #[arg(long)]
    pub(crate) replace: bool,
    /// Started by a client: listen on the socket alone, and end when nobody uses it
    #[arg(long, hide = true)]
    pub(crate) started_by_client: bool,
    /// Address to listen on, with or without a port [default: 127.0.0.1]
    #[arg(long, env = "TERMBRIDGE_LISTEN", value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// TLS certificate with its chain, a PEM file; required for addresses other than loopback
    #[arg(long, env = "TERMBRIDGE_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate, a PEM file
    #[arg(long, env = "TERMBRIDGE_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Host name that clients may use for this server, with or without a port; may be repeated
    #[arg(
        long = "allow-host",
        env = "TERMBRIDGE_ALLOW_HOST",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub(crate) allow_hosts: Option<Vec<String>>,
    /// Origin of web pages that may use this server, such as `https://app.example.org`; may be repeated
    #[arg(
        long = "allow-origin",
        env = "TERMBRIDGE_ALLOW_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub(crate) allow_origins: Option<Vec<String>>,
    /// Maximum number of HTTP connections, at most 3/8 of the open files that the system allows [default: 1024]
    #[arg(long, env = "TERMBRIDGE_MAX_CONNECTIONS", value_name = "N")]
    pub(crate) max_connections: Option<usize>,
    /// Maximum number of requests, streams and WebSocket connections per token [default: 256]
    #[arg(long, env = "TERMBRIDGE_MAX_CONNECTIONS_PER_TOKEN", value_name = "N")]
    pub(crate) max_connections_per_token: Option<usize>,
    /// Requests per second and token, with bursts of ten times as many [default: 1000]
    #[arg(long, env = "TERMBRIDGE_RATE_LIMIT", value_name = "N")]
    pub(crate) rate_limit: Option<usize>,
    /// Maximum number of MCP sessions over HTTP [default: 1024]
    #[arg(long, env = "TERMBRIDGE_MAX_CLIENTS", value_name = "N")]
    pub(crate) max_clients: Option<usize>,
    /// End an MCP session over HTTP that is idle this long; its terminals continue [default: 30m]
    #[arg(long, env = "TERMBRIDGE_CLIENT_TIMEOUT", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) client_timeout: Option<Duration>,
}

pub(crate) const TOKEN_EXAMPLES: &str = "\
A token sees only the sessions that it started, or every session with --all-sessions. Each scope includes the ones \
before it: read (list and view), write (run commands and programs), admin (everything, in the sessions of every token).

A token is printed once; only its hash is stored. The first one, which `serve` creates, is also in a file that only you \
can read. A running server notices changes at once.

Examples:
  termbridge token create --name laptop
  termbridge token create --scopes read --all-sessions --expires 30d
  termbridge token list
  termbridge token revoke 3f9c2a7be012";

#[derive(Debug, Args)]
pub(crate) struct TokenArguments {
    #[command(subcommand)]
    pub(crate) action: TokenAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenAction {
    /// Create a token and print it
    Create {
        /// Name of the token, for the list
        #[arg(long, value_name = "NAME", default_value = "")]
        name: String,
        /// Scopes: read, write, admin
        #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "write")]
        scopes: Vec<Scope>,
        /// Show it every session, not only its own
        #[arg(long)]
        all_sessions: bool,
        /// Time until it expires: 12h, 30d [default: never]
        #[arg(long, value_name = "TIME", value_parser = parse_duration)]
        expires: Option<Duration>,
        /// Folder in which its sessions start [default: the server's workspace]
        #[arg(long, value_name = "FOLDER")]
        workspace: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the tokens
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token: its connections end, its sessions continue
    Revoke {
        /// Id of the token, from the list
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
