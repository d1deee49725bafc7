//! From the keeper to the server.

use super::codec::{Decoder, Encoder, Malformed};
use super::held::{self, Parcels};
use super::{ProgramId, RequestId};
use crate::{ExitStatus, HeldProgram, ProcessInfo, StopReport, Survey, Waiting};

const HELLO: u8 = 128;
const SPAWNED: u8 = 129;
const SPAWN_FAILED: u8 = 130;
const DONE: u8 = 131;
const STOPPED: u8 = 132;
const SURVEYED: u8 = 133;
const EXITED: u8 = 134;
const BUSY: u8 = 135;
const TAKEN_OVER: u8 = 136;
const LISTED: u8 = 137;
const ADOPTED: u8 = 138;

/// Which step of a spawn failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Failure {
    /// No terminal could be opened or set up.
    Terminal = 1,
    /// No process, pipe or descriptor was to be had.
    Process = 2,
    /// The working directory cannot be entered.
    Cwd = 3,
    /// No candidate exists.
    NotFound = 4,
    /// A candidate exists, but none may be executed.
    Denied = 5,
    /// The best candidate is a directory.
    Directory = 6,
    /// The candidate exists, its interpreter does not.
    Interpreter = 7,
    /// `execve` failed otherwise.
    Exec = 8,
    /// The journal or the command pipe could not be made or opened. Only for who asked for one.
    Journal = 9,
}

