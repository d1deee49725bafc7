//! The tools of a server, made when they are first asked for: a client is greeted before that.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use termbridge_bridge::catalog::Catalog;
use termbridge_bridge::{Bridge, Debugging};

use crate::debug::DebugTool;
use crate::error::hint;
use crate::tool::Entry;
use crate::tools;
use crate::toolset::{ALL_TOOLS, DEBUG_CORE, Offer, Toolset, UnknownTool};

/// How an argument refers to the conditions of a wait, and what these are.
const AS_IN_WAIT_FOR: &str = "As in `wait_for`";
const CONDITIONS: &str = "Any of text, regex, gone, idle_ms, change, exit, prompt, needs_input, interactive, bell, \
    title; timeout_ms";

/// What a server offers.
pub(crate) struct Offered {
    bridge: Bridge,
    offer: Offer,
    made: OnceLock<Made>,
}

struct Made {
    entries: Vec<Entry>,
    debugging: Option<Debugging>,
}

impl Offered {
    pub(crate) fn new(bridge: Bridge, offer: Offer) -> Result<Self, UnknownTool> {
        let offered = Self { bridge, offer, made: OnceLock::new() };
        if offered.offer.names_tools() {
            offered.check_names()?;
        }
        Ok(offered)
    }

    /// Whether a client of this name gets structured content.
    pub(crate) fn is_structured_for(&self, client: Option<&str>) -> bool {
        self.offer.structured.is_for(client, &self.offer.text_clients)
    }

    /// The tools in the order in which clients list them.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.made().entries
    }

    /// A tool by its name, or by another that it goes by.
    pub(crate) fn find(&self, name: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.is_named(name))
    }

    /// The debugger, where its tools are offered.
    pub(crate) fn debugging(&self) -> Option<&Debugging> {
        self.made().debugging.as_ref()
    }

    /// The debugger, if anyone has asked for its tools.
    pub(crate) fn used_debugging(&self) -> Option<&Debugging> {
        self.made.get()?.debugging.as_ref()
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| {
            let debugging = self.may_debug().then(|| self.new_debugging());
            let mut entries =
                self.entries_of(debugging.as_ref(), |toolset, name| self.offer.has(toolset, name));
            if self.offer.names_tools() || !self.offer.toolsets.contains(&Toolset::Terminal) {
                name_only_offered(&mut entries);
            }
            // Tools that were named may all be others.
            let debugging = debugging.filter(|_| entries.iter().any(Entry::is_of_catalog));
            Made { entries, debugging }
        })
    }

    /// Whether terminal tools may be among them, without looking.
    pub(crate) fn may_use_terminals(&self) -> bool {
        self.offer.toolsets.contains(&Toolset::Terminal) || !self.offer.tools.is_empty()
    }

    /// Whether the debugger's guides may be among them, without looking.
    pub(crate) fn has_guides(&self) -> bool {
        self.offer.has(Toolset::Debug, "docs_list")
    }

    /// Words for a model, without those that name a tool which was left out by its name.
    pub(crate) fn with_offered_names(&self, text: String) -> String {
        if !self.offer.names_tools() {
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
        let missing = catalog.enabled().map(termbridge_bridge::catalog::Tool::name);
        let missing = missing.filter(|name| self.find(name).is_none() && is_named(name));
        let missing: Vec<&str> = missing.collect();
        (!missing.is_empty()).then(|| {
            let names = missing.join(", ");
            format!("Not offered here, but with {ALL_TOOLS}: {names}.\n\n")
        })
    }

    /// How a tool that exists and is not offered could be, to follow its name.
    pub(crate) fn how_to_offer(&self, name: &str) -> Option<String> {
        if self.offer.without.iter().any(|left_out| left_out == name) {
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
        self.offer.may_debug()
    }

    fn new_debugging(&self) -> Debugging {
        let own = [Toolset::Terminal, Toolset::Compat].into_iter().flat_map(tools::of);
        let reserved: Vec<String> = own.map(|entry| entry.definition.name.to_string()).collect();
        let reserved: Vec<&str> = reserved.iter().map(String::as_str).collect();
        self.bridge.debugging(self.offer.debug.clone(), &reserved)
    }

    fn entries_of(
        &self,
        debugging: Option<&Debugging>,
        wanted: impl Fn(Toolset, &str) -> bool,
    ) -> Vec<Entry> {
        let has_screens = self.bridge.backend().screens().is_some();
        let mut entries = Vec::new();
        for toolset in Toolset::ALL {
            let of_toolset = match (toolset, debugging) {
                (Toolset::Debug, Some(debugging)) => debug_entries(debugging),
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
        let known = self.entries_of(Some(&self.new_debugging()), |_, _| true);
        let mut named = self.offer.tools.iter().chain(&self.offer.without);
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

fn debug_entries(debugging: &Debugging) -> Vec<Entry> {
    let tools = debugging.catalog().enabled();
    tools.map(|tool| Entry::of_catalog(DebugTool::new(tool.clone(), debugging.clone()))).collect()
}
