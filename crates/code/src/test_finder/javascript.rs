//! JavaScript and TypeScript: Node's own test runner, vitest, jest and mocha.
//!
//! All choose tests by a pattern on their names, with those of its suites before it. Node before 22 matches the
//! test's own name only, so namesakes in the file may run too.

mod calls;
mod runners;

use std::path::{Path, PathBuf};

use serde_json::json;
use termbridge_dap::{CommandLine, Configuration};

use self::calls::{Names, tests};
use self::runners::{JEST, MOCHA, VITEST, package};
use super::names::pick;
use super::{Found, Place, Runner, Source, TestRun};
use crate::error::CodeError;
use crate::tool::{Tools, folder_with, text_of, told};

/// Configurations of vite, which may be vitest's too.
const VITE_CONFIGURATIONS: [&str; 4] =
    ["vite.config.ts", "vite.config.mts", "vite.config.js", "vite.config.mjs"];
/// Milliseconds that jest gives a test that may be stopped for long.
const LONG: &str = "86400000";
const INSTALL_NODE: &str = "your way of installing Node";
const INSTALL_TSX: &str = "npm install --save-dev tsx";

pub(super) async fn test_at(source: &Source<'_>, tools: &Tools<'_>) -> Result<TestRun, CodeError> {
    let extension = source.file.extension().and_then(|extension| extension.to_str());
    let typed = matches!(extension, Some("ts" | "mts" | "cts"));
    let found = tests(&source.text, typed)?;
    let none = source.no_test(&found);
    match (source.find(found)?, runners::runner(source)?) {
        (Some(test), Runner::Vitest) => vitest(source, test),
        (None, Runner::Vitest) => vitest(source, listed_by_vitest(source, tools).await?),
        (Some(test), Runner::Jest) => jest(source, test),
        (Some(test), Runner::Mocha) => mocha(source, test, tools).await,
        (Some(test), _) => node_test(source, test, tools).await,
        // These list nothing without running it.
        (None, _) => Err(none),
    }
}

/// A test whose name is made when the file is loaded: `it.each`, a loop.
async fn listed_by_vitest(
    source: &Source<'_>,
    tools: &Tools<'_>,
) -> Result<Found<Names>, CodeError> {
    #[derive(serde::Deserialize)]
    struct Listed {
        name: String,
    }
    let Place::Name(wanted) = source.place else { return Err(source.no_test::<()>(&[])) };
    let program = VITEST.program(source)?;
    if let Some(version) = vitest_version(&program).filter(|(major, _)| *major < 2) {
        let (major, minor) = version;
        return Err(CodeError::DiscoveryFailed(format!(
            "{} has no test with the literal name {wanted:?}, and vitest {major}.{minor} cannot list \
             names that are made when the file is loaded: give the line of the test, or install \
             vitest 2 or later",
            source.file_name()
        )));
    }
    let node = tools.find("node", INSTALL_NODE)?;
    let command = CommandLine::new(node)
        .args([program.as_os_str(), "list".as_ref(), source.file.as_os_str()])
        // Last: it would take what follows for a file to write to.
        .args(["--no-color", "--json"])
        .cwd(vitest_root(source));
    let captured = tools.run(command).await?;
    let listed: Vec<Listed> = serde_json::from_slice(&captured.stdout).map_err(|_| {
        let output = [captured.stdout, captured.stderr].concat();
        let said = told(&String::from_utf8_lossy(&output));
        CodeError::DiscoveryFailed(format!("vitest list failed:\n{said}"))
    })?;
    let listed: Vec<String> = listed.into_iter().map(|test| test.name).collect();
    let name = pick(&listed, wanted, &source.file_name())?;
    let how = Names::literal(name.split(" > "));
    Ok(Found { name, first: 1, last: 1, how })
}

fn vitest(source: &Source<'_>, test: Found<Names>) -> Result<TestRun, CodeError> {
    let (program, root) = (VITEST.program(source)?, vitest_root(source));
    let pattern = vitest_pattern(&test.how);
    let file = source.file.to_string_lossy();
    let args = [
        "run",
        &file,
        "--testNamePattern",
        &pattern,
        // One process that the debugger follows, and no limit on a test that is stopped.
        "--pool=forks",
        "--no-file-parallelism",
        "--testTimeout=0",
        "--hookTimeout=0",
        "--coverage.enabled=false",
        "--no-color",
    ];
    let configuration = Configuration::launch("node", program, root)
        .args(args)
        .with("autoAttachChildProcesses", true);
    Ok(run(Runner::Vitest, test, configuration))
}

/// What matches a test's full name. Names are joined with a space, and from version 5 with ` > `; in
/// version 1 the full name begins with a space.
fn vitest_pattern(names: &Names) -> String {
    format!("^ ?{}$", names.patterns.join("(?: >)? "))
}

/// The major and the minor number of an installed vitest.
fn vitest_version(program: &Path) -> Option<(u32, u32)> {
    #[derive(serde::Deserialize)]
    struct Package {
        version: String,
    }
    let package = text_of(&program.parent()?.join("package.json"));
    let package: Package = serde_json::from_str(&package).ok()?;
    Some(version(&package.version))
}

