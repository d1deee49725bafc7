//! From the server to the keeper.

use super::codec::{Decoder, Encoder, Malformed};
use super::{ProgramId, RequestId};
use crate::{Claim, JournalSize, PtySize, SignalScope};

const SPAWN: u8 = 1;
const SIGNAL: u8 = 2;
const STOP: u8 = 3;
const SURVEY: u8 = 4;
const RELEASE: u8 = 5;
const SHUTDOWN: u8 = 6;
const ATTACH: u8 = 7;
const LIST: u8 = 8;
const ADOPT: u8 = 9;
const RETURN: u8 = 10;

/// A program to start; all of it bytes as `execve` takes them, without the final NUL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spawn {
    pub(crate) program: Vec<u8>,
    pub(crate) args: Vec<Vec<u8>>,
    /// `NAME=value` each, complete.
    pub(crate) env: Vec<Vec<u8>>,
    pub(crate) cwd: Vec<u8>,
    pub(crate) label: Vec<u8>,
    pub(crate) size: PtySize,
    /// Goes with the program; empty for none.
    pub(crate) private_folder: Vec<u8>,
    /// Since version 4.
    pub(crate) journal: Option<JournalSize>,
    /// A named pipe that the keeper is to hold open; empty for none. Since version 4.
    pub(crate) command_pipe: Vec<u8>,
}

impl Spawn {
    /// Where a program without a slash is searched for: the child's `PATH`, or what `execvp`
    /// takes without one.
    pub(crate) fn search_path(&self) -> &[u8] {
        self.env.iter().find_map(|entry| entry.strip_prefix(b"PATH=")).unwrap_or(b"/bin:/usr/bin")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    /// Answered by `Spawned` or `SpawnFailed`.
    Spawn { request: RequestId, spawn: Spawn },
    /// Answered by `Done`.
    Signal { request: RequestId, program: ProgramId, signal: i32, scope: SignalScope },
    /// Ends the session: the signal, the grace, then `SIGKILL`. Answered by `Stopped` or `Done`.
    Stop { request: RequestId, program: ProgramId, signal: i32, grace_ms: u32 },
    /// Answered by `Surveyed` or `Done`.
    Survey { request: RequestId, program: ProgramId },
    /// The server is done with the program: end what is left of its session, reap it, forget it.
    Release { program: ProgramId },
    /// Ends everything; answered by `Done` when nothing is left, and then the keeper exits.
    Shutdown { request: RequestId, grace_ms: u32 },
    /// Makes the client of a lasting keeper its server. Answered by `Done` or `Busy`.
    Attach {
        request: RequestId,
        version: u32,
        claim: Claim,
        /// How long the keeper stays when it holds nothing and nobody is there.
        linger_ms: u32,
    },
    /// Answered by `Listed`.
    List { request: RequestId },
    /// Answered by `Adopted` or `Done`.
    Adopt { request: RequestId, program: ProgramId },
    /// An adoption came to nothing: the program can be adopted again. Not answered.
    Return { program: ProgramId },
}

impl Request {
    pub(crate) fn encode(&self) -> Result<Vec<u8>, Malformed> {
        let mut frame;
        match self {
            Self::Spawn { request, spawn } => {
                frame = Encoder::new(SPAWN);
                frame
                    .u64(request.0)
                    .bytes(&spawn.program)
                    .list(&spawn.args, |frame, arg| _ = frame.bytes(arg))
                    .list(&spawn.env, |frame, entry| _ = frame.bytes(entry))
                    .bytes(&spawn.cwd)
                    .bytes(&spawn.label)
                    .u16(spawn.size.cols)
                    .u16(spawn.size.rows)
                    .bytes(&spawn.private_folder);
                let journal =
                    spawn.journal.map_or([0; 3], |size| [size.ring, size.big, size.small]);
                frame.u64(journal[0]).u64(journal[1]).u64(journal[2]).bytes(&spawn.command_pipe);
            }
            Self::Signal { request, program, signal, scope } => {
                frame = Encoder::new(SIGNAL);
                frame.u64(request.0).u64(program.0).i32(*signal).u8(scope_code(*scope));
            }
            Self::Stop { request, program, signal, grace_ms } => {
                frame = Encoder::new(STOP);
                frame.u64(request.0).u64(program.0).i32(*signal).u32(*grace_ms);
            }
            Self::Survey { request, program } => {
                frame = Encoder::new(SURVEY);
                frame.u64(request.0).u64(program.0);
            }
            Self::Release { program } => {
                frame = Encoder::new(RELEASE);
                frame.u64(program.0);
            }
            Self::Shutdown { request, grace_ms } => {
                frame = Encoder::new(SHUTDOWN);
                frame.u64(request.0).u32(*grace_ms);
            }
            Self::Attach { request, version, claim, linger_ms } => {
                frame = Encoder::new(ATTACH);
                let claim = u8::from(*claim == Claim::TakeOver);
                frame.u64(request.0).u32(*version).u8(claim).u32(*linger_ms);
            }
            Self::List { request } => {
                frame = Encoder::new(LIST);
                frame.u64(request.0);
            }
            Self::Return { program } => {
                frame = Encoder::new(RETURN);
                frame.u64(program.0);
            }
            Self::Adopt { request, program } => {
                frame = Encoder::new(ADOPT);
                frame.u64(request.0).u64(program.0);
            }
        }
        frame.finish()
    }

