//! Terminal sessions: launch, see, type, wait, stop.
