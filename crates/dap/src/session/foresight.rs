//! Questions that a stop is sure to raise, asked before anyone raises them.
//!
//! Between two steps a thread's frames and scopes keep their numbers with some adapters. There, what the report of
//! the last stop asked is asked again in one go as soon as the next step ends, and the report finds the answers on
//! their way. What differs, or comes between, makes the rest void: an answer is never taken for another question,
//! nor one from before a change for one after it.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;
use tokio::sync::oneshot;

use super::Inner;
use super::control::Resume;
use crate::client::RequestError;

/// What the report of a stop asks, in its order.
const REPORT: [&str; 4] = ["stackTrace", "threads", "scopes", "variables"];

type Answer = Result<Value, RequestError>;

/// A connection's questions, those of the last stop and those that are on their way.
#[derive(Debug, Default)]
pub(crate) struct Foresight {
    asked: Vec<(&'static str, Value)>,
    coming: VecDeque<(&'static str, Value, oneshot::Receiver<Answer>)>,
}

impl Foresight {
    /// The answer that is on its way to a question. Any other question makes what is on its way void.
    fn take(&mut self, command: &str, arguments: &Value) -> Option<oneshot::Receiver<Answer>> {
        let is_it = |(known, with, _): &(&str, Value, _)| *known == command && with == arguments;
        match self.coming.iter().position(is_it) {
            Some(at) => self.coming.remove(at).map(|(.., answer)| answer),
            None => {
                self.coming.clear();
                None
            }
        }
    }

    /// Keeps a question of a stop's report for the next stop.
    fn note(&mut self, command: &str, arguments: &Value) {
        let known = REPORT.into_iter().find(|known| *known == command);
        if let Some(command) =
            known.filter(|known| self.asked.iter().all(|(asked, _)| asked != known))
        {
            self.asked.push((command, arguments.clone()));
        }
    }

    /// The program goes on.
    pub(super) fn forget_answers(&mut self) {
        self.coming.clear();
    }
}

impl Inner {
    /// The answer to a question that was asked before, if it was.
    pub(super) async fn foreseen(
        &self,
        link: u32,
        command: &str,
        arguments: &Value,
    ) -> Option<Answer> {
        if !self.adapter.quirks().keeps_numbers() {
            return None;
        }
        let coming = {
            let mut state = self.lock();
            let foresight = &mut state.links.get_mut(&link)?.foresight;
            foresight.note(command, arguments);
            foresight.take(command, arguments)?
        };
        coming.await.ok()
    }

    /// Asks what the report of a step's end will ask.
    pub(super) fn foresee(self: &Arc<Self>, number: u32, stopped: &Value) {
        if !self.adapter.quirks().keeps_numbers() {
            return;
        }
        let mut state = self.lock();
        let Some(link) = state.links.get_mut(&number) else { return };
        let asked = std::mem::take(&mut link.foresight.asked);
        let is_step = link.resumed.is_some_and(|how| how != Resume::Continue);
        let is_whole = asked.len() == REPORT.len();
        // Of the same thread: its number is in the first question.
        let is_same =
            asked.first().is_some_and(|(_, with)| with["threadId"] == stopped["threadId"]);
        if !(is_step && is_whole && is_same && stopped["reason"] == "step") {
            return;
        }
        let (client, timeout) = (link.client.clone(), self.context.settings.request_timeout);
        let mut requests = Vec::new();
        for (command, arguments) in asked {
            let (sender, answer) = oneshot::channel();
            link.foresight.coming.push_back((command, arguments.clone(), answer));
            let client = client.clone();
            requests.push(async move {
                // Nobody may want to know.
                let _ = sender.send(client.request(command, arguments, timeout).await);
            });
        }
        tokio::spawn(join_all(requests));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_of_its_question_and_others_make_the_rest_void() {
        let coming = |foresight: &mut Foresight, command, arguments: Value| {
            let (sender, answer) = oneshot::channel();
            foresight.coming.push_back((command, arguments, answer));
            sender
        };
        let mut foresight = Foresight::default();
        let _scopes = coming(&mut foresight, "scopes", json!({"frameId": 1}));
        let _variables = coming(&mut foresight, "variables", json!({"variablesReference": 1}));
        assert!(foresight.take("scopes", &json!({"frameId": 1})).is_some());
        // Of another frame: the variables that are on their way are not those of that.
        assert!(foresight.take("scopes", &json!({"frameId": 2})).is_none());
        assert!(foresight.take("variables", &json!({"variablesReference": 1})).is_none());
    }

    #[test]
    fn the_first_question_of_each_kind_is_kept() {
        let mut foresight = Foresight::default();
        for (command, arguments) in [("evaluate", 0), ("stackTrace", 1), ("stackTrace", 2)] {
            foresight.note(command, &json!(arguments));
        }
        assert_eq!(foresight.asked, [("stackTrace", json!(1))]);
    }
}
