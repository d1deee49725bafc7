//! `termbridge send`: keys for a session.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::people::{call, connect, find, folder, no_server, sessions};
use super::{print, printable};
use crate::args::SendArguments;

pub(crate) fn run(arguments: &SendArguments) -> Result<ExitCode> {
    let folder = folder()?;
    let Some(mut client) = connect(&folder)? else { return Ok(no_server(&folder)) };
    let row = find(&sessions(&mut client)?, &arguments.session)?;
    let view = if arguments.show { "plain" } else { "none" };
    let keys = arguments.keys.join(" ");
    let request = json!({"session_id": row.session_id, "keys": keys, "view": view});
    let mut answer = call(&mut client, "send_keys", request)?;
    if arguments.json {
        answer["session_id"] = row.session_id.into();
        return print(&format!("{answer}\n"));
    }
    let screen = answer["view"]["content"].as_str().unwrap_or_default().trim_end();
    print(&if arguments.show { format!("{}\n", printable(screen)) } else { String::new() })
}
