//! How the enums of a Rust program are laid out, as its debug information has it.
//!
//! LLDB keeps 32 bits of a variant's discriminant and forgets where it lies, so it cannot tell
//! `None::<String>` from `Some("")`. The formatter of Rust's values is given this table instead.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;

use gimli::{
    AttributeValue, Dwarf, EndianSlice, EntriesRaw, Reader as _, RunTimeEndian, SectionId, Unit,
};
use object::{Object as _, ObjectSection as _};
use serde::Serialize;

/// A program whose debug information is larger is left alone.
const MAX_SIZE: u64 = 2 << 30;
/// Entries within each other; beyond it the information is broken.
const MAX_DEPTH: isize = 256;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The enums by their full names. Two crates of one name may each have an enum of one name.
pub(super) type Enums = BTreeMap<String, Vec<Layout>>;

/// Where the discriminant of an enum lies and what it says.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Layout {
    /// Bytes of the whole enum.
    size: u64,
    /// Where the discriminant begins; an enum of one variant has none.
    at: u64,
    /// Bytes of the discriminant.
    width: u64,
    /// Variants by their discriminants, in decimal without a sign; that of none is the one that all
    /// other values mean.
    variants: Vec<(Option<String>, String)>,
}

/// Whether a program has anything of Rust.
pub(super) fn has_rust(program: &Path) -> bool {
    let each = |_: &Dwarf<Slice<'_>>, _: &Unit<Slice<'_>>| Ok(ControlFlow::Break(()));
    for_each_unit(program, each).is_ok_and(|flow| flow.is_break())
}

