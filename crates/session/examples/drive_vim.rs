//! A Rust test author's view: launch a TUI, see it, type, wait, check.
//!
//! `cargo run -p termbridge-session --example drive_vim`

use termbridge_session::{Launch, SessionError, Sessions, Settings, State, Wait};

#[tokio::main]
async fn main() -> Result<(), SessionError> {
    let folder = std::env::temp_dir().join(format!("drive-vim-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| SessionError::System(error.to_string()))?;
    let sessions = Sessions::new(Settings::default());
    let launch = Launch::new("vim").args(["-u", "NONE", "-N", "notes.txt"]).cwd(&folder);
    let vim = sessions.launch(launch.size(60, 10)).await?;

    vim.wait(Wait::text("notes.txt")).await?;
    vim.send_keys("iHello from a Rust test<Escape>").await?;
    vim.wait(Wait::text("Rust test")).await?;
    eprintln!("{}", vim.screen().await?.text());

    vim.send_keys(":wq<Enter>").await?;
    let ended = vim.wait(Wait::exit()).await?;
    assert!(matches!(&ended.state, State::Exited(ended) if ended.exit_code() == Some(0)));
    let written = std::fs::read_to_string(folder.join("notes.txt"));
    assert_eq!(written.ok().as_deref(), Some("Hello from a Rust test\n"));
    let _ = std::fs::remove_dir_all(&folder);
    sessions.shutdown().await;
    Ok(())
}
