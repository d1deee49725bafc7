//! What must hold of metadata beyond its types.

use serde_json::{Number, Value};

use crate::metadata::{Kind, Metadata, Param};
use crate::read::Strictness;

/// Longest name of a tool; some clients refuse more.
const LONGEST_NAME: usize = 64;
/// Most arguments of a tool.
const MOST_PARAMS: usize = 64;
/// Longest timeout, in milliseconds.
const LONGEST_TIMEOUT: u64 = 3_600_000;
/// Longest text of one field in a workspace's metadata, and of what a model reads of ours.
const LONGEST_TEXT: usize = 2_000;
const LONGEST_OWN_DESCRIPTION: usize = 200;

/// What is wrong, and in which part.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) path: String,
    pub(crate) message: String,
}

fn wrong<T>(path: impl Into<String>, message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong { path: path.into(), message: message.into() })
}

/// Checks one tool by itself.
pub(crate) fn check(tool: &Metadata, strictness: Strictness) -> Result<(), Wrong> {
    if !is_alias(&tool.alias) {
        return wrong("alias", format!("`{}` is not an alias like thing.action", tool.alias));
    }
    let name = tool_name(tool);
    if !is_tool_name(&name) {
        let path = if tool.mcp.tool.is_some() { "mcp.tool" } else { "alias" };
        return wrong(path, format!("`{name}` is not a tool name: lower case words joined by _"));
    }
    if let Some(other) = tool.mcp.aliases.iter().find(|other| !is_tool_name(other)) {
        return wrong("mcp.aliases", format!("`{other}` is not a tool name"));
    }
    if tool.description.is_empty() && tool.mcp.description.is_none() {
        return wrong("alias", "`description` is missing");
    }
    if tool.params.len() > MOST_PARAMS {
        return wrong("params", format!("more than {MOST_PARAMS} arguments"));
    }
    for (name, param) in &tool.params {
        check_param(&format!("params.{name}"), name, param)?;
    }
    for (index, code) in tool.errors.iter().enumerate() {
        if !is_code(code) {
            return wrong(
                format!("errors[{index}]"),
                format!("`{code}` is not a code like E_NAME"),
            );
        }
    }
    if tool.mcp.timeout.is_some_and(|timeout| !(1..=LONGEST_TIMEOUT).contains(&timeout)) {
        return wrong("mcp.timeout", format!("a timeout is 1 to {LONGEST_TIMEOUT} ms"));
    }
    let safety = tool.mcp.safety;
    if safety.read_only && safety.destructive {
        return wrong("mcp.safety", "what only reads destroys nothing");
    }
    match strictness {
        Strictness::Own => check_own(tool),
        Strictness::Workspace => check_length(tool),
    }
}

fn check_own(tool: &Metadata) -> Result<(), Wrong> {
    for (path, text) in [("name", &tool.name), ("description", &tool.description)] {
        if text.is_empty() {
            return wrong("alias", format!("`{path}` is missing"));
        }
    }
    let Some(description) = &tool.mcp.description else {
        return wrong("mcp", "`mcp.description` is missing");
    };
    if description.len() > LONGEST_OWN_DESCRIPTION {
        let message =
            format!("longer than {LONGEST_OWN_DESCRIPTION} bytes: models read it each time");
        return wrong("mcp.description", message);
    }
    if tool.mcp.llm.when_to_use.is_empty() {
        return wrong("mcp", "`mcp.llm.when_to_use` is missing");
    }
    for name in tool.mcp.llm.parameter_hints.keys() {
        if !tool.params.contains_key(name) {
            let path = format!("mcp.llm.parameter_hints.{name}");
            return wrong(path, format!("there is no argument `{name}`"));
        }
    }
    Ok(())
}

fn check_length(tool: &Metadata) -> Result<(), Wrong> {
    let described = tool.mcp.description.as_deref().unwrap_or_default();
    for (path, text) in
        [("name", &*tool.name), ("description", &*tool.description), ("mcp.description", described)]
    {
        if text.len() > LONGEST_TEXT {
            return wrong(path, format!("longer than {LONGEST_TEXT} bytes"));
        }
    }
    match tool.params.iter().find(|(_, param)| param.description.len() > LONGEST_TEXT) {
        Some((name, _)) => {
            wrong(format!("params.{name}.description"), format!("longer than {LONGEST_TEXT} bytes"))
        }
        None => Ok(()),
    }
}

fn check_param(path: &str, name: &str, param: &Param) -> Result<(), Wrong> {
    let is_name = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return wrong(path, format!("`{name}` is not the name of an argument"));
    }
    let numeric = matches!(param.kind, Kind::Number | Kind::Integer);
    if (param.min.is_some() || param.max.is_some()) && !numeric {
        return wrong(path, format!("`{name}`: only numbers have min and max"));
    }
    if let (Some(min), Some(max)) = (&param.min, &param.max)
        && min.as_f64() > max.as_f64()
    {
        return wrong(format!("{path}.min"), format!("`{name}`: min is above max"));
    }
    if (param.pattern.is_some() || param.resolve.is_some()) && param.kind != Kind::String {
        return wrong(path, format!("`{name}`: only text has a pattern or is a path"));
    }
    if param.items.is_some() && param.kind != Kind::Array {
        return wrong(format!("{path}.items"), format!("`{name}`: only arrays have items"));
    }
    if let Some(odd) = param.options.iter().find(|option| !fits(option, param.kind)) {
        return wrong(format!("{path}.enum"), format!("`{name}`: {odd} is of another type"));
    }
    let Some(default) = &param.default else {
        return Ok(());
    };
    let path = format!("{path}.default");
    if param.required {
        return wrong(path, format!("`{name}` is required, so it has no default"));
    }
    if !fits(default, param.kind) || !within(default, param) {
        return wrong(path, format!("`{name}`: {default} is not a value that it may have"));
    }
    Ok(())
}

fn fits(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::String => value.is_string(),
        Kind::Number => value.is_number(),
        Kind::Integer => value.is_i64() || value.is_u64(),
        Kind::Boolean => value.is_boolean(),
        Kind::Object => value.is_object(),
        Kind::Array => value.is_array(),
        Kind::Any => true,
    }
}

fn within(value: &Value, param: &Param) -> bool {
    if !param.options.is_empty() && !param.options.contains(value) {
        return false;
    }
    let Some(value) = value.as_f64() else {
        return true;
    };
    let at_least = param.min.as_ref().and_then(Number::as_f64).is_none_or(|min| value >= min);
    at_least && param.max.as_ref().and_then(Number::as_f64).is_none_or(|max| value <= max)
}

/// The tool's name: the one given, or the alias with `.` and `-` turned into `_`.
pub(crate) fn tool_name(tool: &Metadata) -> String {
    tool.mcp.tool.clone().unwrap_or_else(|| tool.alias.replace(['.', '-'], "_"))
}

pub(crate) fn is_alias(alias: &str) -> bool {
    alias.len() <= LONGEST_NAME
        && alias.contains('.')
        && alias.split('.').all(|part| {
            part.starts_with(|c: char| c.is_ascii_lowercase())
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
        })
}

fn is_tool_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn is_code(code: &str) -> bool {
    code.strip_prefix("E_").is_some_and(|name| {
        !name.is_empty()
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    })
}
