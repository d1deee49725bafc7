//! Attaching to what never answers: it can be ended, and leaves nothing behind.

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use super::{PATIENCE_MS, configured};
use crate::TERMBRIDGE;

/// A port that accepts connections and is silent.
fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (listener, port)
}

/// Whether the other end is closed by now.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).expect("is set");
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

fn attach(kind: &str, place: Value) -> Value {
    let mut configuration = json!({"name": "Attach", "type": kind, "request": "attach"});
    for (field, value) in place.as_object().expect("fields") {
        configuration[field] = value.clone();
    }
    configuration
}

#[test]
fn an_attach_that_is_stuck_ends_and_so_do_the_tasks_of_others() {
    let (task_listener, task_port) = silent();
    let (listener, port) = silent();
    for configuration in [
        attach("debugpy", json!({"connect": {"host": "127.0.0.1", "port": port}})),
        attach("lldb", json!({"host": "127.0.0.1", "port": port})),
    ] {
        let environment = configured();
        environment.write("one.py", "print(1)\n");
        let other = json!({
            "name": "Other", "type": "debugpy", "request": "launch",
            "program": "${workspaceFolder}/one.py", "preLaunchTask": "background",
        });
        let launch = json!({"configurations": [other, configuration]});
        environment.write(".vscode/launch.json", launch.to_string());
        // Its end of the connection closes with it.
        let connected = format!("exec 3<>/dev/tcp/127.0.0.1/{task_port}; exec sleep 600");
        let task = json!({
            "label": "background", "type": "process", "command": "bash",
            "args": ["-c", connected], "isBackground": true,
        });
        let tasks = json!({"version": "2.0.0", "tasks": [task]});
        environment.write(".vscode/tasks.json", tasks.to_string());
        let mut server = environment.debug_server(TERMBRIDGE, &[]);
        let arguments = json!({"launch": "Other", "wait": true, "timeoutMs": PATIENCE_MS});
        server.ok("debug_start", arguments);
        let (mut task, _) = task_listener.accept().expect("the task connects");
        let arguments = json!({"launch": "Attach", "wait": true, "timeoutMs": 1000});
        let started = server.ok("debug_start", arguments);
        assert!(started.text.contains("Still starting Attach"), "{}", started.text);
        let (mut adapter, _) = listener.accept().expect("the adapter connects");
        server.ok("debug_stop", json!({}));
        assert!(is_closed(&mut adapter), "the adapter of {configuration} is still there");
        server.close();
        task.set_read_timeout(Some(Duration::from_millis(PATIENCE_MS))).expect("is set");
        let read = task.read(&mut [0]);
        assert!(matches!(read, Ok(0)), "the task is still there: {read:?}");
    }
}

#[test]
fn a_port_that_is_none_is_refused() {
    let environment = configured();
    let configuration = attach("debugpy", json!({"connect": {"port": "abc"}}));
    let launch = json!({"configurations": [configuration]});
    environment.write(".vscode/launch.json", launch.to_string());
    let mut server = environment.debug_server(TERMBRIDGE, &[]);
    let (code, text) = server.error("debug_start", json!({"launch": "Attach", "wait": true}));
    assert_eq!(code, "E_INVALID_PARAMS", "{text}");
    assert!(text.contains("\"abc\" is no port"), "{text}");
}
