//! What a model reads of an answer: stops and values as a person would write them down, other data
//! as compact JSON.

mod cleaned;

use std::path::Path;

use serde_json::Value;
use termbridge_bridge::Answer;
use termbridge_bridge::debug::answer::{
    Breakpoint, DataChange, End, Evaluated, Frame, Halt, Page, Place, ScopeRest, SessionView,
    Stack, Started, Starting, Status, Stop, TestFacts, Variable, Variables,
};

pub(super) use self::cleaned::cleaned;
use self::cleaned::{clean, clean_strings};

/// The tool that has all of a program's output.
const LOGS: &str = "dap_logs";

/// The tool that takes references of values.
const REFERENCES: &str = "debug_get_variable";

/// What is to be done about uses that a language server may have missed.
const MAYBE_MISSED: &str =
    "\nThe language server did not resolve the uses in maybeMissed: check them by hand.";

/// What is said where no tool knows the language.
const NOTHING_CHECKED: &str = "Nothing was checked: no compiler or linter for this is known here (there are cargo, \
    pyright, ruff, tsc and go vet). Build it with execute_command.";

/// What is said of a program that the debugger has left.
const GOES_ON: &str = "is no longer debugged; it keeps running";

/// What is said of locals that could not be read in time.
const UNREAD_LOCALS: &str = "Locals: not read in time. The program's own code that shows a value (__repr__, toString) may hang; \
    until it ends, the debugger may not answer. debug_stop ends it.";

/// Longest value on a line.
const LONGEST_VALUE: usize = 300;

/// Fields that are paths.
const PATHS: [&str; 3] = ["path", "program", "outputPath"];

/// The text of an answer; paths inside the workspace are relative to it. `offered` tells whether the
/// client has a tool.
pub(super) fn of(answer: &Answer, workspace: &Path, offered: &dyn Fn(&str) -> bool) -> String {
    Writer { workspace, logs: offered(LOGS), references: offered(REFERENCES) }.answer(answer)
}

/// The output in the details of an error: what a program wrote that has not stopped in time.
pub(super) fn output_of(details: &Value, offered: &dyn Fn(&str) -> bool) -> Option<String> {
    let left_out = details["outputLeftOut"].as_u64();
    output(details["output"].as_str(), left_out.map(|bytes| bytes as usize), offered(LOGS))
}

/// Output, and how much before it was left out; `logs` tells whether the client has the tool that shows all.
fn output(text: Option<&str>, left_out: Option<usize>, logs: bool) -> Option<String> {
    let text = clean(text?);
    let more = if logs { ": dap_logs)" } else { " left out)" };
    let left_out = left_out.map(|bytes| format!(" (the last; {bytes} bytes before it{more}"));
    Some(format!("Output{}:\n{}", left_out.unwrap_or_default(), text.trim_end()))
}

struct Writer<'a> {
    workspace: &'a Path,
    /// Whether the client has the tool that shows all output.
    logs: bool,
    /// Whether it has the tool that takes references.
    references: bool,
}

