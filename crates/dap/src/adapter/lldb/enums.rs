//! How the enums of a Rust program are laid out, as its debug information has it.
//!
//! LLDB keeps 32 bits of a variant's discriminant and forgets where it lies, so it cannot tell
//! `None::<String>` from `Some("")`. The formatter of Rust's values is given this table instead. Of plain
//! enums it has those that are wider than LLDB reads.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

use gimli::{Dwarf, Unit};
use serde::Serialize;

use super::dwarf::{Attributes, Failure, Number, Slice, check_depth, for_each_unit, is_rust};

/// Bytes that LLDB keeps of what the members of a plain enum are.
const LLDB_WIDTH: u64 = 8;

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
    for_each_unit(program, is_rust, each).is_ok_and(|flow| flow.is_break())
}

/// Reads the enums of a program.
pub(super) fn read(program: &Path) -> Result<Enums, Failure> {
    let mut enums = Enums::new();
    let _ = for_each_unit(program, is_rust, |dwarf, unit| {
        read_unit(dwarf, unit, &mut enums)?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(enums)
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
        check_depth(depth)?;
        path.retain(|(of, _)| *of < depth);
        while open.last().is_some_and(|last| last.depth >= depth) {
            done.extend(open.pop());
        }
        let specifications = abbreviation.attributes();
        match abbreviation.tag() {
            tag @ (gimli::DW_TAG_namespace
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_enumeration_type) => {
                let entry = Attributes::read(dwarf, unit, &mut entries, specifications)?;
                if abbreviation.has_children() {
                    path.push((depth, entry.name));
                    // Whether a structure is an enum shows in the next entry.
                    let is_wide = tag == gimli::DW_TAG_enumeration_type && entry.size > LLDB_WIDTH;
                    if tag == gimli::DW_TAG_structure_type || is_wide {
                        let name = path.iter().map(|(_, name)| name.as_str());
                        let name = name.collect::<Vec<_>>().join("::");
                        let kind = entry.kind.filter(|_| is_wide);
                        open.push(Open { kind, ..Open::new(depth, name, entry.size) });
                    }
                }
            }
            gimli::DW_TAG_enumerator => {
                let entry = Attributes::read(dwarf, unit, &mut entries, specifications)?;
                if let Some(last) = open.last_mut().filter(|last| depth == last.depth + 1) {
                    last.variants.push((entry.discriminant, entry.name));
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
