//! `termbridge completions`.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;

pub(crate) fn run(shell: Shell) -> ExitCode {
    clap_complete::generate(shell, &mut Arguments::command(), "termbridge", &mut std::io::stdout());
    ExitCode::SUCCESS
}
