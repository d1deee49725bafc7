//! Values in one line with what is nested in them, for adapters that leave that out.
//!
//! What is inside is fetched for all values at once, level by level, within bounds; then each value is written
//! within a budget of bytes. What is left out is marked by `…`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt, join_all};
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::Inner;
use crate::adapter::{Bits, Container, Look, Part};
use crate::protocol::{Variable, Variables, read};

/// Requests for one answer.
const MAX_REQUESTS: usize = 100;
/// Levels that are looked into.
const MAX_LEVELS: usize = 4;
/// Parts of one value that are looked at.
const MAX_PARTS: usize = 20;
/// Bytes of a value that has others in it.
const MAX_LINE: usize = 256;

/// How much of what is nested in a value is shown with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    levels: usize,
    bytes: usize,
}

impl Detail {
    pub(super) const NONE: Self = Self { levels: 0, bytes: MAX_LINE };
    pub(super) const FULL: Self = Self { levels: MAX_LEVELS, bytes: MAX_LINE };

    /// As much as a line of so many bytes takes.
    pub(super) fn within(bytes: usize) -> Self {
        Self { levels: MAX_LEVELS, bytes: bytes.min(MAX_LINE) }
    }
}

/// How long one answer may take; what is inside is left out then.
const MAX_TIME: Duration = Duration::from_secs(3);
/// Numbers of one answer whose bits are asked for.
const MAX_BITS: usize = 40;

/// What the values of one answer share.
struct Reading {
    link: u32,
    /// The frame whose variables they are, where it is known.
    frame: Option<i64>,
    requests: AtomicUsize,
    bits: AtomicUsize,
    deadline: Instant,
}

/// A value on its way to its line.
enum Node {
    Text(String),
    /// Nothing of what is inside was fetched.
    Closed(Container),
    Open {
        container: Container,
        parts: Vec<(Part, Node)>,
        more: usize,
    },
}

impl Inner {
    /// Puts each value of a frame, where that is known, into one line with what is nested in it.
    pub(super) async fn in_one_line(
        &self,
        link: u32,
        frame: Option<i64>,
        variables: &mut [Variable],
        detail: Detail,
    ) {
        let (requests, bits) = (AtomicUsize::new(MAX_REQUESTS), AtomicUsize::new(MAX_BITS));
        let deadline = Instant::now() + MAX_TIME;
        let reading = Reading { link, frame, requests, bits, deadline };
        let nodes =
            variables.iter().map(|one| self.node(&reading, one, detail.levels, detail.bytes));
        let nodes = join_all(nodes).await;
        for (variable, node) in variables.iter_mut().zip(nodes) {
            if let Some(node) = node {
                variable.value = node.written(detail.bytes);
            }
        }
    }

