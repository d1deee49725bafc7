//! Handles what the server asks.

use std::io;
use std::time::Duration;

use super::family::{Look, cut};
use super::launch::launch;
use super::strangers::Strangers;
use super::{GuardedFolder, Held, Keeper, Start};
use crate::process_table;
use crate::protocol::{Event, Failure, ProgramId, Request, RequestId, Spawn};
use crate::{SESSION_VARIABLE, SignalScope, Survey, Waiting, sys};

impl Keeper {
    pub(super) fn handle(&mut self, request: Request) {
        match request {
            Request::Spawn { request, spawn } => self.spawn(request, &spawn),
            Request::Signal { request, program, signal, scope } => {
                let result = self.signal(program, signal, scope);
                let errno = result.err().map_or(0, |e| e.raw_os_error().unwrap_or(libc::EIO));
                self.send(&Event::Done { request, errno });
            }
            Request::Stop { request, program, signal, grace_ms } => {
                self.stop(request, program, signal, grace_ms);
            }
            Request::Survey { request, program } => {
                let event = match self.survey(program) {
                    Some(survey) => Event::Surveyed { request, survey },
                    None => Event::Done { request, errno: libc::ESRCH },
                };
                self.send(&event);
            }
            Request::Release { program } => self.release(program),
            Request::Return { program } => {
                if let Some(held) = self.programs.get_mut(&program) {
                    held.is_handed = false;
                }
            }
            Request::Shutdown { request, grace_ms } => {
                self.begin_ending(Duration::from_millis(grace_ms.into()), Some(request));
            }
            Request::Attach { request, .. } => {
                self.send(&Event::Done { request, errno: libc::EALREADY });
            }
            Request::List { request } => {
                let programs = self.listed();
                self.send(&Event::Listed { request, programs });
            }
            Request::Adopt { request, program } => {
                if let Err(errno) = self.adopt(request, program) {
                    self.send(&Event::Done { request, errno });
                }
            }
        }
    }

    fn spawn(&mut self, request: RequestId, spawn: &Spawn) {
        if self.ending.is_some() {
            return self.refuse(request, Failure::Process, libc::ECANCELED);
        }
        let launched = match launch(spawn, &self.inherited) {
            Ok(launched) => launched,
            Err((failure, errno)) => return self.refuse(request, failure, errno),
        };
        let program = ProgramId(self.next_program);
        self.next_program += 1;
        let mark = if spawn.label.is_empty() {
            Vec::new()
        } else {
            [SESSION_VARIABLE.as_bytes(), b"=", &spawn.label].concat()
        };
        let start =
            Start { request: Some(request), pipe: launched.pipe, candidates: launched.candidates };
        let held = Held {
            pid: launched.pid,
            tty: launched.tty,
            mark,
            master: launched.master,
            slave: Some(launched.slave),
            start: Some(start),
            status: None,
            is_reaped: false,
            stop: None,
            strangers: Strangers::default(),
            folder: GuardedFolder(spawn.private_folder.clone()),
            journal: launched.journal,
            command_pipe: launched.command_pipe,
            is_handed: false,
        };
        self.programs.insert(program, held);
    }

    /// Answers that nothing was started.
    pub(super) fn refuse(&mut self, request: RequestId, failure: Failure, errno: i32) {
        self.send(&Event::SpawnFailed { request, failure, errno, path: Vec::new() });
    }

    fn signal(&self, program: ProgramId, signal: i32, scope: SignalScope) -> io::Result<()> {
        let nobody = || io::Error::from_raw_os_error(libc::ESRCH);
        let held = self.programs.get(&program).ok_or_else(nobody)?;
        match scope {
            _ if held.is_reaped => Err(nobody()),
            SignalScope::Leader if held.status.is_some() => Err(nobody()),
            SignalScope::Leader => sys::kill(held.pid, signal),
            SignalScope::Foreground => {
                sys::kill_group(foreground(held).ok_or_else(nobody)?, signal)
            }
            SignalScope::Session => {
                let members = self.family(program, Look::Thorough).members;
                let mut result = Err(nobody());
                // Done if it reached one: others may have ended meanwhile.
                for process in &members {
                    let sent = sys::kill(process.info.pid, signal);
                    if result.is_err() {
                        result = sent;
                    }
                }
                result
            }
        }
    }

    fn survey(&mut self, program: ProgramId) -> Option<Survey> {
        let family = self.family(program, Look::Quick);
        let held = self.programs.get_mut(&program)?;
        let foreground = foreground(held);
        let group: Vec<_> = family
            .members
            .iter()
            .filter(|process| Some(process.info.group) == foreground)
            .collect();
        let (mut waiting, running) = process_table::waiting(&group, &held.tty);
        let waits = waiting.is_for_input();
        let beyond = waits.then(|| process_table::beyond(&group, &family.detached)).flatten();
        if waiting == Waiting::No
            && let Some(stranger) = held.stranger_waits(&family, foreground)
        {
            waiting = stranger;
        }
        let members = family.members.into_iter().map(|mut each| {
            // The table has the earlier state of the first thread alone.
            if Some(each.info.group) == foreground && matches!(each.info.state, 'R' | 'S') {
                each.info.state = if running.contains(&each.info.pid) { 'R' } else { 'S' };
            }
            each.info
        });
        let (processes, over) = cut(members.collect());
        let (detached, more) = cut(family.detached.into_iter().map(|each| each.info).collect());
        Some(Survey { foreground, processes, detached, unlisted: over + more, waiting, beyond })
    }
}

/// The terminal's foreground process group.
fn foreground(held: &Held) -> Option<i32> {
    let group = rustix::termios::tcgetpgrp(&held.master).ok()?;
    Some(group.as_raw_nonzero().get())
}
