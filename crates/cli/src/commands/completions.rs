//! `termbridge completions`.

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use super::print;
use crate::args::Arguments;

pub(crate) fn run(shell: Shell) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "termbridge", &mut script);
    print(&String::from_utf8_lossy(&script))
}
