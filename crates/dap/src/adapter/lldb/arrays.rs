//! How long the arrays of a C or C++ program are that LLDB 19 gets wrong, as its debug information has it.
//!
//! GCC does not write where a member of a union lies, since all lie at its beginning; LLDB then takes an array
//! there for one without a length. Where GCC writes how a length is computed at run time, LLDB takes the size of
//! that expression for the length. The formatter of C and C++ is given these tables instead.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

use gimli::{Dwarf, Unit};
use serde::Serialize;

use super::dwarf::{Attributes, Failure, MAX_DEPTH, Slice, check_depth, for_each_unit, is_rust};

/// Settings of the formatter.
#[derive(Default, Serialize)]
pub(super) struct Arrays {
    unions: Unions,
    /// Variables whose length is found at run time, by `NAME:LINE` of their declarations. Of two that differ, and
    /// of one whose length is found in a way that is not known, there is none.
    variables: BTreeMap<String, Bounds>,
    /// The same of variables that point to such an array.
    pointers: BTreeMap<String, Bounds>,
    /// The names of all bit-fields: LLDB sets them with what lies around them.
    bit_fields: BTreeSet<String>,
}

/// The lengths of an array's dimensions, if they are known.
type Bounds = Option<Vec<Bound>>;

/// What is known of unions and variables, by what tells them from others.
type Found = (Vec<(String, Lengths)>, Vec<(String, Bounds, Points)>);

/// Whether a variable is an array or points to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Points {
    Not,
    To,
}

/// The length of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Bound {
    Length(u64),
    /// Where in the frame the last index is.
    At(i64),
    /// It is found at run time in a way that is not known.
    Unknown,
}

/// Lengths of arrays by the names of the members, by what tells a union from others: its size and the names of
/// its members, as many have no name themselves. Of two that look the same and differ, none is known.
type Unions = BTreeMap<String, Lengths>;

type Lengths = BTreeMap<String, u64>;

/// A union while its members are read.
struct Open {
    depth: isize,
    size: u64,
    /// Names and types, these by their places in the unit.
    members: Vec<(String, Option<usize>)>,
}

/// Reads the arrays of a program.
pub(super) fn read(program: &Path) -> Result<Arrays, Failure> {
    let mut found: BTreeMap<String, Option<Lengths>> = BTreeMap::new();
    let mut variables: BTreeMap<String, Bounds> = BTreeMap::new();
    let mut pointers: BTreeMap<String, Bounds> = BTreeMap::new();
    let mut bit_fields = BTreeSet::new();
    let _ = for_each_unit(
        program,
        |language| !is_rust(language),
        |dwarf, unit| {
            let (unions, of_run_time) = read_unit(dwarf, unit, &mut bit_fields)?;
            for (name, bounds, points) in of_run_time {
                let all = if points == Points::To { &mut pointers } else { &mut variables };
                let known = all.entry(name).or_insert_with(|| bounds.clone());
                if *known != bounds {
                    *known = None;
                }
            }
            for (name, lengths) in unions {
                let known = found.entry(name).or_insert_with(|| Some(lengths.clone()));
                if known.as_ref().is_some_and(|known| *known != lengths) {
                    *known = None;
                }
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    let unions = found.into_iter().filter_map(|(name, lengths)| Some((name, lengths?)));
    Ok(Arrays { unions: unions.collect(), variables, pointers, bit_fields })
}

fn read_unit<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    bit_fields: &mut BTreeSet<String>,
) -> Result<Found, Failure> {
    // Types that are others under a name or a qualifier, and the dimensions of arrays, by their places.
    let mut same_as: HashMap<usize, usize> = HashMap::new();
    let mut arrays: HashMap<usize, Vec<Option<Bound>>> = HashMap::new();
    let mut pointers: HashMap<usize, usize> = HashMap::new();
    let mut array = 0;
    // Variables by name and line, with the places of their types.
    let mut variables: Vec<(String, usize)> = Vec::new();
    let (mut done, mut open): (Vec<Open>, Vec<Open>) = (Vec::new(), Vec::new());
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let (offset, depth) = (entries.next_offset().0, entries.next_depth());
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        check_depth(depth)?;
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
                | gimli::DW_TAG_variable
                | gimli::DW_TAG_formal_parameter
                | gimli::DW_TAG_pointer_type
                | gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
        );
        if !is_read {
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        let entry = Attributes::read(dwarf, unit, &mut entries, abbreviation.attributes())?;
        if entry.bits.is_some() {
            bit_fields.insert(entry.name.clone());
        }
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
            gimli::DW_TAG_array_type => array = offset,
            gimli::DW_TAG_subrange_type => {
                let of_run_time = || entry.bound_at.map_or(Bound::Unknown, Bound::At);
                let of_run_time = entry.is_of_run_time.then(of_run_time);
                let bound = entry.length.map(Bound::Length).or(of_run_time);
                arrays.entry(array).or_default().push(bound);
            }
            gimli::DW_TAG_pointer_type => {
                pointers.extend(entry.kind.map(|kind| (offset, kind)));
            }
            gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                let name = format!("{}:{}", entry.name, entry.line);
                variables.extend(entry.kind.map(|kind| (name, kind)));
            }
            _ => {
                if let Some(kind) = entry.kind {
                    same_as.insert(offset, kind);
                }
            }
        }
    }
    done.append(&mut open);
    let plain = |mut kind: usize| {
        // Bounded, since broken information may have a circle.
        for _ in 0..MAX_DEPTH {
            let Some(same) = same_as.get(&kind) else { break };
            kind = *same;
        }
        kind
    };
    let dimensions = |kind: usize| arrays.get(&plain(kind));
    // The first one is of the outermost array; LLDB keeps the others.
    let length = |kind: usize| match dimensions(kind)?.first()? {
        Some(Bound::Length(length)) => Some(*length),
        _ => None,
    };
    let variables = variables.into_iter().filter_map(|(name, kind)| {
        let target = pointers.get(&plain(kind));
        let bounds = dimensions(*target.unwrap_or(&kind))?;
        let points = if target.is_some() { Points::To } else { Points::Not };
        // One that is all numbers LLDB reads, also one that is declared elsewhere and has no length here.
        let is_of_run_time =
            bounds.iter().any(|bound| matches!(bound, Some(Bound::At(_) | Bound::Unknown)));
        let known = |bound: &Option<Bound>| bound.clone().filter(|bound| *bound != Bound::Unknown);
        is_of_run_time.then(|| (name, bounds.iter().map(known).collect(), points))
    });
    let variables = variables.collect();
    Ok((done.iter().filter_map(|union| union.arrays(length)).collect(), variables))
}

impl Open {
    /// What tells it from others, and the lengths of its arrays, if it has any.
    fn arrays(&self, length: impl Fn(usize) -> Option<u64>) -> Option<(String, Lengths)> {
        let lengths = self.members.iter().filter_map(|(name, kind)| {
            let length = length((*kind)?)?;
            Some((name.clone(), length))
        });
        let lengths: Lengths = lengths.collect();
        let names: Vec<_> = self.members.iter().map(|(name, _)| name.as_str()).collect();
        (!lengths.is_empty()).then(|| (format!("{} {}", self.size, names.join(" ")), lengths))
    }
}
