//! `debug.start`, `debug.attach`, `debug.restart` and `test.debug-single`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use termbridge_code::test_finder::{self, Place, TestRun};
use termbridge_dap::launch_json::{LaunchFile, LaunchPlan, Workspace};
use termbridge_dap::{
    AdapterKind, CommandLine, Configuration, DebugError, DebugSession, LastLine, Request,
    TargetProcess,
};
use termbridge_foreign_files::{folder_of, off_worker};
use termbridge_policy::Dialect;
use termbridge_session::Launch;

use super::NativeDebugger;
use super::control::{self, TimeLimit};
use super::core;
use super::pending::{BUILD_LIMIT, Begun, Outcome, Pending};
use crate::debug::answer::{Answer, SessionView, Started, TestFacts};
use crate::debug::{DebugCall, DebugFailure};
use crate::directories;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Start {
    launch: Option<String>,
    inputs: Option<Map<String, Value>>,
    module: Option<String>,
    runtime: Option<String>,
    runtime_args: Option<Vec<String>>,
    program: Option<PathBuf>,
    core: Option<PathBuf>,
    #[serde(rename = "type")]
    kind: Option<String>,
    args: Option<Vec<String>>,
    cwd: Option<PathBuf>,
    env: Option<Map<String, Value>>,
    stop_on_entry: bool,
    just_my_code: Option<bool>,
    console: Option<String>,
    exceptions: Option<Vec<String>>,
    folder: Option<PathBuf>,
    wait: bool,
}

pub(super) async fn start(
    native: &NativeDebugger,
    asked: Start,
    call: &DebugCall,
) -> Result<Answer, DebugFailure> {
    let time = TimeLimit::new(call.timeout);
    native.check_pending()?;
    let planning = native.clone();
    let folder = asked.program.as_deref().map_or_else(|| native.workspace().to_owned(), folder_of);
    let (asked, plan) = off_worker(folder, move || {
        let plan = planning.plan(&asked);
        (asked, plan)
    })
    .await?;
    let mut plan = plan?;
    for (_, configuration) in &mut plan.parts {
        asked.lay_over(configuration)?;
    }
    let names = plan.parts.iter().map(|(_, configuration)| configuration.name.as_str());
    let what = names.collect::<Vec<_>>().join(", ");
    let starter = native.clone();
    let limit = call.timeout.max(BUILD_LIMIT);
    let said = LastLine::default();
    let heard = said.clone();
    let work = async move {
        Ok(Begun { sessions: starter.launch(plan, limit, &heard).await?, test: None })
    };
    let pending = Pending::new(what, said, work);
    let sessions = match native.begin(pending, call.timeout, &call.progress).await? {
        Outcome::Begun(begun) => begun.sessions,
        Outcome::Goes(state) => return Ok(Answer::Starting(state)),
    };
    let latest = sessions.last().ok_or(DebugError::NoSession(None))?;
    let mut started = native.started(latest).await;
    if sessions.len() > 1 {
        started.sessions = sessions.iter().map(|session| session.id().to_string()).collect();
    }
    // A core file is stopped as soon as it is read.
    if asked.wait || asked.core.is_some() {
        let terminal = started.session.terminal.clone();
        let halt = control::first_halt(native, sessions, time).await;
        started.stopped(halt.map_err(|failure| with_terminal(failure, terminal))?);
    }
    Ok(Answer::Started(Box::new(started)))
}

