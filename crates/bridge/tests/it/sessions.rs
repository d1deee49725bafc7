//! Which sessions commands get, and which end to make room.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use termbridge_bridge::policy::{MAX_COMMAND, Policy, PolicyConfig};
use termbridge_bridge::session::{Launch, SessionError, SessionId, Sessions, Settings, State};
use termbridge_bridge::{
    Bridge, BridgeError, BridgeSettings, Execute, NativeBackend, NewSession, Until,
};
use tokio::task::JoinSet;

/// Nothing here takes this long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);

pub(crate) struct Hub {
    pub(crate) bridge: Bridge,
    pub(crate) sessions: Sessions,
    home: TempDir,
}

impl Hub {
    fn new(max_sessions: usize) -> Self {
        Self::with(Settings { max_sessions, ..Settings::default() })
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let home = TempDir::new().expect("a temporary folder");
        let sessions = Sessions::new(settings);
        let backend = Arc::new(NativeBackend::new(sessions.clone()));
        let policy = Policy::new(&PolicyConfig::default(), home.path()).expect("a policy");
        let mut settings =
            BridgeSettings::new("bash", home.path().to_owned(), home.path().to_owned());
        settings.env.insert("HOME".into(), home.path().display().to_string());
        Self { bridge: Bridge::new(backend, settings, policy, None), sessions, home }
    }

    fn folder(&self, name: &str) -> std::path::PathBuf {
        let folder = self.home.path().join(name);
        std::fs::create_dir_all(&folder).expect("folders can be made");
        folder
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, request: Execute) -> (SessionId, String) {
        run(&self.bridge, request).await.expect("runs")
    }

    async fn live(&self) -> HashSet<SessionId> {
        let all = self.sessions.list().await.into_iter();
        all.filter(|info| info.state == State::Running).map(|info| info.id).collect()
    }

