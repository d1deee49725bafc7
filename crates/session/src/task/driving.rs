//! Who drives the session: its agents, or a person who has taken over.
//!
//! A person takes over by saying so, or by typing. From then on the terminal has the size of the person's panel, and
//! what agents would type, run or resize is refused. Handing back restores the size. A person who only typed, and
//! has not for [`GIVES_WAY`], gives way to the next agent without a word. One who took over drives until they hand back,
//! or leave for longer than [`RETURNS_WITHIN`]. A window that is reloaded is back before that.
//!
//! A person can also fit the session to a panel without driving it. Agents continue in that size. The fit ends when an
//! agent sets a size of its own.

use std::sync::atomic::Ordering;
use std::time::Duration;

use termbridge_vt::Size;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::SessionTask;
use crate::error::SessionError;

/// How long a person who only typed keeps the agents from typing.
const GIVES_WAY: Duration = Duration::from_secs(10);
/// How long a person whose window is gone still drives.
const RETURNS_WITHIN: Duration = Duration::from_secs(20);

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
    /// Gives the session the panel's size and leaves it to its agents.
    FitToPanel(Size),
    /// Restores the size from before that.
    RestoreSize,
    /// Has opened or closed the box for the password.
    SeesPasswordBox(bool),
    /// Gives the session back to its agents.
    HandBack,
    /// Is gone.
    Leave,
    /// Is back, and drives on unless somebody else does.
    Return,
}

/// What a person holds of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// Its size alone.
    Size,
    /// The keyboard, by typing.
    Typed,
    /// The keyboard, by taking over.
    TookOver,
}

/// A person who drives, or whose panel sets the size.
#[derive(Debug)]
pub(super) struct Driver {
    person: String,
    hold: Hold,
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
            Deed::TakeOver => self.running().map(|()| self.held_by(person, Hold::TookOver)),
            Deed::Fit(size) => {
                if self.driver.as_ref().is_some_and(|driver| driver.person == person) {
                    self.resize_to(size);
                }
                Ok(())
            }
            Deed::FitToPanel(size) => self.fit_to_panel(person, size),
            Deed::RestoreSize => {
                if self.fitted_by() == Some(&person) {
                    self.hand_back();
                }
                Ok(())
            }
            Deed::SeesPasswordBox(is_open) => {
                self.notices.password_box(person, is_open);
                Ok(())
            }
            Deed::HandBack => {
                self.hand_back();
                Ok(())
            }
            Deed::Return => {
                let left = self.driver.as_ref().filter(|driver| driver.left.is_some());
                if let Some(hold) =
                    left.map(|driver| driver.hold).filter(|hold| *hold != Hold::Size)
                {
                    self.held_by(person, hold);
                }
                Ok(())
            }
            Deed::Leave => {
                let left = self.driver.as_mut().filter(|driver| driver.person == person);
                if let Some(driver) = left {
                    driver.left = Some(Instant::now());
                }
                self.notices.password_box(person, false);
                Ok(())
            }
        };
        let _ = reply.send(done);
    }

    /// Notes that a person holds the session. One who took over and types has still taken over.
    fn held_by(&mut self, person: String, hold: Hold) {
        let before = self.driver.as_ref().map_or(self.size_to_be(), |driver| driver.before);
        let took_over = self
            .driver
            .as_ref()
            .is_some_and(|driver| driver.hold == Hold::TookOver && driver.person == person);
        let hold = if took_over { Hold::TookOver } else { hold };
        let last_typed = Instant::now();
        self.driver = Some(Driver { person, hold, last_typed, left: None, before });
    }

    fn fit_to_panel(&mut self, person: String, size: Size) -> Result<(), SessionError> {
        self.running()?;
        self.agent_may()?;
        self.held_by(person, Hold::Size);
        self.resize_to(size);
        Ok(())
    }

    fn person_types(&mut self, person: String, bytes: Vec<u8>) -> Result<(), SessionError> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.touch();
        let count = bytes.len() as u64;
        self.type_bytes(bytes)?;
        self.typed.fetch_add(count, Ordering::Relaxed);
        self.held_by(person, Hold::Typed);
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
            None | Some(Driver { hold: Hold::Size, .. }) => Ok(()),
            Some(driver)
                if driver.hold == Hold::Typed && driver.last_typed.elapsed() >= GIVES_WAY =>
            {
                self.hand_back();
                Ok(())
            }
            Some(_) => Err(SessionError::TakenOver(self.id.clone())),
        }
    }

    /// Ends a fit to a panel: an agent sets the size.
    pub(super) fn end_fit(&mut self) {
        self.driver.take_if(|driver| driver.hold == Hold::Size);
    }

    /// When a person who is gone, and did not come again, has given way.
    pub(super) fn driver_deadline(&self) -> Option<Instant> {
        self.driver.as_ref()?.left.map(|left| left + RETURNS_WITHIN)
    }

    pub(super) fn settle_driver(&mut self, now: Instant) {
        if self.driver_deadline().is_some_and(|at| now >= at) {
            self.hand_back();
        }
    }

    /// The size that the agents know, while a person sets another.
    pub(super) fn size_before(&self) -> Option<Size> {
        self.driver.as_ref().map(|driver| driver.before)
    }

    /// A person drove at an earlier server, and has to come again: agents may after a while.
    pub(super) fn was_driven(&mut self, before: Size) {
        let (person, now) = (String::new(), Instant::now());
        let (hold, left) = (Hold::TookOver, Some(now));
        self.driver = Some(Driver { person, hold, last_typed: now, left, before });
    }

    /// The person who drives.
    pub(super) fn driver(&self) -> Option<&str> {
        self.holder(|hold| hold != Hold::Size)
    }

    /// The person whose panel sets the size, while agents drive.
    pub(super) fn fitted_by(&self) -> Option<&str> {
        self.holder(|hold| hold == Hold::Size)
    }

    fn holder(&self, is_right: impl Fn(Hold) -> bool) -> Option<&str> {
        let driver = self.driver.as_ref().filter(|driver| is_right(driver.hold));
        driver.map(|driver| driver.person.as_str())
    }
}
