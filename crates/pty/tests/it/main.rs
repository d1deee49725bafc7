//! Real programs on real terminals, through a real keeper.

#![cfg(target_os = "linux")]

mod child_state;
mod control;
mod death;
mod errors;
mod io;
mod leaks;
mod stop;
mod support;
