//! C and C++: a test of `GoogleTest` or Catch2, run by the program that the project has built.
//!
//! The build is the project's and not ours. Of its programs that have the source, the newest that lists the test is
//! debugged, in the directory and with the variables that ctest gives it.

mod framework;
mod macros;
mod program;

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use termbridge_dap::{CommandLine, Configuration};
use termbridge_foreign_files::off_worker;

use self::program::{Program, build_command, programs, real};
use super::names::{line_of, pick};
use super::{Place, Source, TestRun};
use crate::error::CodeError;
use crate::tool::{Tools, told};

/// How long a program may take to list its tests.
const LIST_LIMIT: Duration = Duration::from_secs(20);
/// Programs that are asked for their tests.
const MAX_ASKED: usize = 20;

/// How a test is chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Chosen {
    /// `TEST` and `TEST_F`.
    Plain { suite: String, name: String },
    /// `TEST_P`: for all values.
    Values { suite: String, name: String },
    /// `TYPED_TEST`: for all types.
    Types { suite: String, name: String },
    /// A case of Catch2, or a section of it.
    Case { case: String, sections: Vec<String>, is_template: bool },
    /// By the name in a program's own list.
    Listed { name: String, is_catch: bool },
}

impl Chosen {
    /// As people write it.
    fn name(&self) -> String {
        match self {
            Self::Plain { suite, name }
            | Self::Values { suite, name }
            | Self::Types { suite, name } => {
                format!("{suite}.{name}")
            }
            Self::Case { case, sections, .. } => {
                let parts = [case].into_iter().chain(sections);
                parts.map(String::as_str).collect::<Vec<_>>().join("/")
            }
            Self::Listed { name, .. } => name.clone(),
        }
    }

    /// Whether a listed name is of this test.
    fn is(&self, listed: &str) -> bool {
        let (listed_suite, listed_name) = listed.split_once('.').unwrap_or((listed, ""));
        match self {
            Self::Plain { suite, name } => listed_suite == suite && listed_name == name,
            Self::Values { suite, name } => {
                listed_suite.rsplit('/').next() == Some(suite)
                    && listed_name.split('/').next() == Some(name)
            }
            Self::Types { suite, name } => {
                listed_suite.split('/').any(|part| part == suite) && listed_name == name
            }
            Self::Case { case, is_template: false, .. } => listed == case,
            Self::Case { case, .. } => {
                listed.strip_prefix(case.as_str()).is_some_and(|rest| rest.starts_with(" - "))
            }
            Self::Listed { name, .. } => listed == name,
        }
    }

    /// As the framework's filter takes it.
    fn pattern(&self) -> String {
        match self {
            Self::Plain { suite, name } => format!("{suite}.{name}"),
            Self::Values { suite, name } => format!("{suite}.{name}/*:*/{suite}.{name}/*"),
            Self::Types { suite, name } => format!("{suite}/*.{name}:*/{suite}/*.{name}"),
            Self::Case { case, is_template: false, .. } => escaped(case),
            Self::Case { case, .. } => format!("{} - *", escaped(case)),
            Self::Listed { name, is_catch: true } => escaped(name),
            Self::Listed { name, is_catch: false } => name.clone(),
        }
    }
}

