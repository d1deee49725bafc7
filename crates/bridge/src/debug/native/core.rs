//! `debug.start` with a core file.

use std::path::Path;

use termbridge_dap::{Configuration, CoreFile};

use crate::debug::DebugFailure;

/// What looks into a core file; the program is the one that the core names, if the caller names none. Reads files.
pub(super) fn configuration(
    core: &Path,
    program: Option<&Path>,
    kind: Option<&str>,
    folder: &Path,
) -> Result<Configuration, DebugFailure> {
    let named = CoreFile::read(core)?.program;
    let missing = |message: String| {
        DebugFailure::new("E_FILE_NOT_FOUND", message).hint("give `program`: the file that crashed")
    };
    let program = program.or(named.as_deref());
    let program =
        program.ok_or_else(|| missing(format!("{} does not name its program", core.display())))?;
    if !program.is_file() {
        return Err(missing(format!("the program {} is not there", program.display())));
    }
    let kind = kind.or_else(|| Configuration::guess_kind(program));
    Ok(Configuration::core(kind.unwrap_or("lldb"), core, program, folder))
}
