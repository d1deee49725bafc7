//! The skill file: when a model should use termbridge, read by clients that know skills.

use crate::backup::{Backup, Kept};
use crate::file::Privacy;
use crate::plan::read;
use crate::{Action, Client, Environment, Error, Overwrite, Place, Plan};

/// The text of the skill.
pub const SKILL: &str = include_str!("../../../skills/termbridge/SKILL.md");
/// How every version of it begins.
pub(crate) const BEGINNING: &str = "---\nname: termbridge\n";

impl Place {
    /// Where the client whose list of servers this is looks for our skill; `None` if it knows no skills.
    pub fn skill(&self, environment: &Environment) -> Option<Self> {
        let folder = match &self.project {
            Some(project) => project.join(match self.client {
                Client::ClaudeCode => ".claude",
                Client::Cursor => ".cursor",
                Client::VsCode | Client::VsCodeInsiders => ".github",
                Client::Codex => ".agents",
                Client::GeminiCli => ".gemini",
                Client::OpenCode => ".opencode",
                Client::ClaudeDesktop | Client::VsCodium | Client::Windsurf | Client::Zed => {
                    return None;
                }
            }),
            None => {
                let home = &environment.home;
                match self.client {
                    Client::ClaudeCode => {
                        environment.claude_config.clone().unwrap_or_else(|| home.join(".claude"))
                    }
                    Client::Cursor => home.join(".cursor"),
                    Client::VsCode | Client::VsCodeInsiders => home.join(".copilot"),
                    Client::Codex => home.join(".agents"),
                    Client::GeminiCli => {
                        environment.gemini_home.as_ref().unwrap_or(home).join(".gemini")
                    }
                    Client::OpenCode => environment.config_home.join("opencode"),
                    Client::Windsurf => home.join(".codeium").join("windsurf"),
                    Client::ClaudeDesktop | Client::VsCodium | Client::Zed => return None,
                }
            }
        };
        Some(Self {
            profile: None,
            path: folder.join("skills").join("termbridge").join("SKILL.md"),
            privacy: Privacy::Usual,
            ..self.clone()
        })
    }
}

impl Plan {
    /// Works out how a client gets the skill.
    pub fn install_skill(
        place: Place,
        overwrite: Overwrite,
        environment: &Environment,
    ) -> Result<Self, Error> {
        let (target, old) = read(&place)?;
        let action = match old.as_deref() {
            None => Action::Add,
            Some(text) if text == SKILL.as_bytes() => Action::AlreadyThere,
            Some(text) if text.starts_with(BEGINNING.as_bytes()) => Action::Update,
            Some(_) if overwrite == Overwrite::Foreign => Action::Replace,
            Some(_) => return Err(Error::ForeignSkill(place.path)),
        };
        Self::new(place, action, target, old, SKILL.to_owned(), environment)
    }

    /// Works out how a client loses the skill. One that is not ours is left alone.
    pub fn uninstall_skill(place: Place, environment: &Environment) -> Result<Self, Error> {
        let (target, old) = read(&place)?;
        let is_ours = |text: &[u8]| text.starts_with(BEGINNING.as_bytes());
        let (action, new) = if !old.as_deref().is_some_and(is_ours) {
            (Action::NotThere, String::new())
        } else if let Kept::Bytes(before) = Backup::of(&target, &environment.backups).read()
            && let Ok(before) = String::from_utf8(before)
            && !is_ours(before.as_bytes())
        {
            (Action::Remove, before)
        } else {
            (Action::RemoveFile, String::new())
        };
        Self::new(place, action, target, old, new, environment)
    }
}
