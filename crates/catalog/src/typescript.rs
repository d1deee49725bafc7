//! TypeScript types for the extension: the arguments of each script, the names, the error codes.

use serde_json::Value;

use crate::catalog::Catalog;
use crate::metadata::{Kind, Param};

/// The module's text.
pub fn typescript(catalog: &Catalog) -> String {
    let mut text = String::from(
        "// Generated from crates/catalog by `cargo xtask generate`; do not edit.\n\n\
         /** The arguments of each script, by alias. */\nexport interface ScriptParams {\n",
    );
    for tool in catalog.all() {
        text.push_str(&format!("  /** {} */\n", tool.metadata().description));
        if tool.metadata().params.is_empty() {
            text.push_str(&format!("  '{}': Record<string, never>;\n", tool.alias()));
            continue;
        }
        text.push_str(&format!("  '{}': {{\n", tool.alias()));
        for (name, param) in &tool.metadata().params {
            if !param.description.is_empty() {
                text.push_str(&format!("    /** {} */\n", param.description));
            }
            // What has a default is filled in before a script sees it.
            let optional = if param.required || param.default.is_some() { "" } else { "?" };
            text.push_str(&format!("    {name}{optional}: {};\n", kind(param)));
        }
        text.push_str("  };\n");
    }
    text.push_str("}\n\nexport type ScriptAlias = keyof ScriptParams;\n");
    text.push_str("\n/** The script of each tool. */\nexport const toolScripts = {\n");
    for tool in catalog.all() {
        for name in
            std::iter::once(tool.name()).chain(tool.other_names().iter().map(|name| &**name))
        {
            text.push_str(&format!("  {name}: '{}',\n", tool.alias()));
        }
    }
    text.push_str("} as const satisfies Record<string, ScriptAlias>;\n");
    text.push_str(
        "\nexport type ToolName = keyof typeof toolScripts;\n\nexport type ErrorCode =\n",
    );
    let codes: Vec<String> =
        Catalog::errors().iter().map(|error| format!("  | '{}'", error.code)).collect();
    text.push_str(&format!("{};\n", codes.join("\n")));
    text
}

fn kind(param: &Param) -> String {
    if !param.options.is_empty() {
        let options: Vec<String> = param.options.iter().map(literal).collect();
        return options.join(" | ");
    }
    match param.kind {
        Kind::String => "string".into(),
        Kind::Number | Kind::Integer => "number".into(),
        Kind::Boolean => "boolean".into(),
        Kind::Object => "Record<string, unknown>".into(),
        Kind::Array => match &param.items {
            Some(items) if items.options.is_empty() => format!("{}[]", kind(items)),
            Some(items) => format!("({})[]", kind(items)),
            None => "unknown[]".into(),
        },
        Kind::Any => "unknown".into(),
    }
}

fn literal(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), |text| format!("'{}'", text.replace('\'', "\\'")))
}
