//! Reading the debug information of a program: its units, and what their entries say.

use std::ops::ControlFlow;
use std::path::Path;

use gimli::{
    AttributeValue, Dwarf, EndianSlice, EntriesRaw, Reader as _, RunTimeEndian, SectionId, Unit,
};
use object::{Object as _, ObjectSection as _};

/// A program whose debug information is larger is left alone.
const MAX_SIZE: u64 = 2 << 30;
/// Entries within each other; beyond it the information is broken.
pub(super) const MAX_DEPTH: isize = 256;

/// Refuses debug information that is nested too deeply.
pub(super) fn check_depth(depth: isize) -> Result<(), Failure> {
    if depth > MAX_DEPTH {
        return Err("its debug information is nested too deeply".into());
    }
    Ok(())
}

pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(super) fn is_rust(language: Option<gimli::DwLang>) -> bool {
    language == Some(gimli::DW_LANG_Rust)
}

/// Whether a program has debug information at all.
pub(super) fn has_any(program: &Path) -> Result<bool, Failure> {
    let cache = object::ReadCache::new(termbridge_foreign_files::open(program)?);
    let object = object::File::parse(&cache)?;
    Ok(object.section_by_name(SectionId::DebugInfo.name()).is_some())
}

/// Goes through the units of some languages.
pub(super) fn for_each_unit(
    program: &Path,
    is_wanted: impl Fn(Option<gimli::DwLang>) -> bool,
    mut each: impl FnMut(&Dwarf<Slice<'_>>, &Unit<Slice<'_>>) -> Result<ControlFlow<()>, Failure>,
) -> Result<ControlFlow<()>, Failure> {
    let cache = object::ReadCache::new(termbridge_foreign_files::open(program)?);
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
        if is_wanted(language(&unit)?) && each(&dwarf, &unit)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The language of a unit.
pub(super) fn language(unit: &Unit<Slice<'_>>) -> Result<Option<gimli::DwLang>, Failure> {
    let mut entries = unit.entries();
    let root = entries.next_dfs()?;
    Ok(match root.and_then(|root| root.attr_value(gimli::DW_AT_language)) {
        Some(AttributeValue::Language(language)) => Some(language),
        _ => None,
    })
}

fn is_read(section: object::Result<&str>) -> bool {
    let wanted = ["info", "abbrev", "str", "str_offsets", "line", "line_str"];
    let name = section.unwrap_or_default();
    let name = name.strip_prefix(".debug_").or(name.strip_prefix("__debug_"));
    name.is_some_and(|name| wanted.contains(&name))
}

/// What an entry says of itself, as far as it is wanted.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) name: String,
    /// The symbol of a function.
    pub(super) linkage_name: String,
    /// The entry that describes what this one is.
    pub(super) origin: Option<usize>,
    pub(super) size: u64,
    /// The size lies in the abbreviation, for all entries that share it.
    pub(super) has_shared_size: bool,
    pub(super) at: u64,
    /// Of a bit-field: how many bits it has, and before it.
    pub(super) bits: Option<u64>,
    pub(super) bits_before: u64,
    pub(super) kind: Option<usize>,
    pub(super) is_signed: bool,
    pub(super) discriminant: Option<Number>,
    /// Of a dimension of an array.
    pub(super) length: Option<u64>,
    /// The length of a dimension is found at run time.
    pub(super) is_of_run_time: bool,
    /// Where in the frame its last index is then, if that is known.
    pub(super) bound_at: Option<i64>,
    /// Where it is declared.
    pub(super) line: u64,
}

impl Attributes {
    pub(super) fn read<'a>(
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
                gimli::DW_AT_linkage_name => {
                    let name = dwarf.attr_string(unit, attribute.value())?;
                    all.linkage_name = name.to_string_lossy().into_owned();
                }
                gimli::DW_AT_specification | gimli::DW_AT_abstract_origin => {
                    if let AttributeValue::UnitRef(offset) = attribute.value() {
                        all.origin = Some(offset.0);
                    }
                }
                gimli::DW_AT_byte_size => {
                    all.size = attribute.udata_value().unwrap_or(0);
                    all.has_shared_size = is_shared_size(specification);
                }
                gimli::DW_AT_bit_size => all.bits = attribute.udata_value(),
                gimli::DW_AT_data_bit_offset => {
                    all.bits_before = attribute.udata_value().unwrap_or(0);
                }
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
                gimli::DW_AT_count => all.length = attribute.udata_value(),
                gimli::DW_AT_upper_bound => match attribute.value() {
                    AttributeValue::Exprloc(place) => {
                        all.is_of_run_time = true;
                        all.bound_at = frame_offset(place, unit.encoding())?;
                    }
                    // Neither a number: it is found through a variable of the compiler's.
                    _ if attribute.sdata_value().is_none() && attribute.udata_value().is_none() => {
                        all.is_of_run_time = true;
                    }
                    _ => all.length = attribute.udata_value().and_then(|last| last.checked_add(1)),
                },
                gimli::DW_AT_decl_line => all.line = attribute.udata_value().unwrap_or(0),
                gimli::DW_AT_discr_value | gimli::DW_AT_const_value => {
                    all.discriminant = Number::read(&attribute.raw_value());
                }
                _ => {}
            }
        }
        Ok(all)
    }
}

/// Whether an abbreviation has the size of all entries that share it.
pub(super) fn is_shared_size(specification: &gimli::AttributeSpecification) -> bool {
    specification.name() == gimli::DW_AT_byte_size
        && specification.form() == gimli::DW_FORM_implicit_const
}

/// The offset in an expression that reads a variable of the frame, and does nothing else.
fn frame_offset(
    place: gimli::Expression<Slice<'_>>,
    encoding: gimli::Encoding,
) -> Result<Option<i64>, Failure> {
    let mut operations = place.operations(encoding);
    Ok(match (operations.next()?, operations.next()?, operations.next()?) {
        (
            Some(gimli::Operation::FrameOffset { offset }),
            Some(gimli::Operation::Deref { .. }),
            None,
        ) => Some(offset),
        _ => None,
    })
}

/// A number as it is written: as short as may be, with or without a sign as its type has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
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
    pub(super) fn in_bytes(self, width: u64, is_signed: bool) -> u128 {
        let shift = 128 - self.bits;
        let value =
            if is_signed { (((self.value << shift) as i128) >> shift) as u128 } else { self.value };
        let beyond = 128 - (width * 8).clamp(1, 128) as u32;
        (value << beyond) >> beyond
    }
}
