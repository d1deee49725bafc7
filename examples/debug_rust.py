#!/usr/bin/env python3
"""An agent finds why a Rust program takes ink for free: in four calls, with the debugger.

    python3 examples/debug_rust.py [path of termbridge]

Needs `rustc` and lldb-dap. Ends with 0 when the cause was seen.
"""

import sys

from mcp_client import Client, program, project

STOCK = '''\
struct Order {
    name: String,
    count: u32,
    price: Option<f64>,
}

fn value(order: &Order) -> f64 {
    let price = order.price.unwrap_or_default();
    f64::from(order.count) * price
}

fn main() {
    let orders = vec![
        Order { name: "pen".into(), count: 3, price: Some(1.5) },
        Order { name: "ink".into(), count: 2, price: None },
    ];
    for order in &orders {
        println!("{}: {}", order.name, value(order));
    }
}
'''


def main():
    server = program()
    with project({"stock.rs": STOCK}):
        client = Client(server, "--shell", "bash", "--no-history", "--debug-backend", "native")
        client.call("execute_command", command="rustc -g stock.rs && ./stock")
        client.call("breakpoint_set", path="stock.rs", text="* price", hitCondition="2")
        stop = client.call("debug_start", program="stock", wait=True)["data"]["stop"]
        order = next(local for local in stop["locals"] if local["name"] == "order")
        if "price: None" not in order["value"]:
            sys.exit("the cause was to show")
        return client.call("debug_continue")["data"]["exit"]["code"]


if __name__ == "__main__":
    sys.exit(main())
