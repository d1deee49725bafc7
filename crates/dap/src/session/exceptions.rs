//! Telling adapters which exceptions stop the program.

use serde_json::json;

use super::Inner;
use crate::adapter::{RaisingFunction, THROWN_TYPE, demangled, is_type_name};
use crate::client::Client;
use crate::configuration::ExceptionFilters;
use crate::error::DebugError;
use crate::protocol::{Capabilities, ExceptionFilter, Variable, read};
use crate::report::ExceptionReport;

impl Inner {
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
                let is_offered = |name: &&str| offered.iter().any(|known| known.filter == **name);
                let own_names =
                    names.iter().map(|name| self.adapter.quirks().exception_filter(name));
                own_names.filter(is_offered).collect()
            }
        };
        let timeout = self.context.settings.request_timeout;
        let arguments = self.adapter.quirks().exception_request(&filters, &self.exception_types());
        // Some adapters that offer no filters do not know the request either.
        if let Err(error) = client.request("setExceptionBreakpoints", arguments, timeout).await
            && !offered.is_empty()
        {
            return Err(self.request_failed(error));
        }
        Ok(())
    }

    /// The types of exceptions that stop the program wherever they are raised.
    pub(super) fn exception_types(&self) -> Vec<&str> {
        match &self.configuration.exceptions {
            ExceptionFilters::Default => Vec::new(),
            ExceptionFilters::Named(names) => {
                names.iter().map(String::as_str).filter(|name| is_type_name(name)).collect()
            }
        }
    }

    /// The runtime's functions on which breakpoints stand for exceptions that were chosen.
    pub(super) fn raising_functions(&self) -> Vec<RaisingFunction> {
        let Some(own) = self.adapter.quirks().own_filter() else { return Vec::new() };
        let is_on = match &self.configuration.exceptions {
            ExceptionFilters::Default => true,
            ExceptionFilters::Named(names) => names.iter().any(|known| known == own.name),
        };
        let types = self.exception_types();
        self.adapter.quirks().raising_functions(is_on, &types, &self.configuration)
    }

    /// Refuses names that the adapter does not know, with those that it knows, and types where it knows none.
    pub(super) fn check_exceptions(&self, capabilities: &Capabilities) -> Result<(), DebugError> {
        let ExceptionFilters::Named(names) = &self.configuration.exceptions else { return Ok(()) };
        let is_rust = self.lock().shows_rust;
        let types = self.exception_types();
        if let Some(first) = types.first()
            && !self.adapter.quirks().knows_exception_types(is_rust)
        {
            return Err(DebugError::UnsupportedCapability {
                adapter: self.adapter.name().to_owned(),
                what: format!("stops by the type of an exception ({first})"),
                instead: "leave `exceptions` out: panics stop it; or set a breakpoint where it is made",
            });
        }
        let offered = &capabilities.exception_breakpoint_filters;
        let own = self.adapter.quirks().own_filter().map(|own| own.name);
        let mut known = offered.iter().map(|filter| filter.filter.as_str()).chain(own);
        let is_known = |name: &&String| {
            let own_name = self.adapter.quirks().exception_filter(name);
            types.contains(&name.as_str()) || { known.clone() }.any(|known| known == own_name)
        };
        match names.iter().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => {
                let first = known.next().unwrap_or("none").to_owned();
                let known = known.fold(first, |all, name| format!("{all}, {name}"));
                let message = format!("no exception filter {name:?}; there are: {known}");
                Err(DebugError::InvalidParams(message))
            }
        }
    }

    /// What C++ has thrown: the program stands in the runtime's function for it.
    pub(super) async fn thrown(&self, link: u32, top: Option<u64>) -> ExceptionReport {
        let types = self.exception_types();
        let said = async {
            let (_, frame) = self.frame(top?).ok()?;
            let context = "watch";
            let arguments =
                json!({"expression": THROWN_TYPE, "frameId": frame, "context": context});
            let value = self.ask(link, "evaluate", arguments).await.ok()?;
            Some(read::<Variable>(&value).value)
        };
        let name = said.await.and_then(|said| demangled(&types, &said));
        let id = name.map_or_else(|| types.join(" or "), str::to_owned);
        self.record("exceptionInfo", json!({"exceptionId": id}));
        ExceptionReport { id, message: None }
    }

    /// The exception filters that the adapter offers: name, label, whether it is on by default.
    pub(crate) fn offered_filters(&self) -> Vec<(String, String, bool)> {
        let state = self.lock();
        let newest = state.links.values().next_back();
        let filters = newest.map(|link| link.capabilities.exception_breakpoint_filters.as_slice());
        let offered = filters.unwrap_or_default().iter();
        let offered =
            offered.map(|known| (known.filter.clone(), known.label.clone(), is_default(known)));
        let own = self.adapter.quirks().own_filter();
        let own = own.map(|own| (own.name.to_owned(), own.label.to_owned(), true));
        offered.chain(own).collect()
    }
}

fn is_default(filter: &ExceptionFilter) -> bool {
    filter.is_default || filter.filter == "uncaught"
}
