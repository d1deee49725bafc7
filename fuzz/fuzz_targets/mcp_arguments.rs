//! Whatever a client sends as a tool's arguments: refused with a clear error or readable, no panic.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use termbridge_mcp::{McpServer, NativeBackend};
use termbridge_session::{Sessions, Settings};

static SERVER: LazyLock<McpServer> = LazyLock::new(|| {
    McpServer::with_backend(Arc::new(NativeBackend::new(Sessions::new(Settings::default()))))
});

fuzz_target!(|input: (u8, &str)| {
    let (tool, text) = input;
    let Ok(Value::Object(arguments)) = serde_json::from_str(text) else {
        return;
    };
    let definitions = SERVER.definitions();
    let name = &definitions[usize::from(tool) % definitions.len()].name;
    // What passes the schema must also be readable: the two must not disagree.
    if let Some(Err(error)) = SERVER.check(name, arguments) {
        assert!(!error.is_internal(), "{error:?}");
    }
});
