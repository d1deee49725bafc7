//! What the scripts of an extension take. They refuse an argument that they do not know, so they are given
//! only what their metadata names: the manifest of the bridge, else that of the published extension.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::debug::DebugFailure;

/// Most bytes of a manifest.
const MAX_MANIFEST: u64 = 8 << 20;

/// What the scripts of the published extension (1.4) take.
const PUBLISHED: [(&str, &[&str]); 42] = [
    ("breakpoint.clear.file", &["path"]),
    ("breakpoint.clear.project", &[]),
    ("breakpoint.list", &[]),
    ("breakpoint.remove", &["path", "line"]),
    ("breakpoint.set", &["path", "line", "condition", "hitCondition", "logMessage"]),
    ("code.replace-method", &["nodeId", "path", "symbol", "replacement"]),
    ("dap.compare", &["sessionA", "sessionB", "compareBy"]),
    ("dap.exceptions", &["sessionId", "count", "withContext", "contextLines"]),
    ("dap.filter", &["sessionId", "filters"]),
    ("dap.logs", &["sessionId", "count", "category", "search", "since", "reverse", "showSource"]),
    ("dap.search", &["sessionId", "pattern", "category", "contextLines", "limit", "caseSensitive"]),
    ("dap.stats", &["sessionId", "groupBy", "includeCharts"]),
    ("dap.summary", &["sessionId", "compact"]),
    ("dap.timeline", &["sessionId", "eventTypes", "window", "granularity", "fromEnd"]),
    ("debug.continue", &["sessionId", "timeoutMs"]),
    ("debug.evaluate", &["expression", "frameId", "context", "sessionId"]),
    ("debug.get-variable", &["variablesReference", "start", "count", "filter"]),
    ("debug.list-variables", &["scope", "maxDepth"]),
    ("debug.restart", &["sessionId"]),
    ("debug.save-variable", &["outputPath", "expression", "pageSize", "maxItems", "context"]),
    ("debug.scopes", &["frameId", "sessionId"]),
    ("debug.set-variable", &["name", "value", "variablesReference"]),
    ("debug.stack", &["sessionId"]),
    ("debug.start", &["launch", "folder", "timeoutMs", "wait"]),
    ("debug.status", &[]),
    ("debug.step-into", &["sessionId", "timeoutMs"]),
    ("debug.step-out", &["sessionId", "timeoutMs"]),
    ("debug.step-over", &["sessionId", "timeoutMs"]),
    ("debug.stop", &["sessionId"]),
    ("debug.threads", &["sessionId"]),
    ("debug.tracker", &[]),
    ("debug.wait-for-hit", &["timeoutMs"]),
    ("diagnostic.collect", &["path"]),
    ("editor.get-context", &[]),
    ("editor.goto-line", &["path", "line", "column"]),
    ("editor.show-testing-ui", &[]),
    ("search.symbol-search", &["query", "mode", "path", "kinds", "limit"]),
    ("symbol.calls", &["nodeId", "path", "symbol", "direction"]),
    ("symbol.navigate", &["nodeId", "path", "symbol", "action"]),
    ("symbol.rename", &["nodeId", "path", "symbol", "newName"]),
    ("test.debug-single", &["path", "line", "column", "timeoutMs"]),
    ("util.restart-vscode", &[]),
];

/// What we do ourselves where a script cannot: pages, other waits, checks of the session.
const DONE_HERE: [(&str, &[&str]); 8] = [
    ("debug.continue", &["wait"]),
    ("debug.stack", &["threadId", "start", "count"]),
    ("debug.threads", &["threadId", "start", "count"]),
    ("debug.list-variables", &["frameId", "sessionId"]),
    ("debug.set-variable", &["sessionId"]),
    ("debug.save-variable", &["sessionId"]),
    ("debug.wait-for-hit", &["sessionId"]),
    ("debug.restart", &["wait", "timeoutMs"]),
];

/// The scripts of an extension, and what each takes.
#[derive(Debug, Clone)]
pub(super) struct Scripts(BTreeMap<String, BTreeSet<String>>);

#[derive(Deserialize)]
struct Manifest {
    scripts: BTreeMap<String, Entry>,
}

impl Manifest {
    fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&termbridge_foreign_files::read(path, MAX_MANIFEST).ok()?).ok()
    }
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(default)]
    params: Map<String, Value>,
}

impl Scripts {
    /// Those of the extension that serves a bridge. Blocks for a file.
    pub(super) fn of(bridge: &Path) -> Self {
        let mut scripts = Self::published();
        // It may name only what it has beside them.
        if let Some(manifest) = Manifest::read(&bridge.join("manifest.json")) {
            for (alias, entry) in manifest.scripts {
                let taken = entry.metadata.params.into_iter().map(|(name, _)| name);
                scripts.0.insert(alias, taken.collect());
            }
        }
        scripts
    }

