//! The tools of a server, made when they are first asked for: a client is greeted before that.
//!
//! All clients share them, except those whose workspace brings tools of its own. The debugger is each principal's and
//! workspace's own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use termbridge_bridge::catalog::{Catalog, Origin, Tool as CatalogTool};
use termbridge_bridge::{Bridge, Caller, DebugFailure, Debuggers, Debugging};
use termbridge_foreign_files::off_worker;
use tokio::sync::Mutex;

use crate::debug::DebugTool;
use crate::error::hint;
use crate::tool::Entry;
use crate::tools;
use crate::toolset::{ALL_TOOLS, DEBUG_CORE, Offer, Toolset, UnknownTool};

/// How an argument refers to the conditions of a wait, and what these are.
const AS_IN_WAIT_FOR: &str = "As in `wait_for`";
const CONDITIONS: &str = "Any of text, regex, gone, idle_ms, change, exit, prompt, needs_input, interactive, bell, \
    title; timeout_ms";

/// What a server offers to a client.
pub(crate) struct Offered {
    common: Arc<Common>,
    /// The server's, or the client's own.
    offer: Arc<Offer>,
    caller: Caller,
    made: OnceLock<Arc<Made>>,
    debugging: OnceLock<Debugging>,
    /// Held by the call that makes the tools.
    making: Mutex<()>,
}

/// What all clients share.
struct Common {
    bridge: Bridge,
    offer: Arc<Offer>,
    debuggers: OnceLock<Debuggers>,
    /// The tools without any of a workspace.
    made: OnceLock<Arc<Made>>,
}

struct Made {
    entries: Vec<Entry>,
    has_debugger: bool,
}

impl Offered {
    pub(crate) fn new(bridge: Bridge, offer: Offer) -> Result<Self, UnknownTool> {
        let (debuggers, made) = (OnceLock::new(), OnceLock::new());
        let offer = Arc::new(offer);
        let common = Arc::new(Common { bridge, offer: Arc::clone(&offer), debuggers, made });
        let offered = Self::of(common, offer, Caller::default());
        if offered.offer().names_tools() {
            offered.check_names()?;
        }
        Ok(offered)
    }

    fn of(common: Arc<Common>, offer: Arc<Offer>, caller: Caller) -> Self {
        let (made, debugging, making) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        Self { common, offer, caller, made, debugging, making }
    }

    /// The same for another client.
    pub(crate) fn for_client(&self, caller: Caller) -> Self {
        Self::of(Arc::clone(&self.common), Arc::clone(&self.offer), caller)
    }

    /// The same with other toolsets.
    pub(crate) fn with_toolsets(&self, toolsets: Vec<Toolset>) -> Self {
        let offer = Offer { toolsets, ..(*self.offer).clone() };
        Self::of(Arc::clone(&self.common), Arc::new(offer), self.caller.clone())
    }

    fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Whether a client of this name gets structured content.
    pub(crate) fn is_structured_for(&self, client: Option<&str>) -> bool {
        self.offer().structured.is_for(client, &self.offer().text_clients)
    }

