//! Generators and checks: `cargo xtask generate` writes what is made from the source,
//! `cargo xtask generate --check` fails when it is not current, `cargo xtask layers` fails when a crate
//! depends on what it must not know or reads a file of others directly, or when modules form a cycle.

mod layers;
mod modules;
mod reads;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use termbridge_catalog::{Catalog, Docs, manifest, typescript};
use termbridge_mcp::{DebugSettings, McpServer, NativeBackend, Offer, Toolset};
use termbridge_session::vt::input::known_key_names;
use termbridge_session::{Sessions, Settings};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let check = match arguments.as_slice() {
        ["generate"] => false,
        ["generate", "--check"] => true,
        ["layers"] => return layers::check(),
        ["layers", "--cycles"] => return layers::print_cycles(),
        _ => bail!("usage: cargo xtask generate [--check] | layers [--cycles]"),
    };
    let catalog = Catalog::own();
    let manifest = format!("{}\n", serde_json::to_string_pretty(&manifest(&catalog))?);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (path, text) in [
        ("docs/tools.md", tools_page()),
        ("docs/configuration.md", termbridge::configuration_page()),
        ("docs/debug-tools.md", debug_page(&catalog)),
        ("crates/catalog/manifest.json", manifest),
        ("editors/vscode/src/generated/catalog.ts", typescript(&catalog)),
    ] {
        write_or_check(&root.join(path), &text, check)?;
    }
    Ok(())
}

fn write_or_check(path: &PathBuf, text: &str, check: bool) -> Result<()> {
    if !check {
        std::fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
        return Ok(std::fs::write(path, text)?);
    }
    if std::fs::read_to_string(path).unwrap_or_default() != text {
        bail!("{} is not current: run `cargo xtask generate`", path.display());
    }
    Ok(())
}

/// The reference of the tools, from their own definitions.
fn tools_page() -> String {
    let backend = Arc::new(NativeBackend::new(Sessions::new(Settings::default())));
    // The debugging tools have a page of their own.
    let offer = Offer::new(&[Toolset::Terminal], DebugSettings::new(PathBuf::from("/")));
    let server = McpServer::with_offer(backend, offer).expect("all tools are known");
    let mut page = String::from(
        "# Tools\n\nGenerated from the definitions that a client gets; do not edit. Rows and columns \
         count from 0.\n",
    );
    for tool in server.definitions() {
        let description = tool.description.as_deref().unwrap_or_default();
        page.push_str(&format!("\n## `{}`\n\n{description}\n\n", tool.name));
        page.push_str("| argument | type | |\n| --- | --- | --- |\n");
        let schema = Value::Object((*tool.input_schema).clone());
        argument_rows(&schema, "", &mut page);
        let answer = tool.output_schema.as_ref().and_then(|schema| schema.get("properties"));
        let fields = answer.and_then(Value::as_object).into_iter().flatten();
        let fields: Vec<String> = fields.map(|(name, _)| format!("`{name}`")).collect();
        page.push_str(&format!("\nAnswer: {}.\n", fields.join(", ")));
    }
    let names: Vec<String> = known_key_names().map(|name| format!("`{name}`")).collect();
    page.push_str(&format!(
        "\n## Key names\n\n{}, and any character, each with `Ctrl`, `Alt`, `Shift`, `Super` before it \
         in any order: `Ctrl+C`, `C-x`, `^C`, `Alt+Shift+F5`.\n",
        names.join(", ")
    ));
    page
}

/// A row for each argument, and for the fields of those that are objects or lists of them.
fn argument_rows(schema: &Value, path: &str, page: &mut String) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, argument) in schema["properties"].as_object().into_iter().flatten() {
        let mark = if required.contains(&name.as_str()) { " (required)" } else { "" };
        let (kind, words) = (kind(argument), words(argument));
        page.push_str(&format!("| `{path}{name}`{mark} | {kind} | {words} |\n"));
        argument_rows(argument, &format!("{path}{name}."), page);
        argument_rows(&argument["items"], &format!("{path}{name}[]."), page);
    }
}

/// The debugging tools and the guides, as `docs_get` serves them.
fn debug_page(catalog: &Catalog) -> String {
    let mut page = String::from(
        "# Debugging tools\n\nGenerated from `crates/catalog`; do not edit. An agent reads the same pages with \
         `docs_list` and `docs_get`.\n",
    );
    for part in Docs::new(catalog).list(None, &[]) {
        // A level deeper than on its own.
        for line in part.text.lines() {
            let deeper = if line.starts_with('#') { "#" } else { "" };
            let space = if line.starts_with("# ") { "\n" } else { "" };
            page.push_str(&format!("{space}{deeper}{line}\n"));
        }
    }
    page
}

fn kind(schema: &Value) -> String {
    if let Some(options) = schema["enum"].as_array() {
        let options: Vec<&str> = options.iter().filter_map(Value::as_str).collect();
        return options.join(", ");
    }
    let kind = schema["type"].as_str().unwrap_or("any");
    match (kind, &schema["minimum"], &schema["maximum"]) {
        ("array", ..) => format!("array of {}", kind_of_items(schema)),
        (_, Value::Number(least), Value::Number(most)) => format!("{kind}, {least}–{most}"),
        (_, Value::Number(least), _) if least.as_i64() != Some(0) => {
            format!("{kind}, at least {least}")
        }
        (_, Value::Null, Value::Number(most)) => format!("{kind}, at most {most}"),
        _ => kind.to_owned(),
    }
}

fn kind_of_items(schema: &Value) -> &str {
    schema["items"]["type"].as_str().unwrap_or("values")
}

fn words(schema: &Value) -> String {
    let mut words = escaped(schema["description"].as_str().unwrap_or_default());
    match &schema["default"] {
        Value::Null | Value::Bool(false) => {}
        Value::Array(items) if items.is_empty() => {}
        Value::Object(fields) if fields.is_empty() => {}
        default => {
            let separator = if words.is_empty() { "" } else { "; " };
            words.push_str(&format!("{separator}default {default}"));
        }
    }
    words
}

/// A text as a cell of a table: outside of code, `<` would begin an HTML tag.
fn escaped(text: &str) -> String {
    let parts = text.replace('|', "\\|");
    let parts = parts.split('`').enumerate();
    let parts = parts
        .map(|(at, part)| if at % 2 == 0 { part.replace('<', "\\<") } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}
