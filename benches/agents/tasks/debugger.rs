//! A planted bug, found in the debugger.

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Scripts, Task};
use crate::model::Model;

const NO_DEBUGGER: &str = "it has no debugger";

/// One of the orders has a quantity that no one would order; what it is, only a run shows.
const INVOICE: &str = r#"import random


def line_total(item):
    quantity, price = item["quantity"], item["price"]
    return quantity * price


def invoice(items):
    total = 0
    for item in items:
        total += line_total(item)
    return total


def load():
    items = [{"sku": f"A-{i}", "quantity": 1 + i % 4, "price": 5 + i % 7} for i in range(300)]
    random.Random(7).choice(items)["quantity"] *= -1
    return items


print("total:", invoice(load()))
"#;
/// Where a line's total is returned.
const LINE: u32 = 6;
const CONDITION: &str = "quantity * price < 0";
/// What the model is to find: the order that the seed picks.
const CULPRIT: &str = "A-165";

pub(super) const PLANTED_BUG: Task = Task {
    name: "a planted bug in the debugger",
    prompt: "invoice.py (its text is given) prints a total that is too low. Find in the debugger which order has a negative \
             line total, and why.",
    prepare: |home| {
        home.write("invoice.py", INVOICE);
        Ok(())
    },
    scripts: Scripts {
        ours,
        mcp_debugger: Ok(mcp_debugger),
        terminal_mcp: Err(NO_DEBUGGER),
        mcp_tmux: Err(NO_DEBUGGER),
    },
    check: |_, read| {
        ensure!(read.contains(CULPRIT), "the order was not read");
        ensure!(regex::Regex::new(r"quantity\W.*-\d")?.is_match(read), "its quantity was not read");
        Ok(())
    },
};

fn ours(model: &mut Model) -> Result<()> {
    let place = json!({"path": "invoice.py", "line": LINE, "condition": CONDITION});
    model.call("breakpoint_set", place)?.expect("invoice.py")?;
    let start = json!({"program": "invoice.py", "wait": true});
    model.call("debug_start", start)?.expect("quantity = -")?;
    model.call("debug_stop", json!({}))?;
    Ok(())
}

fn mcp_debugger(model: &mut Model) -> Result<()> {
    let file = format!("{}/invoice.py", model.folder);
    let create = json!({"language": "python"});
    let session =
        model.call("create_debug_session", create)?.value(r#""sessionId": ?"([^"]+)""#)?;
    let place = json!({"sessionId": session, "file": file, "line": LINE, "condition": CONDITION});
    model.call("set_breakpoint", place)?.expect("success")?;
    let start = json!({"sessionId": session, "scriptPath": file});
    model.call("start_debugging", start)?.expect("breakpoint|paused")?;
    let locals = model.call("get_local_variables", json!({"sessionId": session}))?;
    locals.expect("quantity")?;
    model.call("close_debug_session", json!({"sessionId": session}))?;
    Ok(())
}