impl Writer<'_> {
    fn answer(&self, answer: &Answer) -> String {
        match answer {
            Answer::Breakpoint { breakpoint } => self.breakpoint(breakpoint),
            Answer::Breakpoints { breakpoints, .. } => match breakpoints.as_slice() {
                [] => "No breakpoints.".to_owned(),
                all => lines(all.iter().map(|breakpoint| self.breakpoint(breakpoint))),
            },
            Answer::Removed { removed: true } => "Removed.".to_owned(),
            Answer::Removed { removed: false } => "There was none.".to_owned(),
            Answer::Cleared { cleared } => format!("Removed {cleared}."),
            Answer::Started(started) => self.started(started),
            Answer::Starting(start) => starting(start),
            Answer::Running { session_id, .. } => format!("runs [session {session_id}]"),
            Answer::Halt(halt) => self.halt(halt),
            Answer::Status(status) => self.status(status),
            Answer::Stack(stack) => self.stack(stack),
            Answer::Evaluated(value) => self.evaluated(value),
            Answer::Variables(variables) => self.variables(variables),
            Answer::Page(page) => self.page(page),
            Answer::Set(variable) => self.variable(variable).trim().to_owned(),
            Answer::Other(data) if data["text"].is_string() && data["title"].is_string() => {
                clean(data["text"].as_str().unwrap_or_default())
            }
            Answer::Diagnostics(found) if found.tools.is_empty() => NOTHING_CHECKED.to_owned(),
            Answer::Locations(found) if !found.maybe_missed.is_empty() => {
                self.json(answer) + MAYBE_MISSED
            }
            Answer::Renamed(renamed) if !renamed.maybe_missed.is_empty() => {
                self.json(answer) + MAYBE_MISSED
            }
            _ => self.json(answer),
        }
    }

    fn started(&self, started: &Started) -> String {
        let mut text = match &started.stop {
            None => self.session(&started.session),
            // Its stop names it.
            Some(halt) if started.sessions.is_empty() => self.halt(halt),
            Some(halt) => {
                format!("Sessions {} started.\n{}", started.sessions.join(", "), self.halt(halt))
            }
        };
        if let Some(session) = &started.session.terminal {
            text.push_str(&format!("\nIts terminal is session {session}."));
        }
        if let Some(run) = &started.previous_run {
            text.push_str(&format!("\nIts run before is {run}."));
        }
        text
    }

    fn status(&self, status: &Status) -> String {
        match status.sessions.as_slice() {
            [] => "Nothing is being debugged.".to_owned(),
            sessions => lines(sessions.iter().map(|session| self.session(session))),
        }
    }

    /// A session in a line.
    fn session(&self, session: &SessionView) -> String {
        let name = session.program.as_ref().or(session.configuration.as_ref());
        let name = name.map_or_else(|| "The program".to_owned(), |name| self.path(name));
        let state = match (session.state, &session.location, &session.exit) {
            ("stopped", Some(place), _) => {
                let reason = session.reason.as_deref().unwrap_or_default();
                let path = place.path.as_deref().map(|path| self.path(path)).unwrap_or_default();
                let line = place.line.unwrap_or(0);
                format!("is stopped ({reason}) at {path}:{line} in {}", place.name)
            }
            (_, _, Some(exit)) if exit.goes_on => GOES_ON.to_owned(),
            (_, _, Some(exit)) => format!("ended: {}", exit.how),
            ("stopped", ..) => {
                format!("is stopped ({})", session.reason.as_deref().unwrap_or("no reason told"))
            }
            ("starting", ..) => "is starting".to_owned(),
            _ => "runs".to_owned(),
        };
        match session.session_id.as_str() {
            "" => format!("{name} {state}"),
            id => format!("{name} {state} [session {id}]"),
        }
    }

    fn halt(&self, halt: &Halt) -> String {
        match halt {
            Halt::Stop(stop) => self.stop(stop),
            Halt::End(end) => self.end(end),
        }
    }

    fn stop(&self, stop: &Stop) -> String {
        let session = &stop.session_id;
        let mut lines = vec![match &stop.location {
            Some(place) => format!(
                "Stopped ({}) at {}:{} in {} [session {session}]",
                stop.reason,
                self.path(&place.path),
                place.line,
                place.function,
            ),
            None => format!("Stopped ({}) [session {session}]", stop.reason),
        }];
        lines.extend(stop.test.as_ref().map(test));
        lines.extend(stop.condition_failures.iter().map(|words| clean(words)));
        if let Some(name) = stop.thread.as_deref().filter(|name| !is_main(name)) {
            lines.push(format!("Thread {} ({name})", stop.thread_id.unwrap_or(0)));
        }
        if let Some(others) = stop.waiting_threads {
            lines.push(format!(
                "Other threads that stopped too: {others} (debug_continue reports them one by one)"
            ));
        }
        if let Some(raised) = &stop.raised_in {
            let path = raised.path.as_deref().map(|path| self.source_path(path));
            let at = path.map(|path| format!(" ({path}:{})", raised.line.unwrap_or(0)));
            lines.push(format!("Raised in {}{}", raised.name, at.unwrap_or_default()));
        }
        if let Some(exception) = &stop.exception {
            let message =
                exception.message.as_deref().map(|message| format!(": {}", clean(message)));
            lines.push(format!("{}{}", exception.kind, message.unwrap_or_default()));
        }
        lines.extend(stop.data_changes.iter().map(data_change));
        lines.extend(stop.source.as_deref().map(clean));
        if !stop.locals.is_empty() {
            lines.push("Locals:".to_owned());
            lines.extend(stop.locals.iter().map(|local| self.variable(local)));
        }
        if let Some(left_out) = stop.locals_left_out {
            lines.push(format!("  … {left_out} more: debug_list_variables"));
        }
        if stop.locals_unread {
            lines.push(UNREAD_LOCALS.to_owned());
        }
        if stop.frames.len() > 1 {
            lines.push("Stack:".to_owned());
            lines.extend(stop.frames.iter().map(|frame| self.frame(frame)));
        }
        lines.extend(output(stop.output.as_deref(), stop.output_left_out, self.logs));
        lines.join("\n")
    }

    fn end(&self, end: &End) -> String {
        let program = end.program.as_deref().map(|program| self.path(program));
        let program = program.unwrap_or_else(|| "The program".to_owned());
        let how = match &end.exit {
            Some(exit) if exit.goes_on => GOES_ON.to_owned(),
            Some(exit) => format!("ended: {}", exit.how),
            None => "ended: stopped".to_owned(),
        };
        let session = end.session_id.as_ref().map(|session| format!(" [session {session}]"));
        let mut lines = vec![format!("{program} {how}{}", session.unwrap_or_default())];
        lines.extend(end.test.as_ref().map(test));
        lines.extend(end.condition_failures.iter().map(|words| clean(words)));
        for place in &end.unbound_breakpoints {
            lines.push(format!("Breakpoint {} was never bound to code", self.place(place)));
        }
        lines.extend(output(end.output.as_deref(), end.output_left_out, self.logs));
        lines.join("\n")
    }

    fn stack(&self, stack: &Stack) -> String {
        let frames = stack.frames.iter().map(|frame| self.frame(frame));
        let next = stack.next.map(|next| format!("… more: start {next}"));
        let thread = format!("Thread {}:", stack.thread_id.unwrap_or(0));
        lines(std::iter::once(thread).chain(frames).chain(next))
    }

    fn frame(&self, frame: &Frame) -> String {
        let (id, name) = (frame.id, &frame.name);
        match &frame.path {
            Some(path) => {
                format!("  #{id} {name} {}:{}", self.source_path(path), frame.line.unwrap_or(0))
            }
            None => format!("  #{id} {name}"),
        }
    }

    fn variable(&self, variable: &Variable) -> String {
        // One line for each, or a value could be taken for what stands around it.
        let value = clean(&variable.value).replace('\n', "\\n");
        let mut line = format!("  {} = {}", variable.name, cut(&value));
        line.extend(kind(variable.kind.as_deref(), &value).map(|kind| format!(" ({kind})")));
        if let Some(reference) = variable.variables_reference.filter(|_| self.references) {
            line.push_str(&format!(" [ref {reference}]"));
        }
        line
    }

    /// Variables as a tree, and how to go on.
    fn variables(&self, variables: &Variables) -> String {
        let mut lines = Vec::new();
        self.tree(&variables.variables, 0, &mut lines);
        if self.references && !variables.rest.is_empty() {
            lines.extend(variables.rest.iter().map(|rest| {
                let ScopeRest { scope, variables_reference, start, count } = rest;
                let page = format!("variablesReference {variables_reference}, start {start}");
                format!("… {count} more of {scope}: {REFERENCES} {page}")
            }));
        } else {
            lines.extend(variables.left_out.map(|left_out| {
                format!("… {left_out} more; debug_evaluate shows one by its name")
            }));
        }
        if lines.is_empty() { "(no variables)".to_owned() } else { lines.join("\n") }
    }

    fn page(&self, page: &Page) -> String {
        let mut lines = Vec::new();
        self.tree(&page.variables, 0, &mut lines);
        lines.extend(page.next.map(|next| format!("… more: start {next}")));
        if lines.is_empty() { "(no variables)".to_owned() } else { lines.join("\n") }
    }

    fn tree(&self, variables: &[Variable], depth: usize, lines: &mut Vec<String>) {
        let mut scope = "";
        for variable in variables {
            let named = variable.scope.as_deref().unwrap_or_default();
            if named != scope {
                scope = named;
                lines.push(format!("{scope}:"));
            }
            let indent = "  ".repeat(depth);
            lines.push(format!("{indent}{}", self.variable(variable)));
            self.tree(&variable.children, depth + 1, lines);
            if let Some(left_out) = variable.children_left_out {
                let mut line = format!("{indent}    … {left_out} more");
                if self.references {
                    line.push_str(&format!(": start {}", variable.children.len()));
                }
                lines.push(line);
            }
        }
    }

    fn evaluated(&self, value: &Evaluated) -> String {
        if value.result.is_empty() {
            return "(no value)".to_owned();
        }
        let mut line = clean(&value.result);
        line.extend(kind(value.kind.as_deref(), &value.result).map(|kind| format!(" ({kind})")));
        if value.variables_reference > 0 && self.references {
            line.push_str(&format!(" [variablesReference {}]", value.variables_reference));
        }
        line
    }

    fn breakpoint(&self, breakpoint: &Breakpoint) -> String {
        let place = self.place(&breakpoint.place);
        let mut line = format!("Breakpoint {place} is {}", breakpoint.state);
        for (given, word) in [
            (&breakpoint.condition, "if"),
            (&breakpoint.hit_condition, "hits"),
            (&breakpoint.log_message, "logs"),
        ] {
            line.extend(given.as_ref().map(|given| format!(", {word} {given}")));
        }
        if let Some(asked) = breakpoint.requested_line {
            line.push_str(&format!(" from line {asked}, which has no code to stop at"));
        }
        line.extend(breakpoint.message.as_ref().map(|message| format!(": {message}")));
        line
    }

    /// Where a breakpoint is.
    fn place(&self, place: &Place) -> String {
        let function = place.function.as_ref().map(|name| format!("on function {name}"));
        let access = place.access.unwrap_or_default();
        let data = place.variable.as_ref().map(|name| format!("on {access} of {name}"));
        let line = place.line.unwrap_or(0);
        let line = place.path.as_ref().map(|path| format!("at {}:{line}", self.path(path)));
        [function, data, line].into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// A path, relative to the workspace where it is inside.
    fn path(&self, path: &str) -> String {
        match Path::new(path).strip_prefix(self.workspace) {
            Ok(inside) if !inside.as_os_str().is_empty() => inside.to_string_lossy().into_owned(),
            _ => path.to_owned(),
        }
    }

    /// The path of a frame without where Rust's libraries are installed: `core/src/panicking.rs`,
    /// `serde-1.0.0/src/de.rs`.
    fn source_path(&self, path: &str) -> String {
        let behind = |marker: &str| Some(&path[path.find(marker)? + marker.len()..]);
        let of_compiler = || behind("/library/").filter(|_| path.starts_with("/rustc/"));
        let of_crate =
            || behind("/.cargo/registry/src/")?.split_once('/').map(|(_, inside)| inside);
        let library = behind("/rustlib/src/rust/library/").or_else(of_compiler).or_else(of_crate);
        library.map_or_else(|| self.path(path), str::to_owned)
    }

    /// What has no form of its own.
    fn json(&self, answer: &Answer) -> String {
        let mut data = answer.to_json();
        self.shorten(&mut data);
        if !self.references {
            without_references(&mut data);
        }
        clean_strings(&mut data);
        data.to_string()
    }

    /// Only where a field is a path: a program's own words and source are as they are.
    fn shorten(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if PATHS.contains(&name.as_str()) => {
                            *text = self.path(text);
                        }
                        _ => self.shorten(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.shorten(item)),
            _ => {}
        }
    }
}

