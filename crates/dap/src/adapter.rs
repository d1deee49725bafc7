//! Debug adapters: which one serves a configuration, where it is, how it is started.
//!
//! Adapters are found, never bundled. A search reads only what the caller gave: the environment,
//! the workspace and configured paths; those win over everything that is found. One file per
//! adapter says where it is looked for and how a configuration becomes its launch arguments, and its
//! `quirks.rs` where it is not like others.

mod debugpy;
mod declarations;
mod delve;
mod doctor;
mod exceptions;
mod js_debug;
mod lldb;
mod log_message;
mod looks;
mod quirks;
mod registry;

use std::path::{Path, PathBuf};

use serde_json::Value;

pub use self::debugpy::{interpreters, pip_install};
pub(crate) use self::declarations::{Declarations, Declared, SourceDeclarations};
pub(crate) use self::doctor::doctor;
pub(crate) use self::exceptions::{
    PANIC, RaisingFunction, TEST_FAILURE, THROW, THROWN_TYPE, demangled, is_type_name,
};
pub(crate) use self::lldb::{Formatter, OwnResult};
pub(crate) use self::looks::{Bits, Container, Look, Part};
pub(crate) use self::quirks::ConditionFailure;
pub use self::registry::{AdapterPaths, AdapterStatus};
pub(crate) use self::registry::{Cache, Probing, Search, find, survey};
use crate::breakpoint::BreakpointPlace;
use crate::configuration::{Configuration, Request};
use crate::process::CommandLine;

/// The adapters that we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AdapterKind {
    /// Python.
    Debugpy,
    /// C, C++, Rust and what else LLVM compiles.
    Lldb,
    /// Go.
    Delve,
    /// JavaScript and TypeScript on Node.
    JsDebug,
}

impl AdapterKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Debugpy, Self::Lldb, Self::Delve, Self::JsDebug];

    /// The adapter for a configuration's `type`.
    pub fn for_type(kind: &str) -> Option<Self> {
        let kind = kind.to_ascii_lowercase();
        Self::ALL.into_iter().find(|adapter| adapter.quirks().types().contains(&kind.as_str()))
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        self.quirks().name()
    }

    /// The languages it debugs.
    pub fn languages(self) -> &'static str {
        self.quirks().languages()
    }

    /// The command that installs it.
    pub fn install(self) -> &'static str {
        self.quirks().install()
    }

    /// Whether a breakpoint may be in a program that it debugs, by the name of the file.
    pub(crate) fn may_have(self, place: &BreakpointPlace) -> bool {
        match place {
            BreakpointPlace::Line { path, .. } => self.may_have_file(path),
            BreakpointPlace::Function { .. } | BreakpointPlace::Data { .. } => true,
        }
    }

    /// Whether a file may be a source of a program that it debugs, by its name.
    pub(crate) fn may_have_file(self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let extension = extension.unwrap_or_default();
        let serves = |adapter: &Self| adapter.quirks().extensions().contains(&extension);
        serves(&self) || !Self::ALL.iter().any(serves)
    }

    /// An adapter that listens already.
    pub(crate) fn listening(self, configuration: &Configuration) -> Option<Adapter> {
        if !self.quirks().speaks_when_listening() || configuration.request != Request::Attach {
            return None;
        }
        let connect = configuration.fields.get("connect");
        let field = |name: &str| connect.unwrap_or(&Value::Null).get(name);
        let port = field("port").or(configuration.fields.get("port"))?.as_u64()?;
        let host = field("host").and_then(Value::as_str).or(configuration.text("host"));
        let host = host.unwrap_or("127.0.0.1").to_owned();
        let transport = Transport::Connect { host, port: u16::try_from(port).ok()? };
        Some(Adapter { kind: self, transport, interpreter: None })
    }
}

/// How the connection to an adapter is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transport {
    /// It speaks on its standard input and output.
    Stdio(CommandLine),
    /// It listens on a port that it prints.
    Server(CommandLine),
    /// It listens already.
    Connect { host: String, port: u16 },
}

/// An adapter that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Adapter {
    pub(crate) kind: AdapterKind,
    pub(crate) transport: Transport,
    /// The interpreter for the program, where the adapter belongs to one.
    pub(crate) interpreter: Option<PathBuf>,
}

#[cfg(test)]
#[cfg(unix)]
#[path = "adapter/tests.rs"]
mod tests;