impl Failure {
    pub(crate) fn from_code(code: u8) -> Result<Self, Malformed> {
        Ok(match code {
            1 => Self::Terminal,
            2 => Self::Process,
            3 => Self::Cwd,
            4 => Self::NotFound,
            5 => Self::Denied,
            6 => Self::Directory,
            7 => Self::Interpreter,
            8 => Self::Exec,
            9 => Self::Journal,
            _ => return Err(Malformed::Value),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// First of all.
    Hello {
        version: u32,
        /// The keeper's own, since version 4.
        pid: u32,
    },
    /// With the PTY master, and then what `parcels` names.
    Spawned {
        request: RequestId,
        program: ProgramId,
        pid: i32,
        tty: String,
        /// Since version 4.
        parcels: Parcels,
    },
    /// `path` is the candidate that failed, when one did.
    SpawnFailed {
        request: RequestId,
        failure: Failure,
        errno: i32,
        path: Vec<u8>,
    },
    /// Done, or refused with an error number that is not 0.
    Done {
        request: RequestId,
        errno: i32,
    },
    Stopped {
        request: RequestId,
        report: StopReport,
    },
    Surveyed {
        request: RequestId,
        survey: Survey,
    },
    /// Unasked: the program ended.
    Exited {
        program: ProgramId,
        status: ExitStatus,
    },
    /// Another server has the keeper.
    Busy {
        request: RequestId,
        holder: u32,
    },
    /// Unasked, and the last: another server has the keeper now. To be answered by closing the link.
    TakenOver {
        by: u32,
    },
    Listed {
        request: RequestId,
        programs: Vec<HeldProgram>,
    },
    /// With the PTY master, and then what `parcels` names.
    Adopted {
        request: RequestId,
        program: HeldProgram,
        parcels: Parcels,
    },
}

impl Event {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Malformed> {
        let mut frame;
        match self {
            Self::Hello { version, pid } => {
                frame = Encoder::new(HELLO);
                frame.u32(*version).u32(*pid);
            }
            Self::Spawned { request, program, pid, tty, parcels } => {
                frame = Encoder::new(SPAWNED);
                frame.u64(request.0).u64(program.0).i32(*pid).bytes(tty.as_bytes());
                frame.u8(parcels.code());
            }
            Self::SpawnFailed { request, failure, errno, path } => {
                frame = Encoder::new(SPAWN_FAILED);
                frame.u64(request.0).u8(*failure as u8).i32(*errno).bytes(path);
            }
            Self::Done { request, errno } => {
                frame = Encoder::new(DONE);
                frame.u64(request.0).i32(*errno);
            }
            Self::Stopped { request, report } => {
                frame = Encoder::new(STOPPED);
                frame.u64(request.0);
                encode_status(&mut frame, report.status);
                frame
                    .u32(report.killed)
                    .u32(report.remaining)
                    .list(&report.detached, encode_process)
                    .u32(report.unlisted);
            }
            Self::Surveyed { request, survey } => {
                frame = Encoder::new(SURVEYED);
                frame
                    .u64(request.0)
                    .i32(survey.foreground.unwrap_or(0))
                    .list(&survey.processes, encode_process)
                    .list(&survey.detached, encode_process)
                    .u32(survey.unlisted)
                    .u8(waiting_code(survey.waiting))
                    .u8(survey.beyond.map_or(NOTHING_BEYOND, waiting_code));
            }
            Self::Exited { program, status } => {
                frame = Encoder::new(EXITED);
                frame.u64(program.0);
                encode_status(&mut frame, Some(*status));
            }
            Self::Busy { request, holder } => {
                frame = Encoder::new(BUSY);
                frame.u64(request.0).u32(*holder);
            }
            Self::TakenOver { by } => {
                frame = Encoder::new(TAKEN_OVER);
                frame.u32(*by);
            }
            Self::Listed { request, programs } => {
                frame = Encoder::new(LISTED);
                frame.u64(request.0).list(programs, held::encode);
            }
            Self::Adopted { request, program, parcels } => {
                frame = Encoder::new(ADOPTED);
                frame.u64(request.0);
                held::encode(&mut frame, program);
                frame.u8(parcels.code());
            }
        }
        frame.finish()
    }

    pub(crate) fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut body = Decoder::new(body);
        let tag = body.u8()?;
        let decoded = match tag {
            HELLO => {
                Self::Hello { version: body.u32()?, pid: body.later(Decoder::u32)?.unwrap_or(0) }
            }
            SPAWNED => Self::Spawned {
                request: RequestId(body.u64()?),
                program: ProgramId(body.u64()?),
                pid: body.i32()?,
                tty: body.text()?,
                parcels: body.later(Decoder::u8)?.map(Parcels::of).unwrap_or_default(),
            },
            SPAWN_FAILED => Self::SpawnFailed {
                request: RequestId(body.u64()?),
                failure: Failure::from_code(body.u8()?)?,
                errno: body.i32()?,
                path: body.bytes()?,
            },
            DONE => Self::Done { request: RequestId(body.u64()?), errno: body.i32()? },
            STOPPED => Self::Stopped {
                request: RequestId(body.u64()?),
                report: StopReport {
                    status: decode_status(&mut body)?,
                    killed: body.u32()?,
                    remaining: body.u32()?,
                    detached: decode_processes(&mut body)?,
                    unlisted: body.u32()?,
                },
            },
            SURVEYED => Self::Surveyed {
                request: RequestId(body.u64()?),
                survey: Survey {
                    foreground: Some(body.i32()?).filter(|&group| group != 0),
                    processes: decode_processes(&mut body)?,
                    detached: decode_processes(&mut body)?,
                    unlisted: body.u32()?,
                    waiting: waiting_of(body.u8()?)?,
                    beyond: match body.u8()? {
                        NOTHING_BEYOND => None,
                        code => Some(waiting_of(code)?),
                    },
                },
            },
            EXITED => Self::Exited {
                program: ProgramId(body.u64()?),
                status: decode_status(&mut body)?.ok_or(Malformed::Value)?,
            },
            BUSY => Self::Busy { request: RequestId(body.u64()?), holder: body.u32()? },
            TAKEN_OVER => Self::TakenOver { by: body.u32()? },
            LISTED => Self::Listed {
                request: RequestId(body.u64()?),
                programs: body.list(held::LEAST, held::decode)?,
            },
            ADOPTED => Self::Adopted {
                request: RequestId(body.u64()?),
                program: held::decode(&mut body)?,
                parcels: Parcels::of(body.u8()?),
            },
            unknown => return Err(Malformed::Tag(unknown)),
        };
        Ok(decoded)
    }
}

/// In the place of a [`Waiting`].
const NOTHING_BEYOND: u8 = u8::MAX;

/// A kind byte and a number: 0 none, 1 exit code, 2 signal, 3 signal with core file, 4 lost.
pub(super) fn encode_status(frame: &mut Encoder, status: Option<ExitStatus>) {
    let (kind, number) = match status {
        None => (0, 0),
        Some(ExitStatus::Code(code)) => (1, code),
        Some(ExitStatus::Signal { number, core_dumped: false }) => (2, number),
        Some(ExitStatus::Signal { number, core_dumped: true }) => (3, number),
        Some(ExitStatus::Lost) => (4, 0),
    };
    frame.u8(kind).i32(number);
}

pub(super) fn decode_status(body: &mut Decoder<'_>) -> Result<Option<ExitStatus>, Malformed> {
    let kind = body.u8()?;
    let number = body.i32()?;
    match kind {
        0 => Ok(None),
        1 => Ok(Some(ExitStatus::Code(number))),
        2 | 3 => Ok(Some(ExitStatus::Signal { number, core_dumped: kind == 3 })),
        4 => Ok(Some(ExitStatus::Lost)),
        _ => Err(Malformed::Value),
    }
}

fn encode_process(frame: &mut Encoder, process: &ProcessInfo) {
    frame
        .i32(process.pid)
        .i32(process.parent)
        .i32(process.group)
        .i32(process.session)
        .u32(u32::from(process.state))
        .bytes(process.name.as_bytes())
        .u64(process.ticks);
}

fn decode_processes(body: &mut Decoder<'_>) -> Result<Vec<ProcessInfo>, Malformed> {
    body.list(32, |body| {
        Ok(ProcessInfo {
            pid: body.i32()?,
            parent: body.i32()?,
            group: body.i32()?,
            session: body.i32()?,
            state: char::from_u32(body.u32()?).ok_or(Malformed::Value)?,
            name: body.text()?,
            ticks: body.u64()?,
        })
    })
}

fn waiting_code(waiting: Waiting) -> u8 {
    match waiting {
        Waiting::Reading => 0,
        Waiting::Polling => 1,
        Waiting::No => 2,
        Waiting::Unknown => 3,
        Waiting::ReadingByte => 4,
    }
}

fn waiting_of(code: u8) -> Result<Waiting, Malformed> {
    match code {
        0 => Ok(Waiting::Reading),
        1 => Ok(Waiting::Polling),
        2 => Ok(Waiting::No),
        3 => Ok(Waiting::Unknown),
        4 => Ok(Waiting::ReadingByte),
        _ => Err(Malformed::Value),
    }
}
