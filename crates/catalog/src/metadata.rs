//! What a `*.meta.yaml` file says, and what the binary carries of ours.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

/// A tool's description.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The script, `thing.action`.
    pub alias: String,
    /// The title.
    #[serde(default)]
    pub name: String,
    /// What it belongs to; the first part of the alias where it is left out.
    #[serde(default)]
    pub category: String,
    /// What it does, for people.
    #[serde(default)]
    pub description: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Param>,
    /// What kind of answer it gives.
    #[serde(default)]
    pub response: Response,
    /// The fields of the answer's data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub result: BTreeMap<String, Field>,
    /// The codes it may fail with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// What only agents need.
    #[serde(default)]
    pub mcp: Mcp,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Param {
    /// Its type.
    #[serde(rename = "type", default)]
    pub kind: Kind,
    /// Whether it must be given.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// What it is when it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The values it may have.
    #[serde(rename = "enum", alias = "values", default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Value>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// The greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// The shape of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// What an array holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Param>>,
    /// How a path is understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolve: Option<Resolve>,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text.
    #[default]
    #[serde(alias = "enum")]
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// Fields.
    Object,
    /// Items.
    Array,
    /// Anything.
    Any,
}

/// How a path is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolve {
    /// A relative one starts in the workspace.
    #[serde(rename = "cwd-relative")]
    CwdRelative,
}

/// The kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Response {
    /// Something was done.
    Action,
    /// Something was looked up.
    #[default]
    Query,
    /// Something was waited for.
    Waitable,
    /// Something of the program or the code was changed.
    Mutate,
}

/// A field of an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Field {
    /// Its type.
    #[serde(rename = "type", default)]
    pub kind: Kind,
    /// What it holds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// What only agents need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mcp {
    /// Whether it is a tool.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub enabled: bool,
    /// The tool's name, where it does not follow from the alias.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Other names that are understood and not shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What a model reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Milliseconds it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// What it may do to the world.
    #[serde(default)]
    pub safety: Safety,
    /// What goes before and after.
    #[serde(default, skip_serializing_if = "Relationships::is_empty")]
    pub relationships: Relationships,
    /// Errors in words of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "contract")]
    pub error_contract: Vec<ErrorEntry>,
    /// The long guidance.
    #[serde(default, skip_serializing_if = "Llm::is_empty")]
    pub llm: Llm,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            enabled: true,
            tool: None,
            aliases: Vec::new(),
            description: None,
            timeout: None,
            safety: Safety::default(),
            relationships: Relationships::default(),
            error_contract: Vec::new(),
            llm: Llm::default(),
        }
    }
}

/// What a tool may do to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Safety {
    /// Nothing.
    pub read_only: bool,
    /// Something that cannot be undone.
    pub destructive: bool,
    /// The same whether called once or twice.
    pub idempotent: bool,
}

/// How tools follow each other, by alias.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Relationships {
    /// What must have been called.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "names")]
    pub requires: Vec<String>,
    /// What is good before or after.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "names")]
    pub recommended: Vec<String>,
    /// What others can use then, in free words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub provides: Vec<String>,
    /// What must not run beside it.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "names")]
    pub conflicts: Vec<String>,
}

impl Relationships {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// An error of a tool, in words of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorEntry {
    /// The code.
    pub code: String,
    /// What it means here.
    pub summary: String,
    /// Whether the same call may work later.
    #[serde(alias = "retryable")]
    pub is_retryable: bool,
    /// What to do.
    #[serde(alias = "fix_hint", alias = "hint")]
    pub user_fix_hint: String,
}

/// The long guidance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Llm {
    /// When the tool is the right one, and when not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub when_to_use: String,
    /// Help with arguments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameter_hints: BTreeMap<String, Hint>,
}

impl Llm {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Help with an argument.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Hint {
    /// Values that make sense.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
    /// What to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What goes wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pitfalls: Vec<String>,
}

/// An error code that tools share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCode {
    /// The code.
    pub code: String,
    /// What it means.
    pub summary: String,
    /// What to do.
    pub hint: String,
    /// Whether the same call may work later.
    #[serde(default, skip_serializing_if = "is_false")]
    pub retryable: bool,
    /// What may help, by alias.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
}

/// A page written by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Guide {
    pub(crate) id: String,
    pub(crate) text: String,
}

/// What the binary carries.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Compiled {
    pub(crate) tools: Vec<Metadata>,
    pub(crate) errors: Vec<ErrorCode>,
    pub(crate) guides: Vec<Guide>,
}

/// A list, or the list under `errors`, as the published extension has it.
fn contract<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ErrorEntry>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Shape {
        Under { errors: Vec<ErrorEntry> },
        List(Vec<ErrorEntry>),
    }
    Ok(match Shape::deserialize(deserializer)? {
        Shape::Under { errors } | Shape::List(errors) => errors,
    })
}

/// Aliases, or aliases with a note, as the published extension has both.
fn names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Shape {
        Name(String),
        Noted { tool: String },
    }
    let shapes = Vec::<Shape>::deserialize(deserializer)?.into_iter();
    Ok(shapes.map(|(Shape::Name(name) | Shape::Noted { tool: name })| name).collect())
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !value
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_true(value: &bool) -> bool {
    *value
}

fn yes() -> bool {
    true
}
