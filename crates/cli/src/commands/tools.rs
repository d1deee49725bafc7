//! `termbridge tools`: the definitions, also for agents that do not support MCP.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use serde_json::{Map, Value, json};
use termbridge_bridge::NativeBackend;
use termbridge_mcp::{McpServer, ToolDefinition};
use termbridge_session::{Sessions, Settings};

use super::print;
use crate::args::{McpArguments, ToolsArguments, ToolsFormat};
use crate::config::Config;

pub(crate) fn run(arguments: ToolsArguments) -> Result<ExitCode> {
    let ToolsArguments { format, chosen, config } = arguments;
    let settings = McpArguments { config, chosen, ..McpArguments::default() };
    let offer = Config::load(settings)?.offer()?;
    // Nothing is started until something is launched.
    let backend = Arc::new(NativeBackend::new(Sessions::new(Settings::default())));
    let tools = McpServer::with_offer(backend, offer)?.definitions();
    let printed = match format {
        ToolsFormat::Mcp => json!({ "tools": tools }),
        ToolsFormat::Openai => tools.iter().map(openai).collect(),
        ToolsFormat::Gemini => {
            json!([{ "functionDeclarations": tools.iter().map(gemini).collect::<Value>() }])
        }
    };
    print(&format!("{printed:#}\n"))
}

fn openai(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        }
    })
}

fn gemini(tool: &ToolDefinition) -> Value {
    let mut parameters = Value::Object((*tool.input_schema).clone());
    subset(&mut parameters);
    json!({
        "name": tool.name,
        "description": tool.description,
        "parameters": parameters,
    })
}

/// Gemini takes a subset of `OpenAPI`'s schemas: an unknown keyword is an error there, and an object
/// needs properties.
fn subset(schema: &mut Value) {
    const KNOWN: [&str; 9] = [
        "type",
        "description",
        "enum",
        "items",
        "properties",
        "required",
        "minimum",
        "maximum",
        "anyOf",
    ];
    let Value::Object(object) = schema else { return };
    object.retain(|key, _| KNOWN.contains(&key.as_str()));
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(subset);
    }
    if let Some(items) = object.get_mut("items") {
        subset(items);
    }
    if let Some(Value::Array(options)) = object.get_mut("anyOf") {
        options.iter_mut().for_each(subset);
    }
    if object.get("properties") == Some(&Value::Object(Map::new())) {
        object.remove("properties");
    }
}
