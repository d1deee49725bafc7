//! What may run, where and how often.
//!
//! **This is a guard-rail, not a sandbox.** It keeps an agent from the mistakes that cost a machine
//! or a home, and from the usual ways of spelling them. It does not hold someone who means harm: a
//! program, a script file, an interpreter (`python -c`, `perl -e`, `awk`, `make`) can do what it
//! likes, and text typed into a running program is not looked at. Where that matters, use the
//! sandbox, a container or another user.
//!
//! ```text
//! command line ─► parse ─► walk (expand, follow, unwrap) ─► judge ─┬─► deny list   (Pattern)
//!                                                                  ├─► built-in rules
//!                                                                  └─► allow list  (Pattern)
//! path ─► directories (links resolved) ─► allowed directories
//! agent, time ─► RateLimiter
//! ```
//!
//! - A line is parsed as the shell that runs it would parse it ([`Dialect`]), and every simple command
//!   found anywhere in it is judged: in pipelines, substitutions, functions, `bash -c`, `sudo`,
//!   `xargs`, `find -exec`, `ssh`.
//! - Built-in rules act on the effect: `dd` is refused where it writes to a device, `rm -rf .` where
//!   the directory, followed through `cd`, is one to guard.
//! - What cannot be known before the run (`$DIR`, `$(make-name)`) is let pass, except where the rest
//!   of the command shows the danger by itself (`$X -rf /`).
//! - Text that is no shell syntax, or that versions of one shell read differently, is scanned for
//!   words, and judged by what is found.
//! - An allow list fails closed: what is in doubt, a variable set for a command, a redirection to a
//!   file and a program by a path of its own are refused unless an entry names them. A line is walked
//!   a second time for it, by its text alone: what a variable holds may have changed by then, and what
//!   a shell evaluates once more (arithmetic, subscripts, names) has to be plain numbers.
//! - Nesting, length and work are bounded ([`MAX_NESTING`], [`MAX_COMMAND`], [`MAX_PARTS`],
//!   [`MAX_STEPS`], [`MAX_EXPANSION`]); what exceeds a bound is refused, with the bound as the reason.
//!
//! What is deliberately absent: output, clocks, environment variables. The file system is touched
//! only through [`ReadLink`]: to follow links, and to see whether the target of a `cd` is missing.

mod allow;
mod config;
mod decision;
mod dialect;
mod directories;
mod glob;
mod judge;
mod parse;
mod pattern;
mod place;
mod policy;
mod rate;
mod rules;
mod scan;
mod walk;

pub use config::{ConfigError, PolicyConfig, RateLimit};
pub use decision::{Decision, Explanation, Judged, Verdict};
pub use dialect::Dialect;
pub use directories::{FileSystem, ReadLink};
pub use parse::{MAX_NESTING, MAX_PARTS};
pub use pattern::Pattern;
pub use policy::{MAX_COMMAND, Policy, built_in_rules};
pub use rate::{MAX_AGENTS, RateLimited, RateLimiter};
pub use walk::{MAX_EXPANSION, MAX_EXPLAINED, MAX_STEPS};

#[cfg(test)]
mod accident_tests;
#[cfg(test)]
mod allow_tests;
#[cfg(test)]
mod bounds_tests;
#[cfg(test)]
mod bypass_tests;
#[cfg(test)]
mod dialect_tests;
#[cfg(test)]
mod harmless_tests;
#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod test_tables;
