//! Sending breakpoints and exception filters to adapters, and keeping what they say of them.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Inner;
use crate::adapter::AdapterKind;
use crate::breakpoint::{Breakpoint, Placed};
use crate::client::Client;
use crate::configuration::ExceptionFilters;
use crate::error::DebugError;
use crate::protocol::{Breakpoints, Capabilities, ExceptionFilter, read};

impl Inner {
    /// Sends every breakpoint over a new connection.
    pub(super) async fn place_all(&self, link: u32) -> Result<(), DebugError> {
        let _order = self.context.placing.lock().await;
        let files = self.context.breakpoints().files();
        for file in files {
            self.place_file(link, &file).await?;
        }
        if let Some(link) = self.lock().links.get_mut(&link) {
            link.configured = true;
        }
        Ok(())
    }

    /// Sends a file's breakpoints over every connection that has the others already. The caller
    /// holds the context's `placing`.
    pub(crate) async fn place_everywhere(&self, file: &Path) -> Result<(), DebugError> {
        let links: Vec<u32> = {
            let state = self.lock();
            let configured = state.links.iter().filter(|(_, link)| link.configured && !link.closed);
            configured.map(|(number, _)| *number).collect()
        };
        for link in links {
            self.place_file(link, file).await?;
        }
        Ok(())
    }

    async fn place_file(&self, number: u32, file: &Path) -> Result<(), DebugError> {
        let link = {
            let state = self.lock();
            state.links.get(&number).map(|link| (link.client.clone(), link.capabilities.clone()))
        };
        let Some((client, capabilities)) = link else { return Ok(()) };
        let wanted = self.context.breakpoints().of_file(file);
        let (sent, refused): (Vec<_>, Vec<_>) =
            wanted.into_iter().partition(|wanted| self.lacks(wanted, &capabilities).is_none());
        let path = match sent.first().or(refused.first()) {
            Some(breakpoint) if !self.adapter.resolves_links() => breakpoint.path.clone(),
            _ => file.to_owned(),
        };
        let list: Vec<Value> =
            sent.iter().map(|breakpoint| shape(breakpoint, self.adapter)).collect();
        let lines: Vec<u64> = sent.iter().map(|breakpoint| breakpoint.line).collect();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let arguments = json!({
            "source": {"name": name, "path": path}, "breakpoints": list, "lines": lines,
            "sourceModified": false,
        });
        let timeout = self.context.settings.request_timeout;
        let answer = client.request("setBreakpoints", arguments, timeout).await;
        let answer: Breakpoints = read(&answer.map_err(|error| self.request_failed(error))?);
        let mut state = self.lock();
        let Some(link) = state.links.get_mut(&number) else { return Ok(()) };
        link.placed.retain(|(path, _), _| path != file);
        let mut answers = answer.breakpoints.into_iter();
        for breakpoint in sent {
            let placed = match answers.next() {
                Some(answer) => Placed {
                    id: answer.id,
                    verified: answer.verified,
                    line: answer.line,
                    message: answer.message.map(|words| self.adapter.breakpoint_words(words)),
                },
                None => Placed::refused("the adapter said nothing of it".to_owned()),
            };
            link.placed.insert((file.to_owned(), breakpoint.line), placed);
        }
        for breakpoint in refused {
            let why = self.lacks(&breakpoint, &capabilities).unwrap_or_default();
            link.placed.insert((file.to_owned(), breakpoint.line), Placed::refused(why));
        }
        let of_file = link.placed.iter().filter(|((path, _), _)| path == file);
        let now: Vec<_> = of_file.map(|(place, placed)| (place.clone(), placed.verified)).collect();
        for (place, verified) in now {
            *state.bound.entry(place).or_default() |= verified;
        }
        Ok(())
    }

    /// What the adapter cannot do that a breakpoint needs. It would stop where nobody wants it to.
    fn lacks(&self, breakpoint: &Breakpoint, capabilities: &Capabilities) -> Option<String> {
        let needs = [
            (
                breakpoint.condition.is_some(),
                capabilities.supports_conditional_breakpoints,
                "conditions",
            ),
            (
                breakpoint.hit_condition.is_some(),
                capabilities.supports_hit_conditional_breakpoints
                    || self.adapter.knows_hit_conditions(),
                "hit conditions",
            ),
            (breakpoint.log_message.is_some(), capabilities.supports_log_points, "log messages"),
        ];
        if let Some((_, _, what)) = needs.iter().find(|(needed, has, _)| *needed && !*has) {
            return Some(format!("{} does not support {what}", self.adapter.name()));
        }
        let hits = breakpoint.hit_condition.as_ref()?;
        self.adapter.hit_condition(hits).err()
    }