/// A name of a case without the meaning that Catch2 gives some characters.
fn escaped(name: &str) -> String {
    let mut escaped = String::new();
    for (at, c) in name.char_indices() {
        if matches!(c, '\\' | ',' | '[' | '"') || at == 0 && matches!(c, '~' | '-') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

pub(super) async fn test_at(source: &Source<'_>, tools: &Tools<'_>) -> Result<TestRun, CodeError> {
    let found = macros::tests(&source.text);
    let none = source.no_test(&found);
    let found = source.find(found)?;
    let (file, workspace) = (source.file.to_owned(), source.workspace.to_owned());
    let known = off_worker(workspace.clone(), move || programs(&file, &workspace)).await;
    let known = known.map_err(|error| CodeError::DiscoveryFailed(error.to_string()))?;
    let wanted = found.as_ref().map(|test| &test.how);
    let mut asked = Vec::new();
    for program in known.into_iter().take(MAX_ASKED) {
        let listed = list(&program, tools).await?;
        let chosen = match (wanted, source.place) {
            (Some(chosen), _) => listed.iter().any(|name| chosen.is(name)).then(|| chosen.clone()),
            (None, Place::Name(name)) => {
                pick(&listed, name, &source.file_name()).ok().map(|name| {
                    let is_catch = program.framework.runner() == super::Runner::Catch2;
                    Chosen::Listed { name, is_catch }
                })
            }
            (None, Place::Line(_)) => return Err(none),
        };
        if let Some(chosen) = chosen {
            let line = match &found {
                Some(test) => test.first,
                None => line_of(&source.text, &word_of(&chosen.name())),
            };
            return run(source, tools, &program, &chosen, line).await;
        }
        asked.push((program, listed));
    }
    Err(not_built(source, wanted, asked))
}

/// The word in a listed name that its source has: `All/Even.IsEven/0` is made by `IsEven`.
fn word_of(name: &str) -> String {
    let test = name.split_once('.').map_or(name, |(_, test)| test);
    test.split('/').next().unwrap_or(test).to_owned()
}

/// The tests of a program, by its own list.
async fn list(program: &Program, tools: &Tools<'_>) -> Result<Vec<String>, CodeError> {
    let folder = program.path.parent().unwrap_or(&program.path);
    let command =
        CommandLine::new(&program.path).args(program.framework.list_arguments()).cwd(folder);
    let failed = |why: &str| {
        let path = program.path.display();
        CodeError::DiscoveryFailed(format!("{path} does not list its tests: {why}"))
    };
    let captured = tokio::time::timeout(LIST_LIMIT, tools.run(command)).await;
    let captured = captured.map_err(|_| failed("it did not end"))??;
    let output = String::from_utf8_lossy(&captured.stdout);
    let listed = program.framework.listed(&output);
    // Catch2 ends with the number of its tests.
    if listed.is_empty() && !captured.status.success() {
        return Err(failed(&told(&String::from_utf8_lossy(&captured.stderr))));
    }
    Ok(listed)
}

async fn run(
    source: &Source<'_>,
    tools: &Tools<'_>,
    program: &Program,
    chosen: &Chosen,
    line: u64,
) -> Result<TestRun, CodeError> {
    let folder = program.path.parent().unwrap_or(source.workspace);
    let entry = ctest_entry(source, tools, &program.path, &chosen.name()).await.unwrap_or_default();
    let mut configuration = Configuration::launch("cpp", &program.path, folder)
        .args(program.framework.run_arguments(chosen));
    // The sources are in the workspace, wherever it runs.
    configuration.folder = source.project();
    configuration.traps_at_failures = true;
    if let Some(folder) = entry.property("WORKING_DIRECTORY").and_then(Value::as_str) {
        configuration = configuration.with("cwd", folder);
    }
    let variables = entry.property("ENVIRONMENT").and_then(Value::as_array);
    let variables = variables.into_iter().flatten().filter_map(|pair| {
        let (name, value) = pair.as_str()?.split_once('=')?;
        Some((name.to_owned(), json!(value)))
    });
    let variables: Map<String, Value> = variables.collect();
    if !variables.is_empty() {
        configuration = configuration.with("env", variables);
    }
    let name = chosen.name();
    configuration.name.clone_from(&name);
    let runner = program.framework.runner();
    Ok(TestRun { runner, name, line, configuration, warning: stale(source, program) })
}

/// Says that a source was changed after its program was built.
fn stale(source: &Source<'_>, program: &Program) -> Option<String> {
    let changed = source.file.metadata().and_then(|file| file.modified()).ok()?;
    let build = build_command(source.file, source.workspace, Some(&program.path));
    (changed > program.built).then(|| {
        let program = program.path.file_name().unwrap_or_default().to_string_lossy();
        format!(
            "{} was changed after {program} was built: this runs the old version of the test. Build it again: {build}",
            source.file_name()
        )
    })
}

/// The error when no program has the test.
fn not_built(
    source: &Source<'_>,
    wanted: Option<&Chosen>,
    asked: Vec<(Program, Vec<String>)>,
) -> CodeError {
    let file = source.file_name();
    let build = |program| build_command(source.file, source.workspace, program);
    let Some((newest, listed)) = asked.into_iter().next() else {
        return CodeError::DiscoveryFailed(format!(
            "no built test program of GoogleTest or Catch2 has {file}; build it: {}",
            build(None)
        ));
    };
    let (path, build) = (newest.path.display(), build(Some(&newest.path)));
    match (wanted, source.place) {
        (None, Place::Name(name)) => match pick(&listed, name, &file) {
            Err(CodeError::NoTestAtCursor(why)) => CodeError::NoTestAtCursor(format!(
                "{why} (by {path}; if it is new, build it: {build})"
            )),
            Err(other) => other,
            Ok(_) => CodeError::Internal(format!("{path} lists {name} and does not")),
        },
        (wanted, _) => {
            let name = wanted.map(Chosen::name).unwrap_or_default();
            CodeError::DiscoveryFailed(format!(
                "{path} has {file}, but does not list {name}; build it again: {build}"
            ))
        }
    }
}

/// A test as ctest lists it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    name: String,
    command: Vec<String>,
    properties: Vec<Property>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Property {
    name: String,
    value: Value,
}

impl Entry {
    fn property(&self, name: &str) -> Option<&Value> {
        self.properties
            .iter()
            .find(|property| property.name == name)
            .map(|property| &property.value)
    }
}

/// How ctest runs a program, for the test if it lists tests singly; nothing where there is no ctest.
async fn ctest_entry(
    source: &Source<'_>,
    tools: &Tools<'_>,
    program: &Path,
    name: &str,
) -> Option<Entry> {
    #[derive(Deserialize)]
    struct Tests {
        tests: Vec<Entry>,
    }
    let has_tests = |folder: &&Path| folder.join("CTestTestfile.cmake").is_file();
    let project = source.project();
    let inside = program.ancestors().take_while(|folder| folder.starts_with(&project));
    let build = inside.filter(has_tests).last()?;
    let ctest = tools.environment.find_program("ctest")?;
    let command = CommandLine::new(ctest).args(["--show-only=json-v1"]).cwd(build);
    let captured = tokio::time::timeout(LIST_LIMIT, tools.run(command)).await.ok()?.ok()?;
    let tests: Tests = serde_json::from_slice(&captured.stdout).ok()?;
    let program = real(program);
    let is_of_program = |entry: &Entry| {
        entry.command.first().is_some_and(|first| real(Path::new(first)) == program)
    };
    let mut of_program: Vec<_> = tests.tests.into_iter().filter(is_of_program).collect();
    let at = of_program.iter().position(|entry| entry.name == name).unwrap_or_default();
    (at < of_program.len()).then(|| of_program.swap_remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_names_belong_to_their_macros() {
        let (suite, name) = ("S".to_owned(), "N".to_owned());
        let values = Chosen::Values { suite: suite.clone(), name: name.clone() };
        assert!(values.is("All/S.N/0") && values.is("S.N/two"));
        assert!(!values.is("All/T.N/0") && !values.is("All/S.NN/0"));
        let types = Chosen::Types { suite: suite.clone(), name: name.clone() };
        assert!(types.is("S/0.N") && types.is("My/S/1.N") && !types.is("S/0.M"));
        let plain = Chosen::Plain { suite, name };
        assert!(plain.is("S.N") && !plain.is("S.N/0"));
        let case = Chosen::Case { case: "sizes".to_owned(), sections: vec![], is_template: true };
        assert!(case.is("sizes - int") && !case.is("sizes") && !case.is("sizes of"));
    }

    #[test]
    fn names_of_cases_are_escaped() {
        assert_eq!(escaped(r#"~a, [b] "c""#), r#"\~a\, \[b] \"c\""#);
        assert_eq!(escaped("-a ~ b"), r"\-a ~ b");
    }
}
