//! The hub over real shells, and the debugger's event store over files.

#![cfg(unix)]

mod editor_restarts;
mod editor_terminals;
mod events;
mod outputs;
mod scripts;
mod sessions;
