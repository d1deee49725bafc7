//! Who drives the session: its agents, or a person who has taken over.
//!
//! A person takes over by saying so, or by typing. From then on the terminal has the size of the person's panel, and
//! what agents would type, run or resize is refused. Handing back restores the size. A person who only typed, and
//! has not for [`GIVES_WAY`], gives way to the next agent without a word; one who took over has to hand back, or to leave: who is gone that long
//! does not drive any more.

use std::sync::atomic::Ordering;
use std::time::Duration;

use termbridge_vt::Size;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::SessionTask;
use crate::error::SessionError;

/// How long a person who only typed keeps the agents from typing.
const GIVES_WAY: Duration = Duration::from_secs(10);

/// What a person does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Types these bytes, as the person's own terminal made them.
    Type(Vec<u8>),
    /// Types a line that the terminal hides, and Enter.
    TypeSecret(String),
    /// Takes over.
    TakeOver,
    /// Says how large the person's panel is.
    Fit(Size),
    /// Gives the session back to its agents.
    HandBack,
    /// Is gone: gives way as one who only typed.
    Leave,
    /// Is back, and drives on unless somebody else does.
    Return,
}

/// A person who drives.
#[derive(Debug)]
pub(super) struct Driver {
    person: String,
    /// Took over, and did not only type.
    said_so: bool,
    last_typed: Instant,
    /// Is gone, since then.
    left: Option<Instant>,
    /// The size that the agents know.
    before: Size,
}

impl SessionTask {
    pub(super) fn person_does(
        &mut self,
        person: String,
        deed: Deed,
        reply: oneshot::Sender<Result<(), SessionError>>,
    ) {
        let done = match deed {
            Deed::Type(bytes) => self.person_types(person, bytes),
            Deed::TypeSecret(text) => self.person_types_secret(&text),
            Deed::TakeOver => self.running().map(|()| self.driven_by(person).said_so = true),
            Deed::Fit(size) => {
                if self.driver() == Some(&person) {
                    self.resize_to(size);
                }
                Ok(())
            }
            Deed::HandBack => {
                self.hand_back();
                Ok(())
            }
            Deed::Return => {
                if self.driver.as_ref().is_some_and(|driver| driver.left.is_some()) {
                    self.driven_by(person).said_so = true;
                }
                Ok(())
            }
            Deed::Leave => {
                let left = self.driver.as_mut().filter(|driver| driver.person == person);
                if let Some(driver) = left {
                    driver.said_so = false;
                    driver.left = Some(Instant::now());
                }
                Ok(())
            }
        };
        let _ = reply.send(done);
    }

    fn driven_by(&mut self, person: String) -> &mut Driver {
        let before = self.driver.as_ref().map_or(self.size_to_be(), |driver| driver.before);
        let said_so =
            self.driver.as_ref().is_some_and(|driver| driver.said_so && driver.person == person);
        let last_typed = Instant::now();
        self.driver.insert(Driver { person, said_so, last_typed, left: None, before })
    }

    fn person_types(&mut self, person: String, bytes: Vec<u8>) -> Result<(), SessionError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.touch();
        let count = bytes.len() as u64;
        self.type_bytes(bytes)?;
        self.typed.fetch_add(count, Ordering::Relaxed);
        self.driven_by(person);
        Ok(())
    }

    /// It is no take-over: the agent waits for just this.
    fn person_types_secret(&mut self, text: &str) -> Result<(), SessionError> {
        let is_asked = self.notices.secret().is_some() && self.hides_input();
        if !is_asked || text.chars().any(char::is_control) {
            let why = "no password is asked for, or this is more than a line";
            return Err(SessionError::Invalid(why.to_owned()));
        }
        self.touch();
        self.type_bytes([text.as_bytes(), b"\r"].concat())?;
        // One that was wrong is asked for again, and that is news.
        self.notices.secret_given();
        Ok(())
    }

    fn hand_back(&mut self) {
        let Some(driver) = self.driver.take() else { return };
        self.resize_to(driver.before);
    }

    /// Each new size is a new picture for those who watch; the same is none.
    fn resize_to(&mut self, size: Size) {
        if size.clamped() != self.size_to_be() && self.ended.is_none() {
            let (ignored, _) = oneshot::channel();
            self.resizing.ask(size, ignored);
        }
    }

    /// The size that was asked for last: a session that has much to do has it only later.
    fn size_to_be(&self) -> Size {
        self.resizing.asked().map_or(self.terminal.size(), Size::clamped)
    }

    /// Refuses what an agent would do, while a person drives.
    pub(super) fn agent_may(&mut self) -> Result<(), SessionError> {
        match &self.driver {
            None => Ok(()),
            Some(driver) if !driver.said_so && driver.last_typed.elapsed() >= GIVES_WAY => {
                self.hand_back();
                Ok(())
            }
            Some(_) => Err(SessionError::TakenOver(self.id.clone())),
        }
    }

    /// When a person who is gone, and did not come again, has given way.
    pub(super) fn driver_deadline(&self) -> Option<Instant> {
        self.driver.as_ref()?.left.map(|left| left + GIVES_WAY)
    }

    pub(super) fn settle_driver(&mut self, now: Instant) {
        if self.driver_deadline().is_some_and(|at| now >= at) {
            self.hand_back();
        }
    }

    /// The size that the agents know, while a person drives.
    pub(super) fn size_before(&self) -> Option<Size> {
        self.driver.as_ref().map(|driver| driver.before)
    }

    /// A person drove at an earlier server, and has to come again: agents may after a while.
    pub(super) fn was_driven(&mut self, before: Size) {
        let (person, now) = (String::new(), Instant::now());
        let left = Some(now);
        self.driver = Some(Driver { person, said_so: false, last_typed: now, left, before });
    }

    /// The person who drives.
    pub(super) fn driver(&self) -> Option<&str> {
        self.driver.as_ref().map(|driver| driver.person.as_str())
    }
}