impl Start {
    /// Puts what the caller said over what the configuration says.
    fn lay_over(&self, configuration: &mut Configuration) -> Result<(), DebugFailure> {
        let fields = &mut configuration.fields;
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        if let Some(args) = &self.args {
            set("args", json!(args));
        }
        if let Some(cwd) = &self.cwd {
            set("cwd", json!(cwd));
        }
        if let Some(console) = &self.console {
            set("console", json!(console));
        }
        if self.stop_on_entry {
            set("stopOnEntry", json!(true));
        }
        if let Some(own) = self.just_my_code {
            set("justMyCode", json!(own));
        }
        let is_python = AdapterKind::for_type(&configuration.kind) == Some(AdapterKind::Debugpy);
        if let Some(runtime) = &self.runtime {
            set(if is_python { "python" } else { "runtimeExecutable" }, json!(runtime));
        }
        if let Some(args) = &self.runtime_args {
            set(if is_python { "pythonArgs" } else { "runtimeArgs" }, json!(args));
        }
        if let Some(env) = &self.env {
            let mut variables = variables(fields.get("env"), &configuration.name)?;
            for (name, value) in env {
                // Adapters take texts; a model may well write a number.
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                variables.insert(name.clone(), json!(text));
            }
            fields.insert("env".to_owned(), Value::Object(variables));
        }
        *configuration = with_exceptions(configuration.clone(), self.exceptions.clone());
        Ok(())
    }
}

/// Stopped by what the caller says, where it says something.
fn with_exceptions(configuration: Configuration, names: Option<Vec<String>>) -> Configuration {
    match names {
        Some(names) => configuration.exceptions(names),
        None => configuration,
    }
}

/// What to do without a launch.json.
const NO_LAUNCH_JSON: &str = "there is no launch.json here: give `program`, such as app.py";

/// A program that has a terminal may wait there for someone to type.
fn with_terminal(mut failure: DebugFailure, terminal: Option<String>) -> DebugFailure {
    if let (Some(terminal), Some(details)) = (terminal, &mut failure.details) {
        details["terminal"] = json!(terminal);
        failure.hint = Some(format!(
            "its terminal is session {terminal}: look with view_screen, type with send_keys, then \
             debug_wait_for_hit"
        ));
    }
    failure
}

/// The variables of a configuration, which lldb-dap also takes as a list of `NAME=value`.
fn variables(env: Option<&Value>, name: &str) -> Result<Map<String, Value>, DebugFailure> {
    let pair = |entry: &Value| {
        let (name, value) = entry.as_str()?.split_once('=')?;
        Some((name.to_owned(), json!(value)))
    };
    let read = match env {
        None | Some(Value::Null) => Some(Map::new()),
        Some(Value::Object(variables)) => Some(variables.clone()),
        Some(Value::Array(entries)) => entries.iter().map(pair).collect(),
        Some(_) => None,
    };
    read.ok_or_else(|| {
        let message = format!("the env of {name:?} is neither an object nor a list of NAME=value");
        DebugFailure::new("E_INVALID_PARAMS", message).hint("correct launch.json")
    })
}

#[derive(Debug, Deserialize)]
pub(super) struct Attach {
    pid: Option<u32>,
    host: String,
    port: Option<u16>,
    #[serde(rename = "type")]
    kind: Option<String>,
    exceptions: Option<Vec<String>>,
}

