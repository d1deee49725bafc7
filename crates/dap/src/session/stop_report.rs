//! The report of a stop: everything that is usually asked next, in one answer.
//!
//! What an adapter does not answer is left empty; the stop itself is reported in any case.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use serde_json::json;
use termbridge_foreign_files::{folder_of, off_worker};

use super::Inner;
use super::focus::SEARCHED_FRAMES;
use super::inspect::{Page, VariableFilter};
use super::one_line::Detail;
use super::source::lines_of_file;
use super::state::State;
use super::stopped::Stop;
use crate::adapter::{PANIC, TEST_FAILURE, THROW};
use crate::breakpoint::BreakpointPlace;
use crate::error::DebugError;
use crate::protocol::{ExceptionInfo, read};
use crate::report::{
    ExceptionReport, FrameInfo, Location, OutputSince, ScopeKind, SourceLine, StackPage,
    StopReport, ThreadInfo, VariableInfo,
};

/// What stands before the place of a panic.
const PANICKED: &str = "panicked at ";

impl Inner {
    pub(super) async fn stop_report(&self, link: u32, stop: &Stop) -> StopReport {
        let settings = &self.context.settings;
        let id = stop.event.thread_id.unwrap_or_default();
        let page = Page { start: 0, count: SEARCHED_FRAMES.max(settings.report_frames) };
        let (stack, name) = tokio::join!(self.stack(link, id, page), self.thread_name(link, id));
        let stack = stack.ok();
        let reason = &stop.event.reason;
        let frames = stack.as_ref().map_or(&[][..], |stack| &stack.frames);
        let focus = self.focus_of(reason, frames).cloned();
        let raised_in = frames.first().filter(|top| {
            reason == "exception" && focus.as_ref().is_some_and(|focus| focus.id != top.id)
        });
        let raised_in = raised_in.cloned();
        let top = stack.as_ref().and_then(|stack| stack.frames.first()).map(|frame| frame.id);
        let locals = async {
            let Some(frame) = &focus else { return Some(Default::default()) };
            // A program's own code shows some values, and may never end.
            let read = tokio::time::timeout(settings.value_timeout, self.locals(frame.id)).await;
            read.ok().map(Result::unwrap_or_default)
        };
        let source = async {
            // The adapter is asked first: it can answer while a file is read.
            tokio::task::yield_now().await;
            match &focus {
                Some(frame) => self.source_of(link, frame).await,
                None => Vec::new(),
            }
        };
        let exception = async {
            match (stop.event.reason.as_str(), stop.event.description.as_deref()) {
                ("exception", Some(PANIC)) => Some(self.panic()),
                ("exception", Some(TEST_FAILURE)) => {
                    Some(ExceptionReport { id: TEST_FAILURE.to_owned(), message: None })
                }
                ("exception", Some(THROW)) => Some(self.thrown(link, top).await),
                ("exception", said) if self.configuration.core_file().is_some() => {
                    let message = said.map(str::to_owned);
                    Some(ExceptionReport { id: "signal".to_owned(), message })
                }
                ("exception", _) => {
                    self.exception(link, id).await.map(|body| exception(&read(&body)))
                }
                _ => None,
            }
        };
        let (locals, source, exception) = tokio::join!(locals, source, exception);
        let locals_unread = locals.is_none();
        let (locals, locals_left_out) = locals.unwrap_or_default();
        if let Some(place) = focus.as_ref().and_then(location) {
            // A stop's event does not say where.
            let source = json!({"path": place.path});
            let body = json!({"source": source, "line": place.line, "function": place.function});
            self.record("stopLocation", body);
        }
        let total_frames = stack.as_ref().and_then(|stack| stack.total);
        let mut frames = stack.map_or_else(Vec::new, |stack: StackPage| stack.frames);
        let is_whole = total_frames.is_some_and(|total| total <= frames.len() as u64);
        let data_changes = self.data_changes(link, stop, focus.as_ref(), &frames, is_whole).await;
        if stop.event.reason == "exception"
            && let Some(at) =
                focus.as_ref().and_then(|focus| frames.iter().position(|one| one.id == focus.id))
        {
            // What a runtime does to raise it is not what went wrong.
            frames.drain(..at);
        }
        let (mut reason, mut exception) = (stop.event.reason.clone(), exception);
        let stale = focus.as_ref().and_then(|focus| self.stale_source(focus));
        let optimised = focus.as_ref().and_then(|focus| self.optimised_source(focus));
        let unreadable = match focus.as_ref().and_then(location) {
            Some(_) => None,
            None => self.unbound_reason().await,
        };
        let mut state = self.lock();
        stale
            .into_iter()
            .chain(optimised)
            .chain(unreadable)
            .for_each(|said| state.note_failure(said));
        // delve calls a condition that it cannot evaluate an exception.
        let said = exception.as_ref().and_then(|exception| exception.message.as_deref());
        if let Some(mut failure) =
            said.and_then(|said| self.adapter.quirks().condition_failure(said))
        {
            let mut breakpoints = self.context.breakpoints();
            let place = focus.as_ref().and_then(location);
            let place = place.map(|place| BreakpointPlace::key_of(&place.path, place.line));
            let here = place.and_then(|place| breakpoints.get(&place)?.condition.clone());
            failure.condition = failure.condition.or(here);
            state.note_condition(&failure, &mut breakpoints);
            "breakpoint".clone_into(&mut reason);
            exception = None;
        }
        let waiting = state.links.get(&link).map_or(0, |link| link.others.waiting.len());
        let hit = state.places(link, &stop.event.hit_breakpoint_ids);
        state.bound.extend(hit.iter().map(|place| (place.clone(), true)));
        if stop.event.reason.contains("breakpoint")
            && let Some(place) = focus.as_ref().and_then(location)
        {
            // Some adapters do not say which they have hit.
            let place = BreakpointPlace::key_of(&place.path, place.line);
            state.bound.entry(place).and_modify(|bound| *bound = true);
        }
        // A thread that has the program's name is its first.
        let program = state.program.get(..15).unwrap_or(&state.program).to_owned();
        let name = if name == program { String::new() } else { name };
        let thread =
            ThreadInfo { id: state.thread_number(link, id), name, stopped: true, reason: None };
        let said = [&stop.event.description, &stop.event.text];
        StopReport {
            session: self.id.clone(),
            reason,
            description: said.into_iter().flatten().find(|text| !text.is_empty()).cloned(),
            thread,
            location: focus.as_ref().and_then(location),
            raised_in,
            source,
            frames: frames.into_iter().take(settings.report_frames as usize).collect(),
            total_frames,
            waiting,
            locals,
            locals_left_out,
            locals_unread,
            hit,
            data_changes,
            exception,
            condition_failures: state.take_condition_failures(),
            output: self.take_output(&mut state),
        }
    }

