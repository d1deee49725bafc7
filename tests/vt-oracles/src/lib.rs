//! Nothing: only the recordings in the dependency are used.
