//! The shim between a client and servers that the test plays.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, BufReader, DuplexStream, Lines as TokioLines, ReadHalf, WriteHalf,
};

use super::*;

/// Hands out the connections that a test makes; then fails.
struct Servers {
    connections: mpsc::Receiver<DuplexStream>,
    attempts: Arc<AtomicU32>,
    error: fn() -> ConnectError,
}

#[async_trait::async_trait]
impl Connect for Servers {
    async fn connect(&mut self, client: &str) -> Result<Connection, ConnectError> {
        assert_eq!(client, "tester");
        self.attempts.fetch_add(1, Ordering::Relaxed);
        let Some(stream) = self.connections.recv().await else { return Err((self.error)()) };
        let (reader, writer) = tokio::io::split(stream);
        Ok(Connection { reader: Box::pin(reader), writer: Box::pin(writer) })
    }

    async fn find(&mut self, client: &str) -> Result<Connection, ConnectError> {
        self.connect(client).await
    }
}

/// One end of a connection, as lines.
struct End {
    lines: TokioLines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl End {
    fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { lines: BufReader::new(reader).lines(), writer }
    }

    async fn next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.expect("text")?;
        Some(serde_json::from_str(&line).expect("JSON"))
    }

    async fn send(&mut self, message: Value) {
        self.write(&format!("{message}\n")).await;
    }

    async fn write(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).await.expect("written");
    }
}

struct Bench {
    client: End,
    servers: Option<mpsc::Sender<DuplexStream>>,
    attempts: Arc<AtomicU32>,
    shim: JoinHandle<ShimEnd>,
}

impl Bench {
    fn new(error: fn() -> ConnectError) -> Self {
        let (client, ours) = tokio::io::duplex(256);
        let (reader, writer) = tokio::io::split(ours);
        let (servers, connections) = mpsc::channel(1);
        let attempts = Arc::new(AtomicU32::new(0));
        let connect = Servers { connections, attempts: Arc::clone(&attempts), error };
        let shim = tokio::spawn(relay(reader, writer, connect));
        Self { client: End::new(client), servers: Some(servers), attempts, shim }
    }

    /// The next server.
    async fn server(&self) -> End {
        let (server, ours) = tokio::io::duplex(256);
        let servers = self.servers.as_ref().expect("there are servers");
        servers.send(ours).await.expect("the shim connects");
        End::new(server)
    }

    async fn initialize(&mut self) {
        let params = json!({"clientInfo": {"name": "tester"}});
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        self.client.send(message).await;
    }
}

fn later() -> ConnectError {
    ConnectError::Later(io::ErrorKind::ConnectionRefused.into())
}

fn request(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "x"}})
}

fn reply(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

#[tokio::test]
async fn a_reply_that_a_dying_server_cut_comes_from_the_next() {
    let mut bench = Bench::new(later);
    bench.initialize().await;
    let mut first = bench.server().await;
    assert_eq!(first.next().await.expect("a handshake")["id"], 0);
    first.send(reply(&json!(0))).await;
    bench.client.next().await.expect("a reply");
    bench.client.send(request(1)).await;
    bench.client.send(request(2)).await;
    first.next().await.expect("a request");
    first.next().await.expect("a request");
    // One whole reply and half of another.
    first.send(reply(&json!(2))).await;
    first.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"resu").await;
    drop(first);
    assert_eq!(bench.client.next().await.expect("a reply")["id"], 2);
    let mut second = bench.server().await;
    let handshake = second.next().await.expect("a handshake");
    assert_eq!(handshake["method"], "initialize");
    second.send(reply(&handshake["id"])).await;
    let again = second.next().await.expect("the request");
    assert_eq!((&again["id"], &again["params"]["_meta"][AGAIN]), (&json!(1), &json!(true)));
    second.send(reply(&json!(1))).await;
    second.send(reply(&json!(1))).await;
    assert_eq!(bench.client.next().await.expect("a reply")["id"], 1);
    // Nothing more comes: not the handshake's reply, not the second one to 1.
    bench.client.writer.shutdown().await.expect("closed");
    assert!(second.next().await.is_none());
    drop(second);
    assert_eq!(bench.client.next().await, None);
    assert_eq!(bench.shim.await.expect("it ends"), ShimEnd::ClientLeft);
}

