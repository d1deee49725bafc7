//! Where each client keeps its list of servers.

use std::path::{Path, PathBuf};

use crate::file::Privacy;
use crate::{Client, Environment, Error, System, vscode};

/// For whom an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All projects of the user
    User,
    /// Everyone who works in this folder
    Project(PathBuf),
}

/// A file with a list of servers, or where it would be.
#[derive(Debug, Clone)]
pub struct Place {
    /// Whose file it is
    pub client: Client,
    /// The name of a profile that is not the default one
    pub profile: Option<String>,
    /// The file
    pub path: PathBuf,
    /// Whether the client's own files are there
    pub is_found: bool,
    pub(crate) privacy: Privacy,
    /// The project whose file it is: the file must not be elsewhere, whatever links say
    pub(crate) project: Option<PathBuf>,
}

impl Place {
    /// The client, and its profile if there are several.
    pub fn label(&self) -> String {
        match &self.profile {
            Some(profile) => format!("{} (profile {profile})", self.client),
            None => self.client.name().to_owned(),
        }
    }
}

/// The files of a client; at least one, whether it is there or not.
pub fn places(
    client: Client,
    environment: &Environment,
    scope: &Scope,
) -> Result<Vec<Place>, Error> {
    match scope {
        Scope::User => {
            // One that was never started has no files yet.
            let has_command = client.command().is_some_and(|name| environment.has_command(name));
            let mut places = of_user(client, environment);
            if let [place] = places.as_mut_slice() {
                place.is_found |= has_command;
            }
            Ok(places)
        }
        Scope::Project(folder) => of_project(client, folder).map(|place| vec![place]),
    }
}

fn of_user(client: Client, environment: &Environment) -> Vec<Place> {
    let home = &environment.home;
    let applications = environment.applications();
    let one = |folder: PathBuf, file: &str| {
        let is_found = folder.is_dir();
        vec![place(client, folder.join(file), is_found)]
    };
    match client {
        Client::ClaudeCode => match &environment.claude_config {
            Some(folder) => one(folder.clone(), ".claude.json"),
            None => {
                let path = home.join(".claude.json");
                let is_found = path.exists() || home.join(".claude").is_dir();
                vec![place(client, path, is_found)]
            }
        },
        Client::ClaudeDesktop => one(applications.join("Claude"), "claude_desktop_config.json"),
        Client::Cursor => one(home.join(".cursor"), "mcp.json"),
        Client::VsCode => of_vscode(client, &applications.join("Code")),
        Client::VsCodeInsiders => of_vscode(client, &applications.join("Code - Insiders")),
        Client::VsCodium => of_vscode(client, &applications.join("VSCodium")),
        Client::Codex => {
            let folder = environment.codex_home.clone();
            one(folder.unwrap_or_else(|| home.join(".codex")), "config.toml")
        }
        Client::GeminiCli => {
            let home = environment.gemini_home.as_ref().unwrap_or(home);
            one(home.join(".gemini"), "settings.json")
        }
        Client::Windsurf => one(home.join(".codeium").join("windsurf"), "mcp_config.json"),
        Client::Zed => match environment.system {
            System::Linux => one(environment.config_home.join("zed"), "settings.json"),
            System::MacOs => one(home.join(".config").join("zed"), "settings.json"),
            System::Windows => one(applications.join("Zed"), "settings.json"),
        },
        Client::OpenCode => {
            let folder = environment.config_home.join("opencode");
            let is_found = folder.is_dir();
            vec![place(client, opencode_file(&folder), is_found)]
        }
    }
}

fn of_project(client: Client, project: &Path) -> Result<Place, Error> {
    let one = |folder: &str, file: &str| {
        let folder = project.join(folder);
        let is_found = folder.is_dir();
        place(client, folder.join(file), is_found)
    };
    let found = match client {
        Client::ClaudeCode => {
            let path = project.join(".mcp.json");
            let is_found = path.exists() || project.join(".claude").is_dir();
            place(client, path, is_found)
        }
        Client::Cursor => one(".cursor", "mcp.json"),
        Client::VsCode | Client::VsCodeInsiders | Client::VsCodium => one(".vscode", "mcp.json"),
        Client::Codex => one(".codex", "config.toml"),
        Client::GeminiCli => one(".gemini", "settings.json"),
        Client::Zed => one(".zed", "settings.json"),
        Client::OpenCode => {
            let path = opencode_file(project);
            let is_found = path.exists() || project.join(".opencode").is_dir();
            place(client, path, is_found)
        }
        Client::ClaudeDesktop | Client::Windsurf => return Err(Error::NoProjectScope(client)),
    };
    // What is in a project is shared.
    Ok(Place { privacy: Privacy::Usual, project: Some(project.to_owned()), ..found })
}

fn place(client: Client, path: PathBuf, is_found: bool) -> Place {
    // As these clients create them themselves.
    let privacy = match client {
        Client::ClaudeCode | Client::Codex => Privacy::Private,
        _ => Privacy::Usual,
    };
    Place { client, profile: None, path, is_found, privacy, project: None }
}

fn of_vscode(client: Client, application: &Path) -> Vec<Place> {
    let user = application.join("User");
    let default = place(client, user.join("mcp.json"), user.is_dir());
    let others = vscode::profiles(&user).into_iter().map(|profile| Place {
        profile: Some(profile.name),
        ..place(client, profile.folder.join("mcp.json"), true)
    });
    std::iter::once(default).chain(others).collect()
}

/// `OpenCode` reads both and lets the second override the first.
fn opencode_file(folder: &Path) -> PathBuf {
    let commented = folder.join("opencode.jsonc");
    if commented.exists() { commented } else { folder.join("opencode.json") }
}
