//! Connections of editors: what plain peers and windows get, whatever they send, and what is left of them.

mod faults;
mod limits;
mod seed;
mod server;
mod support;
mod windows;
