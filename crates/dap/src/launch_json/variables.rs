//! VS Code's variables: `${workspaceFolder}`, `${file}`, `${env:NAME}`, …

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::tasks;
use crate::environment::Environment;
use crate::error::DebugError;

/// What variables stand for.
#[derive(Debug, Clone, Copy)]
pub struct Workspace<'a> {
    /// The workspace.
    pub folder: &'a Path,
    /// The file that is worked on, where there is one.
    pub file: Option<&'a Path>,
    /// The line in it.
    pub line: Option<u64>,
    /// The environment.
    pub environment: &'a Environment,
    /// Values for `${input:…}`, by the names of the inputs.
    pub inputs: &'a Map<String, Value>,
}

pub(super) struct Variables<'a> {
    workspace: &'a Workspace<'a>,
    settings: &'a Value,
    tasks: &'a Value,
    /// The inputs that launch.json describes.
    inputs: &'a [Map<String, Value>],
}

impl<'a> Variables<'a> {
    pub(super) fn new(
        workspace: &'a Workspace<'a>,
        settings: &'a Value,
        tasks: &'a Value,
        inputs: &'a [Map<String, Value>],
    ) -> Self {
        Self { workspace, settings, tasks, inputs }
    }

    pub(super) fn folder(&self) -> &Path {
        self.workspace.folder
    }

    pub(super) fn environment(&self) -> &Environment {
        self.workspace.environment
    }

    /// Fills in every text of a value.
    pub(super) fn fill(&self, value: &Value) -> Result<Value, DebugError> {
        Ok(match value {
            Value::String(text) => Value::String(self.text(text)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.fill(item)).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let fill = |(name, value): (&String, _)| Ok((name.clone(), self.fill(value)?));
                Value::Object(fields.iter().map(fill).collect::<Result<_, DebugError>>()?)
            }
            other => other.clone(),
        })
    }

    /// Fills in one text. What is no variable stays as it is.
    pub(super) fn text(&self, text: &str) -> Result<String, DebugError> {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start..].find('}') else { break };
            let name = &rest[start + 2..start + length];
            filled.push_str(&rest[..start]);
            match self.value(name)? {
                Some(value) => filled.push_str(&value),
                None => filled.push_str(&rest[start..=start + length]),
            }
            rest = &rest[start + length + 1..];
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&self, name: &str) -> Result<Option<String>, DebugError> {
        if let Some((kind, argument)) = name.split_once(':') {
            return self.value_with_argument(kind, argument, name);
        }
        let folder = self.workspace.folder;
        let file = || self.file(name);
        let relative = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_owned();
        let parent = |path: PathBuf| path.parent().unwrap_or(Path::new("")).to_owned();
        let part = |part: Option<&std::ffi::OsStr>| PathBuf::from(part.unwrap_or_default());
        let path = match name {
            "workspaceFolder" | "workspaceRoot" | "fileWorkspaceFolder" | "cwd" => {
                folder.to_owned()
            }
            "workspaceFolderBasename" | "fileWorkspaceFolderBasename" => part(folder.file_name()),
            "file" => file()?,
            "relativeFile" => relative(&file()?),
            "relativeFileDirname" => relative(&parent(file()?)),
            "fileBasename" => part(file()?.file_name()),
            "fileBasenameNoExtension" => part(file()?.file_stem()),
            "fileDirname" => parent(file()?),
            "fileDirnameBasename" => part(parent(file()?).file_name()),
            "fileExtname" => match file()?.extension() {
                Some(extension) => PathBuf::from(format!(".{}", extension.to_string_lossy())),
                None => PathBuf::new(),
            },
            "userHome" => match self.workspace.environment.home() {
                Some(home) => home.to_owned(),
                None => return Err(refused(name, "there is no home folder")),
            },
            "pathSeparator" | "/" => PathBuf::from(std::path::MAIN_SEPARATOR_STR),
            "lineNumber" => match self.workspace.line {
                Some(line) => PathBuf::from(line.to_string()),
                None => return Err(refused(name, "no line was given")),
            },
            "defaultBuildTask" => match tasks::default_build(self.tasks) {
                Some(label) => PathBuf::from(label),
                None => return Err(refused(name, "tasks.json has no default build task")),
            },
            "selectedText" | "columnNumber" | "execPath" => {
                return Err(refused(name, "only an editor knows it"));
            }
            _ => return Ok(None),
        };
        Ok(Some(path.to_string_lossy().into_owned()))
    }

    fn value_with_argument(
        &self,
        kind: &str,
        argument: &str,
        name: &str,
    ) -> Result<Option<String>, DebugError> {
        match kind {
            "env" => {
                let value = self.workspace.environment.get(argument).unwrap_or_default();
                Ok(Some(value.to_string_lossy().into_owned()))
            }
            "config" => match self.setting(argument) {
                Some(Value::String(text)) => Ok(Some(text.clone())),
                Some(Value::Null) | None => {
                    Err(refused(name, "the workspace's settings.json does not have it"))
                }
                Some(other) => Ok(Some(other.to_string())),
            },
            "workspaceFolder" | "workspaceFolderBasename" => {
                let own = self.workspace.folder.file_name();
                if own.is_some_and(|own| own.to_string_lossy() == argument) {
                    self.value(kind)
                } else {
                    Err(refused(
                        name,
                        "there is only one workspace folder, and it has another name",
                    ))
                }
            }
            "input" => self.input(argument, name).map(Some),
            "command" => Err(refused(
                name,
                "it runs a command of the editor; write the value into launch.json instead",
            )),
            _ => Ok(None),
        }
    }

    /// What was given for an input, or else its default.
    fn input(&self, id: &str, name: &str) -> Result<String, DebugError> {
        let described =
            self.inputs.iter().find(|input| input.get("id").and_then(Value::as_str) == Some(id));
        let default = described.and_then(|input| input.get("default"));
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let given = self.workspace.inputs.get(id).or(default).filter(|value| !value.is_null());
        given.map(text).ok_or_else(|| {
            let options = described.and_then(|input| input.get("options")?.as_array());
            let options = options.map(|options| {
                let value = |option: &Value| option.get("value").map_or_else(|| text(option), text);
                format!(" ({})", options.iter().map(value).collect::<Vec<_>>().join(", "))
            });
            let options = options.unwrap_or_default();
            refused(name, &format!("it has no default; give `inputs` {{{id:?}: …}}{options}"))
        })
    }

    fn setting(&self, name: &str) -> Option<&Value> {
        // Settings are usually flat, with dots in their names.
        let nested = || name.split('.').try_fold(self.settings, |at, part| at.get(part));
        self.settings.get(name).or_else(nested)
    }

    fn file(&self, name: &str) -> Result<PathBuf, DebugError> {
        let file = self.workspace.file.map(|file| self.workspace.folder.join(file));
        file.ok_or_else(|| refused(name, "no file was given"))
    }
}

fn refused(name: &str, reason: &str) -> DebugError {
    DebugError::InvalidParams(format!("${{{name}}} cannot be filled in: {reason}"))
}
