//! Shell integration: scripts that mark commands.
//!
//! A shell that was started with an [`Integration`] says where a prompt ends, where a command's
//! output begins and where it ends, with its exit status, by OSC 633 marks. They end in a nonce or
//! in the shell's key, so that marks which programs print are not taken for them. A
//! command does not get typed: it goes through a named pipe that the script reads in a widget of the
//! shell's line editor, so that length, tabs, `!` and completion cannot spoil it.
//!
//! Pure: nothing here reads a file or starts anything; the files of an integration are returned as
//! data, for the session to place.

mod integration;
mod setup;

pub use integration::{
    Integration, NONCE_LENGTH, Setup, Shell, StartUpFiles, command_text, mark_key,
};
pub use setup::CommandSetup;