fn vitest_root(source: &Source<'_>) -> PathBuf {
    let own = folder_with(source.file, source.workspace, VITEST.configurations);
    let vites = || folder_with(source.file, source.workspace, &VITE_CONFIGURATIONS);
    own.or_else(vites).map_or_else(|| VITEST.root(source), Path::to_owned)
}

fn jest(source: &Source<'_>, test: Found<Names>) -> Result<TestRun, CodeError> {
    let file = source.file.to_string_lossy();
    let pattern = full_pattern(&test.how);
    let args = [
        "--runTestsByPath",
        &file,
        "--testNamePattern",
        &pattern,
        // In this process, with no limit on a test that is stopped.
        "--runInBand",
        "--testTimeout",
        LONG,
        "--coverage=false",
        "--watchAll=false",
    ];
    let configuration = Configuration::launch("node", JEST.program(source)?, JEST.root(source));
    let mut configuration = configuration.args(args);
    let extension = source.file.extension().and_then(|extension| extension.to_str());
    if package(source)["type"] == "module" || matches!(extension, Some("mjs" | "mts")) {
        configuration = configuration.with("runtimeArgs", json!(["--experimental-vm-modules"]));
    }
    Ok(run(Runner::Jest, test, configuration))
}

async fn mocha(
    source: &Source<'_>,
    test: Found<Names>,
    tools: &Tools<'_>,
) -> Result<TestRun, CodeError> {
    let pattern = full_pattern(&test.how);
    let file = source.file.to_string_lossy();
    let args = [&*file, "--grep", &pattern, "--timeout", "0", "--no-parallel", "--no-color"];
    let configuration = Configuration::launch("node", MOCHA.program(source)?, MOCHA.root(source));
    let mut configuration = configuration.args(args);
    // A configuration says itself how TypeScript is read.
    if folder_with(source.file, source.workspace, MOCHA.configurations).is_none() {
        let options = typescript(source, node_version(tools).await?)?;
        configuration = configuration.with("runtimeArgs", json!(options));
    }
    Ok(run(Runner::Mocha, test, configuration))
}

/// What matches a test's full name, where names are joined with a space.
fn full_pattern(names: &Names) -> String {
    format!("^{}$", names.patterns.join(" "))
}

async fn node_version(tools: &Tools<'_>) -> Result<(u32, u32), CodeError> {
    let node = tools.find("node", INSTALL_NODE)?;
    let said = tools.run(CommandLine::new(node).args(["--version"])).await?;
    Ok(version(&String::from_utf8_lossy(&said.stdout)))
}

async fn node_test(
    source: &Source<'_>,
    test: Found<Names>,
    tools: &Tools<'_>,
) -> Result<TestRun, CodeError> {
    let version = node_version(tools).await?;
    let pattern = if version >= (22, 0) {
        test.how.patterns.join(" ")
    } else {
        test.how.patterns.last().cloned().unwrap_or_default()
    };
    let mut options = vec![format!("--test-name-pattern=^{pattern}$")];
    options.extend(typescript(source, version)?);
    let root = folder_with(source.file, source.workspace, &["package.json"]);
    let root = root.map_or_else(|| source.project(), Path::to_owned);
    let configuration =
        Configuration::launch("node", source.file, root).with("runtimeArgs", json!(options));
    Ok(run(Runner::NodeTest, test, configuration))
}

fn run(runner: Runner, test: Found<Names>, configuration: Configuration) -> TestRun {
    let mut configuration =
        configuration.with("resolveSourceMapLocations", json!(["**", "!**/node_modules/**"]));
    configuration.name.clone_from(&test.name);
    // All runners catch what a test throws, and to stop at all that is caught stops in the loading
    // of modules first, hundreds of times.
    TestRun { runner, name: test.name, line: test.first, configuration, warning: None }
}

/// What Node needs to run TypeScript, when the file is that.
fn typescript(source: &Source<'_>, version: (u32, u32)) -> Result<Vec<String>, CodeError> {
    let extension = source.file.extension().and_then(|extension| extension.to_str());
    if !matches!(extension, Some("ts" | "mts" | "cts" | "tsx")) {
        return Ok(Vec::new());
    }
    if in_modules(source.file, "tsx/package.json").is_some() {
        return Ok(vec!["--import=tsx".to_owned()]);
    }
    match version {
        (22, 18..) | (23, 6..) | (24.., _) => Ok(Vec::new()),
        (22, 6..) | (23, _) => Ok(vec!["--experimental-strip-types".to_owned()]),
        (major, _) => Err(CodeError::DiscoveryFailed(format!(
            "Node {major} does not run TypeScript; install tsx with: {INSTALL_TSX}"
        ))),
    }
}

/// The major and the minor number of `v20.1.2`.
fn version(said: &str) -> (u32, u32) {
    let mut numbers = said.trim().trim_start_matches('v').split('.');
    let mut next = || numbers.next().and_then(|number| number.parse().ok()).unwrap_or_default();
    (next(), next())
}

/// A file of a package in the nearest `node_modules` that has it.
fn in_modules(file: &Path, path: &str) -> Option<PathBuf> {
    let folders = file.ancestors().skip(1);
    folders.map(|folder| folder.join("node_modules").join(path)).find(|path| path.is_file())
}