    /// The frame that a stop is about.
    pub(super) async fn focus(&self) -> Result<FrameInfo, DebugError> {
        let (link, stop) = {
            let state = self.lock();
            state.alive()?;
            let stop = state.latest_stop(None);
            stop.ok_or_else(|| super::inspect::not_stopped(&state.running()))?
        };
        let id = stop.event.thread_id.unwrap_or_default();
        let stack = self.stack(link, id, Page { start: 0, count: SEARCHED_FRAMES }).await?;
        let frame = self.focus_of(&stop.event.reason, &stack.frames).cloned();
        frame.ok_or_else(|| DebugError::EvaluateFailed("the thread has no frames".to_owned()))
    }

    /// Locals within the budget, and how many were left out.
    pub(super) async fn locals(
        &self,
        frame: u64,
    ) -> Result<(Vec<VariableInfo>, usize), DebugError> {
        let (link, id) = self.frame(frame)?;
        let (mut kept, mut left_out) = (Vec::new(), 0);
        let mut budget = self.context.settings.report_locals;
        let detail = Detail::within(self.adapter.quirks().report_line());
        let scopes = self.scopes(link, id).await?.into_iter();
        let scopes = scopes.filter(|scope| scope.kind == ScopeKind::Local && scope.reference != 0);
        let of_scopes = scopes.map(async |scope| {
            let (link, container) = self.container(scope.reference)?;
            let all = Page { start: 0, count: 0 };
            self.variables(link, container, VariableFilter::All, all, detail).await
        });
        for page in join_all(of_scopes).await {
            let page = page?;
            left_out += page.known_rest();
            let own =
                |variable: &VariableInfo| !self.adapter.quirks().is_made_by_tools(&variable.name);
            for variable in page.variables.into_iter().filter(own) {
                let size = size_of(&variable);
                if size > budget {
                    left_out += 1;
                } else {
                    budget -= size;
                    kept.push(variable);
                }
            }
        }
        Ok((kept, left_out))
    }

