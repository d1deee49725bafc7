//! A home of its own for a server under test, and the server with a client's end.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use termbridge_mcp::client::{Answer, Client};

/// The protocol version that tests speak unless they are about versions.
pub const PROTOCOL: &str = "2025-11-25";

/// A folder that is home, working directory and everything else a program might write to.
#[derive(Debug)]
pub struct TestEnvironment {
    folder: TempDir,
}

impl Default for TestEnvironment {
    fn default() -> Self {
        Self::new()
    }
}

impl TestEnvironment {
    /// An empty one.
    ///
    /// # Panics
    /// When there is no room for temporary files.
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder can be made") }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file and returns its path.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("folders can be made");
        }
        std::fs::write(&path, content).expect("files can be written");
        path
    }

    /// The text of a file.
    ///
    /// # Panics
    /// When the file cannot be read.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("the file can be read")
    }

    /// A command that sees nothing of the caller's environment but the search path.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path())
            .env("XDG_CONFIG_HOME", self.path().join(".config"))
            .env("XDG_STATE_HOME", self.path().join(".local/state"))
            .env("LANG", "C.UTF-8")
            .env("PS1", "$ ")
            .env("LOG_LEVEL", "warn")
            // Any free one: servers under test are not in each other's way, nor in that of the user's.
            .env("TERMBRIDGE_EDITOR_PORT", "0")
            .current_dir(self.path());
        // Toolchains on the search path keep their files in the home of whoever installed them.
        let home = std::env::home_dir().unwrap_or_default();
        for (name, folder) in
            [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"), ("GOCACHE", ".cache/go-build")]
        {
            let place = std::env::var_os(name).unwrap_or_else(|| home.join(folder).into());
            command.env(name, place);
        }
        command
    }

    /// A server that has shaken hands.
    ///
    /// # Panics
    /// When it does not start.
    pub fn server(&self, binary: impl AsRef<Path>, arguments: &[&str]) -> Server {
        let mut command = self.command(binary);
        command.arg("mcp").args(arguments);
        let mut client = Client::start(&mut command).expect("the server starts");
        client.initialize(PROTOCOL).expect("the server shakes hands");
        Server { client }
    }

    /// The same with every tool of the debugger.
    ///
    /// # Panics
    /// When it does not start.
    pub fn debug_server(&self, binary: impl AsRef<Path>, arguments: &[&str]) -> Server {
        self.server(binary, &[&["--toolsets", "terminal,debug"], arguments].concat())
    }
}

/// A server and the client's end of its connection.
#[derive(Debug)]
pub struct Server {
    client: Client,
}

impl Deref for Server {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl Server {
    /// Calls a tool that must succeed.
    ///
    /// # Panics
    /// When it fails.
    #[track_caller]
    pub fn ok(&mut self, tool: &str, arguments: Value) -> Answer {
        let shown = arguments.to_string();
        let answer = self.client.call(tool, arguments).expect("the server answers");
        assert!(!answer.is_error, "{tool} {shown} failed: {}", answer.text);
        answer
    }

    /// Calls a tool that must fail and returns the error's code and the whole text.
    ///
    /// # Panics
    /// When it succeeds.
    #[track_caller]
    pub fn error(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let shown = arguments.to_string();
        let answer = self.client.call(tool, arguments).expect("the server answers");
        assert!(answer.is_error, "{tool} {shown} succeeded: {}", answer.text);
        let code = answer.structured["error"]["code"].as_str().unwrap_or_default().to_owned();
        (code, answer.text)
    }

    /// Launches a program and returns its session.
    ///
    /// # Panics
    /// When it cannot be launched.
    #[track_caller]
    pub fn launch(&mut self, arguments: Value) -> String {
        let answer = self.ok("launch_app", arguments);
        answer.structured["session_id"].as_str().expect("a session id").to_owned()
    }

    /// Closes the connection and returns the server's exit code.
    ///
    /// # Panics
    /// When the server cannot be waited for.
    pub fn close(self) -> Option<i32> {
        self.client.close().expect("the server ends").code()
    }
}
