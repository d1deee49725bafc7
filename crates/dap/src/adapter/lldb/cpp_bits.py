"""Bit-fields of C and C++. LLDB reads and sets them with the bits around them, and leaves out those of some structs. The table
`bit_fields.json` beside this file has the layout of these structs.
"""

import re

import lldb
from common import Unreadable, bytes_of, described, memory
from reader import Failed

# Bits of an `int`.
INT_BITS = 32

TABLE = None
# By their names.
TYPES = {}


def has_lost():
    """Whether LLDB left out bit-fields of the program."""
    global TABLE
    if TABLE is None:
        TABLE = described("bit_fields.json") or {}
    return bool(TABLE)


def layouts(kind):
    """The members of the structs that have the name and the size of a type, and bit-fields that LLDB left out."""
    if not has_lost():
        return []
    name = kind.GetUnqualifiedType().GetName() or ""
    name = "" if name.endswith((")", "}")) else re.sub(r"<.*>", "", name).rsplit("::", 1)[-1]
    return TABLE.get(f"{kind.GetByteSize()} {name}", [])


def with_lost(value, found, members):
    """The members of a struct as LLDB has them, with the bit-fields that it left out, in their order; `found` are its layouts."""
    names = [name or "" for name, _ in members]
    found = [layout for layout in found if [member["name"] for member in layout if not member["bits"]] == names]
    if not found:
        return members
    if len(found) > 1:
        raise Unreadable("several structs look alike")
    others = iter(members)
    # Bit-fields without a name fill a gap.
    listed = (member for member in found[0] if member["name"] or not member["bits"])
    return [lost(value, **member) if member["bits"] else next(others) for member in listed]


def lost(value, name, bits):
    return name, read_bits(value, name, bits["before"], bits["count"], type_named(value.GetTarget(), bits["kind"]))


def read_bits(value, name, before, count, kind):
    """A bit-field of a struct as a number that has all bits of its type, and knows its place."""
    first, end = before // 8, (before + count + 7) // 8
    number = int.from_bytes(bytes_of(value, value.GetType().GetByteSize())[first:end], "little") >> before % 8 & (1 << count) - 1
    plain = kind.GetCanonicalType()
    if plain.GetTypeClass() == lldb.eTypeClassEnumeration:
        plain = plain.GetEnumerationIntegerType().GetCanonicalType()
    if plain.GetTypeFlags() & lldb.eTypeIsSigned and number >> count - 1:
        number -= 1 << count
    data = lldb.SBData.CreateDataFromUInt64Array(lldb.eByteOrderLittle, 8, [number % (1 << 64)])
    part = value.CreateValueFromData(name, data, kind)
    part.place = (value.GetLoadAddress(), before, count)
    part.is_narrow = count < INT_BITS
    return part


def set_bits(value, number):
    """Sets a bit-field, and none of the bits around it."""
    address, before, count = value.place
    if address == lldb.LLDB_INVALID_ADDRESS:
        raise Failed("it is not in memory")
    address, before = address + before // 8, before % 8
    size, error = (before + count + 7) // 8, lldb.SBError()
    mask = (1 << count) - 1 << before
    data = int.from_bytes(memory(value, address, size), "little") & ~mask | int(number) << before & mask
    if value.GetProcess().WriteMemory(address, data.to_bytes(size, "little"), error) != size or error.Fail():
        raise Failed(error.GetCString() or "it cannot be written")


def type_named(target, name):
    """The type of a bit-field, which the program describes; of several that differ, none."""
    if name not in TYPES:
        found = [kind for kind in target.GetModuleAtIndex(0).FindTypes(name) if kind.GetCanonicalType().GetTypeClass() in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration)]
        TYPES[name] = found[0] if len({str(kind.GetCanonicalType()) for kind in found}) == 1 else None
    if TYPES[name] is None:
        raise Unreadable(f"its type {name} is not known")
    return TYPES[name]
