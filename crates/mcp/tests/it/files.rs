//! Files as resources: inside the allowed directories, and nowhere else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use termbridge_bridge::policy::{Policy, PolicyConfig};
use termbridge_bridge::session::{Sessions, Settings};
use termbridge_bridge::{
    Bridge, BridgeSettings, Client, DebugSettings, MAX_FILE, NativeBackend, Scope,
};
use termbridge_mcp::{McpServer, Offer, Toolset};

use crate::connection::Connection;

/// The code of a resource that is not there.
const MISSING: i64 = -32002;

struct World {
    folder: TempDir,
}

impl World {
    /// A folder with `open`, which is allowed, and `closed` beside it.
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let world = Self { folder };
        for name in ["open/inner", "closed"] {
            std::fs::create_dir_all(world.path(name)).expect("made");
        }
        world.write("closed/secret.txt", b"secret");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a path").join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("written");
    }

    fn link(&self, target: &str, name: &str) {
        std::os::unix::fs::symlink(self.path(target), self.path(name)).expect("linked");
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    fn server(&self, allowed: &[&str]) -> McpServer {
        let home = self.path("open");
        let allowed_directories = allowed.iter().map(|name| self.path(name)).collect();
        let config = PolicyConfig { allowed_directories, ..PolicyConfig::default() };
        let policy = Policy::new(&config, &home).expect("a policy");
        let backend = Arc::new(NativeBackend::new(Sessions::new(Settings::default())));
        let settings = BridgeSettings::new("bash", home.clone(), home.clone());
        let bridge = Bridge::new(backend, settings, policy, None);
        let offer = Offer::new(&[Toolset::Terminal], DebugSettings::new(home));
        McpServer::new(bridge, offer).expect("all tools are known")
    }

    async fn connect(&self, allowed: &[&str]) -> Connection {
        Connection::to(self.server(allowed)).await
    }
}

/// All addresses of a listing, and how many pages it had.
async fn listed(client: &mut Connection) -> (BTreeSet<String>, usize) {
    let (mut all, mut cursor, mut pages) = (BTreeSet::new(), Value::Null, 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = client.request("resources/list", params).await["result"].clone();
        pages += 1;
        for resource in page["resources"].as_array().expect("resources") {
            let uri = resource["uri"].as_str().expect("an address").to_owned();
            assert!(all.insert(uri), "{resource} is listed twice");
        }
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return (all, pages);
        }
    }
}

async fn read(client: &mut Connection, uri: &str) -> Value {
    client.request("resources/read", json!({"uri": uri})).await
}

async fn contents(client: &mut Connection, uri: &str) -> Value {
    let answer = read(client, uri).await;
    assert!(answer["error"].is_null(), "{uri}: {answer}");
    answer["result"]["contents"][0].clone()
}

#[tokio::test]
async fn without_allowed_directories_there_are_no_files() {
    let world = World::new();
    let mut client = world.connect(&[]).await;
    let (all, pages) = listed(&mut client).await;
    assert!(pages == 1 && !all.iter().any(|uri| uri.starts_with("file:")), "{all:?}");
    let templates = client.request("resources/templates/list", json!({})).await;
    assert!(!templates.to_string().contains("file:"), "{templates}");
    for uri in [world.uri("closed/secret.txt"), "file:///etc/hostname".to_owned()] {
        assert_eq!(read(&mut client, &uri).await["error"]["code"], MISSING);
    }
}

#[tokio::test]
async fn files_are_listed_in_pages_and_read_by_their_kind() {
    let world = World::new();
    world.write("open/a b.md", "# Über\n".as_bytes());
    world.write("open/picture.png", b"\x89PNG\r\n\x1a\n\0");
    world.write("open/inner/main.rs", b"fn main() {}\n");
    for number in 0..250 {
        world.write(&format!("open/{number}.txt"), b"");
    }
    let mut client = world.connect(&["open"]).await;
    let (all, pages) = listed(&mut client).await;
    // What is no file, and 254 files in hundreds: the directory, and what lies in it.
    assert_eq!(pages, 4);
    assert_eq!(all.iter().filter(|uri| uri.starts_with("file:")).count(), 254);
    assert!(!all.contains(&world.uri("open/inner/main.rs")));
    let templates = client.request("resources/templates/list", json!({})).await;
    assert!(templates.to_string().contains("file:///{+path}"), "{templates}");
    let uri = world.uri("open/a%20b.md");
    assert!(all.contains(&uri), "{all:?}");
    let text = contents(&mut client, &uri).await;
    assert_eq!((&text["text"], &text["mimeType"]), (&json!("# Über\n"), &json!("text/markdown")));
    let picture = contents(&mut client, &world.uri("open/picture.png")).await;
    assert_eq!(picture["mimeType"], "image/png");
    assert_eq!(picture["blob"], "iVBORw0KGgoA");
    let inner = contents(&mut client, &world.uri("open/inner")).await;
    assert_eq!(inner["mimeType"], "inode/directory");
    let line = format!("{} 13 bytes\n", world.uri("open/inner/main.rs"));
    assert_eq!(inner["text"], json!(line));
    let bad = client.request("resources/list", json!({"cursor": "x"})).await;
    assert_eq!(bad["error"]["code"], -32602, "{bad}");
}

