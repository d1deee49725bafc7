//! The catalogue: what ours promises, what a workspace may bring, what is refused.

mod docs;
mod own;
mod refused;
mod workspace;
