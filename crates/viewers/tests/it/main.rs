//! Windows onto real sessions, over the real protocol.

mod support;
mod watching;
