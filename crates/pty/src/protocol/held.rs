//! A program that is handed from one server to the next, on the wire.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::ProgramId;
use super::codec::{Decoder, Encoder, Malformed};
use super::event::{decode_status, encode_status};
use crate::HeldProgram;

/// The least bytes that one takes.
pub(super) const LEAST: usize = 4;

/// Which descriptors follow the terminal's, in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Parcels {
    pub(crate) journal: bool,
    pub(crate) command_pipe: bool,
}

impl Parcels {
    pub(super) fn code(self) -> u8 {
        u8::from(self.journal) | u8::from(self.command_pipe) << 1
    }

    /// What further bits mean is behind these in order, so that it is not missed.
    pub(super) fn of(code: u8) -> Self {
        Self { journal: code & 1 != 0, command_pipe: code & 2 != 0 }
    }
}

pub(super) fn encode(frame: &mut Encoder, program: &HeldProgram) {
    frame.part(|part| {
        part.u64(program.id.0)
            .i32(program.pid)
            .bytes(program.tty.as_bytes())
            .bytes(program.label.as_bytes());
        encode_status(part, program.status);
        let folder = program.private_folder.as_deref().map(|path| path.as_os_str().as_bytes());
        part.bytes(folder.unwrap_or_default())
            .u8(u8::from(program.has_journal))
            .u8(u8::from(program.has_command_pipe));
    });
}

pub(super) fn decode(body: &mut Decoder<'_>) -> Result<HeldProgram, Malformed> {
    body.part(|part| {
        Ok(HeldProgram {
            id: ProgramId(part.u64()?),
            pid: part.i32()?,
            tty: part.text()?,
            label: part.text()?,
            status: decode_status(part)?,
            private_folder: Some(part.bytes()?)
                .filter(|path| !path.is_empty())
                .map(|path| OsString::from_vec(path).into()),
            has_journal: part.u8()? != 0,
            has_command_pipe: part.u8()? != 0,
        })
    })
}
