//! `view_screen`: what a session shows.

use schemars::JsonSchema;
use serde::Deserialize;
use termbridge_session::vt::Seq;

use crate::error::ToolError;
use crate::tool::{Context, Hints, Reply, Tool};
use crate::view::{Format, Region, View, ViewRequest};

pub(crate) struct ViewScreen;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    session_id: String,
    /// plain text; raw: escape sequences; ansi: readable style markers; scrollback: history too
    #[serde(default)]
    format: Format,
    /// Last lines of scrollback
    #[schemars(range(min = 1))]
    lines: Option<usize>,
    /// Only rows changed after this `seq`
    after: Option<u64>,
    region: Option<Region>,
    /// Default 16384
    #[schemars(range(min = 256))]
    max_bytes: Option<usize>,
}

impl Tool for ViewScreen {
    const NAME: &'static str = "view_screen";
    const TITLE: &'static str = "View the screen";
    const DESCRIPTION: &'static str = "Show a session's screen, cursor and highlighted rows. \
        Also works for a while after the program ended.";
    const HINTS: Hints = Hints::READS;
    type Arguments = Arguments;
    type Answer = View;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<View>, ToolError> {
        let session = context.session(&arguments.session_id)?;
        let request = ViewRequest {
            format: arguments.format,
            lines: arguments.lines,
            since: arguments.after.map(|seq| Seq(seq).into()),
            region: arguments.region,
            max_bytes: arguments.max_bytes,
        };
        context.room_for_answer(arguments.max_bytes.unwrap_or_default()).await?;
        let view = View::take(&session, request).await?;
        context.note_view(&session, Some(&view));
        Ok(Reply { text: view.text(), answer: view })
    }
}