    /// The tools in the order in which clients list them.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.made().entries
    }

    /// A tool by its name, or by another that it goes by.
    pub(crate) fn find(&self, name: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.is_named(name))
    }

    /// The client's debugger, where its tools are offered, there is room for it and its workspace answers.
    pub(crate) fn debugging(&self) -> Option<&Debugging> {
        if self.made().has_debugger { self.debugging.get() } else { None }
    }

    /// The client's debugger.
    pub(crate) async fn own_debugging(self: &Arc<Self>) -> Result<&Debugging, DebugFailure> {
        if self.debugging.get().is_none() {
            let tools = Arc::clone(self);
            off_worker(self.workspace(), move || tools.make_debugging().map(drop)).await??;
        }
        self.make_debugging()
    }

    /// The same, and reads the workspace's files if it is the first time.
    fn make_debugging(&self) -> Result<&Debugging, DebugFailure> {
        match self.debugging.get() {
            Some(debugging) => Ok(debugging),
            None => {
                let debugging = self.debuggers().of(&self.caller)?;
                Ok(self.debugging.get_or_init(|| debugging))
            }
        }
    }

    /// Ends what is being debugged, everyone's.
    pub(crate) async fn end_debugging(&self) {
        if let Some(debuggers) = self.common.debuggers.get() {
            debuggers.shutdown().await;
        }
    }

    /// Makes the tools, once. This reads a workspace's files, so it runs off the workers. A workspace that gives no
    /// answer brings no tools for as long as the client is connected.
    pub(crate) async fn prepare(self: &Arc<Self>) {
        if self.made.get().is_some() {
            return;
        }
        let _turn = self.making.lock().await;
        if self.made.get().is_some() {
            return;
        }
        let tools = Arc::clone(self);
        let made = off_worker(self.workspace(), move || tools.make_with_workspace()).await;
        let made = made.unwrap_or_else(|error| {
            tracing::warn!(%error, "the workspace's tools cannot be read; the client gets the others");
            self.make_with(None)
        });
        let _ = self.made.set(made);
    }

    /// What the debugger reads, if it is not that of the server.
    fn workspace(&self) -> PathBuf {
        self.caller.workspace().map(Path::to_owned).unwrap_or_default()
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| self.make_with_workspace())
    }

    fn make_with_workspace(&self) -> Arc<Made> {
        let debugging = self.may_debug().then(|| self.make_debugging().ok()).flatten();
        self.make_with(debugging.map(Debugging::catalog))
    }

    /// The tools with these of a workspace.
    fn make_with(&self, catalog: Option<&Catalog>) -> Arc<Made> {
        let is_own = |tool: &CatalogTool| matches!(tool.origin(), Origin::Own);
        let is_common = Arc::ptr_eq(&self.offer, &self.common.offer)
            && catalog.is_none_or(|catalog| catalog.all().all(is_own));
        let make = || {
            // What is listed does not depend on whether there is room for a debugger.
            let default = (catalog.is_none() && self.may_debug()).then(Catalog::own);
            Arc::new(self.make(catalog.or(default.as_ref())))
        };
        if is_common { Arc::clone(self.common.made.get_or_init(make)) } else { make() }
    }

    fn make(&self, catalog: Option<&Catalog>) -> Made {
        let mut entries = self.entries_of(catalog, |toolset, name| self.offer().has(toolset, name));
        if self.offer().names_tools() || !self.offer().toolsets.contains(&Toolset::Terminal) {
            name_only_offered(&mut entries);
        }
        // Tools that were named may all be others.
        let has_debugger = entries.iter().any(Entry::is_of_catalog);
        Made { entries, has_debugger }
    }

    /// Whether terminal tools may be among them, without looking.
    pub(crate) fn may_use_terminals(&self) -> bool {
        self.offer().toolsets.contains(&Toolset::Terminal) || !self.offer().tools.is_empty()
    }

    /// Whether the debugger's guides may be among them, without looking.
    pub(crate) fn has_guides(&self) -> bool {
        self.offer().has(Toolset::Debug, "docs_list")
    }

    /// Words for a model, without those that name a tool which was left out by its name.
    pub(crate) fn with_offered_names(&self, text: String) -> String {
        if !self.offer().names_tools() {
            return text;
        }
        let names: Vec<&str> = hint::NAMES.into_iter().chain(DEBUG_CORE).collect();
        hint::for_tools(&text, &names, |name| self.find(name).map(|_| name))
    }

    /// Which of the debugger's tools that a page names are not offered, and how they could be.
    pub(crate) fn note_on_missing(&self, page: &str) -> Option<String> {
        let catalog = self.debugging()?.catalog();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_named = |name: &str| page.split(|c| !is_part(c)).any(|word| word == name);
        let missing = catalog.enabled().map(CatalogTool::name);
        let missing = missing.filter(|name| self.find(name).is_none() && is_named(name));
        let missing: Vec<&str> = missing.collect();
        (!missing.is_empty()).then(|| {
            let names = missing.join(", ");
            format!("Not offered here, but with {ALL_TOOLS}: {names}.\n\n")
        })
    }

    /// How a tool that exists and is not offered could be, to follow its name.
    pub(crate) fn how_to_offer(&self, name: &str) -> Option<String> {
        if self.offer().without.iter().any(|left_out| left_out == name) {
            return Some(" (left out by exclude_tools)".to_owned());
        }
        let has = |toolset: &Toolset| match (toolset, self.debugging()) {
            (Toolset::Debug, Some(debugging)) => {
                debugging.catalog().enabled().any(|tool| tool.name() == name)
            }
            (Toolset::Debug, None) => Catalog::own().enabled().any(|tool| tool.name() == name),
            _ => tools::of(*toolset).iter().any(|entry| entry.is_named(name)),
        };
        let toolset = Toolset::ALL.iter().find(|toolset| has(toolset))?;
        let add = match toolset {
            Toolset::Compat => "--toolsets terminal,debug-core,compat",
            _ => ALL_TOOLS,
        };
        Some(format!(" (not offered; start the server with {add})"))
    }

    /// Whether debugging tools may be among them, without looking.
    pub(crate) fn may_debug(&self) -> bool {
        self.offer().may_debug()
    }

    fn debuggers(&self) -> &Debuggers {
        self.common.debuggers.get_or_init(|| {
            let own = [Toolset::Terminal, Toolset::Compat].into_iter().flat_map(tools::of);
            let reserved: Vec<String> =
                own.map(|entry| entry.definition.name.to_string()).collect();
            let reserved: Vec<&str> = reserved.iter().map(String::as_str).collect();
            self.common.bridge.debuggers(self.offer().debug.clone(), &reserved)
        })
    }

    fn entries_of(
        &self,
        catalog: Option<&Catalog>,
        wanted: impl Fn(Toolset, &str) -> bool,
    ) -> Vec<Entry> {
        let has_screens = self.common.bridge.has_screens();
        let mut entries = Vec::new();
        for toolset in Toolset::ALL {
            let of_toolset = match (toolset, catalog) {
                (Toolset::Debug, Some(catalog)) => debug_entries(catalog),
                _ => tools::of(*toolset),
            };
            entries.extend(of_toolset.into_iter().filter(|entry| {
                wanted(*toolset, &entry.definition.name) && (has_screens || !entry.needs_screen)
            }));
        }
        entries
    }

    /// Whether every tool that was named exists.
    fn check_names(&self) -> Result<(), UnknownTool> {
        let debugging = self.make_debugging().ok();
        let catalog = debugging.map_or_else(Catalog::own, |debugging| debugging.catalog().clone());
        let known = self.entries_of(Some(&catalog), |_, _| true);
        let mut named = self.offer().tools.iter().chain(&self.offer().without);
        let is_known = |name: &str| known.iter().any(|entry| entry.definition.name == name);
        match named.find(|name| !is_known(name)) {
            Some(name) => Err(UnknownTool(name.clone())),
            None => Ok(()),
        }
    }
}