    pub(crate) fn decode(body: &[u8]) -> Result<Self, Malformed> {
        let mut body = Decoder::new(body);
        let tag = body.u8()?;
        let decoded = match tag {
            SPAWN => Self::Spawn {
                request: RequestId(body.u64()?),
                spawn: Spawn {
                    program: body.bytes()?,
                    args: body.list(4, Decoder::bytes)?,
                    env: body.list(4, Decoder::bytes)?,
                    cwd: body.bytes()?,
                    label: body.bytes()?,
                    size: PtySize { cols: body.u16()?, rows: body.u16()? },
                    private_folder: body.bytes()?,
                    journal: body.later(decode_journal)?.flatten(),
                    command_pipe: body.later(Decoder::bytes)?.unwrap_or_default(),
                },
            },
            SIGNAL => Self::Signal {
                request: RequestId(body.u64()?),
                program: ProgramId(body.u64()?),
                signal: body.i32()?,
                scope: scope_of(body.u8()?)?,
            },
            STOP => Self::Stop {
                request: RequestId(body.u64()?),
                program: ProgramId(body.u64()?),
                signal: body.i32()?,
                grace_ms: body.u32()?,
            },
            SURVEY => {
                Self::Survey { request: RequestId(body.u64()?), program: ProgramId(body.u64()?) }
            }
            RELEASE => Self::Release { program: ProgramId(body.u64()?) },
            SHUTDOWN => Self::Shutdown { request: RequestId(body.u64()?), grace_ms: body.u32()? },
            ATTACH => Self::Attach {
                request: RequestId(body.u64()?),
                version: body.u32()?,
                claim: match body.u8()? {
                    0 => Claim::IfFree,
                    1 => Claim::TakeOver,
                    _ => return Err(Malformed::Value),
                },
                linger_ms: body.u32()?,
            },
            LIST => Self::List { request: RequestId(body.u64()?) },
            ADOPT => {
                Self::Adopt { request: RequestId(body.u64()?), program: ProgramId(body.u64()?) }
            }
            RETURN => Self::Return { program: ProgramId(body.u64()?) },
            unknown => return Err(Malformed::Tag(unknown)),
        };
        Ok(decoded)
    }

    /// By which it is answered, if it is.
    pub(crate) fn number(&self) -> Option<RequestId> {
        match self {
            Self::Spawn { request, .. }
            | Self::Signal { request, .. }
            | Self::Stop { request, .. }
            | Self::Survey { request, .. }
            | Self::Shutdown { request, .. }
            | Self::Attach { request, .. }
            | Self::List { request }
            | Self::Adopt { request, .. } => Some(*request),
            Self::Release { .. } | Self::Return { .. } => None,
        }
    }

    /// The number of a request that cannot be decoded, by which it can be refused.
    pub(crate) fn number_of(body: &[u8]) -> Option<RequestId> {
        let mut body = Decoder::new(body);
        body.u8().and_then(|_| body.u64()).ok().map(RequestId)
    }
}

fn decode_journal(body: &mut Decoder<'_>) -> Result<Option<JournalSize>, Malformed> {
    let size = JournalSize { ring: body.u64()?, big: body.u64()?, small: body.u64()? };
    Ok(Some(size).filter(|size| size.ring > 0))
}

fn scope_code(scope: SignalScope) -> u8 {
    match scope {
        SignalScope::Leader => 0,
        SignalScope::Foreground => 1,
        SignalScope::Session => 2,
    }
}

fn scope_of(code: u8) -> Result<SignalScope, Malformed> {
    match code {
        0 => Ok(SignalScope::Leader),
        1 => Ok(SignalScope::Foreground),
        2 => Ok(SignalScope::Session),
        _ => Err(Malformed::Value),
    }
}
