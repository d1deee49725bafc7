//! Real programs on real terminals, through a real keeper.

#![cfg(target_os = "linux")]

mod child_state;
mod control;
mod death;
mod errors;
mod io;
mod killed;
mod lasting;
mod leaks;
mod servers;
mod stop;
mod support;
mod versions;
