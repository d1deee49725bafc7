//! The server in this process, over a backend of the test's own.

#![cfg(unix)]

mod backends;
mod callers;
mod connection;
mod fake_adapter;
mod faults;
mod files;
mod hints;
mod people;
mod reading;
mod screens;
mod socket;
mod steps;
mod support;
mod typed_lines;
mod typewriter;
mod worlds;
