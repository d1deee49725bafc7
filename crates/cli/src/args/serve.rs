//! Arguments of the shared server and its tokens.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use termbridge_mcp::Scope;

use super::McpArguments;
use crate::duration::parse_duration;

pub(crate) const SERVE_EXAMPLES: &str = "\
Agents connect over HTTP (http://127.0.0.1:8080/mcp) or WebSocket (/ws) with a token, programs of the
same user over the unix socket without one. The first start makes a token and prints configuration to
copy. Other addresses than loopback need a certificate. Settings are those of `termbridge mcp`, and in
the configuration file:

  port = 8080
  [serve]
  listen = \"0.0.0.0\"
  tls_cert = \"/etc/termbridge/cert.pem\"
  tls_key = \"/etc/termbridge/key.pem\"
  allow_hosts = [\"box.example.org\"]
  rate_limit = 200

Examples:
  termbridge serve
  termbridge serve --port 9000 --workspace ~/project
  termbridge serve --replace              after an upgrade; what runs goes on
  termbridge serve --listen 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --allow-host box.example.org
  curl http://127.0.0.1:8080/healthz";

#[derive(Debug, Default, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) mcp: McpArguments,
    /// End the server that runs, if one does, and take its sessions over; for upgrades
    #[arg(long)]
    pub(crate) replace: bool,
    /// A client started it: on the socket alone, as long as somebody uses it
    #[arg(long, hide = true)]
    pub(crate) started_by_client: bool,
    /// Address to listen on, with a port or without [default: 127.0.0.1]
    #[arg(long, env = "TERMBRIDGE_LISTEN", value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// Certificate for HTTPS, with its chain (PEM); needed for addresses other than loopback
    #[arg(long, env = "TERMBRIDGE_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, env = "TERMBRIDGE_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Further name by which clients may call this server, with a port or without; may be repeated
    #[arg(
        long = "allow-host",
        env = "TERMBRIDGE_ALLOW_HOST",
        value_name = "NAME",
        value_delimiter = ','
    )]
    pub(crate) allow_hosts: Option<Vec<String>>,
    /// Further origin whose pages may call this server, such as `https://app.example.org`; may be repeated
    #[arg(
        long = "allow-origin",
        env = "TERMBRIDGE_ALLOW_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub(crate) allow_origins: Option<Vec<String>>,
    /// Most HTTP connections at once [default: 1024]
    #[arg(long, env = "TERMBRIDGE_MAX_CONNECTIONS", value_name = "N")]
    pub(crate) max_connections: Option<usize>,
    /// Most requests, streams and WebSocket connections of one token at once [default: 256]
    #[arg(long, env = "TERMBRIDGE_MAX_CONNECTIONS_PER_TOKEN", value_name = "N")]
    pub(crate) max_connections_per_token: Option<usize>,
    /// Requests per second that a token may make; ten times as many at once [default: 1000]
    #[arg(long, env = "TERMBRIDGE_RATE_LIMIT", value_name = "N")]
    pub(crate) rate_limit: Option<usize>,
    /// Most MCP sessions over HTTP at once [default: 1024]
    #[arg(long, env = "TERMBRIDGE_MAX_CLIENTS", value_name = "N")]
    pub(crate) max_clients: Option<usize>,
    /// End an unused MCP session over HTTP after this time; terminals go on [default: 30m]
    #[arg(long, env = "TERMBRIDGE_CLIENT_TIMEOUT", value_name = "TIME", value_parser = parse_duration)]
    pub(crate) client_timeout: Option<Duration>,
}

pub(crate) const TOKEN_EXAMPLES: &str = "\
A token is a principal of its own: it sees only the terminals that it started, or with --all-sessions
everyone's. Scopes: read (list and look), write (run things), admin (everything of everyone); each
includes those before it. The text of a token is printed once, and its hash kept; the first one that
`serve` makes is also in a file of your own. A running server notices changes at once.

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
        /// What to call it
        #[arg(long, value_name = "NAME", default_value = "")]
        name: String,
        /// What it permits: read, write, admin
        #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "write")]
        scopes: Vec<Scope>,
        /// It sees everyone's sessions, not only its own: with `--scopes read`, for those who only look
        #[arg(long)]
        all_sessions: bool,
        /// How long it is valid: 12h, 30d [default: until it is revoked]
        #[arg(long, value_name = "TIME", value_parser = parse_duration)]
        expires: Option<Duration>,
        /// Folder in which its terminals start [default: the server's]
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
        /// Id from the list
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