/// Reads the enums of a program.
pub(super) fn read(program: &Path) -> Result<Enums, Failure> {
    let mut enums = Enums::new();
    let _ = for_each_unit(program, |dwarf, unit| {
        read_unit(dwarf, unit, &mut enums)?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(enums)
}

/// Goes through the units of Rust.
fn for_each_unit(
    program: &Path,
    mut each: impl FnMut(&Dwarf<Slice<'_>>, &Unit<Slice<'_>>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    let cache = object::ReadCache::new(File::open(program)?);
    let object = object::File::parse(&cache)?;
    let read = object.sections().filter(|section| is_read(section.name()));
    let size: u64 = read.map(|section| section.size()).sum();
    if size > MAX_SIZE {
        return Err(format!("its debug information has {size} bytes").into());
    }
    let endian = if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let sections = gimli::DwarfSections::load(|id: SectionId| -> Result<_, Failure> {
        let wanted = object.section_by_name(id.name()).filter(|_| is_read(Ok(id.name())));
        Ok(wanted.map(|section| section.uncompressed_data()).transpose()?.unwrap_or_default())
    })?;
    let dwarf = sections.borrow(|data| EndianSlice::new(data, endian));
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let mut entries = unit.entries();
        let root = entries.next_dfs()?;
        let language = root.and_then(|root| root.attr_value(gimli::DW_AT_language));
        let is_rust = language == Some(AttributeValue::Language(gimli::DW_LANG_Rust));
        if is_rust && each(&dwarf, &unit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn is_read(section: object::Result<&str>) -> bool {
    let wanted = ["info", "abbrev", "str", "str_offsets", "line", "line_str"];
    let name = section.unwrap_or_default();
    let name = name.strip_prefix(".debug_").or(name.strip_prefix("__debug_"));
    name.is_some_and(|name| wanted.contains(&name))
}

/// An enum while its parts are read.
struct Open {
    depth: isize,
    name: String,
    size: u64,
    /// The type of the discriminant, by its place in the unit.
    kind: Option<usize>,
    at: u64,
    variants: Vec<(Option<Number>, String)>,
    /// The discriminant of the variant that is being read, and how deep that is.
    variant: Option<(isize, Option<Number>)>,
}

fn read_unit<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    enums: &mut Enums,
) -> Result<(), Failure> {
    // Bytes of the basic types and whether they have a sign, by their places.
    let mut basic: HashMap<usize, (u64, bool)> = HashMap::new();
    let mut done: Vec<Open> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    // The names of what an entry lies in.
    let mut path: Vec<(isize, String)> = Vec::new();
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let (offset, depth) = (entries.next_offset().0, entries.next_depth());
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if depth > MAX_DEPTH {
            return Err("its debug information is nested too deeply".into());
        }
        path.retain(|(of, _)| *of < depth);
        while open.last().is_some_and(|last| last.depth >= depth) {
            done.extend(open.pop());
        }
        let specifications = abbreviation.attributes();
        match abbreviation.tag() {
            gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type => {
                let entry = Attributes::read(dwarf, unit, &mut entries, specifications)?;
                if abbreviation.has_children() {
                    path.push((depth, entry.name));
                    if abbreviation.tag() == gimli::DW_TAG_structure_type {
                        // Whether it is an enum shows in the next entry.
                        let name = path.iter().map(|(_, name)| name.as_str());
                        let name = name.collect::<Vec<_>>().join("::");
                        open.push(Open::new(depth, name, entry.size));
                    }
                }
            }
            gimli::DW_TAG_base_type => {
                let entry = Attributes::read(dwarf, unit, &mut entries, specifications)?;
                basic.insert(offset, (entry.size, entry.is_signed));
            }
            gimli::DW_TAG_variant => {
                let entry = Attributes::read(dwarf, unit, &mut entries, specifications)?;
                if let Some(last) = open.last_mut() {
                    last.variant = Some((depth, entry.discriminant));
                }
            }
            gimli::DW_TAG_member => {
                let entry = Attributes::read(dwarf, unit, &mut entries, specifications)?;
                let Some(last) = open.last_mut() else { continue };
                match last.variant {
                    Some((of, discriminant)) if depth == of + 1 => {
                        last.variants.push((discriminant, entry.name));
                    }
                    // Of the part that has the variants, and not of the structure itself.
                    _ if depth == last.depth + 2 => {
                        (last.at, last.kind) = (entry.at, entry.kind);
                    }
                    _ => {}
                }
            }
            _ => entries.skip_attributes(specifications)?,
        }
    }
    done.append(&mut open);
    for found in done.into_iter().filter(|found| !found.variants.is_empty()) {
        let kind = found.kind.and_then(|kind| basic.get(&kind)).copied().unwrap_or_default();
        let name = found.name.clone();
        let (layouts, layout) = (enums.entry(name).or_default(), found.layout(kind));
        if !layouts.contains(&layout) {
            layouts.push(layout);
        }
    }
    Ok(())
}

impl Open {
    fn new(depth: isize, name: String, size: u64) -> Self {
        Self { depth, name, size, kind: None, at: 0, variants: Vec::new(), variant: None }
    }

    fn layout(self, (width, is_signed): (u64, bool)) -> Layout {
        let plain = |number: Number| number.in_bytes(width, is_signed).to_string();
        let variants =
            self.variants.into_iter().map(|(value, name)| (value.map(plain), name)).collect();
        Layout { size: self.size, at: self.at, width, variants }
    }
}

/// What an entry says of itself, as far as it is wanted.
#[derive(Default)]
struct Attributes {
    name: String,
    size: u64,
    at: u64,
    kind: Option<usize>,
    is_signed: bool,
    discriminant: Option<Number>,
}

impl Attributes {
    fn read<'a>(
        dwarf: &Dwarf<Slice<'a>>,
        unit: &Unit<Slice<'a>>,
        entries: &mut EntriesRaw<'_, Slice<'a>>,
        specifications: &[gimli::AttributeSpecification],
    ) -> Result<Self, Failure> {
        let mut all = Self::default();
        for specification in specifications {
            let attribute = entries.read_attribute(*specification)?;
            match attribute.name() {
                gimli::DW_AT_name => {
                    let name = dwarf.attr_string(unit, attribute.value())?;
                    all.name = name.to_string_lossy().into_owned();
                }
                gimli::DW_AT_byte_size => all.size = attribute.udata_value().unwrap_or(0),
                gimli::DW_AT_data_member_location => all.at = attribute.udata_value().unwrap_or(0),
                gimli::DW_AT_type => {
                    if let AttributeValue::UnitRef(offset) = attribute.value() {
                        all.kind = Some(offset.0);
                    }
                }
                gimli::DW_AT_encoding => {
                    let encoding = attribute.value();
                    all.is_signed = encoding == AttributeValue::Encoding(gimli::DW_ATE_signed);
                }
                gimli::DW_AT_discr_value => {
                    all.discriminant = Number::read(&attribute.raw_value());
                }
                _ => {}
            }
        }
        Ok(all)
    }
}

/// A number as it is written: as short as may be, with or without a sign as its type has one.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: u128,
    bits: u32,
}

impl Number {
    fn read(value: &AttributeValue<Slice<'_>>) -> Option<Self> {
        let (value, bits) = match value {
            AttributeValue::Data1(value) => (u128::from(*value), 8),
            AttributeValue::Data2(value) => (u128::from(*value), 16),
            AttributeValue::Data4(value) => (u128::from(*value), 32),
            AttributeValue::Data8(value) => (u128::from(*value), 64),
            AttributeValue::Data16(value) => (*value, 128),
            AttributeValue::Sdata(value) => (i128::from(*value) as u128, 128),
            AttributeValue::Udata(value) => (u128::from(*value), 128),
            AttributeValue::Block(bytes) if (1..=16).contains(&bytes.len()) => {
                let is_little = bytes.endian() == RunTimeEndian::Little;
                let add = |sum: u128, byte: &u8| (sum << 8) | u128::from(*byte);
                let bytes = bytes.slice();
                let sum = if is_little {
                    bytes.iter().rev().fold(0, add)
                } else {
                    bytes.iter().fold(0, add)
                };
                (sum, bytes.len() as u32 * 8)
            }
            _ => return None,
        };
        Some(Self { value, bits })
    }

    /// The number as a value of a type has it in memory.
    fn in_bytes(self, width: u64, is_signed: bool) -> u128 {
        let shift = 128 - self.bits;
        let value =
            if is_signed { (((self.value << shift) as i128) >> shift) as u128 } else { self.value };
        let beyond = 128 - (width * 8).clamp(1, 128) as u32;
        (value << beyond) >> beyond
    }
}