    /// A value with what is inside it, where there is room for so many bytes; none where the adapter's own text does.
    fn node<'a>(
        &'a self,
        reading: &'a Reading,
        variable: &'a Variable,
        levels: usize,
        room: usize,
    ) -> BoxFuture<'a, Option<Node>> {
        async move {
            let (container, preview) = match self.adapter.quirks().look(variable)? {
                Look::Text(text) => return Some(Node::Text(text)),
                Look::Bits(expression) => {
                    let bits = self.bits(reading, &expression).await;
                    return Some(Node::Text(self.adapter.quirks().by_bits(variable, bits)));
                }
                // There is no room for more.
                Look::Preview(text, _) if text.len() > room => {
                    return Some(Node::Text(text));
                }
                Look::Preview(text, container) => (container, Some(text)),
                Look::Parts(container) => (container, None),
            };
            let closed = |container| preview.map_or(Node::Closed(container), Node::Text);
            // An entry is no level of its own.
            let is_entry = container == Container::Entry;
            if levels == 0 && !is_entry || room == 0 || !takes_one(&reading.requests) {
                return Some(closed(container));
            }
            let levels = if is_entry { levels } else { levels - 1 };
            let mut arguments = json!({"variablesReference": variable.variables_reference});
            let behind = container.length().unwrap_or(0).saturating_sub(MAX_PARTS);
            if behind > 0 {
                arguments["filter"] = json!("indexed");
                (arguments["start"], arguments["count"]) = (json!(0), json!(MAX_PARTS));
            }
            let children = self.ask(reading.link, "variables", arguments);
            let Ok(Ok(children)) = timeout_at(reading.deadline, children).await else {
                return Some(closed(container));
            };
            let children = read::<Variables>(&children).variables;
            let (container, mut parts) = self.adapter.quirks().parts(container, variable, children);
            let more = behind + parts.len().saturating_sub(MAX_PARTS);
            parts.truncate(MAX_PARTS);
            let mut room = room;
            let parts = parts.into_iter().map(|(part, child)| {
                let left = room;
                room = room.saturating_sub(self.least(&child));
                (part, child, left)
            });
            let nodes = join_all(parts.map(async |(part, child, room)| {
                let node = match part {
                    Part::Getter(_) => Node::Text("[Getter]".to_owned()),
                    _ => self.node(reading, &child, levels, room).await?,
                };
                Some((part, node))
            }));
            let parts = nodes.await.into_iter().flatten().collect();
            Some(Node::Open { container, parts, more })
        }
        .boxed()
    }

    /// How many bytes a value takes in another one at least, as far as its adapter's text of it tells.
    fn least(&self, variable: &Variable) -> usize {
        match self.adapter.quirks().look(variable) {
            Some(Look::Text(text)) => text.len(),
            // Its mark for what it leaves out may be longer than that.
            Some(Look::Preview(text, _)) => text.len() / 2,
            Some(Look::Parts(_) | Look::Bits(_)) | None => 1,
        }
    }

    /// The numbers that an expression gives: `1 = 0x1`, `[2]uint64 [1,2]`.
    async fn bits(&self, reading: &Reading, expression: &str) -> Bits {
        let Some(frame) = reading.frame.filter(|_| takes_one(&reading.bits)) else {
            return Bits::Unknown;
        };
        let arguments = json!({"expression": expression, "frameId": frame, "context": "watch"});
        let Ok(answer) = self.ask(reading.link, "evaluate", arguments).await else {
            return Bits::Computed;
        };
        let value = read::<Variable>(&answer).value;
        let list = value.strip_suffix(']').and_then(|value| value.split_once(" ["));
        let numbers = list.map_or(value.split(' ').next(), |(_, list)| Some(list));
        let numbers = numbers.unwrap_or_default().split(',').map(str::parse);
        numbers.collect::<Result<_, _>>().map_or(Bits::Unknown, Bits::Known)
    }
}

/// Takes one of a number, if there is one left.
fn takes_one(left: &AtomicUsize) -> bool {
    let less = |left: usize| left.checked_sub(1);
    left.try_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
}

impl Node {
    fn written(&self, budget: usize) -> String {
        let (container, parts, more) = match self {
            Self::Text(text) => return text.clone(),
            Self::Closed(container) => return container.closed(),
            Self::Open { container, parts, more } => (container, parts, *more),
        };
        let mut written: Vec<String> = Vec::new();
        let (mut size, mut next) = (0, 0);
        for (at, (part, node)) in parts.iter().enumerate() {
            // What a pointer leads to is written in its place.
            let mut text = match *container == Container::Entry && parts.len() == 1 {
                true => node.written(budget),
                false => node.within(budget.saturating_sub(size)),
            };
            if let Part::Named(name) | Part::Getter(name) = part
                && *container != Container::Entry
            {
                text = format!("{name}: {text}");
            }
            let is_left_out = size + text.len() > budget || text == "…";
            if is_left_out && at > 0 && *container != Container::Entry {
                written.push(format!("… {} more", parts.len() - at + more));
                return container.with(&written.join(", "));
            }
            if let Part::Indexed(index) = part {
                written.extend((*index > next).then(|| empty(index - next)));
                next = index + 1;
            }
            size += text.len() + 2;
            written.push(text);
        }
        if *container == Container::Entry {
            return written.join(" => ");
        }
        if let Container::List { length, .. } = container {
            let end = (*length).min(MAX_PARTS);
            written.extend((end > next).then(|| empty(end - next)));
        }
        written.extend((more > 0).then(|| format!("… {more} more")));
        container.with(&written.join(", "))
    }

    /// The same as part of another value.
    fn within(&self, budget: usize) -> String {
        let mut text = self.written(budget);
        if text.len() <= budget {
            return text;
        }
        match self {
            Self::Closed(container) | Self::Open { container, .. } => container.closed(),
            Self::Text(_) => {
                let end = (0..=budget).rev().find(|end| text.is_char_boundary(*end));
                text.truncate(end.unwrap_or(0));
                text + "…"
            }
        }
    }
}

/// Elements that a list does not have.
fn empty(count: usize) -> String {
    format!("<{count} empty>")
}
