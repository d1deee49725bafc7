//! Which sessions commands get, and which end to make room.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use termbridge_bridge::policy::{MAX_COMMAND, Policy, PolicyConfig};
use termbridge_bridge::session::{
    CommandState, Launch, SessionError, SessionId, Sessions, Settings, Signal, State,
};
use termbridge_bridge::{
    Bridge, BridgeError, BridgeSettings, Caller, Execute, Moved, NativeBackend, NewSession, Pick,
    Until,
};
use termbridge_testkit::HungPath;
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
        Self::with_policy(settings, &PolicyConfig::default())
    }

    fn with_policy(settings: Settings, policy: &PolicyConfig) -> Self {
        let home = TempDir::new().expect("a temporary folder");
        let sessions = Sessions::new(settings);
        let backend = Arc::new(NativeBackend::new(sessions.clone()));
        let policy = Policy::new(policy, home.path()).expect("a policy");
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
    assert_eq!(bridge.wait(&started, LIMIT).await?.until, Until::Over);
    let (_, output) = bridge.output(&started.session, started.command, 4096).await?;
    Ok((started.session, output.head))
}

pub(crate) fn command(text: &str) -> Execute {
    Execute { command: text.into(), ..Execute::default() }
}

fn of_agent(agent: &str, text: &str) -> Execute {
    Execute { caller: Caller::default().for_agent(Some(agent)), ..command(text) }
}

/// A command for which a shell is made that is not the agent's current one.
fn spare_of(agent: &str, number: u32, text: &str) -> Execute {
    let env = BTreeMap::from([("NUMBER".to_owned(), number.to_string())]);
    Execute { env: Some(env), pick: Pick::Alike, ..of_agent(agent, text) }
}

