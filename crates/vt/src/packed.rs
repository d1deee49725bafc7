//! Cells as bytes, for what is persisted: each a number in LEB128, so that plain ASCII takes a byte.

use serde::de::Error as _;
use serde::{Deserializer, Serializer};
use serde_bytes::ByteBuf;

use crate::cell::Cell;

pub(crate) fn serialize<S: Serializer>(cells: &[Cell], serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(cells.len() * 2);
    for cell in cells {
        write_number(&mut bytes, cell.0);
    }
    serializer.serialize_bytes(&bytes)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Cell>, D::Error> {
    let bytes: ByteBuf = serde::Deserialize::deserialize(deserializer)?;
    let mut rest = bytes.as_slice();
    let mut cells = Vec::new();
    while !rest.is_empty() {
        cells.push(Cell(
            read_number(&mut rest).ok_or_else(|| D::Error::custom("a cell is cut off"))?,
        ));
    }
    Ok(cells)
}

/// Appends a number of seven bits a byte, the lowest first.
pub(crate) fn write_number(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Takes such a number off the front; `None` if it is cut off or too long.
pub(crate) fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
