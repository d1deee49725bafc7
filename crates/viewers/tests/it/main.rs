//! Windows onto real sessions, over the real protocol.

#![cfg(unix)]

mod support;
mod watching;
