//! A home folder for each test, and what is done in it.

use std::path::PathBuf;

use tempfile::TempDir;
use termbridge_clients::{
    Action, Applied, Client, Entry, Environment, Error, Overwrite, Place, Plan, Scope, System,
    places,
};

pub(crate) const COMMAND: &str = "/usr/local/bin/termbridge";

pub(crate) fn entry() -> Entry {
    Entry::new("termbridge", COMMAND, ["mcp"]).expect("a valid name")
}

pub(crate) struct Home {
    folder: TempDir,
    pub(crate) environment: Environment,
    pub(crate) scope: Scope,
}

impl Home {
    pub(crate) fn new(system: System) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let backups = folder.path().join("state/backups");
        let environment = Environment::new(system, folder.path(), backups);
        Self { folder, environment, scope: Scope::User }
    }

    pub(crate) fn linux() -> Self {
        Self::new(System::Linux)
    }

    pub(crate) fn project() -> Self {
        let mut home = Self::linux();
        home.scope = Scope::Project(home.path("project"));
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(&path, content).expect("written");
        path
    }

    pub(crate) fn folder(&self, name: &str) {
        std::fs::create_dir_all(self.path(name)).expect("folders");
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.path(name)).expect("readable");
        String::from_utf8(bytes).expect("UTF-8")
    }

    /// The names in a folder, hidden ones too.
    pub(crate) fn names(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(name)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[track_caller]
    pub(crate) fn places(&self, client: Client) -> Vec<Place> {
        places(client, &self.environment, &self.scope).expect("it has such a scope")
    }

    /// The only place of a client.
    #[track_caller]
    pub(crate) fn place(&self, client: Client) -> Place {
        let [place] = self.places(client).try_into().expect("one place");
        place
    }

    pub(crate) fn plan(&self, client: Client, entry: &Entry) -> Result<Plan, Error> {
        Plan::install(self.place(client), entry, Overwrite::Never, &self.environment)
    }

    pub(crate) fn plan_removal(&self, client: Client) -> Result<Plan, Error> {
        Plan::uninstall(self.place(client), &entry(), Overwrite::Never, &self.environment)
    }

    /// Installs with the usual entry.
    #[track_caller]
    pub(crate) fn install(&self, client: Client) -> Action {
        self.install_as(client, &entry()).0
    }

    #[track_caller]
    pub(crate) fn install_as(&self, client: Client, entry: &Entry) -> (Action, Applied) {
        let plan = self.plan(client, entry).expect("a plan");
        (plan.action(), plan.apply().expect("applied"))
    }

    #[track_caller]
    pub(crate) fn uninstall(&self, client: Client) -> Action {
        let plan = self.plan_removal(client).expect("a plan");
        plan.apply().expect("applied");
        plan.action()
    }

    /// The text of a client's file after install; then the same bytes are there after uninstall.
    #[track_caller]
    pub(crate) fn round_trip(&self, client: Client) -> String {
        let path = self.place(client).path;
        let before = std::fs::read(&path).expect("the file is there");
        assert_eq!(self.install(client), Action::Add);
        let installed = std::fs::read(&path).expect("readable");
        assert_ne!(installed, before, "something was added");
        assert_eq!(self.install(client), Action::AlreadyThere, "twice is once");
        assert_eq!(std::fs::read(&path).expect("readable"), installed);
        assert_eq!(self.uninstall(client), Action::Remove);
        let after = std::fs::read(&path).expect("readable");
        assert_eq!(String::from_utf8_lossy(&after), String::from_utf8_lossy(&before));
        assert_eq!(self.names("state/backups"), [""; 0], "nothing to be kept is left");
        String::from_utf8(installed).expect("UTF-8")
    }
}

/// The permission bits of a file.
#[cfg(unix)]
pub(crate) fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[cfg(unix)]
pub(crate) fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set");
}