#[tokio::test]
async fn no_way_leads_out() {
    let world = World::new();
    world.link("closed/secret.txt", "open/link.txt");
    world.link("closed", "open/folder");
    world.write("open/true.txt", b"true");
    world.link("open/true.txt", "open/alias.txt");
    world.link("open/nothing", "open/dangling");
    let fifo = world.path("open/pipe");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("runs");
    assert!(made.success());
    let mut client = world.connect(&["open"]).await;
    let hidden = [
        world.uri("open/link.txt"),
        world.uri("open/folder"),
        world.uri("open/folder/secret.txt"),
        world.uri("open/../closed/secret.txt"),
        world.uri("open/%2e%2e/closed/secret.txt"),
        world.uri("open/inner/../../closed/secret.txt"),
        world.uri("closed/secret.txt"),
        world.uri("closed/nothing"),
        world.uri("open/nothing"),
        world.uri("open/dangling"),
        world.uri("open/pipe"),
        world.uri("open/true.txt/below"),
        world.uri("open/true.txt").replace("file://", "file://elsewhere"),
        "file:///proc/self/environ".to_owned(),
    ];
    let (all, _) = listed(&mut client).await;
    for uri in &hidden {
        assert!(!all.contains(uri), "{uri} is listed");
        let answer = read(&mut client, uri).await;
        assert_eq!(answer["error"]["code"], MISSING, "{uri}: {answer}");
        // What is not to be seen is neither there nor missing.
        assert_eq!(answer["error"]["message"], json!(format!("no resource {uri}")));
    }
    assert_eq!(contents(&mut client, &world.uri("open/alias.txt")).await["text"], "true");
    assert!(all.contains(&world.uri("open/alias.txt")));
}

#[tokio::test]
async fn a_file_is_read_whole_or_not_at_all() {
    let world = World::new();
    let most = usize::try_from(MAX_FILE).expect("fits");
    world.write("open/most.txt", &vec![b'x'; most]);
    world.write("open/more.txt", &vec![b'x'; most + 1]);
    let mut client = world.connect(&["open"]).await;
    let text = contents(&mut client, &world.uri("open/most.txt")).await;
    assert_eq!(text["text"].as_str().map(str::len), Some(most));
    let refused = read(&mut client, &world.uri("open/more.txt")).await;
    let message = refused["error"]["message"].as_str().expect("a message");
    assert!(message.contains(&MAX_FILE.to_string()), "{message}");
}

#[tokio::test]
async fn a_client_begins_in_its_workspace_and_needs_the_right_to_read() {
    let world = World::new();
    world.write("open/inner/main.rs", b"fn main() {}\n");
    world.write("open/beside.txt", b"beside");
    let server = world.server(&["open"]);
    let within = |workspace: &Path| {
        let workspace = Some(workspace.to_owned());
        server.for_client(Client { workspace, ..Client::default() })
    };
    let mut client = Connection::to(within(&world.path("open/inner"))).await;
    let (all, _) = listed(&mut client).await;
    assert!(all.contains(&world.uri("open/inner/main.rs")));
    assert!(!all.contains(&world.uri("open/beside.txt")), "{all:?}");
    assert_eq!(contents(&mut client, &world.uri("open/beside.txt")).await["text"], "beside");
    // A workspace that is not allowed allows nothing.
    let mut client = Connection::to(within(&world.path("closed"))).await;
    let (all, _) = listed(&mut client).await;
    assert!(all.contains(&world.uri("open/beside.txt")), "{all:?}");
    let secret = read(&mut client, &world.uri("closed/secret.txt")).await;
    assert_eq!(secret["error"]["code"], MISSING);
    let scopes = [Scope::Write].into_iter().collect();
    let writer = server.for_client(Client { scopes, ..Client::default() });
    let mut client = Connection::to(writer).await;
    let templates = client.request("resources/templates/list", json!({})).await;
    assert!(!templates.to_string().contains("file:"), "{templates}");
    let refused = read(&mut client, &world.uri("open/beside.txt")).await;
    assert!(refused["error"]["message"].to_string().contains("`read`"), "{refused}");
}
