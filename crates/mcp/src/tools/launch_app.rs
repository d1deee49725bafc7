//! `launch_app`: start a program on a terminal of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use termbridge_bridge::{BridgeError, ScreenHandle};
use termbridge_session::vt::{Seq, Since};
use termbridge_session::{
    Fired, Launch, SessionError, SpawnError, State, Wait, Waited, is_shell_name,
};

use super::condition::{Condition, Outcome, no_prompt, pattern};
use crate::error::ToolError;
use crate::schema::AnyObject;
use crate::tool::{Context, Hints, Reply, Tool};
use crate::view::{View, ViewAfter};

pub(crate) struct LaunchApp;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// One program, no shell syntax
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    #[serde(default = "default_cols")]
    #[schemars(range(min = 2, max = 1000))]
    cols: u16,
    #[serde(default = "default_rows")]
    #[schemars(range(min = 1, max = 1000))]
    rows: u16,
    name: Option<String>,
    #[serde(rename = "agent_id")]
    _agent_id: Option<String>,
    /// Or vscode
    target: Option<String>,
    /// As in `wait_for`. Default: first paint; {}: none
    #[schemars(with = "Option<AnyObject>")]
    wait: Option<JsonObject>,
    /// Default plain; with wait {}: none
    view: Option<ViewAfter>,
}

impl Arguments {
    /// The program and arguments of a `command` that is a whole command line, as models write it. The caller first tries
    /// a program whose name has blanks.
    fn command_line(&self) -> Option<(String, Vec<String>)> {
        let is_plain = self.args.is_empty() && !has_shell_syntax(&self.command);
        let words = is_plain.then(|| shlex::split(&self.command)).flatten()?;
        let is_plain = words.len() > 1 && !words.iter().any(|word| word.starts_with('~'));
        let (program, args) = words.split_first().filter(|_| is_plain)?;
        Some((program.clone(), args.to_vec()))
    }

    async fn launch(
        &self,
        program: &str,
        args: &[String],
        context: &Context,
    ) -> Result<ScreenHandle, BridgeError> {
        let mut launch = Launch::new(program).args(args).size(self.cols, self.rows);
        for (name, value) in &self.env {
            launch = launch.env(name, value);
        }
        if let Some(cwd) = &self.cwd {
            launch = launch.cwd(context.bridge.expand_home(&context.caller, Path::new(cwd)));
        }
        if let Some(name) = &self.name {
            launch = launch.name(name);
        }
        let launch = context.bridge.allowed_launch(&context.caller, launch).await?;
        context.bridge.launch_target(&context.caller, launch, self.target.as_deref()).await
    }
}

/// Whether a shell would do more with a line than split it into words.
fn has_shell_syntax(line: &str) -> bool {
    let mut quote = None;
    line.chars().any(|c| match quote {
        Some(open) if c == open => {
            quote = None;
            false
        }
        Some(open) => open == '"' && "$`".contains(c),
        None => {
            quote = ['"', '\''].contains(&c).then_some(c);
            "|&;<>()$`*\n".contains(c)
        }
    })
}

/// How long a program may take, by default, to paint something.
const FIRST_PAINT: Duration = Duration::from_secs(2);
/// How long it may then go on painting before it waits for input.
const PAINTING: Duration = Duration::from_millis(300);

fn default_cols() -> u16 {
    80
}

fn default_rows() -> u16 {
    24
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    session_id: String,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<Outcome>,
    /// As `view_screen` answers
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<AnyObject>")]
    view: Option<View>,
}

impl Tool for LaunchApp {
    const NAME: &'static str = "launch_app";
    const TITLE: &'static str = "Launch a terminal program";
    const DESCRIPTION: &'static str =
        "Start a program (TUI, REPL, shell, …) on its own terminal and see its first screen.";
    const HINTS: Hints = Hints::ACTS;
    type Arguments = Arguments;
    type Answer = Answer;

    async fn call(arguments: Arguments, context: &Context) -> Result<Reply<Answer>, ToolError> {
        let asked = arguments.wait.clone().map(Condition::read).transpose()?;
        let view = match (arguments.view, &asked) {
            // On a new terminal everything is new.
            (Some(ViewAfter::Diff), _) => ViewAfter::Plain,
            (Some(view), _) => view,
            (None, Some(None)) => ViewAfter::None,
            (None, _) => ViewAfter::Plain,
        };
        let line = arguments.command_line();
        let program = line.as_ref().map_or(&arguments.command, |(program, _)| program);
        if let Some(Some(wait)) = &asked
            && wait.prompt
            && !is_shell_name(program)
        {
            return Err(no_prompt(program));
        }
        let session =
            match (arguments.launch(&arguments.command, &arguments.args, context).await, line) {
                (
                    Err(BridgeError::Session(SessionError::Spawn(SpawnError::NotFound { .. }))),
                    Some(line),
                ) => arguments.launch(&line.0, &line.1, context).await,
                (launched, _) => launched,
            }?;
        context.bridge.note_used(&context.caller, session.id());
        context.note_done(|| format!("it was launched as session {}", session.id()));
        let mut is_at_work = false;
        let (wait, view) = match asked {
            Some(Some(wait)) => {
                let wait = Wait { look: view.look(Since::default()), ..wait };
                let (waited, cut_short) = context.wait(&session, wait).await?;
                let outcome = Outcome::of(&waited, cut_short);
                let outcome = outcome.with_person(context, session.id()).await;
                (Some(outcome), View::after(&waited, &session, view)?)
            }
            None if view != ViewAfter::None => {
                let waited = first_paint(&session, context, view).await?;
                is_at_work = is_painting(&waited);
                (None, View::after(&waited, &session, view)?)
            }
            _ => (None, View::take_after(&session, view, Since::default()).await?),
        };
        context.note_view(&session, view.as_ref());
        let session_id = session.id().to_string();
        let mut facts = vec![format!("session_id {session_id}")];
        let text = match (&view, &wait) {
            (Some(view), wait) => {
                facts.extend(wait.iter().flat_map(Outcome::words));
                if is_at_work {
                    facts.push(context.still_at_work(session.id()));
                }
                view.text_with(facts)
            }
            (None, wait) => {
                facts.extend(wait.as_ref().map(|outcome| outcome.text(outcome.words(), None)));
                facts.join(" | ")
            }
        };
        Ok(Reply { text, answer: Answer { session_id, success: true, wait, view } })
    }
}

/// Whether the program runs and does not wait for input yet.
pub(super) fn is_painting(waited: &Waited) -> bool {
    waited.fired.is_none() && waited.state == State::Running
}

/// Waits until the program shows something and waits for input; one that shows nothing is not waited
/// for once it waits for input, nor longer than [`FIRST_PAINT`].
pub(super) async fn first_paint(
    session: &ScreenHandle,
    context: &Context,
    view: ViewAfter,
) -> Result<Waited, ToolError> {
    let settled = Wait { settled: true, look: view.look(Since::default()), ..Wait::default() };
    let something = pattern("text", r"\S")?;
    let painted = Wait { regex: Some(something), ..settled.clone() }.timeout(FIRST_PAINT);
    let (waited, _) = context.wait(session, painted).await?;
    if !matches!(waited.fired, Some(Fired::Regex(_))) {
        return Ok(waited);
    }
    Ok(context.wait(session, settled.after(Seq(0)).timeout(PAINTING)).await?.0)
}
