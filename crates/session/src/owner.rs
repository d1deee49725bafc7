//! Whose a session is.

use std::path::PathBuf;

/// Whose a session is, in words that only the caller's side understands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Who answers for it: a user or a token. Empty where there is only one.
    pub principal: String,
    /// The client that made it, such as an editor's window. Empty where there is only one.
    pub client: String,
    /// The agent that it was made for, where the client tells its agents apart.
    pub agent: Option<String>,
    /// The folder that its client works in, where that is known.
    pub workspace: Option<PathBuf>,
}

/// The client of what is shared with all clients of a principal. One that calls itself so shares what it makes.
const EVERYONE: &str = "everyone (shared by a person)";

impl Owner {
    /// All clients and agents of the principal without a name: the user that the server runs as.
    pub fn everyone() -> Self {
        Self { client: EVERYONE.to_owned(), ..Self::default() }
    }

    /// Whether it is what [`everyone`](Self::everyone) made.
    pub fn is_everyone(&self) -> bool {
        self.client == EVERYONE
    }

    /// What people call whoever it is for: the agent, else the client without the folder that ends its label.
    pub fn for_people(&self) -> String {
        if let Some(agent) = &self.agent {
            return agent.clone();
        }
        let folder = self.workspace.as_ref().map(|folder| folder.to_string_lossy());
        let at = folder.and_then(|folder| self.client.rfind(&*folder)).unwrap_or(self.client.len());
        let name = self.client[..at].trim_end();
        name.strip_suffix(" in").unwrap_or(name).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_called_by_its_name_alone() {
        for (client, folder, name) in [
            ("claude-code /work/app", Some("/work/app"), "claude-code"),
            ("cursor /work/my app (2)", Some("/work/my app"), "cursor"),
            ("vim in /work", Some("/work"), "vim"),
            ("/work", Some("/work"), ""),
            ("token ci", Some("/work"), "token ci"),
            ("token ci", None, "token ci"),
            ("", None, ""),
        ] {
            let workspace = folder.map(PathBuf::from);
            let owner = Owner { client: client.into(), workspace, ..Owner::default() };
            assert_eq!(owner.for_people(), name, "{client}");
            let agent = Some("builder".to_owned());
            assert_eq!(Owner { agent, ..owner }.for_people(), "builder");
        }
    }
}
