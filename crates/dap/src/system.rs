//! Where systems differ about programs: how they are named and where they lie, how variables are compared, which shell
//! runs a line.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
use unix as here;
#[cfg(not(unix))]
use windows as here;

pub use here::VENV_PROGRAMS;
pub(crate) use here::{HOME, VENV_PYTHON, program_names, read_answer, shell_line, variable_name};
