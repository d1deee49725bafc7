//! Sessions of an earlier server: which agent they are current for, and the history of what runs in them.

use std::path::PathBuf;

use termbridge_session::SessionInfo;
use termbridge_store::State;

use crate::caller::Caller;
use crate::error::BridgeError;
use crate::execute::Started;
use crate::follower::Followed;
use crate::hub::Bridge;
use crate::recorded::entry_id;

impl Bridge {
    /// Goes on with the sessions that a backend has taken over from an earlier server: each is its owner's as before,
    /// the same ones are current, and commands that run or ran meanwhile get their history. Which ones are current is
    /// kept in a file from now on, where the earlier server has kept it too.
    pub async fn adopted(&self, agents: PathBuf) {
        let Ok(listed) = self.backends().list().await else { return };
        self.shared.agents.adopt(self.backends(), &listed.sessions, agents);
        for info in &listed.sessions {
            if let Some((_, last)) = info.shell.and_then(|shell| shell.kept) {
                self.follow_adopted(info, last);
            }
        }
    }

    /// The command that a request of this name started at an earlier server.
    pub async fn started_earlier(
        &self,
        caller: &Caller,
        key: &str,
    ) -> Result<Option<Started>, BridgeError> {
        for backend in self.backends().all() {
            if let Some((session, command)) = backend.keyed_command(key).await? {
                let info = self.session(caller, &session).await?;
                let is_current = self.shared.agents.current(caller).as_ref() == Some(&session);
                return Ok(Some(Started {
                    session,
                    command,
                    is_known: is_current,
                    is_current,
                    cwd: info.cwd,
                    instead_of: None,
                    replaces: None,
                    moved: None,
                    call: None,
                    follow: None,
                }));
            }
        }
        Ok(None)
    }

    /// Notes the end of a command that an earlier server had begun.
    fn follow_adopted(&self, info: &SessionInfo, command: u64) {
        let Some(history) = self.shared.history.clone() else { return };
        let (bridge, session) = (self.clone(), info.id.clone());
        let unrecorded = self.shared.unrecorded.add(session.clone(), command);
        tokio::spawn(async move {
            let found = history.get(entry_id(&session, command)).await;
            let Some(mut entry) =
                found.ok().flatten().filter(|entry| entry.run.state != State::Done)
            else {
                return;
            };
            // The server that began it is gone, and it is not.
            entry.run.state = State::Running;
            history.record(entry.clone());
            Followed { bridge, history, entry, session, command, project_of: None, unrecorded }
                .follow()
                .await;
        });
    }
}
