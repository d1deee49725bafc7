//! The binary `termbridge`.

fn main() -> std::process::ExitCode {
    termbridge::run()
}
