//! Tasks of tasks.json: what to run before a program is debugged.

use std::ffi::OsString;

use serde_json::{Map, Value};

use super::variables::Variables;
use super::with_system;
use crate::error::DebugError;
use crate::process::CommandLine;
use crate::system::shell_line;

/// Tasks that one may lead to.
const MAX_TASKS: usize = 100;

/// A task to be run before a program is debugged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub label: String,
    /// What it runs.
    pub command: CommandLine,
    /// Whether it goes on while the program is debugged.
    pub background: bool,
}

/// The tasks for a name in the order in which they are run: those it depends on first.
pub(super) fn plan(
    file: &Value,
    label: &str,
    variables: &Variables<'_>,
) -> Result<Vec<Task>, DebugError> {
    let mut planned = Plan { file, variables, tasks: Vec::new(), open: Vec::new() };
    planned.add(label)?;
    Ok(planned.tasks)
}

/// The name of the default build task.
pub(super) fn default_build(file: &Value) -> Option<String> {
    let tasks = file["tasks"].as_array()?;
    let is_build = |task: &&Value| {
        let group = &task["group"];
        group["kind"] == "build" && group["isDefault"] == true
    };
    let only = |task: &&Value| task["group"] == "build" || task["group"]["kind"] == "build";
    let found = tasks.iter().find(is_build).or_else(|| tasks.iter().find(only))?;
    label_of(found.as_object()?)
}

struct Plan<'a> {
    file: &'a Value,
    variables: &'a Variables<'a>,
    tasks: Vec<Task>,
    /// Tasks whose dependencies are being added.
    open: Vec<String>,
}

impl Plan<'_> {
    fn add(&mut self, label: &str) -> Result<(), DebugError> {
        if self.tasks.iter().any(|task| task.label == label) {
            return Ok(());
        }
        if self.open.iter().any(|open| open == label) || self.open.len() >= MAX_TASKS {
            return Err(wrong(format!("the task {label:?} depends on itself")));
        }
        let entries = self.file["tasks"].as_array().into_iter().flatten();
        let mut objects = entries.filter_map(Value::as_object);
        let found = objects.find(|task| label_of(task).as_deref() == Some(label));
        let Some(found) = found else {
            let entries = self.file["tasks"].as_array().into_iter().flatten();
            let names: Vec<_> = entries.filter_map(|task| label_of(task.as_object()?)).collect();
            return Err(wrong(format!("no task {label:?}; there are: {}", names.join(", "))));
        };
        let mut task = with_system(found);
        // What stands outside the list counts for all of it.
        if let Some(file) = self.file.as_object() {
            for name in ["type", "command", "options"] {
                if let (false, Some(value)) = (task.contains_key(name), with_system(file).get(name))
                {
                    task.insert(name.to_owned(), value.clone());
                }
            }
        }
        self.open.push(label.to_owned());
        for dependency in dependencies(&task) {
            self.add(&dependency)?;
        }
        self.open.pop();
        if task.contains_key("command") || task.contains_key("script") {
            let Value::Object(task) = self.variables.fill(&Value::Object(task))? else {
                return Ok(());
            };
            self.tasks.push(self.task(label, &task)?);
        }
        Ok(())
    }

    fn task(&self, label: &str, task: &Map<String, Value>) -> Result<Task, DebugError> {
        let text = |name: &str| task.get(name).and_then(Value::as_str).unwrap_or_default();
        let args: Vec<String> = texts(task.get("args"));
        let options = task.get("options").unwrap_or(&Value::Null);
        let mut command = match text("type") {
            "shell" => {
                let shell = options["shell"]["executable"].as_str().map(OsString::from);
                let first = texts(task.get("command")).join(" ");
                let rest = task.get("args").and_then(Value::as_array).into_iter().flatten();
                let rest = rest.map(shell_word);
                let line = std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" ");
                shell_line(shell, self.variables.environment(), &line)
            }
            "process" | "" => CommandLine::new(text("command")).args(args),
            "cargo" => CommandLine::new("cargo").args([text("command")]).args(args),
            "npm" => CommandLine::new("npm").args(["run", text("script")]),
            other => {
                return Err(wrong(format!(
                    "the task {label:?} is of type {other:?}, which only an extension can run"
                )));
            }
        };
        let folder = self.variables.folder();
        let inside = options["cwd"].as_str().or(task.get("path").and_then(Value::as_str));
        command.cwd = Some(inside.map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd)));
        let variables = options["env"].as_object().into_iter().flatten();
        let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let env = variables.map(|(name, own)| (name.into(), Some(value(own).into())));
        command.env = env.collect();
        let background = task.get("isBackground").and_then(Value::as_bool).unwrap_or(false);
        Ok(Task { label: label.to_owned(), command, background })
    }
}

fn label_of(task: &Map<String, Value>) -> Option<String> {
    let own = ["label", "taskName"].iter().find_map(|name| task.get(*name)?.as_str());
    own.map(str::to_owned).or_else(|| {
        // Tasks of npm and cargo need no label.
        let kind = task.get("type")?.as_str()?;
        let what = task.get("script").or(task.get("command"))?.as_str()?;
        matches!(kind, "npm" | "cargo").then(|| format!("{kind}: {what}"))
    })
}

fn dependencies(task: &Map<String, Value>) -> Vec<String> {
    match task.get("dependsOn") {
        Some(Value::Array(list)) => {
            let name = |item: &Value| item.as_str().or(item["task"].as_str()).map(str::to_owned);
            list.iter().filter_map(name).collect()
        }
        Some(Value::String(name)) => vec![name.clone()],
        _ => Vec::new(),
    }
}

/// Texts, also where they are `{"value": …, "quoting": …}`, one or a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    let text = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => fields.get("value").map(|value| texts(Some(value)).join(" ")),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(text).collect(),
        Some(other) => text(other).into_iter().collect(),
        None => Vec::new(),
    }
}

/// An argument for a shell: quoted as it says, or where a space would split it.
fn shell_word(argument: &Value) -> String {
    let text = texts(Some(argument)).join(" ");
    let strong = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    match argument["quoting"].as_str() {
        Some("strong") => strong(&text),
        Some("weak") => format!("\"{}\"", text.replace('"', "\\\"")),
        Some("escape") => text.replace(' ', "\\ "),
        _ => {
            let is_quoted = text.len() > 1 && text.starts_with(['"', '\'']);
            let splits = text.is_empty() || text.contains(char::is_whitespace);
            if splits && !is_quoted { strong(&text) } else { text }
        }
    }
}

fn wrong(what: String) -> DebugError {
    DebugError::InvalidParams(format!("tasks.json: {what}"))
}
