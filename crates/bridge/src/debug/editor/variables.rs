//! `debug.list-variables`: a tree within a budget, whatever the extension sends.

use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

use super::{EditorBackend, QUESTION, read};
use crate::debug::answer::{Answer, Variable, Variables};
use crate::debug::{DebugCall, DebugFailure};

/// Bytes of a tree.
const BUDGET: usize = 16 * 1024;
/// Bytes of a value in a tree.
const LONGEST_VALUE: usize = 1_000;
/// Requests at once, of the ten that the extension takes.
const AT_ONCE: usize = 4;
/// Further parts in a request, such as a length and a prototype.
const SPARE: u64 = 50;
/// Most parts of a value in one request.
const MOST_PARTS: u64 = 5_000;

impl EditorBackend {
    pub(super) async fn variables(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let wanted = call.arguments.get("scope").and_then(Value::as_str).unwrap_or("all");
        let scopes = match call.arguments.get("frameId").and_then(Value::as_u64) {
            Some(frame) => self.scopes_of(call, frame).await?,
            None => self.all_scopes(call, wanted).await?,
        };
        let mut all = Vec::new();
        for scope in read::list(&scopes) {
            let name = read::text(&scope["name"]);
            if !is_of(&name, wanted) {
                continue;
            }
            let inside = read::list(&scope["children"]).iter();
            all.extend(
                inside
                    .filter(|entry| !read::is_internal(entry))
                    .map(|entry| Variable { scope: Some(name.clone()), ..read::variable(entry) }),
            );
        }
        let mut budget = BUDGET;
        let (variables, left_out) = within(all, &mut budget);
        let truncated = left_out > 0 || is_cut(&variables);
        let left_out = (left_out > 0).then_some(left_out);
        Ok(Answer::Variables(Variables { variables, truncated, left_out, rest: Vec::new() }))
    }

    /// The scopes with their variables, as the script gives them.
    async fn all_scopes(&self, call: &DebugCall, wanted: &str) -> Result<Value, DebugFailure> {
        let depth = call.arguments.get("maxDepth").cloned().unwrap_or(json!(3));
        let ask = |scope: &str| json!({"scope": scope, "maxDepth": depth});
        let script = "debug.list-variables";
        let mut said = self.run(call, script, ask(wanted), call.timeout).await?;
        // It knows scopes by names that not every debugger gives them.
        if wanted != "all" && read::list(&said["variables"]).is_empty() {
            said = self.run(call, script, ask("all"), call.timeout).await?;
        }
        Ok(said["variables"].take())
    }

    /// The scopes of a frame with their variables, one level deep.
    async fn scopes_of(&self, call: &DebugCall, frame: u64) -> Result<Value, DebugFailure> {
        let said = self.run(call, "debug.scopes", json!({"frameId": frame}), QUESTION).await?;
        let cheap = read::list(&said["scopes"]).iter().filter(|scope| scope["expensive"] != true);
        let inside = cheap.map(|scope| async move {
            let params = json!({"variablesReference": scope["variablesReference"]});
            let inside = self.run(call, "debug.get-variable", params, QUESTION).await?;
            Ok::<_, DebugFailure>(json!({"name": scope["name"], "children": inside["children"]}))
        });
        let inside: Vec<_> = inside.collect();
        let scopes = futures_util::stream::iter(inside).buffered(AT_ONCE);
        Ok(Value::Array(scopes.try_collect().await?))
    }

    /// `debug.get-variable`: a page. js-debug answers a filter with nothing: then all parts are read and filtered here.
    pub(super) async fn page(&self, call: &DebugCall) -> Result<Answer, DebugFailure> {
        let said = self.run_own(call).await?;
        let mut page = read::page(&said);
        let filter = call.arguments.get("filter").and_then(Value::as_str).unwrap_or("all");
        if filter == "all" || !read::list(&said["children"]).is_empty() {
            return Ok(Answer::Page(page));
        }
        let number =
            |name: &str, usual| call.arguments.get(name).and_then(Value::as_u64).unwrap_or(usual);
        let (start, count) = (number("start", 0), number("count", 100));
        let reference = call.arguments.get("variablesReference");
        let params = json!({"variablesReference": reference, "count": start.saturating_add(count + SPARE).min(MOST_PARTS)});
        let all = self.run(call, "debug.get-variable", params, call.timeout).await?;
        let whole = read::page(&all);
        let is_indexed =
            |part: &Variable| part.name.trim_matches(['[', ']']).parse::<u64>().is_ok();
        let wanted = whole.variables.into_iter();
        let wanted = wanted.filter(|part| is_indexed(part) == (filter == "indexed"));
        let mut wanted: Vec<Variable> = wanted.skip(start as usize).collect();
        let has_more = wanted.len() as u64 > count || whole.next.is_some();
        if wanted.is_empty() && has_more {
            let message =
                format!("only the first {MOST_PARTS} parts can be filtered; there may be more");
            let hint = format!("leave `filter` out to read on: start {MOST_PARTS}");
            return Err(DebugFailure::new("E_LARGE_DATA", message).hint(hint));
        }
        wanted.truncate(count as usize);
        let next = start + wanted.len() as u64;
        page.next = has_more.then_some(next);
        page.total = (!has_more).then_some(next);
        page.variables = wanted;
        Ok(Answer::Page(page))
    }
}

/// Whether a scope is of the kind that is wanted.
fn is_of(name: &str, wanted: &str) -> bool {
    let name = name.to_lowercase();
    let is = |kinds: &[&str]| kinds.iter().any(|kind| name.starts_with(kind));
    match wanted {
        "local" => is(&["local", "argument", "block", "catch"]),
        "closure" => is(&["closure"]),
        "global" => is(&["global", "module", "script", "static"]),
        _ => true,
    }
}

/// Cuts a value to a number of bytes and says so.
pub(super) fn cut_value(variable: &mut Variable, most: usize) {
    let value = &mut variable.value;
    if value.len() > most {
        let kept = value.floor_char_boundary(most);
        variable.cut = Some(value.len() - kept);
        value.truncate(kept);
    }
}

/// As many variables as fit, and how many do not.
fn within(variables: Vec<Variable>, budget: &mut usize) -> (Vec<Variable>, usize) {
    let total = variables.len();
    let mut kept = Vec::new();
    for mut variable in variables {
        cut_value(&mut variable, LONGEST_VALUE);
        let kind = variable.kind.as_ref().map_or(0, String::len);
        let size = variable.name.len() + variable.value.len() + kind + 20;
        let Some(left) = budget.checked_sub(size) else { break };
        *budget = left;
        let (children, left_out) = within(std::mem::take(&mut variable.children), budget);
        variable.children = children;
        variable.children_left_out = (left_out > 0).then_some(left_out);
        kept.push(variable);
    }
    let left_out = total - kept.len();
    (kept, left_out)
}

fn is_cut(variables: &[Variable]) -> bool {
    variables.iter().any(|variable| {
        variable.cut.is_some() || variable.children_left_out.is_some() || is_cut(&variable.children)
    })
}
