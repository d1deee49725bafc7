//! Where a user's files are.

use std::ffi::OsString;
use std::path::PathBuf;

/// The operating system whose conventions apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and other systems that follow the XDG base directories
    Linux,
    /// macOS
    MacOs,
    /// Windows
    Windows,
}

impl System {
    /// The one that this binary was built for.
    pub const fn current() -> Self {
        if cfg!(target_os = "macos") {
            Self::MacOs
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}

/// The folders in which clients keep their files, and ours.
#[derive(Debug, Clone)]
pub struct Environment {
    /// Whose conventions apply
    pub system: System,
    /// The home folder
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`, or `.config` in the home folder
    pub config_home: PathBuf,
    /// `APPDATA`, or `AppData/Roaming` in the home folder; used on Windows alone
    pub app_data: PathBuf,
    /// `CLAUDE_CONFIG_DIR`
    pub claude_config: Option<PathBuf>,
    /// `CODEX_HOME`
    pub codex_home: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`: the folder that contains `.gemini`
    pub gemini_home: Option<PathBuf>,
    /// The folders of `PATH`
    pub search_path: Vec<PathBuf>,
    /// Our folder for backups of what is edited
    pub backups: PathBuf,
}

impl Environment {
    /// The defaults of a system.
    pub fn new(system: System, home: impl Into<PathBuf>, backups: impl Into<PathBuf>) -> Self {
        let home = home.into();
        Self {
            system,
            config_home: home.join(".config"),
            app_data: home.join("AppData").join("Roaming"),
            claude_config: None,
            codex_home: None,
            gemini_home: None,
            search_path: Vec::new(),
            backups: backups.into(),
            home,
        }
    }

    /// The same with what variables of the process's environment say. Empty and relative paths count as unset.
    pub fn with_variables(mut self, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder =
            |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        self.config_home = folder("XDG_CONFIG_HOME").unwrap_or(self.config_home);
        self.app_data = folder("APPDATA").unwrap_or(self.app_data);
        self.claude_config = folder("CLAUDE_CONFIG_DIR");
        self.codex_home = folder("CODEX_HOME");
        self.gemini_home = folder("GEMINI_CLI_HOME");
        let path = variable("PATH").unwrap_or_default();
        self.search_path =
            std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        self
    }

    /// Whether a command is on the search path.
    pub(crate) fn has_command(&self, name: &str) -> bool {
        let ending = if self.system == System::Windows { ".cmd" } else { "" };
        let file = format!("{name}{ending}");
        self.search_path.iter().any(|folder| folder.join(&file).is_file())
    }

    /// Where desktop applications keep their folders.
    pub(crate) fn applications(&self) -> PathBuf {
        match self.system {
            System::Linux => self.config_home.clone(),
            System::MacOs => self.home.join("Library").join("Application Support"),
            System::Windows => self.app_data.clone(),
        }
    }
}