/// Descriptions without what names a tool that is not among these.
fn name_only_offered(entries: &mut [Entry]) {
    let names: Vec<String> =
        entries.iter().map(|entry| entry.definition.name.to_string()).collect();
    let usable = |name: &'static str| names.iter().any(|offered| offered == name).then_some(name);
    for entry in entries {
        let told = entry.definition.description.as_deref().unwrap_or_default();
        entry.definition.description = Some(hint::for_tools(told, &hint::NAMES, usable).into());
        let mut schema = Value::Object(entry.definition.input_schema.as_ref().clone());
        name_only_usable(&mut schema, &usable);
        if let Value::Object(schema) = schema {
            entry.definition.input_schema = Arc::new(schema);
        }
    }
}

/// The same for the descriptions of arguments.
fn name_only_usable(schema: &mut Value, usable: &impl Fn(&'static str) -> Option<&'static str>) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(told) if name == "description" => {
                        let told_here = match usable("wait_for") {
                            Some(_) => told.clone(),
                            // What it refers to is not there to be read.
                            None => told.replace(AS_IN_WAIT_FOR, CONDITIONS),
                        };
                        *told = hint::for_tools(&told_here, &hint::NAMES, usable);
                    }
                    other => name_only_usable(other, usable),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| name_only_usable(item, usable)),
        _ => {}
    }
}

fn debug_entries(catalog: &Catalog) -> Vec<Entry> {
    catalog.enabled().map(|tool| Entry::of_catalog(DebugTool::new(tool.clone()))).collect()
}