    /// Waits until so many sessions run, and no more.
    async fn until_at_most(&self, most: usize) {
        let shrinks = async {
            while self.live().await.len() > most {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = tokio::time::timeout(LIMIT, shrinks).await;
        assert!(waited.is_ok(), "{} sessions run", self.live().await.len());
    }
}

async fn run(bridge: &Bridge, request: Execute) -> Result<(SessionId, String), BridgeError> {
    let started = bridge.start(request, LIMIT).await?;
    assert_eq!(bridge.wait(&started, LIMIT).await?, Until::Over);
    let (_, output) = bridge.output(&started.session, started.command, 4096).await?;
    Ok((started.session, output.head))
}

pub(crate) fn command(text: &str) -> Execute {
    Execute { command: text.into(), ..Execute::default() }
}

fn of_agent(agent: &str, text: &str) -> Execute {
    Execute { agent: Some(agent.into()), ..command(text) }
}

fn in_folder(folder: &Path, text: &str) -> Execute {
    Execute { cwd: Some(folder.to_owned()), ..command(text) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directories_do_not_cost_a_shell_each() {
    let hub = Hub::new(100);
    let (current, home) = hub.run(command("pwd")).await;
    for number in 0..12 {
        let folder = hub.folder(&format!("folder {number}"));
        let (session, printed) = hub.run(in_folder(&folder, "pwd")).await;
        assert_eq!(printed.trim_end(), folder.to_str().expect("text"));
        assert_ne!(session, current, "the current session is not moved");
    }
    assert_eq!(hub.run(command("pwd")).await, (current, home));
    assert_eq!(hub.live().await.len(), 2);
    // One that was addressed by its id stays where its agent left it.
    let folder = hub.folder("kept");
    let (kept, _) = hub.run(in_folder(&folder, "true")).await;
    hub.run(Execute { session: Some(kept.clone()), ..command("true") }).await;
    let (other, _) = hub.run(in_folder(&hub.folder("another"), "true")).await;
    assert_ne!(other, kept);
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn environments_do_not_cost_a_shell_each_for_ever() {
    let hub = Hub::new(100);
    let created = hub.bridge.create_session(NewSession::default()).await.expect("created").id;
    let (named, _) = hub.run(Execute { name: Some("mine".into()), ..command("true") }).await;
    for number in 0..12 {
        let env = BTreeMap::from([("NUMBER".to_owned(), number.to_string())]);
        let (_, printed) = hub.run(Execute { env: Some(env), ..command("echo $NUMBER") }).await;
        assert_eq!(printed, format!("{number}\n"));
    }
    // The spare ones, and the one that was made last.
    hub.until_at_most(2 + 4 + 1).await;
    let live = hub.live().await;
    assert!(live.contains(&created) && live.contains(&named));
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_named_session_changes_to_the_directory() {
    let hub = Hub::new(100);
    let named = |cwd: Option<&Path>| Execute {
        name: Some("mine".into()),
        cwd: cwd.map(Path::to_owned),
        ..command("pwd")
    };
    let (first, _) = hub.run(named(None)).await;
    let folder = hub.folder("elsewhere");
    let there = format!("{}\n", folder.display());
    assert_eq!(hub.run(named(Some(&folder))).await, (first.clone(), there.clone()));
    assert_eq!(hub.run(named(None)).await, (first, there), "and stays there");
    assert_eq!(hub.live().await.len(), 1);
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_limit_idle_shells_make_room_but_those_with_jobs_do_not() {
    let hub = Hub::new(3);
    let jobs = "sleep 1000 & echo $!";
    let (working, pid) = hub.run(of_agent("a", jobs)).await;
    let named = Execute { name: Some("mine".into()), ..of_agent("b", "true") };
    let (named, _) = hub.run(named).await;
    for number in 0..4 {
        // Each takes the place of the one before.
        hub.run(of_agent(&format!("c{number}"), "true")).await;
    }
    let app = hub.bridge.launch(Launch::new("cat")).await.expect("an idle shell makes room");
    let live = hub.live().await;
    assert_eq!(live, HashSet::from([working, named, app.id().clone()]));
    // The shell announces the job in a line before.
    let pid = pid.lines().last().expect("a pid");
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "the job goes on");
    let refused = hub.bridge.start(of_agent("d", "true"), Duration::from_millis(100)).await;
    assert!(
        matches!(refused, Err(BridgeError::Session(SessionError::TooManySessions { limit: 3 }))),
        "{refused:?}"
    );
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_recycled_session_printed_can_still_be_read() {
    let hub = Hub::new(1);
    let started = hub.bridge.start(of_agent("a", "echo kept"), LIMIT).await.expect("starts");
    hub.bridge.wait(&started, LIMIT).await.expect("waits");
    hub.run(of_agent("b", "true")).await;
    assert!(!hub.live().await.contains(&started.session));
    let read = hub.bridge.output(&started.session, started.command, 4096).await.expect("readable");
    assert_eq!(read.1.head, "kept\n");
    // The agent gets a new one.
    let (session, _) = hub.run(of_agent("a", "true")).await;
    assert_ne!(session, started.session);
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_agents_with_four_parallel_calls_each_are_served() {
    let hub = Hub::new(100);
    let mut calls = JoinSet::new();
    for agent in 0..50 {
        for call in 0..4 {
            let bridge = hub.bridge.clone();
            let request = of_agent(&format!("agent-{agent}"), &format!("echo {agent}/{call}"));
            calls.spawn(async move { (agent, call, run(&bridge, request).await) });
        }
    }
    while let Some(done) = calls.join_next().await {
        let (agent, call, ran) = done.expect("no panic");
        assert_eq!(ran.expect("runs").1, format!("{agent}/{call}\n"));
    }
    assert!(hub.live().await.len() <= 100);
    hub.sessions.shutdown().await;
}

#[tokio::test]
async fn a_command_that_no_shell_takes_is_neither_judged_nor_given_a_session() {
    let hub = Hub::new(4);
    // The policy would refuse it by name.
    let command = format!("rm -rf /; echo {}", "a ".repeat(500_000));
    let bytes = command.len();
    let refused = run(&hub.bridge, Execute { command, ..Execute::default() }).await;
    match refused {
        Err(BridgeError::Session(SessionError::CommandTooLong { bytes: told, most })) => {
            assert_eq!(told, bytes);
            assert_eq!(most, MAX_COMMAND);
        }
        other => panic!("{other:?}"),
    }
    assert!(hub.live().await.is_empty());
}

#[tokio::test]
async fn many_long_commands_are_all_judged() {
    let hub = Hub::new(4);
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let bridge = hub.bridge.clone();
        let command = format!("rm -rf /; echo {}", "a ".repeat(20_000));
        calls.spawn(async move { run(&bridge, Execute { command, ..Execute::default() }).await });
    }
    for judged in calls.join_all().await {
        assert!(matches!(judged, Err(BridgeError::Blocked { .. })), "{judged:?}");
    }
}
