//! `termbridge man`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::{Arguments, ManArguments};

pub(crate) fn run(arguments: &ManArguments) -> Result<ExitCode> {
    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.with_context(|| format!("cannot write the man pages to {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
