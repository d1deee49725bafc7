//! The structs of a C or C++ program whose bit-fields LLDB 19 leaves out.
//!
//! GCC writes a size that all structs of an abbreviation share into the abbreviation (`DW_FORM_implicit_const`). LLDB then takes 0 for
//! the size when it checks bit-fields, and drops each as one beyond its struct. The formatter of C and C++ reads them with this table.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

use gimli::{Dwarf, Unit};
use serde::Serialize;

use super::dwarf::{
    Attributes, Failure, Slice, check_depth, for_each_unit, is_rust, is_shared_size,
};

/// The members of structs in their order, by `SIZE NAME` without namespaces and arguments. Several structs may have the same.
pub(super) type Structs = BTreeMap<String, Vec<Members>>;

type Members = Vec<Member>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Member {
    name: String,
    /// None of a member that is not a bit-field.
    bits: Option<Bits>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Bits {
    /// How many bits of the struct lie before it.
    before: u64,
    count: u64,
    /// The name of its type.
    kind: String,
}

/// A struct while its members are read.
struct Open {
    depth: isize,
    at: usize,
    name: String,
    size: u64,
    members: Vec<Attributes>,
}

/// Reads the structs of a program.
pub(super) fn read(program: &Path) -> Result<Structs, Failure> {
    let mut structs = Structs::new();
    let _ = for_each_unit(
        program,
        |language| !is_rust(language),
        |dwarf, unit| {
            if has_shared_sizes(unit) {
                read_unit(dwarf, unit, &mut structs)?;
            }
            Ok(ControlFlow::Continue(()))
        },
    )?;
    Ok(structs)
}

fn is_struct(tag: gimli::DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type)
}

fn has_shared_sizes(unit: &Unit<Slice<'_>>) -> bool {
    // They are numbered from 1 on.
    (1..)
        .map_while(|code| unit.abbreviations.get(code))
        .any(|one| is_struct(one.tag()) && one.attributes().iter().any(is_shared_size))
}

fn read_unit<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    structs: &mut Structs,
) -> Result<(), Failure> {
    // The names of types by their places; what a type without a name is called.
    let mut names: HashMap<usize, String> = HashMap::new();
    let mut called: HashMap<usize, String> = HashMap::new();
    let (mut done, mut open): (Vec<Open>, Vec<Open>) = (Vec::new(), Vec::new());
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let (at, depth) = (entries.next_offset().0, entries.next_depth());
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        check_depth(depth)?;
        while open.last().is_some_and(|last| last.depth >= depth) {
            done.extend(open.pop());
        }
        let tag = abbreviation.tag();
        let is_named = matches!(
            tag,
            gimli::DW_TAG_base_type | gimli::DW_TAG_enumeration_type | gimli::DW_TAG_typedef
        );
        if !is_named && !is_struct(tag) && tag != gimli::DW_TAG_member {
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        let entry = Attributes::read(dwarf, unit, &mut entries, abbreviation.attributes())?;
        if is_struct(tag) && entry.has_shared_size {
            open.push(Open { depth, at, name: entry.name, size: entry.size, members: Vec::new() });
        } else if tag == gimli::DW_TAG_member {
            let owner = open.last_mut().filter(|owner| owner.depth + 1 == depth);
            if let Some(owner) = owner.filter(|_| !entry.name.starts_with("_vptr")) {
                owner.members.push(entry);
            }
        } else if is_named {
            if let Some(kind) = entry.kind.filter(|_| tag == gimli::DW_TAG_typedef) {
                called.entry(kind).or_insert_with(|| entry.name.clone());
            }
            names.insert(at, entry.name);
        }
    }
    done.append(&mut open);
    let named = |at: usize, name: &str| match name {
        "" => called.get(&at).cloned().unwrap_or_default(),
        name => name.to_owned(),
    };
    for one in done {
        let members = one.members.into_iter().map(|member| {
            let bits = member.bits.map(|count| {
                let kind = member.kind.and_then(|at| Some(named(at, names.get(&at)?)));
                Bits { before: member.bits_before, count, kind: kind.unwrap_or_default() }
            });
            Member { name: member.name, bits }
        });
        let members: Members = members.collect();
        if members.iter().all(|member| member.bits.is_none()) {
            continue;
        }
        let name = named(one.at, &one.name);
        let name = name.split('<').next().unwrap_or_default();
        let same = structs.entry(format!("{} {name}", one.size)).or_default();
        if !same.contains(&members) {
            same.push(members);
        }
    }
    Ok(())
}
