//! How long the arrays in the unions of a C or C++ program are, as its debug information has it.
//!
//! GCC does not write where a member of a union lies, since all lie at its beginning; LLDB 19 then takes an array
//! there for one without a length. The formatter of C and C++ is given this table instead.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

use gimli::{Dwarf, Unit};

use super::dwarf::{Attributes, Failure, MAX_DEPTH, Slice, for_each_unit, is_rust};

/// Lengths of arrays by the names of the members, by what tells a union from others: its size and the names of
/// its members, as many have no name themselves. Of two that look the same and differ, none is known.
pub(super) type Unions = BTreeMap<String, Lengths>;

type Lengths = BTreeMap<String, u64>;

/// A union while its members are read.
struct Open {
    depth: isize,
    size: u64,
    /// Names and types, these by their places in the unit.
    members: Vec<(String, Option<usize>)>,
}

/// Reads the unions of a program.
pub(super) fn read(program: &Path) -> Result<Unions, Failure> {
    let mut found: BTreeMap<String, Option<Lengths>> = BTreeMap::new();
    let _ = for_each_unit(
        program,
        |language| !is_rust(language),
        |dwarf, unit| {
            for (name, lengths) in read_unit(dwarf, unit)? {
                let known = found.entry(name).or_insert_with(|| Some(lengths.clone()));
                if known.as_ref().is_some_and(|known| *known != lengths) {
                    *known = None;
                }
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(found.into_iter().filter_map(|(name, lengths)| Some((name, lengths?))).collect())
}

fn read_unit<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
) -> Result<Vec<(String, Lengths)>, Failure> {
    // Types that are others under a name or a qualifier, and the lengths of arrays, by their places.
    let mut same_as: HashMap<usize, usize> = HashMap::new();
    let mut lengths: HashMap<usize, u64> = HashMap::new();
    let mut array: Option<usize> = None;
    let (mut done, mut open): (Vec<Open>, Vec<Open>) = (Vec::new(), Vec::new());
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let (offset, depth) = (entries.next_offset().0, entries.next_depth());
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if depth > MAX_DEPTH {
            return Err("its debug information is nested too deeply".into());
        }
        while open.last().is_some_and(|last| last.depth >= depth) {
            done.extend(open.pop());
        }
        let tag = abbreviation.tag();
        let is_read = matches!(
            tag,
            gimli::DW_TAG_union_type
                | gimli::DW_TAG_member
                | gimli::DW_TAG_array_type
                | gimli::DW_TAG_subrange_type
                | gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
        );
        if !is_read {
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        let entry = Attributes::read(dwarf, unit, &mut entries, abbreviation.attributes())?;
        match tag {
            gimli::DW_TAG_union_type => {
                open.push(Open { depth, size: entry.size, members: Vec::new() });
            }
            gimli::DW_TAG_member => match open.last_mut() {
                Some(last) if depth == last.depth + 1 => {
                    last.members.push((entry.name, entry.kind));
                }
                _ => {}
            },
            gimli::DW_TAG_array_type => array = Some(offset),
            gimli::DW_TAG_subrange_type => {
                // The first one is of the outermost array; LLDB keeps the others.
                if let (Some(array), Some(length)) = (array.take(), entry.length) {
                    lengths.insert(array, length);
                }
            }
            _ => {
                if let Some(kind) = entry.kind {
                    same_as.insert(offset, kind);
                }
            }
        }
    }
    done.append(&mut open);
    let length = |kind: &usize| {
        let mut kind = *kind;
        // Bounded, since broken information may have a circle.
        for _ in 0..MAX_DEPTH {
            let Some(same) = same_as.get(&kind) else { break };
            kind = *same;
        }
        lengths.get(&kind).copied()
    };
    Ok(done.iter().filter_map(|union| union.arrays(length)).collect())
}

impl Open {
    /// What tells it from others, and the lengths of its arrays, if it has any.
    fn arrays(&self, length: impl Fn(&usize) -> Option<u64>) -> Option<(String, Lengths)> {
        let lengths = self.members.iter().filter_map(|(name, kind)| {
            let length = length(kind.as_ref()?)?;
            Some((name.clone(), length))
        });
        let lengths: Lengths = lengths.collect();
        let names: Vec<_> = self.members.iter().map(|(name, _)| name.as_str()).collect();
        (!lengths.is_empty()).then(|| (format!("{} {}", self.size, names.join(" ")), lengths))
    }
}
