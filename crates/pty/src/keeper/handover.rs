//! Tells a server what is held and hands it over.
//!
//! What was handed to a server, by a spawn or an adoption, is its own until it releases it or is gone;
//! a program is not handed to the same server twice, so that one of its tasks reads a terminal.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use super::{Held, Keeper};
use crate::protocol::{Event, Parcels, ProgramId, RequestId};
use crate::{HeldProgram, SESSION_VARIABLE};

impl Keeper {
    /// Every program that runs or has run; those that are not to be kept are left out.
    pub(super) fn listed(&self) -> Vec<HeldProgram> {
        let kept = self.programs.iter().filter(|(_, held)| held.is_kept());
        kept.map(|(&program, held)| held.listed(program)).collect()
    }

    /// Gives a program to the server, or an error number.
    pub(super) fn adopt(&mut self, request: RequestId, program: ProgramId) -> Result<(), i32> {
        let held = self.programs.get_mut(&program).filter(|held| held.is_kept());
        let held = held.ok_or(libc::ESRCH)?;
        if held.is_handed {
            return Err(libc::EBUSY);
        }
        let errno = |error: io::Error| error.raw_os_error().unwrap_or(libc::EIO);
        let (parcels, descriptors) = held.all_duplicates().map_err(errno)?;
        held.is_handed = true;
        let program = held.listed(program);
        self.send_with(&Event::Adopted { request, program, parcels }, descriptors);
        Ok(())
    }

    /// The server is gone and everything stays: nobody waits for answers, nothing is handed out.
    pub(super) fn keep_everything(&mut self) {
        for held in self.programs.values_mut() {
            held.is_handed = false;
            if let Some(stop) = &mut held.stop {
                stop.forget_waiters();
            }
            if let Some(start) = &mut held.start {
                start.request = None;
            }
        }
        if let Some(ending) = &mut self.ending {
            ending.forget_waiters();
        }
        if let Some(door) = &mut self.door {
            door.server_left();
        }
    }
}

impl Held {
    /// It has become a program, and nobody has let go of it.
    fn is_kept(&self) -> bool {
        self.start.is_none() && self.stop.as_ref().is_none_or(|stop| !stop.forgets())
    }

    fn listed(&self, id: ProgramId) -> HeldProgram {
        let mark = self.mark.strip_prefix(SESSION_VARIABLE.as_bytes()).unwrap_or_default();
        let label = mark.strip_prefix(b"=").unwrap_or_default();
        let folder = Some(&self.folder.0).filter(|folder| !folder.is_empty());
        HeldProgram {
            id,
            pid: self.pid,
            tty: self.tty.clone(),
            label: String::from_utf8_lossy(label).into_owned(),
            status: self.status,
            private_folder: folder.map(|folder| OsStr::from_bytes(folder).into()),
            has_journal: self.journal.is_some(),
            has_command_pipe: self.command_pipe.is_some(),
        }
    }

    /// The terminal and the journal, for the server that started the program: it has the pipe.
    pub(super) fn duplicates(&self) -> io::Result<(Parcels, Vec<OwnedFd>)> {
        duplicates([Some(&self.master), self.journal.as_ref(), None])
    }

    /// All, for the one that adopts it.
    fn all_duplicates(&self) -> io::Result<(Parcels, Vec<OwnedFd>)> {
        duplicates([Some(&self.master), self.journal.as_ref(), self.command_pipe.as_ref()])
    }
}

/// Terminal, journal, command pipe.
fn duplicates(of: [Option<&OwnedFd>; 3]) -> io::Result<(Parcels, Vec<OwnedFd>)> {
    let parcels = Parcels { journal: of[1].is_some(), command_pipe: of[2].is_some() };
    let duplicate = |each| Ok(rustix::io::fcntl_dupfd_cloexec(each, 3)?);
    let descriptors = of.into_iter().flatten().map(duplicate).collect::<io::Result<_>>();
    descriptors.map(|descriptors| (parcels, descriptors))
}
