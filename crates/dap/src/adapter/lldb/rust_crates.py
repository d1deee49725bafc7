"""Containers of widespread crates as their users see them: SmallVec, IndexMap, hashbrown, Bytes, ArrayVec, the maps of serde_json.

A version that is laid out in another way shows its fields.
"""

import rust_containers
import rust_values as values
from common import MAX_STRING, Unreadable, checked, memory, show_list, show_string
from rust_containers import elements_of, hashed
from rust_enums import fields_of, is_enum, part_of, variant_of
from rust_fields import OtherLayout, field, number, number_in, type_argument
from rust_names import length_of, plain_name, size_of
from rust_values import elements_at, show


def small_vec(value):
    """Its capacity is its length as long as it has room for that within itself."""
    array, data, length = type_argument(value, 0), field(value, "data").GetNonSyntheticValue(), number(value, "capacity")
    kind = array.GetArrayElementType()
    is_inline = not size_of(kind) or length <= length_of(array)
    if is_enum(data.GetType().GetCanonicalType(), None):
        name, inner = variant_of(data, data.GetType().GetCanonicalType())
        if name != ("Inline" if is_inline else "Heap"):
            raise Unreadable(f"a capacity of {length} that is {name}")
        place = part_of(inner, 0) if is_inline else (field(inner, "ptr"), number(inner, "len"))
    else:
        heap = field(data, "heap")
        place = data if is_inline else (field(heap, "__0"), number(heap, "__1"))
    if is_inline:
        return checked(length), elements_at(value, place.GetLoadAddress() if size_of(kind) else 0, kind, length)
    if place[1] > length:
        raise Unreadable(f"a length of {place[1]} beyond its capacity")
    return checked(place[1]), elements_at(value, number_in(place[0]), kind, place[1])


def array_vec(value):
    array, length = field(value, "xs"), number(value, "len")
    if length > length_of(array.GetType().GetCanonicalType()):
        raise Unreadable(f"a length of {length} beyond its capacity")
    kind = type_argument(value, 0)
    return length, elements_at(value, array.GetLoadAddress(), kind, length)


def index_map(value):
    """Its entries lie behind each other in their order."""
    count, buckets = elements_of(field(value, "core", "entries"))
    return count, ((named(bucket, "key"), named(bucket, "value")) for bucket in buckets)


def named(value, name):
    names = fields_of(value.GetType().GetCanonicalType())
    if name not in names:
        raise OtherLayout
    return part_of(value, names.index(name))


def keys(*path):
    """The elements of a set that is made of a map."""

    def elements(value):
        count, pairs = elements_of(field(value, *path))
        return count, (pair[0] for pair in pairs)

    return elements


def bytes_in(value):
    length = checked(number(value, "len"))
    kind = value.GetTarget().GetBasicType(values.lldb.eBasicTypeUnsignedChar)
    return length, elements_at(value, number_in(field(value, "ptr")), kind, length)


CONTAINERS = {
    "arrayvec::arrayvec::ArrayVec": array_vec,
    "bytes::bytes::Bytes": bytes_in,
    "bytes::bytes_mut::BytesMut": bytes_in,
    "hashbrown::map::HashMap": hashed,
    "hashbrown::set::HashSet": keys("map"),
    "indexmap::map::IndexMap": index_map,
    "indexmap::set::IndexSet": keys("map"),
    "serde_json::map::Map": lambda value: elements_of(field(value, "map")),
    "smallvec::SmallVec": small_vec,
}
PATTERN = rf"^({'|'.join(CONTAINERS)})(<.+>)?$"


# ---- texts -----------------------------------------------------------------------------------------------------


def show_container(brackets):
    def render(value, text, depth):
        count, elements = elements_of(value)
        show_list(elements, count, show, text, depth, brackets)

    return render


def show_bytes(value, text, _depth):
    length = checked(number(value, "len"))
    data = memory(value, number_in(field(value, "ptr")), min(length, MAX_STRING))
    text.add(f'b"{"".join(byte_text(byte) for byte in data)}"')
    if len(data) < length:
        text.add(f"… {length - len(data)} more bytes")


def byte_text(byte):
    """A byte as Rust escapes it."""
    known = {0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x5C: "\\\\", 0x22: '\\"', 0: "\\0"}
    return known.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}")


def show_array_string(value, text, _depth):
    array, length = field(value, "xs"), number(value, "len")
    if length > length_of(array.GetType().GetCanonicalType()):
        raise Unreadable(f"a length of {length} beyond its capacity")
    show_string(value, array.GetLoadAddress(), length, text, True)


def show_number(value, text, depth):
    """A number of serde_json, whose variant its user does not see."""
    inner = field(value, "n").GetNonSyntheticValue()
    if not is_enum(inner.GetType().GetCanonicalType(), None):
        raise OtherLayout
    show(part_of(variant_of(inner, inner.GetType().GetCanonicalType())[1], 0), text, depth + 1)


def or_fields(render):
    """What shows a value, or its fields where the version of the crate is another one."""

    def shown(value, text, depth):
        try:
            render(value, text, depth)
        except OtherLayout:
            kind = value.GetType().GetCanonicalType()
            values.show_fields(value, fields_of(kind), plain_name(kind.GetName()), text, depth)

    return shown


SPECIAL = {name: show_container("[]" if name.endswith(("Vec", "::Bytes", "::BytesMut")) else "{}") for name in CONTAINERS}
SPECIAL["bytes::bytes::Bytes"] = SPECIAL["bytes::bytes_mut::BytesMut"] = show_bytes
SPECIAL["arrayvec::array_string::ArrayString"] = show_array_string
SPECIAL["serde_json::number::Number"] = show_number


def add_to_values():
    """Lets the formatters of the standard library's types know these."""
    rust_containers.CONTAINERS.update(CONTAINERS)
    values.SPECIAL.update({name: or_fields(render) for name, render in SPECIAL.items()})
