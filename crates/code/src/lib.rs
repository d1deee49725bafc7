//! What a project's own tools say of its code.
//!
//! - [`test_finder`]: the test under a line, and how to run it alone under the debugger.
//! - [`diagnostics`]: what compilers and linters find.
//! - [`file_address`]: paths as `file:` addresses.
//! - [`symbols`]: references, calls, renames and searches by an installed language server.
//!
//! What is deliberately absent: MCP, printing, and the environment, which the caller gives.

pub mod diagnostics;
mod error;
pub mod file_address;
mod near;
mod parse;
pub mod symbols;
pub mod test_finder;
mod tool;

pub use error::CodeError;
