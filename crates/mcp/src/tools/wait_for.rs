//! `wait_for`: wait for what a program does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::condition::{Condition, Outcome, check_prompt};
use crate::error::ToolError;
use crate::schema::AnyObject;
use crate::tool::{Context, Hints, Reply, Tool};
use crate::view::{View, ViewAfter};

pub(crate) struct WaitFor;

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    session_id: String,
    #[serde(default)]
    view: ViewAfter,
    #[serde(flatten)]
    condition: Flat,
}

/// A condition among other arguments: the tool's schema has refused unknown ones already.
#[derive(Debug, Deserialize)]
struct Flat(serde_json::Map<String, serde_json::Value>);

impl JsonSchema for Flat {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Condition::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Condition::json_schema(generator)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    #[serde(flatten)]
    outcome: Outcome,
    /// As `view_screen` answers
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    view: Option<View>,
}

impl Tool for WaitFor {
    const NAME: &'static str = "wait_for";
    const TITLE: &'static str = "Wait for the program";
    const DESCRIPTION: &'static str = "Wait until any given condition holds, the program ends, \
        or time runs out. Never satisfied by the echo of an entered line.";
    const HINTS: Hints = Hints::READS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let session = context.session(&arguments.session_id)?;
        let condition: Condition = serde_json::from_value(arguments.condition.0.into())
            .map_err(|error| ToolError::invalid(error.to_string(), ""))?;
        let mut wait = condition.into_wait()?;
        check_prompt(&session, &wait).await?;
        wait.look = arguments.view.look(context.told.seen(session.id()));
        let (waited, cut_short) = context.wait(&session, wait).await?;
        let outcome =
            Outcome::of(&waited, cut_short).with_person_asked(context, session.id()).await;
        let view = View::after(&waited, &session, arguments.view)?;
        context.note_view(&session, view.as_ref());
        Ok(Reply { text: outcome.text(view.as_ref()), answer: Answer { outcome, view } })
    }
}