    /// What this session's adapter says of a breakpoint: the best of its connections.
    pub(crate) fn placed(&self, file: &Path, line: u64) -> Option<Placed> {
        let state = self.lock();
        let place = (file.to_owned(), line);
        let all = state.links.values().filter_map(|link| link.placed.get(&place));
        all.max_by_key(|placed| placed.verified).cloned()
    }

    /// Waits for a breakpoint to be placed, which some adapters do after their answer.
    pub(crate) async fn wait_placed(&self, file: &Path, line: u64, limit: Duration) {
        let mut changed = self.subscribe();
        let deadline = Instant::now() + limit;
        while let Some(Placed { verified: false, id: Some(_), .. }) = self.placed(file, line) {
            if tokio::time::timeout_at(deadline, changed.changed()).await.is_err() {
                return;
            }
        }
    }

    /// Tells an adapter which exceptions stop the program.
    pub(super) async fn send_exception_filters(
        &self,
        client: &Client,
        capabilities: &Capabilities,
    ) -> Result<(), DebugError> {
        let offered = &capabilities.exception_breakpoint_filters;
        let chosen = &self.configuration.exceptions;
        let filters: Vec<&str> = match chosen {
            ExceptionFilters::Default => {
                let default = offered.iter().filter(|filter| is_default(filter));
                default.map(|filter| filter.filter.as_str()).collect()
            }
            ExceptionFilters::Named(names) => {
                self.check_filters(names, offered)?;
                let is_offered = |name: &&str| offered.iter().any(|known| known.filter == **name);
                names.iter().map(String::as_str).filter(is_offered).collect()
            }
        };
        let timeout = self.context.settings.request_timeout;
        let arguments = json!({"filters": filters});
        // Some adapters that offer no filters do not know the request either.
        if let Err(error) = client.request("setExceptionBreakpoints", arguments, timeout).await
            && !offered.is_empty()
        {
            return Err(self.request_failed(error));
        }
        let Some((name, _, function)) = self.adapter.own_filter() else { return Ok(()) };
        let wanted = match chosen {
            ExceptionFilters::Default => true,
            ExceptionFilters::Named(names) => names.iter().any(|known| known == name),
        };
        let list = if wanted { vec![json!({"name": function})] } else { Vec::new() };
        let arguments = json!({"breakpoints": list});
        let set = client.request("setFunctionBreakpoints", arguments, timeout).await;
        let set = set.map_err(|error| self.request_failed(error))?;
        let ids = set["breakpoints"].as_array().into_iter().flatten();
        self.lock().own_filter_ids = ids.filter_map(|set| set["id"].as_i64()).collect();
        Ok(())
    }

    /// Refuses names that the adapter does not know, with those that it knows.
    fn check_filters(
        &self,
        names: &[String],
        offered: &[ExceptionFilter],
    ) -> Result<(), DebugError> {
        let own = self.adapter.own_filter().map(|(name, ..)| name);
        let mut known = offered.iter().map(|filter| filter.filter.as_str()).chain(own);
        match names.iter().find(|name| !known.clone().any(|known| known == *name)) {
            None => Ok(()),
            Some(name) => {
                let first = known.next().unwrap_or("none").to_owned();
                let known = known.fold(first, |all, name| format!("{all}, {name}"));
                let message = format!("no exception filter {name:?}; there are: {known}");
                Err(DebugError::InvalidParams(message))
            }
        }
    }

    /// The exception filters that the adapter offers: name, label, whether it is on by default.
    pub(crate) fn offered_filters(&self) -> Vec<(String, String, bool)> {
        let state = self.lock();
        let newest = state.links.values().next_back();
        let filters = newest.map(|link| link.capabilities.exception_breakpoint_filters.as_slice());
        let offered = filters.unwrap_or_default().iter();
        let offered =
            offered.map(|known| (known.filter.clone(), known.label.clone(), is_default(known)));
        let own = self.adapter.own_filter();
        let own = own.map(|(name, label, _)| (name.to_owned(), label.to_owned(), true));
        offered.chain(own).collect()
    }
}

fn is_default(filter: &ExceptionFilter) -> bool {
    filter.is_default || filter.filter == "uncaught"
}

fn shape(breakpoint: &Breakpoint, adapter: AdapterKind) -> Value {
    let mut shape = json!({"line": breakpoint.line});
    let hits = breakpoint.hit_condition.as_ref();
    let hits = hits.and_then(|hits| adapter.hit_condition(hits).ok());
    let fields = [
        ("condition", &breakpoint.condition),
        ("hitCondition", &hits),
        ("logMessage", &breakpoint.log_message),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            shape[name] = json!(value);
        }
    }
    shape
}
