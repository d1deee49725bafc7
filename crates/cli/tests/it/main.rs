//! The built binary, driven as a client drives it.

#![cfg(unix)]

mod agents;
mod background;
mod book;
mod clients;
mod commands;
mod compat;
mod configuration;
mod current_session;
mod debug;
mod doctor;
mod editor_target;
mod editor_windows;
mod editors;
mod endings;
mod examples;
mod foreign_files;
mod frameworks;
mod history;
mod install;
mod interactive;
mod limits;
mod one_command;
mod people;
mod pictures;
mod policy;
mod protocol;
mod readers;
mod restarts;
mod robustness;
mod scripts;
mod serving;
mod shells;
mod shim;
mod spellings;
mod start_up;
mod support;
mod temporary_files;
mod viewers;
mod views;

/// The server under test.
const TERMBRIDGE: &str = env!("CARGO_BIN_EXE_termbridge");
