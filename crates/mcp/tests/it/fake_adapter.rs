//! A debug adapter that agrees to everything, reached as `dlv --headless` is.

use serde_json::{Value, json};
use termbridge_bridge::dap::framing::{Decoder, encode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the program prints.
pub(crate) const PRINTED: &str = "planted output";

/// Serves any number of sessions; returns the port.
pub(crate) async fn listen() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    port
}

async fn serve(mut stream: TcpStream) {
    let (mut decoder, mut buffer, mut seq) = (Decoder::default(), [0; 4096], 0);
    loop {
        while let Ok(Some(message)) = decoder.next_message() {
            let request: Value = serde_json::from_slice(message).expect("JSON");
            let mut messages = vec![json!({
                "type": "response", "request_seq": request["seq"], "command": request["command"],
                "success": true, "body": {"threads": [{"id": 1, "name": "main"}]},
            })];
            if request["command"] == "attach" {
                messages.push(json!({"type": "event", "event": "initialized"}));
                let printed = json!({"category": "stdout", "output": format!("{PRINTED}\n")});
                messages.push(json!({"type": "event", "event": "output", "body": printed}));
            }
            for mut message in messages {
                seq += 1;
                message["seq"] = seq.into();
                let bytes = encode(&message.to_string());
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
        }
        match stream.read(&mut buffer).await {
            Ok(count) if count > 0 => decoder.feed(&buffer[..count]),
            _ => return,
        }
    }
}
