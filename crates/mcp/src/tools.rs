//! The tools, one file each, and what several of them share.

mod command;
mod compat;
mod condition;
mod create_session;
mod ended;
mod errors;
mod execute_command;
mod get_cursor_position;
mod get_screen_size;
mod get_terminal_output;
mod launch_app;
mod list_sessions;
mod resize_terminal;
mod restart_app;
mod run_steps;
mod search_history;
mod send_keys;
mod standing;
mod stop_app;
mod switch_session;
mod view_screen;
mod wait_for;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool::Entry;
use crate::toolset::Toolset;

/// The tools of a toolset, in the order in which clients list them. The order is fixed.
pub(crate) fn of(toolset: Toolset) -> Vec<Entry> {
    match toolset {
        Toolset::Terminal => vec![
            Entry::of::<execute_command::ExecuteCommand>(),
            Entry::of::<get_terminal_output::GetTerminalOutput>(),
            Entry::of::<list_sessions::ListSessions>(),
            Entry::of::<create_session::CreateSession>(),
            Entry::of::<switch_session::SwitchSession>(),
            Entry::of::<search_history::SearchHistory>(),
            Entry::of_screen::<launch_app::LaunchApp>(),
            Entry::of_screen::<view_screen::ViewScreen>(),
            Entry::of_screen::<send_keys::SendKeys>(),
            Entry::of_screen::<wait_for::WaitFor>(),
            Entry::of_screen::<get_cursor_position::GetCursorPosition>(),
            Entry::of_screen::<get_screen_size::GetScreenSize>(),
            Entry::of_screen::<resize_terminal::ResizeTerminal>(),
            Entry::of_screen::<restart_app::RestartApp>(),
            Entry::of_screen::<stop_app::StopApp>(),
            Entry::of::<run_steps::RunSteps>(),
        ],
        // Those are the catalogue's.
        Toolset::DebugCore | Toolset::Debug => Vec::new(),
        Toolset::Compat => vec![
            Entry::of::<compat::RunCommand>(),
            Entry::of::<compat::Create>(),
            Entry::of::<compat::Exec>(),
            Entry::of::<compat::Read>(),
            Entry::of_screen::<compat::InputText>(),
            Entry::of::<compat::List>(),
            Entry::of_screen::<compat::Close>(),
        ],
    }
}

// The arguments of a tool that needs nothing but a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnlySession {
    session_id: String,
}
