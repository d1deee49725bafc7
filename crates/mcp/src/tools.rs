//! The tools, one file each, and what several of them share.

mod condition;
mod get_cursor_position;
mod get_screen_size;
mod launch_app;
mod list_sessions;
mod resize_terminal;
mod restart_app;
mod send_keys;
mod stop_app;
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
            Entry::of::<launch_app::LaunchApp>(),
            Entry::of::<view_screen::ViewScreen>(),
            Entry::of::<send_keys::SendKeys>(),
            Entry::of::<wait_for::WaitFor>(),
            Entry::of::<get_cursor_position::GetCursorPosition>(),
            Entry::of::<get_screen_size::GetScreenSize>(),
            Entry::of::<resize_terminal::ResizeTerminal>(),
            Entry::of::<restart_app::RestartApp>(),
            Entry::of::<stop_app::StopApp>(),
            Entry::of::<list_sessions::ListSessions>(),
        ],
    }
}

// The arguments of a tool that needs nothing but a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnlySession {
    session_id: String,
}