    async fn source_of(&self, link: u32, frame: &FrameInfo) -> Vec<SourceLine> {
        let context = self.context.settings.source_context;
        let Some(path) = &frame.path else { return Vec::new() };
        let (path, line) = (PathBuf::from(path), frame.line);
        let read = off_worker(folder_of(&path), move || lines_of_file(&path, line, context));
        let lines = read.await.unwrap_or_default();
        if !lines.is_empty() {
            return lines;
        }
        match frame.source_reference {
            Some(reference) => self.lines_of_adapter(link, reference, frame.line, context).await,
            None => lines,
        }
    }

    async fn thread_name(&self, link: u32, id: i64) -> String {
        let threads = self.ask(link, "threads", serde_json::Value::Null).await;
        let threads: crate::protocol::Threads = read(&threads.unwrap_or_default());
        let found = threads.threads.into_iter().find(|thread| thread.id == id);
        found.map(|thread| thread.name).unwrap_or_default()
    }

    /// What a panic said: the hook has written it before the program stops.
    fn panic(&self) -> ExceptionReport {
        let reported = self.lock().reported;
        let records = self.context.events.since(self.id.as_str(), reported);
        let output: String = records.iter().filter_map(|record| record.output()).collect();
        let message = output.rfind(PANICKED).map(|at| {
            let said = output[at + PANICKED.len()..].lines().map(str::trim);
            said.take(2).collect::<Vec<_>>().join(" ")
        });
        self.record("exceptionInfo", json!({"exceptionId": "panic", "description": message}));
        ExceptionReport { id: "panic".to_owned(), message }
    }

    /// Output since the last report, within the budget; from then on it counts as reported.
    pub(super) fn take_output(&self, state: &mut State) -> OutputSince {
        let printed = self.printed.load(Ordering::Acquire);
        let records = self.context.events.since(self.id.as_str(), state.reported);
        let Some(last) = records.last() else { return OutputSince::default() };
        state.reported = last.seq;
        let pieces = records.iter().filter(|record| record.category() != Some("adapter"));
        let text =
            in_whole_lines(pieces.filter_map(|record| {
                Some((record.category().unwrap_or_default(), record.output()?))
            }));
        let not_kept = printed.saturating_sub(state.reported_bytes).saturating_sub(text.len());
        state.reported_bytes += text.len() + not_kept;
        // A terminal between program and adapter ends lines its own way.
        let mut text = self.adapter.quirks().without_reports(text.replace("\r\n", "\n"));
        let mut start = text.len().saturating_sub(self.context.settings.report_output);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        text.drain(..start);
        OutputSince { text, left_out: start + not_kept }
    }
}

/// What was written to several streams, in the order of its lines: the parts of a line come together, also
/// where another stream was written to between them.
fn in_whole_lines<'a>(pieces: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = String::new();
    let mut begun: Vec<(&str, String)> = Vec::new();
    for (stream, piece) in pieces {
        let at = begun.iter().position(|(other, _)| *other == stream);
        let mut line = at.map_or_else(String::new, |at| begun.remove(at).1);
        line.push_str(piece);
        let rest = line.split_off(line.rfind('\n').map_or(0, |end| end + 1));
        text.push_str(&line);
        if !rest.is_empty() {
            begun.push((stream, rest));
        }
    }
    begun.into_iter().for_each(|(_, rest)| text.push_str(&rest));
    text
}

fn location(frame: &FrameInfo) -> Option<Location> {
    Some(Location {
        path: frame.path.clone()?,
        line: frame.line,
        column: frame.column,
        function: frame.name.clone(),
    })
}

fn exception(info: &ExceptionInfo) -> ExceptionReport {
    let details = info.details.clone().unwrap_or_default();
    ExceptionReport {
        id: info.exception_id.clone(),
        message: info.description.clone().or(details.message),
    }
}

/// About how many bytes a variable takes in an answer.
pub(super) fn size_of(variable: &VariableInfo) -> usize {
    32 + variable.name.len()
        + variable.value.len()
        + variable.kind.as_ref().map_or(0, String::len)
        + variable.evaluate_name.as_ref().map_or(0, String::len)
}

#[cfg(test)]
mod tests {
    use super::in_whole_lines;

    #[test]
    fn lines_of_two_streams_are_not_torn() {
        let pieces = [
            ("stdout", "out"),
            ("stderr", "err line 0"),
            ("stdout", " line 0\nout"),
            ("stderr", " of five\n"),
            ("stdout", " line 1"),
        ];
        assert_eq!(
            in_whole_lines(pieces.into_iter()),
            "out line 0\nerr line 0 of five\nout line 1"
        );
    }
}
