//! Runs tasks with servers.

use anyhow::Result;
use termbridge_benches::server_binary;

use crate::model::{Listing, Model, SHOWN, Shown, Tally};
use crate::server::{Home, Programs, SERVERS, Server};
use crate::tasks::Task;

/// A task's outcome with one server: its cost, or why it was not done.
pub(crate) type Outcome = Result<Tally, String>;

/// All outcomes.
#[derive(Debug)]
pub(crate) struct Results {
    /// The servers that ran, and what each costs before the first call.
    pub(crate) servers: Vec<(Server, Listing)>,
    /// Per task: its name and an outcome for each of `servers`.
    pub(crate) tasks: Vec<(&'static str, Vec<Outcome>)>,
    /// Peers that are not installed.
    pub(crate) missing: Vec<Server>,
}

impl Results {
    pub(crate) fn ours_did_all(&self) -> bool {
        self.tasks.iter().all(|(_, outcomes)| outcomes[0].is_ok())
    }
}

/// How often a peer tries each task.
const PEER_RUNS: usize = 3;

/// What to run with.
#[derive(Debug)]
pub(crate) struct Bench {
    programs: Programs,
    quick: bool,
    trace: bool,
}

impl Bench {
    pub(crate) fn new(quick: bool, trace: bool) -> Result<Self> {
        Ok(Self { programs: Programs::new(server_binary()?)?, quick, trace })
    }

    /// Runs all tasks with ours and, unless it is to be quick, with every installed peer.
    pub(crate) fn run(&self, tasks: &[Task]) -> Result<Results> {
        let (mut servers, mut missing) = (Vec::new(), Vec::new());
        for server in SERVERS {
            if self.quick && server != Server::Ours {
                continue;
            }
            if self.programs.command(server).is_none() {
                missing.push(server);
                continue;
            }
            let model = self.model(&Home::new(), server, Shown::Text)?;
            servers.push((server, model.listing));
        }
        let outcomes = |task: &Task| -> Vec<Outcome> {
            let of = |(server, _): &(Server, Listing)| self.outcome(task, *server);
            servers.iter().map(of).collect()
        };
        let tasks = tasks.iter().map(|task| (task.name, outcomes(task))).collect();
        Ok(Results { servers, tasks, missing })
    }

    /// Ours is run as each kind of client, since it answers them differently, and shows the most that any of
    /// them cost. Peers show the best of a few runs: what they cost depends on how early they answer.
    fn outcome(&self, task: &Task, server: Server) -> Outcome {
        if server != Server::Ours {
            let mut best = self.attempt(task, server, Shown::Text);
            let is_able = task.scripts.of(server).is_ok();
            for _ in 1..if is_able { PEER_RUNS } else { 1 } {
                best = better(best, self.attempt(task, server, Shown::Text));
            }
            return best;
        }
        let mut all = Tally::default();
        for (index, shown) in SHOWN.into_iter().enumerate() {
            let tally = self.attempt(task, server, shown)?;
            all.read[index] = tally.read[index];
            all.calls = all.calls.max(tally.calls);
            all.written = all.written.max(tally.written);
            all.images = all.images.max(tally.images);
        }
        Ok(all)
    }

    /// One run: prepare, do, check.
    #[allow(clippy::print_stderr, reason = "the trace is asked for")]
    fn attempt(&self, task: &Task, server: Server, shown: Shown) -> Outcome {
        let script = task.scripts.of(server).map_err(|reason| format!("cannot: {reason}"))?;
        if self.trace {
            eprintln!("\n=== {}, {}, {shown:?}: {}\n", task.name, server.name(), task.prompt);
        }
        let home = Home::new();
        let done = || -> Result<Tally> {
            (task.prepare)(&home)?;
            let mut model = self.model(&home, server, shown)?;
            script(&mut model)?;
            (task.check)(&home, &model.read)?;
            Ok(model.tally)
        };
        done().map_err(|error| format!("failed: {error:#}"))
    }

    fn model(&self, home: &Home, server: Server, shown: Shown) -> Result<Model> {
        let words = self.programs.command(server).unwrap_or_default();
        let client = home.start(&self.programs, &words)?;
        Model::new(client, shown, home.project().display().to_string(), self.trace)
    }
}

/// The cheaper of two outcomes.
fn better(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            let cost = |tally: &Tally| (tally.calls, tally.read[1] + tally.written);
            Ok(if cost(&other) < cost(&one) { other } else { one })
        }
        (Err(_), other @ Ok(_)) => other,
        (one, _) => one,
    }
}
