//! Prompts: workflows for hosts that offer them to people.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};

use crate::error::{hint, message_of};
use crate::toolset::DEBUG_CORE;

/// A workflow: its arguments stand as `{name}` in the text.
struct Workflow {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Name, description; all are needed.
    arguments: &'static [(&'static str, &'static str)],
    text: &'static str,
}

const WORKFLOWS: [Workflow; 3] = [
    Workflow {
        name: "run_and_fix",
        title: "Run a command and fix what fails",
        description: "Run, read the failure, fix it, and run again until it passes",
        arguments: &[("command", "What has to succeed, such as `cargo test`")],
        text: "Run `{command}` with execute_command. While its exit_code is not 0: read the output \
               (get_terminal_output with `grep` finds the first error in a long one; search_history \
               shows whether it failed like this before), change the smallest thing that explains \
               the failure, and run it again in the same session. If it is still `running`, read on \
               with get_terminal_output and `since`; if it `needs_input`, answer with send_keys. Stop \
               when it exits 0, or when two attempts in a row fail in the same way: then say what \
               you tried and what the output shows.",
    },
    Workflow {
        name: "drive_tui",
        title: "Drive a program with a screen",
        description: "Launch, look, act, wait, and check on the screen",
        arguments: &[("command", "The program, such as `htop`"), ("task", "What to do in it")],
        text: "Start `{command}` with launch_app and do this in it: {task}. launch_app shows the first \
               screen and send_keys what changed (`highlights` shows what is selected). If a step takes \
               longer, give send_keys `wait` with a text that it brings. Do not guess what a \
               key did: check it on the screen. End the program the way it offers, or with stop_app, and report what \
               the last screen showed.",
    },
    Workflow {
        name: "debug_failing_test",
        title: "Debug a failing test",
        description: "Run it, stop where it fails, look at the values, say why",
        arguments: &[("test", "The test, such as `tests/test_cart.py::test_total`")],
        text: "Find out why `{test}` fails. Run it once with execute_command and read the failure. Set \
               a breakpoint with breakpoint_set in the code under test, on the first line where a \
               value could already be wrong (give it `condition` if it is reached often), and start \
               that test alone with test_debug_single: the answer shows where it stopped, with \
               source, locals and stack. Without a breakpoint it stops where the test fails. Compare \
               the values with what they should be; ask with debug_evaluate, continue with \
               debug_step_over, debug_step_into or debug_continue. Prove the cause before you change \
               anything: put the right value in with debug_evaluate and let the test continue. End \
               with debug_stop, and report the line, the value that was wrong, and why.",
    },
];

/// The workflows all of whose tools are offered.
fn workflows(offered: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static Workflow> {
    let has_all = move |workflow: &&Workflow| {
        let mut names = hint::NAMES.iter().chain(&DEBUG_CORE);
        names.all(|name| !workflow.text.contains(name) || offered(name))
    };
    WORKFLOWS.iter().filter(has_all)
}

pub(crate) fn list(offered: impl Fn(&str) -> bool) -> Vec<Prompt> {
    let prompt = |workflow: &Workflow| {
        let arguments = workflow.arguments.iter().map(|(name, description)| {
            PromptArgument::new(*name).with_description(*description).with_required(true)
        });
        Prompt::new(workflow.name, Some(workflow.description), Some(arguments.collect()))
            .with_title(workflow.title)
    };
    workflows(offered).map(prompt).collect()
}

pub(crate) fn get(
    request: &GetPromptRequestParams,
    offered: impl Fn(&str) -> bool,
) -> Result<GetPromptResult, ErrorData> {
    let invalid = |message: String| ErrorData::invalid_params(message_of(message), None);
    let workflow = workflows(offered).find(|workflow| workflow.name == request.name);
    let workflow = workflow.ok_or_else(|| invalid(format!("Unknown prompt: {}", request.name)))?;
    let mut text = workflow.text.to_owned();
    for (name, _) in workflow.arguments {
        let given = request.arguments.as_ref().and_then(|arguments| arguments.get(*name)?.as_str());
        let value = given.ok_or_else(|| invalid(format!("argument `{name}` is missing")))?;
        text = text.replace(&format!("{{{name}}}"), value);
    }
    let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    result.description = Some(workflow.description.to_owned());
    Ok(result)
}
