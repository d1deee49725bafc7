//! `.vscode/launch.json` and `tasks.json`, read as VS Code reads them.
//!
//! Both are JSON with comments and trailing commas. [`LaunchFile::plan`] turns the name of a
//! configuration or a compound into what is to be started, variables filled in, with the tasks that
//! come before. What needs the editor (`${command:…}`) is refused with
//! the reason. Reads files of the workspace and nothing else; runs nothing.

mod env_file;
mod file;
mod tasks;
mod variables;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

pub use self::tasks::Task;
use self::variables::Variables;
pub use self::variables::Workspace;
use crate::configuration::{Configuration, Request};
use crate::error::DebugError;

/// A launch.json with the tasks.json beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchFile {
    path: PathBuf,
    configurations: Vec<Map<String, Value>>,
    compounds: Vec<Map<String, Value>>,
    tasks: Value,
    settings: Value,
    inputs: Vec<Map<String, Value>>,
}

/// Something that launch.json offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchName {
    /// Its name.
    pub name: String,
    /// The `type` of a configuration.
    pub kind: Option<String>,
    /// The configurations of a compound.
    pub parts: Vec<String>,
}

/// What is to be started for a name.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchPlan {
    /// Tasks before everything, in order.
    pub before: Vec<Task>,
    /// The configurations, each with the tasks before it.
    pub parts: Vec<(Vec<Task>, Configuration)>,
    /// Whether the end of one is the end of all.
    pub stop_all: bool,
}

impl LaunchFile {
    /// Reads the files of a workspace.
    pub fn read(folder: &Path) -> Result<Self, DebugError> {
        let vscode = folder.join(".vscode");
        let path = vscode.join("launch.json");
        let launch = file::read(&path)?.ok_or_else(|| DebugError::FileNotFound(path.clone()))?;
        let list = |name: &str| -> Vec<Map<String, Value>> {
            let entries = launch[name].as_array().cloned().unwrap_or_default();
            entries.into_iter().filter_map(|entry| entry.as_object().cloned()).collect()
        };
        Ok(Self {
            configurations: list("configurations"),
            compounds: list("compounds"),
            inputs: list("inputs"),
            tasks: file::read(&vscode.join("tasks.json"))?.unwrap_or_default(),
            settings: file::read(&vscode.join("settings.json"))?.unwrap_or_default(),
            path,
        })
    }

    /// What the file offers.
    pub fn names(&self) -> Vec<LaunchName> {
        let configurations = self.configurations.iter().filter_map(|entry| {
            let kind = text(entry, "type").map(str::to_owned);
            Some(LaunchName { name: text(entry, "name")?.to_owned(), kind, parts: Vec::new() })
        });
        let compounds = self.compounds.iter().filter_map(|entry| {
            let name = text(entry, "name")?.to_owned();
            Some(LaunchName { name, kind: None, parts: parts(entry) })
        });
        configurations.chain(compounds).collect()
    }

    /// What is to be started for a name.
    pub fn plan(&self, name: &str, workspace: &Workspace<'_>) -> Result<LaunchPlan, DebugError> {
        let variables = Variables::new(workspace, &self.settings, &self.tasks, &self.inputs);
        if let Some(entry) = find(&self.configurations, name) {
            let part = self.part(entry, &variables)?;
            return Ok(LaunchPlan { before: Vec::new(), parts: vec![part], stop_all: false });
        }
        let Some(compound) = find(&self.compounds, name) else {
            return Err(self.unknown(name));
        };
        let parts = parts(compound).into_iter().map(|name| {
            let entry = find(&self.configurations, &name).ok_or_else(|| self.unknown(&name))?;
            self.part(entry, &variables)
        });
        Ok(LaunchPlan {
            before: self.tasks_for(compound, "preLaunchTask", &variables)?,
            parts: parts.collect::<Result<_, _>>()?,
            stop_all: compound.get("stopAll").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    fn part(
        &self,
        entry: &Map<String, Value>,
        variables: &Variables<'_>,
    ) -> Result<(Vec<Task>, Configuration), DebugError> {
        let merged = with_system(entry);
        let tasks = self.tasks_for(&merged, "preLaunchTask", variables)?;
        let mut fields = merged;
        // The task's name is not for the adapter, and its variables are resolved above.
        fields.remove("preLaunchTask");
        let Value::Object(mut fields) = variables.fill(&Value::Object(fields))? else {
            return Err(self.wrong("a configuration is no object"));
        };
        let mut take = |name: &str| match fields.remove(name) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text),
            _ => Err(self.wrong(&format!("a configuration has no {name:?}"))),
        };
        let (name, kind, request) = (take("name")?, take("type")?, take("request")?);
        let request = match request.as_str() {
            "launch" => Request::Launch,
            "attach" => Request::Attach,
            other => return Err(self.wrong(&format!("{name:?} has the request {other:?}"))),
        };
        let folder = variables.folder().to_owned();
        env_file::merge(&mut fields, &folder)?;
        absolute(&mut fields, "program", &folder);
        absolute(&mut fields, "cwd", &folder);
        Ok((tasks, Configuration::new(name, kind, request, folder, fields)))
    }

    fn tasks_for(
        &self,
        entry: &Map<String, Value>,
        field: &str,
        variables: &Variables<'_>,
    ) -> Result<Vec<Task>, DebugError> {
        let Some(name) = entry.get(field).filter(|name| !name.is_null()) else {
            return Ok(Vec::new());
        };
        let label = name.as_str().or(name["task"].as_str()).unwrap_or_default();
        tasks::plan(&self.tasks, &variables.text(label)?, variables)
    }

    fn unknown(&self, name: &str) -> DebugError {
        let names: Vec<_> = self.names().into_iter().map(|known| known.name).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        self.wrong(&format!("no configuration {name:?}; there are: {known}"))
    }

    fn wrong(&self, what: &str) -> DebugError {
        DebugError::InvalidParams(format!("{}: {what}", self.path.display()))
    }
}

/// An entry with the fields for this system put over the others.
fn with_system(entry: &Map<String, Value>) -> Map<String, Value> {
    let system = match std::env::consts::OS {
        "macos" => "osx",
        other => other,
    };
    let mut merged = entry.clone();
    for name in ["linux", "osx", "windows"] {
        let own = merged.remove(name);
        if let (true, Some(Value::Object(own))) = (name == system, own) {
            merged.extend(own);
        }
    }
    merged
}

/// Makes a path absolute, unless it is a name to be searched for.
fn absolute(fields: &mut Map<String, Value>, name: &str, folder: &Path) {
    if let Some(path) = text(fields, name).map(|path| folder.join(path)) {
        fields.insert(name.to_owned(), Value::String(path.to_string_lossy().into_owned()));
    }
}

fn find<'a>(entries: &'a [Map<String, Value>], name: &str) -> Option<&'a Map<String, Value>> {
    entries.iter().find(|entry| text(entry, "name") == Some(name))
}

fn parts(compound: &Map<String, Value>) -> Vec<String> {
    let parts = compound.get("configurations").and_then(Value::as_array);
    let name = |part: &Value| part.as_str().or(part["name"].as_str()).map(str::to_owned);
    parts.into_iter().flatten().filter_map(name).collect()
}

fn text<'a>(entry: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    entry.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
#[path = "launch_json/tests.rs"]
mod tests;
