//! The types of a Rust program's own variables, by the names that its source has for them.
//!
//! LLDB has no names of pointers, writes the arguments of types as C does, and has one type for `usize` and `u64`.

use std::collections::{BTreeMap, HashMap, btree_map::Entry};
use std::ops::ControlFlow;
use std::path::Path;

use gimli::{Dwarf, Unit};
use serde::Serialize;

use super::dwarf::{Attributes, Failure, MAX_DEPTH, Slice, check_depth, for_each_unit, is_rust};

/// Where the sources of libraries are, which nobody debugs as their own.
const LIBRARIES: [&str; 4] = ["/rustc/", "/rust/deps/", "/.cargo/registry/", "/.cargo/git/"];

/// The types of variables, by the function's symbol and `name:line`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Variables {
    types: Vec<String>,
    /// Numbers of types. None where variables of different types share the name and the line.
    functions: BTreeMap<String, BTreeMap<String, Option<usize>>>,
    #[serde(skip)]
    numbers: HashMap<String, usize>,
}

pub(super) fn read(program: &Path) -> Result<Variables, Failure> {
    let mut variables = Variables::default();
    let _ = for_each_unit(program, is_rust, |dwarf, unit| {
        if !is_library(unit) {
            UnitTypes::read(dwarf, unit)?.add_to(&mut variables);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(variables)
}

fn is_library(unit: &Unit<Slice<'_>>) -> bool {
    let paths = [unit.name, unit.comp_dir].into_iter().flatten();
    let paths: Vec<_> = paths.map(|path| path.to_string_lossy()).collect();
    LIBRARIES.iter().any(|library| paths.iter().any(|path| path.contains(library)))
}

/// The entries of a unit by their offsets.
#[derive(Default)]
struct UnitTypes {
    names: HashMap<usize, String>,
    /// The types of arrays' elements, and how many there are.
    arrays: HashMap<usize, (Option<usize>, u64)>,
    /// The symbols of functions, or the entries that have them.
    functions: HashMap<usize, (String, Option<usize>)>,
    variables: HashMap<usize, Variable>,
}

struct Variable {
    function: usize,
    name: String,
    line: u64,
    kind: Option<usize>,
    /// The entry that has the name, the line and the type.
    origin: Option<usize>,
}

impl UnitTypes {
    fn read<'a>(dwarf: &Dwarf<Slice<'a>>, unit: &Unit<Slice<'a>>) -> Result<Self, Failure> {
        let mut all = Self::default();
        // The functions, and the array, that an entry lies in.
        let (mut functions, mut array) = (Vec::<(isize, usize)>::new(), None);
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset().0, entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            check_depth(depth)?;
            functions.retain(|(of, _)| *of < depth);
            let specifications = abbreviation.attributes();
            let tag = abbreviation.tag();
            let is_wanted = matches!(
                tag,
                gimli::DW_TAG_subprogram
                    | gimli::DW_TAG_variable
                    | gimli::DW_TAG_formal_parameter
                    | gimli::DW_TAG_structure_type
                    | gimli::DW_TAG_union_type
                    | gimli::DW_TAG_enumeration_type
                    | gimli::DW_TAG_pointer_type
                    | gimli::DW_TAG_base_type
                    | gimli::DW_TAG_array_type
                    | gimli::DW_TAG_subrange_type
            );
            if !is_wanted {
                entries.skip_attributes(specifications)?;
                continue;
            }
            let entry = Attributes::read(dwarf, unit, &mut entries, specifications)?;
            match tag {
                gimli::DW_TAG_subprogram => {
                    all.functions.insert(offset, (entry.linkage_name, entry.origin));
                    functions.push((depth, offset));
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    if let Some((_, function)) = functions.last() {
                        let Attributes { name, line, kind, origin, .. } = entry;
                        let variable = Variable { function: *function, name, line, kind, origin };
                        all.variables.insert(offset, variable);
                    }
                }
                gimli::DW_TAG_array_type => {
                    array = Some(offset);
                    all.arrays.insert(offset, (entry.kind, 0));
                }
                gimli::DW_TAG_subrange_type => {
                    let array = array.and_then(|array| all.arrays.get_mut(&array));
                    if let (Some((_, length)), Some(count)) = (array, entry.length) {
                        *length = count;
                    }
                }
                _ => {
                    all.names.insert(offset, entry.name);
                }
            }
        }
        Ok(all)
    }

    fn add_to(&self, variables: &mut Variables) {
        for variable in self.variables.values() {
            let symbol = self.symbol(variable.function);
            let origin = variable.origin.and_then(|origin| self.variables.get(&origin));
            let Variable { name, line, kind, .. } = origin.unwrap_or(variable);
            let kind = kind.and_then(|kind| self.name_of(kind, 0));
            let (Some(symbol), Some(kind), false) = (symbol, kind, name.is_empty()) else {
                continue;
            };
            let number = Some(variables.number_of(kind));
            let function = variables.functions.entry(symbol.to_owned()).or_default();
            match function.entry(format!("{name}:{line}")) {
                Entry::Vacant(entry) => _ = entry.insert(number),
                Entry::Occupied(entry) if *entry.get() != number => _ = entry.into_mut().take(),
                Entry::Occupied(_) => {}
            }
        }
    }

    fn symbol(&self, function: usize) -> Option<&str> {
        let (name, origin) = self.functions.get(&function)?;
        // A declaration has the name, and has no other.
        let declared = || self.functions.get(&(*origin)?).map(|(name, _)| name);
        let name = if name.is_empty() { declared()? } else { name };
        (!name.is_empty()).then_some(name)
    }

    fn name_of(&self, kind: usize, depth: isize) -> Option<String> {
        if let Some((element, length)) = self.arrays.get(&kind) {
            let element = element.filter(|_| depth < MAX_DEPTH)?;
            return Some(format!("[{}; {length}]", self.name_of(element, depth + 1)?));
        }
        self.names.get(&kind).filter(|name| !name.is_empty()).cloned()
    }
}

impl Variables {
    fn number_of(&mut self, kind: String) -> usize {
        let next = self.types.len();
        *self.numbers.entry(kind).or_insert_with_key(|kind| {
            self.types.push(kind.clone());
            next
        })
    }
}
