//! `termbridge send`: keys for a session.

use std::process::ExitCode;

use anyhow::{Result, bail};
use serde_json::json;

use super::people::{call, connect, find, folder, no_server, sessions};
use super::{print, print_json, printable};
use crate::args::SendArguments;

pub(crate) fn run(arguments: &SendArguments) -> Result<ExitCode> {
    let folder = folder()?;
    let Some(mut client) = connect(&folder)? else { return Ok(no_server(&folder)) };
    let row = find(&sessions(&mut client)?, &arguments.session)?;
    if !row.is_running() {
        let id = &row.session_id;
        bail!("session {id} has ended; `termbridge logs {id}` shows what it printed");
    }
    let view = if arguments.show { "plain" } else { "none" };
    let kind = if arguments.text { "text" } else { "keys" };
    let typed = arguments.keys.join(" ");
    let request = json!({"session_id": row.session_id, kind: typed, "view": view});
    let mut answer = call(&mut client, "send_keys", request)?;
    if arguments.json {
        answer["session_id"] = row.session_id.into();
        return print_json(&answer);
    }
    let screen = answer["view"]["content"].as_str().unwrap_or_default().trim_end();
    print(&if arguments.show { format!("{}\n", printable(screen)) } else { String::new() })
}
