//! delve: `dlv dap` listens on a port, serves one client and ends with it.

mod declarations;
mod quirks;
mod statements;
mod tokens;
mod values;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub(crate) use self::quirks::Delve;
use super::registry::{Missing, Search, configured};
use super::{Adapter, AdapterKind, Transport};
use crate::configuration::{CORE_FIELDS, Configuration, Request, set_default};
use crate::process::CommandLine;

pub(super) fn find(search: &Search<'_>) -> Result<Adapter, Missing> {
    let found = match &search.paths.delve {
        Some(path) => Some(configured(path, "dlv")?.to_owned()),
        None => {
            let environment = search.environment;
            let in_home = environment.home().map(|home| home.join("go/bin/dlv"));
            let in_gopath = environment.get("GOPATH").map(|path| Path::new(path).join("bin/dlv"));
            let in_folder = |path: Option<PathBuf>| environment.find_program(path?.to_str()?);
            let found = environment.find_program("dlv").or_else(|| in_folder(in_gopath));
            found.or_else(|| in_folder(in_home))
        }
    };
    let dlv = found.ok_or_else(|| "dlv is neither on the search path nor in go/bin".to_owned())?;
    let command = CommandLine::new(dlv).args(["dap", "--listen", "127.0.0.1:0"]);
    Ok(Adapter {
        kind: AdapterKind::Delve,
        transport: Transport::Server(command),
        interpreter: None,
    })
}

/// The folder in which the program is built: that of its module.
pub(super) fn build_folder(configuration: &Configuration) -> PathBuf {
    match configuration.program_path() {
        Some(path) if path.is_dir() => path,
        Some(path) => path.parent().map_or_else(|| configuration.folder.clone(), Path::to_owned),
        None => configuration.folder.clone(),
    }
}

pub(super) fn arguments(configuration: &Configuration) -> Map<String, Value> {
    let mut arguments = configuration.arguments();
    arguments.insert("type".to_owned(), json!("go"));
    if configuration.request == Request::Attach {
        if let Some(pid) = arguments.remove("pid") {
            set_default(&mut arguments, "processId", pid);
        }
        let remote = arguments.contains_key("port");
        set_default(&mut arguments, "mode", json!(if remote { "remote" } else { "local" }));
        return arguments;
    }
    if let Some(core) = configuration.core_file() {
        CORE_FIELDS.iter().for_each(|field| drop(arguments.remove(*field)));
        arguments.insert("coreFilePath".to_owned(), json!(core));
        arguments.insert("mode".to_owned(), json!("core"));
        return arguments;
    }
    if !arguments.contains_key("mode") || arguments["mode"] == "auto" {
        arguments.insert("mode".to_owned(), json!(mode(configuration)));
    }
    if builds(&arguments) {
        set_default(&mut arguments, "dlvCwd", json!(build_folder(configuration)));
    }
    arguments
}

/// Whether delve builds the program, to the path in `output`.
pub(super) fn builds(arguments: &Map<String, Value>) -> bool {
    arguments.get("mode").is_some_and(|mode| mode == "debug" || mode == "test")
}

/// Whether the program is the tests of a package.
pub(super) fn is_test(arguments: &Map<String, Value>) -> bool {
    arguments.get("mode").is_some_and(|mode| mode == "test")
}

/// The build that delve does, which prints nothing unless it fails.
pub(super) fn build_line(configuration: &Configuration) -> Option<String> {
    let arguments = arguments(configuration);
    if configuration.request == Request::Attach || !builds(&arguments) {
        return None;
    }
    let command = if is_test(&arguments) { "go test -c" } else { "go build" };
    let program = configuration.program_path()?;
    Some(match program.strip_prefix(&configuration.folder) {
        Ok(inside) if inside.as_os_str().is_empty() => format!("{command} ."),
        Ok(inside) => format!("{command} ./{}", inside.display()),
        Err(_) => format!("{command} {}", program.display()),
    })
}

fn mode(configuration: &Configuration) -> &'static str {
    match configuration.program_path() {
        Some(path) if path.is_dir() => "debug",
        Some(path) if path.to_string_lossy().ends_with("_test.go") => "test",
        Some(path) if path.extension().is_some_and(|extension| extension == "go") => "debug",
        _ => "exec",
    }
}

/// The two sides of `a.b[0] = value`, where that is an assignment to a place.
pub(super) fn assignment(expression: &str) -> Option<(&str, &str)> {
    let (place, value) = expression.split_once('=')?;
    let (place, value) = (place.trim(), value.trim());
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']');
    let is_place = !place.is_empty() && place.chars().all(is_part);
    (is_place && !value.is_empty() && !value.starts_with('=')).then_some((place, value))
}

#[cfg(test)]
mod tests {
    use super::assignment;

    #[test]
    fn assignments_and_comparisons() {
        assert_eq!(assignment("sum = 200"), Some(("sum", "200")));
        assert_eq!(assignment("a.rows[2]=f(\"x=y\")"), Some(("a.rows[2]", "f(\"x=y\")")));
        for other in ["a == 1", "a != 1", "a <= 1", "a := 1", "f(\"x=y\")", "sum", "= 3", "a ="] {
            assert_eq!(assignment(other), None, "{other}");
        }
    }
}
