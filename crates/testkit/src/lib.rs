//! Test support: a hermetic environment, an MCP client process, a fake editor host.
//!
//! `TestEnvironment` is a home of its own for a server under test: no configuration, history or
//! prompt of whoever runs the tests reaches it. `Server` is the server with a client's end; both come
//! with the feature `server`. [`FakeHost`] is the editor extension's end of the filesystem bridge, with
//! switches for what can go wrong there. [`HungPath`] stands for a file system that gives no answer.

#[cfg(feature = "server")]
mod environment;
mod fake_host;
mod hung_path;

#[cfg(feature = "server")]
pub use environment::{PROTOCOL, Server, TestEnvironment};
pub use fake_host::{FakeHost, HostOptions, Job, Reply};
pub use hung_path::HungPath;
