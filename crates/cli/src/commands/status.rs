//! `termbridge status`: the shared server, where it listens, who uses it.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;
use termbridge_mcp::socket::records;

use super::people::{connect, folder, has_keeper, no_server, sessions, since, span};
use super::{print, print_json, printable};
use crate::args::StatusArguments;

pub(crate) fn run(arguments: &StatusArguments) -> Result<ExitCode> {
    let folder = folder()?;
    let Some(mut client) = connect(&folder)? else {
        if arguments.json {
            let shown = json!({"running": false, "programs_kept": has_keeper(&folder)});
            print_json(&shown)?;
        }
        return Ok(no_server(&folder));
    };
    let welcome = client.welcome().clone();
    let record = records(&folder)?.into_iter().find(|record| record.pid == welcome.pid);
    let rows = sessions(&mut client)?;
    let running = rows.iter().filter(|row| row.is_running()).count();
    let uptime = record.as_ref().map(|record| since(record.started));
    let memory = termbridge_session::resident_memory(welcome.pid.cast_signed());
    let memory = memory.map(|bytes| bytes / 1024);
    let http = record.as_ref().and_then(|record| record.http.clone());
    let workspace = record.as_ref().map(|record| record.workspace.display().to_string());
    if arguments.json {
        let shown = json!({
            "running": true,
            "pid": welcome.pid,
            "version": welcome.version,
            "uptime_seconds": uptime.map(|uptime| uptime.as_secs()),
            "socket": folder.socket(),
            "http": http,
            "workspace": workspace,
            "clients": welcome.clients,
            "sessions": {"running": running, "ended": rows.len() - running},
            "memory_kib": memory,
        });
        return print_json(&shown);
    }
    let mut text = format!("server     {} (pid {})", welcome.version, welcome.pid);
    if let Some(uptime) = uptime {
        text.push_str(&format!(", up {}", span(uptime)));
    }
    let mut lines = vec![text];
    lines.push(format!("socket     {}", folder.socket().display()));
    lines.push(format!("http       {}", http.as_deref().unwrap_or("none")));
    lines.extend(workspace.map(|workspace| format!("workspace  {workspace}")));
    lines.push(format!("clients    {}", welcome.clients));
    lines.push(format!("sessions   {running} running, {} ended", rows.len() - running));
    lines.extend(memory.map(|kib| format!("memory     {:.1} MB", kib as f64 / 1024.0)));
    print(&format!("{}\n", printable(&lines.join("\n"))))
}