#[tokio::test]
async fn a_server_that_writes_before_it_reads_on_holds_nobody_up() {
    const REQUESTS: u64 = 800;
    let mut bench = Bench::new(later);
    bench.initialize().await;
    let mut server = bench.server().await;
    let serving = tokio::spawn(async move {
        while let Some(message) = server.next().await {
            // It does not read on until every one of these was taken.
            for _ in 0..3 {
                server.send(json!({"jsonrpc": "2.0", "method": "notifications/message"})).await;
            }
            server.send(reply(&message["id"])).await;
        }
    });
    let End { mut lines, mut writer } = bench.client;
    let writing = tokio::spawn(async move {
        for id in 1..=REQUESTS {
            writer.write_all(format!("{}\n", request(id)).as_bytes()).await.expect("written");
        }
        writer
    });
    let mut open = 0..=REQUESTS;
    while !open.is_empty() {
        let line = lines.next_line().await.expect("text").expect("a line");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        if let Some(id) = message["id"].as_u64() {
            assert_eq!(open.next(), Some(id));
        }
    }
    drop(writing.await.expect("written").shutdown().await);
    serving.await.expect("served");
    assert_eq!(bench.shim.await.expect("it ends"), ShimEnd::ClientLeft);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_come_is_given_up_on_after_thirty_attempts() {
    let mut bench = Bench::new(later);
    bench.servers = None;
    let began = Instant::now();
    bench.initialize().await;
    let message = bench.client.next().await.expect("a reply");
    let text = message["error"]["message"].as_str().expect("an error");
    assert!(message["id"] == 0 && text.contains("did not run"), "{message}");
    assert_eq!(bench.attempts.load(Ordering::Relaxed), ATTEMPTS);
    assert_eq!(began.elapsed().as_secs(), u64::from(ATTEMPTS) - 1);
    assert!(matches!(bench.shim.await.expect("it ends"), ShimEnd::NoServer(_)));
}

#[tokio::test(start_paused = true)]
async fn a_first_server_that_cannot_stay_is_given_up_on_soon() {
    let starts: fn() -> ConnectError = || ConnectError::Start("bad setting".into());
    let never: fn() -> ConnectError = || ConnectError::Never("no folder".into());
    for (error, attempts, why) in [(starts, FIRST_STARTS, "bad setting"), (never, 1, "no folder")] {
        let mut bench = Bench::new(error);
        bench.servers = None;
        bench.initialize().await;
        bench.client.next().await.expect("a reply");
        assert_eq!(bench.attempts.load(Ordering::Relaxed), attempts);
        assert_eq!(bench.shim.await.expect("it ends"), ShimEnd::NoServer(why.into()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_while_nothing_is_due_ends_the_shim_at_once() {
    let mut bench = Bench::new(later);
    bench.initialize().await;
    let mut server = bench.server().await;
    server.next().await.expect("a handshake");
    server.send(reply(&json!(0))).await;
    bench.client.next().await.expect("a reply");
    drop(server);
    // No server any more, and nobody who needs one.
    bench.client.writer.shutdown().await.expect("closed");
    assert_eq!(bench.client.next().await, None);
    assert_eq!(bench.shim.await.expect("it ends"), ShimEnd::ClientLeft);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_closes_does_not_keep_the_shim() {
    let mut bench = Bench::new(later);
    bench.initialize().await;
    let mut server = bench.server().await;
    server.next().await.expect("a handshake");
    bench.client.writer.shutdown().await.expect("closed");
    assert_eq!(bench.shim.await.expect("it ends"), ShimEnd::ClientLeft);
}