fn in_folder(folder: &Path, text: &str) -> Execute {
    Execute { cwd: Some(folder.to_owned()), ..command(text) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directories_do_not_cost_a_shell() {
    let hub = Hub::new(100);
    let (current, home) = hub.run(command("pwd")).await;
    for number in 0..12 {
        let folder = hub.folder(&format!("folder {number}"));
        let (session, printed) = hub.run(in_folder(&folder, "pwd")).await;
        assert_eq!(printed.trim_end(), folder.to_str().expect("text"));
        assert_eq!(session, current);
    }
    assert_eq!(hub.run(command("pwd")).await, (current, home), "it returns");
    assert_eq!(hub.live().await.len(), 1);
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn environments_that_shells_are_made_for_do_not_cost_one_each_for_ever() {
    let hub = Hub::new(100);
    let created = hub
        .bridge
        .create_session(&Caller::default(), NewSession::default())
        .await
        .expect("created")
        .id;
    let (named, _) = hub.run(Execute { name: Some("mine".into()), ..command("true") }).await;
    for number in 0..12 {
        let env = BTreeMap::from([("NUMBER".to_owned(), number.to_string())]);
        let (_, printed) =
            hub.run(Execute { env: Some(env), pick: Pick::Alike, ..command("echo $NUMBER") }).await;
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
async fn at_the_limit_spare_shells_make_room_but_current_ones_and_those_with_jobs_do_not() {
    let hub = Hub::new(4);
    let (current, _) = hub.run(of_agent("a", "export KEPT=1")).await;
    let jobs = "sleep 1000 & echo $!";
    let (working, pid) = hub.run(spare_of("a", 0, jobs)).await;
    let named = Execute { name: Some("mine".into()), ..of_agent("b", "true") };
    let (named, _) = hub.run(named).await;
    for number in 1..5 {
        // Each takes the place of the one before.
        hub.run(spare_of("a", number, "true")).await;
    }
    let app = hub
        .bridge
        .launch(&Caller::default(), Launch::new("cat"))
        .await
        .expect("a spare shell makes room");
    let live = hub.live().await;
    assert_eq!(live, HashSet::from([current.clone(), working, named, app.id().clone()]));
    // The shell announces the job in a line before.
    let pid = pid.lines().last().expect("a pid");
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "the job goes on");
    for agent in ["a", "d"] {
        let app = hub.bridge.launch(&of_agent(agent, "").caller, Launch::new("cat")).await;
        let refused = app.map(|app| app.id().clone());
        assert!(
            matches!(
                &refused,
                Err(BridgeError::Session(SessionError::TooManySessions { limit: 4 }))
            ),
            "{refused:?}"
        );
    }
    assert_eq!(hub.run(of_agent("a", "echo $KEPT")).await, (current, "1\n".into()));
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_limit_nobody_waits_for_a_command_that_runs_long() {
    let hub = Hub::new(1);
    // It ends sooner than a request that waited for it would be refused.
    let mut begun = hub.bridge.start(of_agent("a", "sleep 4"), LIMIT).await.expect("starts");
    let limit =
        |refused| matches!(refused, BridgeError::Session(SessionError::TooManySessions { .. }));
    let (other, same) = tokio::join!(
        hub.bridge.start(of_agent("b", "true"), LIMIT),
        hub.bridge.start(of_agent("a", "true"), LIMIT)
    );
    assert!(other.is_err_and(limit), "another agent's");
    assert!(same.is_err_and(limit), "the same agent's");
    hub.bridge.wait(&begun, LIMIT).await.expect("ends");
    begun.answered();
    hub.run(of_agent("a", "true")).await;
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_recycled_session_printed_can_still_be_read() {
    let hub = Hub::new(2);
    hub.run(of_agent("a", "true")).await;
    let kept = spare_of("a", 0, "echo kept");
    let mut started = hub.bridge.start(kept.clone(), LIMIT).await.expect("starts");
    hub.bridge.wait(&started, LIMIT).await.expect("waits");
    started.answered();
    hub.run(of_agent("b", "true")).await;
    assert!(!hub.live().await.contains(&started.session));
    let read = hub.bridge.output(&started.session, started.command, 4096).await.expect("readable");
    assert_eq!(read.1.head, "kept\n");
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

fn named(name: &str, text: &str) -> Execute {
    Execute { name: Some(name.into()), ..command(text) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_means_one_session_also_while_that_is_busy() {
    let hub = Hub::new(100);
    let begun = hub.bridge.start(named("mine", "export A=1; cat"), LIMIT);
    let mut begun = begun.await.expect("starts");
    begun.answered();
    let refused = hub.bridge.start(named("mine", "echo $A"), LIMIT).await;
    let Err(BridgeError::NameBusy { doing, .. }) = refused else { panic!("{refused:?}") };
    assert!(doing.contains("export A=1; cat") && doing.contains(begun.session.as_str()), "{doing}");
    let me = Caller::default();
    let made = hub
        .bridge
        .create_session(&me, NewSession { name: Some("mine".into()), ..NewSession::default() });
    let made = made.await;
    assert!(matches!(made, Err(BridgeError::NameTaken { .. })), "{made:?}");
    assert_eq!(hub.live().await.len(), 1);
    // The name is another agent's to give, and free again when the session has ended.
    hub.run(Execute {
        caller: Caller::default().for_agent(Some("other")),
        ..named("mine", "true")
    })
    .await;
    hub.bridge
        .interrupt(&Caller::default(), &begun.session, begun.command)
        .await
        .expect("interrupted");
    hub.bridge.wait(&begun, LIMIT).await.expect("ends");
    assert_eq!(hub.run(named("mine", "echo $A")).await, (begun.session.clone(), "1\n".into()));
    let other = BTreeMap::from([("B".to_owned(), "2".to_owned())]);
    let (_, output) = hub.run(Execute { env: Some(other), ..named("mine", "echo $A$B") }).await;
    assert_eq!(output, "12\n");
    hub.run(named("mine", "exit")).await;
    let (again, _) = hub.run(named("mine", "true")).await;
    assert_ne!(again, begun.session);
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_once_do_not_give_a_name_twice() {
    let hub = Hub::new(100);
    let mut calls = JoinSet::new();
    for _ in 0..8 {
        let bridge = hub.bridge.clone();
        calls.spawn(async move { run(&bridge, named("mine", "true")).await });
    }
    while let Some(done) = calls.join_next().await {
        let ran = done.expect("no panic");
        assert!(matches!(ran, Ok(_) | Err(BridgeError::NameBusy { .. })), "{ran:?}");
    }
    assert_eq!(hub.live().await.len(), 1);
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_being_stopped_is_not_the_current_one() {
    let hub = Hub::new(100);
    // Neither the shell nor what it runs heeds the signal.
    let (first, _) = hub.run(command("trap '' TERM HUP; cd /")).await;
    let session = hub.sessions.get(&first).expect("is there");
    let stop = tokio::spawn(async move { session.stop(Signal::TERM, LIMIT).await });
    let stopping = async {
        while !hub.bridge.session(&Caller::default(), &first).await.expect("is there").stopping {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, stopping).await.expect("is being stopped");
    let (second, _) = hub.run(command("true")).await;
    assert_ne!(second, first);
    assert_eq!(hub.bridge.current(&Caller::default()), Some(second.clone()));
    let refused = hub.bridge.switch_session(&Caller::default(), &first).await;
    let Err(BridgeError::NotAlive { living, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(living, second.as_str());
    let session = hub.sessions.get(&first).expect("is there");
    session.stop(Signal::KILL, Duration::ZERO).await.expect("ends");
    stop.await.expect("no panic").expect("stopped");
    let refused = hub.bridge.switch_session(&Caller::default(), &first).await;
    assert!(matches!(refused, Err(BridgeError::NotAlive { .. })), "{refused:?}");
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_takes_no_commands_is_not_chosen_again() {
    let hub = Hub::new(100);
    let (first, _) = hub.run(command("bind -r '\\e[5151;1~'")).await;
    let lost = hub.bridge.start(command("true"), LIMIT).await.expect("starts");
    assert_eq!(lost.session, first);
    hub.bridge.wait(&lost, LIMIT).await.expect("waits");
    let (report, _) = hub.bridge.output(&first, lost.command, 4096).await.expect("readable");
    assert_eq!(report.state, CommandState::NotTaken);
    let (second, printed) = hub.run(command("echo taken")).await;
    assert_eq!(printed, "taken\n");
    assert_ne!(second, first);
    assert_eq!(hub.run(command("true")).await.0, second, "it is the current one now");
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn variables_are_bounded_in_number_and_size() {
    let hub = Hub::new(100);
    let many = |count: usize| -> BTreeMap<String, String> {
        (0..count).map(|number| (format!("V{number}"), number.to_string())).collect()
    };
    let execute = |env| Execute { env: Some(env), ..command("echo $V7") };
    assert_eq!(hub.run(execute(many(1000))).await.1, "7\n");
    let long = BTreeMap::from([("LONG".to_owned(), "x".repeat(128 * 1024))]);
    for env in [many(1001), long] {
        let refused = hub.bridge.start(execute(env.clone()), LIMIT).await;
        assert!(matches!(refused, Err(BridgeError::Invalid(_))), "{refused:?}");
        let new = NewSession { env: env.clone(), ..NewSession::default() };
        let refused = hub.bridge.create_session(&Caller::default(), new).await;
        assert!(matches!(refused, Err(BridgeError::Invalid(_))), "{refused:?}");
        let launch = env.iter().fold(Launch::new("cat"), |cat, (name, value)| cat.env(name, value));
        let refused = hub.bridge.check_launch(&Caller::default(), &launch);
        assert!(matches!(refused, Err(BridgeError::Invalid(_))), "{refused:?}");
    }
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

#[tokio::test]
async fn a_file_system_that_hangs_is_an_error_for_its_caller_alone() {
    let hub = Hub::new(4);
    let (session, _) = hub.run(command("mkdir -p hung/below && cd hung")).await;
    let hung = hub.folder("hung").canonicalize().expect("a path");
    let _hung = HungPath::new(&hung).await;
    let caller = Caller::default();
    let is_refused = |error: Option<BridgeError>| {
        let told = format!("the file system of {} did not answer within 10 s", hung.display());
        assert!(error.is_some_and(|error| error.to_string() == told));
    };
    is_refused(run(&hub.bridge, in_folder(&hung, "true")).await.err());
    let new = NewSession { cwd: hung.clone(), ..NewSession::default() };
    is_refused(hub.bridge.create_session(&caller, new).await.err());
    let launch = Launch::new("true").cwd(&hung);
    is_refused(hub.bridge.allowed_launch(&caller, launch).await.err());
    // A shell that is there already can be used, and be led away.
    assert_eq!(hub.run(command("echo here")).await, (session.clone(), "here\n".to_owned()));
    assert_eq!(hub.run(command("cd / && pwd")).await, (session, "/\n".to_owned()));
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_that_replaces_an_ended_one_starts_where_that_was() {
    let hub = Hub::new(10);
    let folder = hub.folder("left").canonicalize().expect("a path");
    let below = hub.folder("left/below").canonicalize().expect("a path");
    let (ended, _) = hub.run(command("cd left; export A=1")).await;
    hub.run(command("exit 1")).await;
    hub.until_at_most(0).await;
    let started = hub.bridge.start(in_folder(Path::new("below"), "true"), LIMIT).await;
    let mut started = started.expect("starts");
    hub.bridge.wait(&started, LIMIT).await.expect("waits");
    started.answered();
    assert_eq!((started.replaces, started.cwd), (Some(ended.clone()), below));
    let (second, printed) = hub.run(command("echo $PWD $A")).await;
    assert_eq!(printed, format!("{}\n", folder.display()));
    assert_ne!(second, ended);
    // One that was led into a directory that is gone by now.
    hub.run(command("mkdir gone && cd gone")).await;
    hub.run(command("exit 1")).await;
    hub.until_at_most(0).await;
    std::fs::remove_dir(folder.join("gone")).expect("removed");
    let started = hub.bridge.start(command("pwd"), LIMIT).await.expect("starts");
    let moved = Moved { from: folder.join("gone"), to: folder.clone() };
    assert_eq!((started.replaces, started.moved), (Some(second), Some(moved)));
    assert_eq!(started.cwd, folder);
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_named_shell_that_has_ended_is_made_again_where_it_was() {
    let hub = Hub::new(10);
    let folder = hub.folder("left").canonicalize().expect("a path");
    hub.run(command("cd /usr")).await;
    let named = |text: &str| Execute { name: Some("build".into()), ..command(text) };
    hub.run(named("cd ~/left")).await;
    let (ended, _) = hub.run(named("exit 1")).await;
    hub.until_at_most(1).await;
    let started = hub.bridge.start(named("pwd"), LIMIT).await.expect("starts");
    assert_eq!((started.replaces, started.cwd), (Some(ended), folder));
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_shell_in_a_removed_directory_locks_nobody_out() {
    let hub = Hub::new(10);
    let home = hub.folder("").canonicalize().expect("a path");
    let (busy, _) = hub.run(command("mkdir z && cd z")).await;
    hub.bridge.start(command("sleep 1000"), LIMIT).await.expect("starts");
    std::fs::remove_dir(home.join("z")).expect("removed");
    let (session, printed) = hub.run(in_folder(Path::new("/usr"), "pwd")).await;
    assert_eq!(printed, "/usr\n");
    assert_ne!(session, busy);
    assert_eq!(hub.run(command("pwd")).await, (session, format!("{}\n", home.display())));
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[cfg(target_os = "linux")]
async fn a_link_that_leads_elsewhere_in_another_process_leads_where_it_was_checked() {
    let here = std::env::current_dir().expect("a directory").canonicalize().expect("a path");
    let policy =
        PolicyConfig { allowed_directories: vec![here.clone()], ..PolicyConfig::default() };
    let hub = Hub::with_policy(Settings::default(), &policy);
    let (caller, link) = (Caller::default(), Path::new("/proc/self/cwd"));
    let launch = hub.bridge.allowed_launch(&caller, Launch::new("pwd").cwd(link)).await;
    assert_eq!(launch.expect("allowed").directory(), here);
    let new = NewSession { cwd: link.into(), ..NewSession::default() };
    assert_eq!(hub.bridge.create_session(&caller, new).await.expect("made").cwd, here);
    let printed = hub.run(in_folder(link, "pwd")).await.1;
    assert_eq!(printed.trim_end(), here.to_str().expect("text"));
    hub.sessions.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_are_short_and_mean_one_session() {
    let hub = Hub::new(10);
    let caller = Caller::default();
    let named = |name: &str| Execute { name: Some(name.to_owned()), ..command("true") };
    let long = "x".repeat(201);
    for name in [long.as_str(), "a\nb", "\u{1b}[2J"] {
        let launch = hub.bridge.launch(&caller, Launch::new("cat").name(name)).await;
        let new = NewSession { name: Some(name.to_owned()), ..NewSession::default() };
        for error in [
            launch.err(),
            hub.bridge.create_session(&caller, new).await.err(),
            hub.bridge.start(named(name), LIMIT).await.err(),
        ] {
            assert!(matches!(error, Some(BridgeError::Invalid(_))), "{error:?}");
        }
    }
    hub.run(named(&"é".repeat(200))).await;
    let cat = hub.bridge.launch(&caller, Launch::new("cat").name("log")).await.expect("launched");
    let new = NewSession { name: Some("log".into()), ..NewSession::default() };
    for error in [
        hub.bridge.launch(&caller, Launch::new("cat").name("log")).await.err(),
        hub.bridge.create_session(&caller, new).await.err(),
        hub.bridge.start(named("log"), LIMIT).await.err(),
    ] {
        let id = cat.id();
        assert!(
            matches!(&error, Some(BridgeError::NameTaken { session, .. }) if session == id),
            "{error:?}"
        );
    }
    let other = caller.for_agent(Some("other"));
    hub.bridge.launch(&other, Launch::new("cat").name("log")).await.expect("another agent's name");
    hub.sessions.shutdown().await;
}