pub(super) async fn attach(
    native: &NativeDebugger,
    asked: Attach,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let folder = native.workspace();
    let invalid = |message: &str| DebugFailure::new("E_INVALID_PARAMS", message);
    let configuration = match (asked.pid, asked.port) {
        (Some(pid), None) => {
            let target = TargetProcess::find(pid).map_err(|error| {
                DebugFailure::from(error).hint("execute_command with `pgrep -af NAME` finds a pid")
            })?;
            let kind =
                asked.kind.or_else(|| target.kind().map(str::to_owned)).ok_or_else(|| {
                    invalid(&format!("what process {pid} runs cannot be read"))
                        .hint("give its `type`; another user's process needs that user's server")
                })?;
            // What these inject into a process of another kind would end it.
            if ["python", "node"].contains(&kind.as_str())
                && target.kind().is_some_and(|found| found != kind)
            {
                let message = format!("process {pid} does not run {kind}");
                return Err(invalid(&message).hint("leave `type` out: it is found by the program"));
            }
            Configuration::attach_to_process(&kind, pid, folder)
        }
        (None, Some(port)) => {
            let kind = asked.kind.ok_or_else(|| {
                invalid("`port` needs `type`: the debugger that listens there")
                    .hint("python for debugpy, node for --inspect, go for dlv")
            })?;
            Configuration::attach_to_server(&kind, &asked.host, port, folder)
        }
        _ => {
            return Err(invalid("give either `pid`, or `port` (and `host`)")
                .hint("execute_command with `pgrep -af NAME` finds a pid"));
        }
    };
    let configuration = with_exceptions(configuration, asked.exceptions);
    let session = native.start_one(configuration, timeout, &LastLine::default()).await?;
    Ok(Answer::Started(Box::new(native.started(&session).await)))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Restart {
    session_id: Option<String>,
    wait: bool,
}

pub(super) async fn restart(
    native: &NativeDebugger,
    asked: Restart,
    timeout: Duration,
) -> Result<Answer, DebugFailure> {
    let time = TimeLimit::new(timeout);
    let session = native.session_or_latest(asked.session_id.as_deref())?;
    native.note_starter();
    let previous = session.restart(timeout).await?;
    native.forget_end(session.id().as_str());
    let mut started = native.started(&session).await;
    started.previous_run = Some(previous);
    if asked.wait {
        started.stopped(control::first_halt(native, vec![session], time).await?);
    }
    Ok(Answer::Started(Box::new(started)))
}

#[derive(Debug, Deserialize)]
pub(super) struct Test {
    path: PathBuf,
    line: Option<u64>,
    name: Option<String>,
    exceptions: Option<Vec<String>>,
}

pub(super) async fn test(
    native: &NativeDebugger,
    asked: Test,
    call: &DebugCall,
) -> Result<Answer, DebugFailure> {
    let time = TimeLimit::new(call.timeout);
    native.check_pending()?;
    // Finding a test may build the project.
    native.check_directory(asked.path.parent().unwrap_or(&asked.path)).await?;
    let Test { path, line, name, exceptions } = asked;
    let (what, place) = match (line, name) {
        (_, Some(name)) => (format!("the test {name}"), Place::Name(name)),
        (Some(line), None) => (format!("the test at {}:{line}", path.display()), Place::Line(line)),
        (None, None) => {
            let message = "give the `line` of the test or its `name`";
            return Err(DebugFailure::new("E_INVALID_PARAMS", message));
        }
    };
    let (said, starter) = (LastLine::default(), native.clone());
    let (heard, limit) = (said.clone(), call.timeout.max(BUILD_LIMIT));
    let work = async move {
        let environment = starter.environment().heard_by(heard.clone());
        let folder = starter.workspace();
        let python = starter.debugger().python();
        let found =
            test_finder::test_at(&path, &place, folder, &environment, python, limit).await?;
        let TestRun { runner, name, line, configuration, warning } = found;
        let configuration = with_exceptions(configuration, exceptions);
        let session = starter.start_one(configuration, limit, &heard).await?;
        let runner = Some(runner.name().to_owned());
        let test = Some(TestFacts { test: name, test_line: Some(line), runner, warning });
        Ok(Begun { sessions: vec![session], test })
    };
    let pending = Pending::new(what, said, work);
    let begun = match native.begin(pending, call.timeout, &call.progress).await? {
        Outcome::Begun(begun) => begun,
        Outcome::Goes(state) => return Ok(Answer::Starting(state)),
    };
    control::first_halt_of(native, begun, time).await.map(Answer::Halt)
}

/// Refuses a directory whose file system hangs: the debugger looks at it on the workers.
async fn answers(configuration: &Configuration) -> Result<(), DebugFailure> {
    if let Some(cwd) = configuration.text("cwd") {
        directories::resolved(cwd.into()).await?;
    }
    Ok(())
}

impl NativeDebugger {
    /// What a caller wants to be started.
    fn plan(&self, asked: &Start) -> Result<LaunchPlan, DebugFailure> {
        let invalid = |message: String| DebugFailure::new("E_INVALID_PARAMS", message);
        let folder = asked.folder.as_deref().unwrap_or(self.workspace());
        if let Some(module) = &asked.module {
            if asked.launch.is_some() || asked.program.is_some() {
                let message = "give one of `launch`, `program` and `module`";
                return Err(invalid(message.to_owned()));
            }
            let configuration = Configuration::module("python", module, folder);
            let parts = vec![(Vec::new(), configuration)];
            return Ok(LaunchPlan { before: Vec::new(), parts, stop_all: false });
        }
        if let Some(core) = &asked.core {
            if asked.launch.is_some() {
                return Err(invalid("give `launch` or `core`, not both".to_owned()));
            }
            let configuration =
                core::configuration(core, asked.program.as_deref(), asked.kind.as_deref(), folder)?;
            let parts = vec![(Vec::new(), configuration)];
            return Ok(LaunchPlan { before: Vec::new(), parts, stop_all: false });
        }
        match (&asked.launch, &asked.program) {
            (Some(name), None) => {
                let environment = &self.shared.environment;
                let none = Map::new();
                let inputs = asked.inputs.as_ref().unwrap_or(&none);
                let workspace = Workspace { folder, file: None, line: None, environment, inputs };
                let file = LaunchFile::read(folder).map_err(|error| match error {
                    DebugError::FileNotFound(_) => DebugFailure::from(error).hint(NO_LAUNCH_JSON),
                    error => error.into(),
                })?;
                Ok(file.plan(name, &workspace)?)
            }
            (None, Some(program)) => {
                let guess = || Configuration::guess_kind(program).map(str::to_owned);
                if !program.exists() {
                    let missing = DebugFailure::from(DebugError::FileNotFound(program.clone()));
                    return Err(missing.hint(
                        "give a script, or a program that was built with debug information",
                    ));
                }
                let extension = program.extension().and_then(|extension| extension.to_str());
                if matches!(extension, Some("c" | "cc" | "cpp" | "cxx" | "rs")) {
                    let message = format!("{} is source, not a program", program.display());
                    return Err(invalid(message).hint(
                        "build it with debug information (gcc -g, cargo build) and give what was built",
                    ));
                }
                let kind = asked.kind.clone().or_else(guess).ok_or_else(|| {
                    invalid(format!("what {} is written in is not clear", program.display()))
                        .hint("give `type`: python, rust, c, cpp, go or node")
                })?;
                let configuration = Configuration::launch(&kind, program, folder);
                let parts = vec![(Vec::new(), configuration)];
                Ok(LaunchPlan { before: Vec::new(), parts, stop_all: false })
            }
            (Some(_), Some(_)) => Err(invalid("give `launch` or `program`, not both".to_owned())),
            (None, None) => {
                let names = LaunchFile::read(folder).map(|file| file.names()).unwrap_or_default();
                let names: Vec<_> = names.into_iter().map(|entry| entry.name).collect();
                let hint = match names.as_slice() {
                    [] => NO_LAUNCH_JSON.to_owned(),
                    names => format!("launch.json offers: {}", names.join(", ")),
                };
                Err(invalid("give `launch` or `program`".to_owned()).hint(hint))
            }
        }
    }

    /// Starts what the policy lets start.
    async fn launch(
        &self,
        plan: LaunchPlan,
        timeout: Duration,
        said: &LastLine,
    ) -> Result<Vec<DebugSession>, DebugFailure> {
        for (_, configuration) in &plan.parts {
            answers(configuration).await?;
        }
        let native = self.clone();
        let checked = off_worker(self.workspace(), move || native.check_plan(&plan).map(|()| plan));
        let plan = checked.await??;
        self.note_starter();
        match tokio::time::timeout(timeout, self.debugger().launch(plan, timeout, said)).await {
            Ok(started) => Ok(started?),
            Err(_) => Err(DebugFailure::timeout("debug.start", timeout)),
        }
    }

    async fn start_one(
        &self,
        configuration: Configuration,
        timeout: Duration,
        said: &LastLine,
    ) -> Result<DebugSession, DebugFailure> {
        answers(&configuration).await?;
        let native = self.clone();
        let check = move || native.check_configuration(&configuration).map(|()| configuration);
        let configuration = off_worker(self.workspace(), check).await??;
        self.note_starter();
        Ok(self.debugger().start_within(configuration, timeout, said).await?)
    }

    /// What is told of a session that has just been started.
    async fn started(&self, session: &DebugSession) -> Started {
        // A wait tells of the stop, and debug_stack of the frames.
        let session = SessionView { frames: None, ..control::describe(self, session).await };
        Started { session, ..Started::default() }
    }

    fn check_plan(&self, plan: &LaunchPlan) -> Result<(), DebugFailure> {
        let parts = plan.parts.iter();
        let tasks = plan.before.iter().chain(parts.clone().flat_map(|(tasks, _)| tasks));
        for task in tasks {
            self.check_command(&task.command)?;
        }
        { parts }.try_for_each(|(_, configuration)| self.check_configuration(configuration))
    }

    fn check_configuration(&self, configuration: &Configuration) -> Result<(), DebugFailure> {
        let cwd = configuration.text("cwd").map_or(configuration.folder.clone(), PathBuf::from);
        let guard = &self.shared.bridge.shared.guard;
        guard.directory(&cwd, &self.caller)?;
        let texts = |field: &str| -> Vec<&str> {
            let list = configuration.fields.get(field).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).collect()
        };
        // A debugger's own commands may run a shell's, and anything else.
        for field in configuration.fields.keys().filter(|field| field.ends_with("Commands")) {
            for command in texts(field) {
                let command = command.trim();
                let shell = ["platform shell ", "shell ", "!"];
                match shell.iter().find_map(|word| command.strip_prefix(word)) {
                    Some(line) => guard.command(line, Dialect::Posix, &cwd, &self.caller)?,
                    None => guard.program(&["debug_command", command], &cwd, &self.caller)?,
                }
            }
        }
        for (name, value) in variables(configuration.fields.get("env"), &configuration.name)? {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            guard.variable((&name, &value), Dialect::Posix, &cwd, &self.caller)?;
        }
        if let Some(file) = configuration.text("envFile") {
            guard.variable(("envFile", file), Dialect::Posix, &cwd, &self.caller)?;
        }
        if configuration.request == Request::Attach {
            // Whoever debugs a process runs what they like in it.
            return Ok(guard.program(
                &["debug_attach", &configuration.kind],
                &cwd,
                &self.caller,
            )?);
        }
        let args = texts("args");
        if let Some(program) = configuration.text("program") {
            self.check_command(&CommandLine::new(program).args(args.clone()).cwd(&cwd))?;
        }
        let module = configuration.text("module").map(|module| ["-m", module]);
        let interpreters = ["runtimeExecutable", "python", "pythonPath"];
        let interpreter = interpreters.iter().find_map(|field| configuration.text(field));
        if module.is_some() || interpreter.is_some() {
            let runs = CommandLine::new(interpreter.unwrap_or("python3"))
                .args(texts("runtimeArgs"))
                .args(texts("pythonArgs"))
                .args(module.into_iter().flatten())
                .args(configuration.text("program"))
                .args(args)
                .cwd(&cwd);
            self.check_command(&runs)?;
        }
        Ok(())
    }

    fn check_command(&self, command: &CommandLine) -> Result<(), DebugFailure> {
        let cwd = command.cwd.clone().unwrap_or_else(|| self.workspace().to_owned());
        let mut launch = Launch::new(&command.program).args(&command.args).cwd(cwd);
        for (name, value) in &command.env {
            launch = launch.env(name, value.clone().unwrap_or_default());
        }
        Ok(self.shared.bridge.check_launch(&self.caller, &launch)?)
    }

    /// Whether something may be written there.
    pub(super) async fn check_directory(&self, path: &Path) -> Result<(), DebugFailure> {
        Ok(self.shared.bridge.check_directory(path, &self.caller).await?)
    }
}
