//! Telling those who watch the list of sessions that something in it has changed.
//!
//! What is compared is what a list shows and can be had without asking the kernel. Whether a password is asked for has to
//! be asked: once the session has been quiet for [`QUIET`] after it printed or was typed to, and again every
//! [`SECRET_INTERVAL`] while one is. Nothing is done where nobody watches.

use std::time::Duration;

use termbridge_pty::{Survey, Waiting};
use termbridge_vt::Size;
use tokio::time::Instant;

use super::SessionTask;

/// How long a program that asks for a password has been quiet.
const QUIET: Duration = Duration::from_millis(150);
const SECRET_INTERVAL: Duration = Duration::from_secs(1);
/// Bytes of the line that asks.
const MAX_PROMPT: usize = 200;

/// What is known of the session's looks in lists.
#[derive(Debug, Default)]
pub(super) struct Notices {
    shown: Option<Shown>,
    /// The moment up to which it is known whether a password is asked for.
    looked: Option<Instant>,
    /// The kernel is being asked for it.
    asks: bool,
    /// The line that asks.
    secret: Option<String>,
    /// How often one has begun to ask.
    asked: u64,
    /// The person whose window has a box for the password.
    asked_person: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Shown {
    running: Option<u64>,
    has_ended: bool,
    stopping: bool,
    size: Size,
    title: String,
    driver: Option<String>,
    fitted_by: Option<String>,
    secret: Option<String>,
    asks_person: bool,
}

impl Notices {
    /// The line that asked has its answer.
    pub(super) fn secret_given(&mut self) {
        self.secret = None;
    }

    pub(super) fn asked(&self) -> u64 {
        self.asked
    }

    pub(super) fn secret(&self) -> Option<&str> {
        self.secret.as_deref()
    }

    /// A window has opened or closed its box for the password.
    pub(super) fn password_box(&mut self, person: String, is_open: bool) {
        if is_open {
            self.asked_person = Some(person);
        } else {
            self.asked_person.take_if(|asked| *asked == person);
        }
    }

    /// Whether a window asks for the password that the session waits for.
    pub(super) fn asks_person(&self) -> bool {
        self.secret.is_some() && self.asked_person.is_some()
    }
}

impl SessionTask {
    fn is_observed(&self) -> bool {
        self.server.upgrade().is_some_and(|server| server.changes.receiver_count() > 0)
    }

    /// Tells of what has changed.
    pub(super) fn notice_changes(&mut self, now: Instant) {
        if !self.is_observed() {
            self.notices = Notices::default();
            return;
        }
        self.look_for_secret(now);
        let shell = self.shell_info();
        let shown = Shown {
            running: shell.and_then(|shell| shell.running),
            has_ended: self.ended.is_some(),
            stopping: self.change.is_some(),
            size: self.terminal.size(),
            title: self.terminal.title().to_owned(),
            driver: self.driver().map(str::to_owned),
            fitted_by: self.fitted_by().map(str::to_owned),
            asks_person: self.notices.asks_person(),
            secret: self.notices.secret.clone(),
        };
        if self.notices.shown.as_ref() != Some(&shown) {
            self.notices.shown = Some(shown);
            if let Some(server) = self.server.upgrade() {
                server.changed();
            }
        }
    }

    /// When it is to be asked whether a password is.
    pub(super) fn notice_deadline(&self) -> Option<Instant> {
        if self.ended.is_some() || self.notices.asks || self.notices.shown.is_none() {
            return None;
        }
        let active = self.last_output.max(self.last_input);
        let looked = self.notices.looked;
        if looked.is_none_or(|looked| looked < active + QUIET) {
            return Some(active + QUIET);
        }
        looked.filter(|_| self.notices.secret.is_some()).map(|looked| looked + SECRET_INTERVAL)
    }

    fn look_for_secret(&mut self, now: Instant) {
        if self.ended.is_some() {
            self.notices.secret = None;
        }
        if self.notices.shown.is_none() || self.notice_deadline().is_none_or(|due| now < due) {
            return;
        }
        self.notices.looked = Some(now);
        self.notices.asks = self.hides_input();
        if self.notices.asks {
            self.survey_soon();
        } else {
            self.notices.secret = None;
        }
    }

    /// The kernel is asked whether somebody reads a hidden line.
    pub(super) fn asks_for_secret(&self) -> bool {
        self.notices.asks
    }

    /// What it said.
    pub(super) fn note_secret(&mut self, survey: Option<&Survey>) {
        if !std::mem::take(&mut self.notices.asks) {
            return;
        }
        let reads = |survey: &Survey| {
            // A process of another user (sudo) cannot be looked into; a hidden line tells.
            survey.waiting.is_reading() || survey.waiting == Waiting::Unknown
        };
        let is_asked = survey.is_some_and(reads) && self.hides_input();
        let is_new = is_asked && self.notices.secret.is_none();
        self.notices.asked += u64::from(is_new);
        self.notices.secret = is_asked.then(|| self.line_of_cursor());
    }

    fn line_of_cursor(&self) -> String {
        let screen = self.terminal.screen();
        let line = screen.rows.get(usize::from(screen.cursor.row));
        let mut text = line.map(termbridge_vt::Row::text).unwrap_or_default().trim().to_owned();
        text.truncate(text.floor_char_boundary(MAX_PROMPT));
        text
    }
}
