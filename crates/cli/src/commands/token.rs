//! `termbridge token`: who may use the shared server over HTTP.

use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use termbridge_session::files::real_path;
use termbridge_web::{NewToken, Token, TokenStore};

use super::{print, printable};
use crate::args::{TokenAction, TokenArguments};
use crate::config::state_folder;

pub(crate) fn run(arguments: TokenArguments) -> Result<ExitCode> {
    let store = store()?;
    match arguments.action {
        TokenAction::Create { name, scopes, all_sessions, expires, workspace, json } => {
            let Some(scope) = scopes.into_iter().max() else { bail!("--scopes is empty") };
            let workspace = workspace.map(|folder| {
                real_path(&folder).with_context(|| format!("--workspace {}", folder.display()))
            });
            let workspace = workspace.transpose()?;
            if expires.is_some_and(|expires| expires.is_zero()) {
                bail!(
                    "--expires is 0: such a token is never valid; leave it out for one that does not expire"
                );
            }
            let new = NewToken { name, scope, all_sessions, lifetime: expires, workspace };
            let (token, text) = store.create(new)?;
            let mut shown = as_json(&token);
            shown["token"] = text.as_str().into();
            print(&if json { format!("{shown}\n") } else { format!("{text}\n") })
        }
        TokenAction::List { json } => {
            let tokens = store.all()?;
            let text = match json {
                true => format!("{}\n", tokens.iter().map(as_json).collect::<Value>()),
                false if tokens.is_empty() => {
                    "no tokens; `termbridge token create` makes one\n".to_owned()
                }
                false => tokens.iter().map(as_line).collect(),
            };
            print(&text)
        }
        TokenAction::Revoke { id, json } => {
            let token = store.revoke(&id)?;
            let shown = json!({"revoked": token.id});
            print(&if json { format!("{shown}\n") } else { format!("revoked {}\n", token.id) })
        }
    }
}

/// The tokens of this user.
pub(crate) fn store() -> Result<TokenStore> {
    let folder = state_folder().context("there is no folder for the tokens: set HOME")?;
    Ok(TokenStore::new(&folder))
}

fn as_json(token: &Token) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "created": token.created,
        "expires": token.expires,
        "expired": !token.is_valid_at(SystemTime::now()),
        "all_sessions": token.all_sessions,
        "workspace": token.workspace,
    })
}

fn as_line(token: &Token) -> String {
    let expires = match token.expires {
        None => "does not expire".to_owned(),
        Some(at) => {
            match (UNIX_EPOCH + Duration::from_secs(at)).duration_since(SystemTime::now()) {
                Ok(left) => format!("expires in {}", rough(left)),
                Err(_) => "expired".to_owned(),
            }
        }
    };
    let workspace = token.workspace.as_ref().map(|folder| format!("  {}", folder.display()));
    let all = if token.all_sessions { "  all sessions" } else { "" };
    let line = format!(
        "{}  {:<5}{all}  {expires}  {}{}",
        token.id,
        token.scope.name(),
        token.name,
        workspace.unwrap_or_default()
    );
    format!("{}\n", printable(line.trim_end()))
}

fn rough(time: Duration) -> String {
    let minutes = time.as_secs().div_ceil(60);
    match minutes {
        0..120 => format!("{minutes} min"),
        120..2880 => format!("{} h", minutes.div_ceil(60)),
        _ => format!("{} days", minutes.div_ceil(1440)),
    }
}
