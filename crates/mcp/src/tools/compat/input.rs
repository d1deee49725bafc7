//! `input`: text for what runs in a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_session::Input;
use termbridge_session::vt::input::{InputItem, parse_keys};

use super::yes;
use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};

pub(crate) struct InputText;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Arguments {
    session_id: String,
    input: String,
    #[serde(default = "yes")]
    press_enter: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    success: bool,
}

impl Tool for InputText {
    const NAME: &'static str = "input";
    const TITLE: &'static str = "Type into a session";
    const DESCRIPTION: &'static str = "Send text to the program that runs in a session.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let session = context.used_session(&arguments.session_id)?;
        let mut items = vec![InputItem::Text(arguments.input)];
        if arguments.press_enter {
            items.extend(parse_keys("Enter").map_err(termbridge_session::SessionError::from)?);
        }
        let sent = session.send(vec![Input::Items(items)]).await?;
        let text = format!("Sent {} bytes to {}", sent.bytes, arguments.session_id);
        Ok(Reply { text, answer: Answer { success: true } })
    }
}