    fn published() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self(PUBLISHED.iter().map(|(alias, taken)| ((*alias).to_owned(), names(taken))).collect())
    }

    pub(super) fn has(&self, script: &str) -> bool {
        self.0.contains_key(script)
    }

    /// Whether a script takes an argument.
    pub(super) fn takes(&self, script: &str, name: &str) -> bool {
        self.0.get(script).is_some_and(|taken| taken.contains(name))
    }

    /// Whether a call can be served, by the script and by what we add to it.
    pub(super) fn check(&self, script: &str, arguments: &Map<String, Value>) -> Result<(), Unfit> {
        if !self.has(script) {
            return Err(Unfit::Script(script.to_owned()));
        }
        let added = DONE_HERE.iter().find(|(name, _)| *name == script).map_or(&[][..], |(_, a)| a);
        let is_taken = |name: &&String| self.takes(script, name) || added.contains(&name.as_str());
        match arguments.keys().find(|name| !is_taken(name)) {
            Some(name) => Err(Unfit::Argument(script.to_owned(), name.clone())),
            None => Ok(()),
        }
    }

    /// The arguments that the script takes; all, where nothing is known of it.
    pub(super) fn taken(&self, script: &str, arguments: &Map<String, Value>) -> Map<String, Value> {
        if !self.has(script) {
            return arguments.clone();
        }
        let taken = arguments.iter().filter(|(name, _)| self.takes(script, name));
        taken.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// What the editor's extension cannot do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::debug) enum Unfit {
    #[error("has no {0}")]
    Script(String),
    #[error("does not take `{1}` in {0}")]
    Argument(String, String),
}

impl From<Unfit> for DebugFailure {
    fn from(unfit: Unfit) -> Self {
        let code = match unfit {
            Unfit::Script(_) => "E_SCRIPT_NOT_FOUND",
            Unfit::Argument(..) => "E_UNSUPPORTED_CAPABILITY",
        };
        let hint = match &unfit {
            Unfit::Script(script) if script == "debug.pause" => {
                "pause it in the editor, or set a breakpoint that it comes to".to_owned()
            }
            Unfit::Argument(script, _) if script == "debug.start" => {
                "name a configuration of launch.json with `launch`; a server with --debug-backend \
                 native or auto takes it"
                    .to_owned()
            }
            Unfit::Argument(_, name) => {
                format!("leave `{name}` out; a server with --debug-backend native takes it")
            }
            Unfit::Script(_) => "a server with --debug-backend native has it".to_owned(),
        };
        Self::new(code, format!("the editor's extension {unfit}")).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn only_what_a_script_names_is_sent() {
        let scripts = Scripts::published();
        let given = arguments(json!({"sessionId": "a", "start": 3, "count": 5}));
        assert_eq!(scripts.check("debug.stack", &given), Ok(()));
        assert_eq!(scripts.taken("debug.stack", &given), arguments(json!({"sessionId": "a"})));
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let scripts = Scripts::published();
        let unfit = scripts.check("debug.start", &arguments(json!({"program": "a.js"})));
        let unfit = unfit.expect_err("the published extension takes names only");
        assert_eq!(unfit.to_string(), "does not take `program` in debug.start");
        assert_eq!(DebugFailure::from(unfit).code, "E_UNSUPPORTED_CAPABILITY");
        let unfit = scripts.check("debug.attach", &Map::new()).expect_err("it has no attach");
        assert_eq!(DebugFailure::from(unfit).code, "E_SCRIPT_NOT_FOUND");
    }

    #[test]
    fn a_manifest_says_what_its_scripts_take() {
        let folder = tempfile::tempdir().expect("a folder");
        let manifest = json!({"version": 2, "scripts": {
            "debug.start": {"metadata": {"params": {"program": {"type": "string"}}}},
        }});
        std::fs::write(folder.path().join("manifest.json"), manifest.to_string()).expect("written");
        let scripts = Scripts::of(folder.path());
        assert_eq!(scripts.check("debug.start", &arguments(json!({"program": "a"}))), Ok(()));
        assert!(scripts.check("debug.start", &arguments(json!({"launch": "a"}))).is_err());
        assert!(scripts.has("debug.stack"), "the others are the published ones");
        std::fs::write(folder.path().join("manifest.json"), "{").expect("written");
        assert!(Scripts::of(folder.path()).takes("debug.start", "launch"), "a broken one is none");
    }
}
