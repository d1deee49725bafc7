//! The session engine with real programs: what it promises when things go wrong or at once.

#![cfg(unix)]

mod command_table;
mod commands;
mod concurrency;
mod hidden_lines;
mod idle;
mod input;
mod kept_output;
mod lasting;
mod leaks;
mod lifecycle;
mod memory;
mod output;
mod people;
mod resize;
mod stop;
mod support;
mod waits;
mod watching;