fn lines(all: impl Iterator<Item = String>) -> String {
    all.collect::<Vec<_>>().join("\n")
}

fn without_references(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("variablesReference");
            fields.values_mut().for_each(without_references);
        }
        Value::Array(items) => items.iter_mut().for_each(without_references),
        _ => {}
    }
}

/// A start that takes longer than its call waited.
fn starting(start: &Starting) -> String {
    let said = start.said.as_ref().map(|said| format!(" Last line: {}", clean(said)));
    format!(
        "Still starting {} ({} s): debug_wait_for_hit waits on, debug_stop ends it.{}",
        start.what,
        start.seconds,
        said.unwrap_or_default()
    )
}

/// The thread that everyone expects.
fn is_main(name: &str) -> bool {
    name.is_empty() || name.to_lowercase().contains("main")
}

fn test(facts: &TestFacts) -> String {
    let runner = facts.runner.as_ref().map(|runner| format!(" ({runner})"));
    let warning = facts.warning.as_ref().map(|warning| format!("\n{}", clean(warning)));
    format!("Test {}{}{}", facts.test, runner.unwrap_or_default(), warning.unwrap_or_default())
}

/// What happened to a variable that is watched.
fn data_change(change: &DataChange) -> String {
    let name = &change.variable;
    let mut line = match (&change.old, &change.new) {
        (Some(old), Some(new)) if old == new => format!("{name} is still {}", cut(&clean(new))),
        (Some(old), Some(new)) => {
            format!("{name}: {} → {}", cut(&clean(old)), cut(&clean(new)))
        }
        (None, Some(new)) => format!("{name} is now {}", cut(&clean(new))),
        (_, None) if change.written => format!("{name} was written"),
        (_, None) => format!("{name} was accessed"),
    };
    if let Some(function) = &change.returned {
        line.push_str(&format!(
            " ({function} has returned, and {name} with it: this is what uses its place now; remove \
             the breakpoint)"
        ));
    }
    line
}

/// A type, unless the value says it.
fn kind<'a>(kind: Option<&'a str>, value: &str) -> Option<&'a str> {
    let kind = kind?;
    // Rust shows what a reference leads to.
    let mut target = kind;
    while let Some(referenced) = target.strip_prefix('&') {
        target = referenced.strip_prefix("mut ").unwrap_or(referenced);
    }
    let name = target.split(['<', '[', ' ', '*', '&']).next().unwrap_or(target);
    let name = name.rsplit("::").next().unwrap_or(name);
    let is_said = match value.chars().next()? {
        '"' | '\'' => ["str", "&str", "String", "string"].contains(&kind),
        _ if value == "true" || value == "false" => ["bool", "boolean"].contains(&kind),
        _ => {
            // An object of Python is `<Cart items=[]>`.
            let value = value.strip_prefix('<').unwrap_or(value);
            let after = value.strip_prefix(name).filter(|_| !name.is_empty());
            after.is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        }
    };
    (!is_said).then_some(kind)
}

fn cut(text: &str) -> String {
    match text.len() > LONGEST_VALUE {
        true => format!("{}…", &text[..text.floor_char_boundary(LONGEST_VALUE)]),
        false => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
