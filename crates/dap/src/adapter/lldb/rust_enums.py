"""Which variant an enum of Rust is, told by the table of layouts that lies beside this file (`enums.json`), since LLDB cuts and
misplaces discriminants; and what takes no room, of which LLDB has no values.
"""

import re

import lldb
from common import MAX_DEPTH, Unreadable, bytes_of, described
from rust_names import arguments, length_of, plain_name, size_of


class Sizeless:
    """What takes no room: LLDB has no value for it, but its type says all."""

    def __init__(self, kind, is_known=True):
        self.kind = kind.GetCanonicalType()
        self.is_known = is_known

    def IsValid(self):
        return True

    def Clone(self, _name):
        return None


def is_unit(kind):
    return kind.GetBasicType() == lldb.eBasicTypeVoid


def part_of(value, index):
    """A field of a struct by its number."""
    is_sizeless = isinstance(value, Sizeless)
    owner = value.kind if is_sizeless else value.GetType().GetCanonicalType()
    kind = owner.GetFieldAtIndex(index).GetType()
    if is_unbounded(kind):
        kind = bounded(owner, index, kind)
    is_empty_array = kind.GetTypeClass() == lldb.eTypeClassArray and not size_of(kind)
    if is_sizeless or is_empty_array or is_unit(kind):
        return Sizeless(kind, not is_unbounded(kind))
    return value.GetChildAtIndex(index)


def is_unbounded(kind):
    """Whether LLDB may have lost how many elements an array has, as it does where they take no room."""
    return kind.GetTypeClass() == lldb.eTypeClassArray and length_of(kind) == 0 and not size_of(kind.GetArrayElementType())


def bounded(owner, index, array):
    """Such an array in a tuple or a generic type, with its length as the name or the argument of that has it."""
    name, field = owner.GetName(), owner.GetFieldAtIndex(index).GetName() or ""
    if name.startswith("(") and field[2:].isdigit():
        length = arguments(f"<{name[1:-1]}>")[int(field[2:])].removesuffix("]").rsplit("; ", 1)[-1]
        return array.GetArrayElementType().GetArrayType(int(length)) if length.isdigit() and int(length) else array
    given = (owner.GetTemplateArgumentType(index) for index in range(owner.GetNumberOfTemplateArguments()))
    found = [kind for kind in given if unbounded_name(kind) == unbounded_name(array)]
    return found[0] if found and all(kind.GetName() == found[0].GetName() for kind in found) else array


def unbounded_name(kind):
    return re.sub(r"\[\d+\]", "[]", kind.GetName() or "")


def at(value, address, kind, name="it"):
    """What lies at an address."""
    return value.CreateValueFromAddress(name, address, kind) if size_of(kind) else Sizeless(kind)


def fields_of(kind):
    return [kind.GetFieldAtIndex(i).GetName() or "" for i in range(kind.GetNumberOfFields())]


TABLE = None


def table():
    """The layouts of the program's enums."""
    global TABLE
    if TABLE is None:
        TABLE = described("enums.json") or {}
    return TABLE


def is_enum(kind, _session):
    return kind.GetNumberOfFields() == 1 and kind.GetFieldAtIndex(0).GetName() == "$variants$"


def variant_of(value, kind):
    """The name of the variant that a value is, and its fields."""
    holders = variant_types(kind)
    names = variant_name(kind, bytes_of(value, kind.GetByteSize()))
    if len(names) != 1:
        raise Unreadable("its variant is not described")
    name = names[0]
    if name not in holders:
        raise Unreadable(f"the variant {name} is not described")
    return state_of(value, int(name), holders[name]) if name.isdigit() else (name, read_as(value, name, holders[name]))


def state_of(value, number, kind):
    """The state of an async function, of which LLDB knows the number, and its variables: when it is over there are none."""
    if number in (1, 2):
        return ("Returned", "Panicked")[number - 1], Sizeless(value.GetTarget().GetBasicType(lldb.eBasicTypeVoid))
    name = f"Suspend{number - 3}" if number else "Unresumed"
    return name, read_as(value, name, kind)


def read_as(value, name, kind):
    """A value as one of another type. Not as its child: LLDB keeps that with the type that it had at the stop before."""
    address = value.GetLoadAddress()
    if address != lldb.LLDB_INVALID_ADDRESS or not size_of(kind):
        return at(value, address, kind, name)
    return value.CreateValueFromData(name, value.GetData(), kind)


def variant_types(kind):
    """The types of an enum's variants by their names."""
    variants, found = kind.GetFieldAtIndex(0).GetType(), {}
    for index in range(variants.GetNumberOfFields()):
        holder = variants.GetFieldAtIndex(index).GetType()
        name = (holder.GetName() or "").removesuffix("$Variant").rsplit("::", 1)[-1]
        if holder.GetNumberOfFields():
            found[name] = holder.GetFieldAtIndex(holder.GetNumberOfFields() - 1).GetType()
    return found


def is_empty(kind, depth=0):
    """Whether a type has no values, as `Infallible` has none."""
    kind = kind.GetCanonicalType()
    if depth > MAX_DEPTH or kind.GetTypeClass() not in (lldb.eTypeClassStruct, lldb.eTypeClassClass):
        return kind.GetName() == "!"
    if is_enum(kind, None):
        return all(is_empty(variant, depth + 1) for variant in variant_types(kind).values())
    fields = (kind.GetFieldAtIndex(index).GetType() for index in range(kind.GetNumberOfFields()))
    return any(is_empty(field, depth + 1) for field in fields)


def variant_name(kind, data):
    """The names of the variants that an enum with these bytes can be: one, but where it has no discriminant."""
    layouts = [layout for layout in table().get(kind.GetName(), []) if layout["size"] == len(data)]
    impossible = impossible_variants(kind)
    if impossible is None:
        raise Unreadable(f"{plain_name(kind.GetName())} can have no value")
    if not layouts:
        raise Unreadable(f"the layout of {plain_name(kind.GetName())} is not known")
    names = {tuple(variants_in(layout, data, impossible)) for layout in layouts}
    if len(names) > 1:
        raise Unreadable(f"there are {len(layouts)} different enums {kind.GetName()}")
    found = list(names.pop())
    if not found:
        raise Unreadable(f"{plain_name(kind.GetName())} has no such variant")
    return found


# By the names of the enums.
IMPOSSIBLE = {}


def impossible_variants(kind):
    """The names of the variants without values; `None` if no variant has a value."""
    if not is_enum(kind, None):
        return set()
    name = kind.GetName()
    if name not in IMPOSSIBLE:
        variants = variant_types(kind)
        found = {name for name, variant in variants.items() if is_empty(variant)}
        IMPOSSIBLE[name] = None if len(found) == len(variants) else found
    return IMPOSSIBLE[name]


def variants_in(layout, data, impossible):
    # The discriminant of a variant without values may be a value that another variant has in its place.
    variants = [(number, name) for number, name in layout["variants"] if name not in impossible]
    tag = int.from_bytes(data[layout["at"]:layout["at"] + layout["width"]], "little")
    named = [name for number, name in variants if number is not None and int(number) == tag]
    return named or [name for number, name in variants if number is None]
