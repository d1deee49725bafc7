"""Values of Rust as `{:?}` shows them, for LLDB, each within a limit of text and time.

Long, because each container of the standard library is laid out in its own way.
"""

import ipaddress
import os
import re
import struct

import evaluator
import lldb
from common import (
    MAX_CHILDREN,
    MAX_DEPTH,
    MAX_STRING,
    PLAIN,
    Parts,
    Unreadable,
    add_commands,
    as_children,
    bytes_of,
    checked,
    children,
    float_text,
    function_at,
    innermost,
    memory,
    pointee,
    quoted,
    show_bytes,
    show_list,
    show_part,
    show_string,
    text_of,
    unsigned,
)
from declarations import unset_mark
from rust_enums import Sizeless, at, fields_of, is_empty, is_enum, is_unit, part_of, read_as, unbounded_name, variant_name, variant_of, variant_types
from rust_names import OWNERS, arguments, element_of, is_slice, length_of, named_element, owned_name, plain_name, pointed, rust_name, short_name, size_of, variable_type

CATEGORY = "termbridge-rust"
LISTS = r"^(alloc::vec::Vec|alloc::collections::vec_deque::VecDeque|alloc::collections::binary_heap::BinaryHeap)<.+>$"
SETS = r"^(std::collections::hash::(map::HashMap|set::HashSet)|alloc::collections::btree::(map::BTreeMap|set::BTreeSet))<.+>$"
# An array of slices ends in its length.
SLICES = r"^(&(mut )?|alloc::boxed::Box<)\[.*([^[0-9]|[^[0-9][0-9]+)\](, .+>)?$"
ITERATORS = r"^(core::slice::iter::Iter(Mut)?|alloc::vec::into_iter::IntoIter)<.+>$"
STRINGS = r"^(&(mut )?str|alloc::string::String|std::ffi::os_str::OsString|std::path::PathBuf|&(mut )?std::path::Path)$"


# ---- entry points ----------------------------------------------------------------------------------------------


def summary(value, _session):
    """The text of a value, after a mark by which it is told from what LLDB puts before it, and the name of its type."""
    basic = value.GetType().GetCanonicalType().GetBasicType()
    # LLDB takes any byte for a bool.
    is_plain = basic in PLAIN and not (basic == lldb.eBasicTypeBool and value.GetValueAsUnsigned() > 1)
    kind = variable_type(value)
    # It has one type for `usize` and `u64`.
    if is_plain and kind not in ("usize", "isize") and not unset_mark(value):
        return ""
    return text_of(value, show, kind or rust_name(value.GetType()))


def __lldb_init_module(debugger, _session):
    here = __name__
    run = debugger.HandleCommand
    add_commands(run)
    import rust_access
    import rust_crates

    rust_crates.add_to_values()
    evaluator.LANGUAGE = rust_access.Access()
    run(f"type category define -e {CATEGORY}")
    run(f'type summary add -w {CATEGORY} -e -F {here}.summary -x ".*"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Elements -x "{LISTS}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Elements -x "{SETS}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Elements -x "{SLICES}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Elements -x "{rust_crates.PATTERN}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Left -x "{ITERATORS}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Owned -x "{OWNERS}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Nothing -x "{STRINGS}"')
    # Enums cannot be told by their names; older versions of LLDB show their parts.
    run(f"type synthetic add -w {CATEGORY} -l {here}.Variant --recognizer-function {here}.is_enum")


# ---- values ----------------------------------------------------------------------------------------------------


def show(value, text, depth):
    """Adds the text of a value."""
    if depth > MAX_DEPTH or text.is_late():
        text.add("…")
        return
    if isinstance(value, Sizeless):
        show_sizeless(value, text, depth)
        return
    value = value.GetNonSyntheticValue()
    kind = value.GetType().GetCanonicalType()
    what = kind.GetTypeClass()
    if what == lldb.eTypeClassBuiltin:
        show_basic(value, kind, text)
    elif what in (lldb.eTypeClassPointer, lldb.eTypeClassReference):
        show_pointer(value, kind, text, depth)
    elif what == lldb.eTypeClassEnumeration:
        show_plain_enum(value, kind, text)
    elif what == lldb.eTypeClassArray:
        show_array(value, kind, text, depth)
    elif what in (lldb.eTypeClassStruct, lldb.eTypeClassClass):
        show_struct(value, kind, text, depth)
    elif what == lldb.eTypeClassUnion:
        show_union(value, kind, text, depth)
    else:
        text.add(value.GetValue() or "…")


def show_sizeless(value, text, depth):
    kind = value.kind
    if not value.is_known:
        raise Unreadable("its length is not known")
    if is_unit(kind):
        text.add("()")
    elif kind.GetTypeClass() == lldb.eTypeClassArray:
        show_array(value, kind, text, depth)
    elif is_enum(kind, None):
        found = [(name, Sizeless(variant)) for name, variant in variant_types(kind).items() if not is_empty(variant)]
        if len(found) != 1:
            raise Unreadable("it takes no room")
        name, inner = found[0]
        show_fields(inner, fields_of(inner.kind), name, text, depth)
    elif kind.GetTypeClass() != lldb.eTypeClassStruct:
        raise Unreadable("it takes no room")
    elif kind.GetName().startswith("core::marker::PhantomData<"):
        text.add(f"PhantomData<{short_name(kind.GetTemplateArgumentType(0))}>")
    else:
        show_fields(value, fields_of(kind), plain_name(kind.GetName()), text, depth)


def show_array(value, kind, text, depth):
    count = length_of(kind)
    if isinstance(value, Sizeless) or not size_of(kind):
        elements = (Sizeless(kind.GetArrayElementType()) for _ in range(count))
    else:
        elements = children(value, count)
    show_list(elements, count, show, text, depth)


def show_union(value, kind, text, depth):
    """A union's fields as stored: which of them is meant, nothing says."""
    name = kind.GetName()
    if name.startswith("core::mem::maybe_uninit::MaybeUninit<"):
        text.add(f"MaybeUninit<{short_name(kind.GetTemplateArgumentType(0))}>")
    else:
        show_fields(value, fields_of(kind), plain_name(name), text, depth)


def show_basic(value, kind, text):
    basic = kind.GetBasicType()
    if basic == lldb.eBasicTypeVoid:
        text.add("()")
        return
    data = bytes_of(value, kind.GetByteSize())
    if basic == lldb.eBasicTypeBool:
        if data[0] > 1:
            raise Unreadable(f"a bool of {data[0]}")
        text.add("true" if data[0] else "false")
    elif basic == lldb.eBasicTypeChar32:
        code = int.from_bytes(data, "little")
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise Unreadable(f"a char of {code:#x}")
        text.add(quoted(chr(code), "'"))
    elif basic in (lldb.eBasicTypeFloat, lldb.eBasicTypeDouble, lldb.eBasicTypeHalf):
        form = {2: "<e", 4: "<f", 8: "<d"}[len(data)]
        text.add(float_text(struct.unpack(form, data)[0], len(data)))
    else:
        signed = bool(kind.GetTypeFlags() & lldb.eTypeIsSigned)
        text.add(str(int.from_bytes(data, "little", signed=signed)))


def show_pointer(value, kind, text, depth):
    address = unsigned(value)
    target = kind.GetPointeeType()
    if address == 0:
        text.add("0x0")
    elif target.IsFunctionType():
        text.add(f"fn {function_at(value, address)}")
    else:
        show(pointee(value, address, target) if size_of(target) else Sizeless(target), text, depth + 1)


def show_plain_enum(value, kind, text):
    members = kind.GetEnumMembers()
    raw = bytes_of(value, kind.GetByteSize())
    data, width = int.from_bytes(raw, "little"), kind.GetByteSize() * 8
    if width > 64:
        # LLDB keeps 64 bits of what its members are.
        text.add(variant_name(kind, raw)[0])
        return
    for index in range(members.GetSize()):
        member = members.GetTypeEnumMemberAtIndex(index)
        if member.GetValueAsUnsigned() % (1 << width) == data:
            text.add(member.GetName())
            return
    raise Unreadable(f"{plain_name(kind.GetName())} of {data}")


def show_struct(value, kind, text, depth):
    name = kind.GetName() or ""
    fields = fields_of(kind)
    if fields == ["$variants$"]:
        show_enum(value, kind, text, depth)
    elif fields == ["data_ptr", "length"]:
        show_slice(value, name, text, depth)
    elif fields == ["pointer", "vtable"]:
        show_dyn(value, name, text, depth)
    else:
        special = SPECIAL.get(name.split("<", 1)[0])
        if special is None:
            show_fields(value, fields, plain_name(name), text, depth)
        else:
            special(value, text, depth)


def show_fields(value, fields, name, text, depth, others=None):
    """A struct, a tuple or a variant by its fields, of which some are shown in another way."""
    is_tuple = bool(fields) and all(field.startswith("__") and field[2:].isdigit() for field in fields)
    text.add("" if name.startswith("(") else name)
    if not fields:
        text.add("()" if name.startswith("(") else "")
        return
    text.add("(" if is_tuple else " { ")
    for index, field in enumerate(fields):
        if index:
            text.add(", ")
        if index and text.is_full():
            text.add("…")
            break
        if not is_tuple:
            text.add(f"{field}: ")
        show_part(part_of(value, index), (others or {}).get(index, show), text, depth)
    if is_tuple:
        text.add(",)" if len(fields) == 1 and name.startswith("(") else ")")
    else:
        text.add(" }")


# ---- enums -----------------------------------------------------------------------------------------------------


def show_enum(value, kind, text, depth):
    name, inner = variant_of(value, kind)
    fields = fields_of(inner.kind if isinstance(inner, Sizeless) else inner.GetType())
    if kind.GetName().split("<", 1)[0] in TRANSPARENT:
        show_part(part_of(inner, 0), show, text, depth)
    else:
        show_fields(inner, fields, name, text, depth)


# ---- slices, strings, trait objects ----------------------------------------------------------------------------


TEXTS = {"str", "std::path::Path", "std::ffi::os_str::OsStr"}
C_TEXT = "core::ffi::c_str::CStr"


def show_slice(value, name, text, depth):
    pointer = value.GetChildAtIndex(0)
    length = checked(unsigned(value.GetChildAtIndex(1)))
    show_behind(value, unsigned(pointer), length, pointed(name), pointer.GetType().GetPointeeType(), text, depth)


def show_behind(value, address, length, name, kind, text, depth):
    """What a pointer with a length points to, by its whole name; for a slice, the type is the type of the elements."""
    if name.startswith("["):
        show_list(elements_at(value, address, kind, length), length, show, text, depth)
    elif name in TEXTS:
        show_string(value, address, length, text, name == "str")
    elif name == C_TEXT:
        show_bytes(value, address, max(length - 1, 0), text)
    elif is_struct(kind):
        show_tailed(value, address, length, name, kind.GetCanonicalType(), text, depth)
    else:
        raise Unreadable(f"the size of {plain_name(name)} is not fixed")


def points_to_tailed(pointer):
    """Whether a pointer with a length points to a struct that ends in what has no fixed size."""
    is_list = pointed(pointer.GetType().GetName()).startswith("[")
    return not is_list and is_struct(pointer.GetChildAtIndex(0).GetType().GetPointeeType())


def is_struct(kind):
    kind = kind.GetCanonicalType()
    return kind.GetTypeClass() == lldb.eTypeClassStruct and kind.GetNumberOfFields() > 0 and not is_enum(kind, None)


def is_tailed(kind):
    """Whether a struct ends in what has no fixed size: it is too small for one element of that. A struct that ends in an empty array
    looks the same.
    """
    kind = kind.GetCanonicalType()
    if not is_struct(kind):
        return False
    last = kind.GetFieldAtIndex(kind.GetNumberOfFields() - 1)
    is_too_small = last.GetOffsetInBytes() + size_of(last.GetType()) > kind.GetByteSize()
    return is_slice(last.GetType()) or is_too_small or is_tailed(last.GetType())


# Types of which only the field with the value is shown, and that field's name.
CELLS = {"core::cell::Cell": "value", "core::cell::RefCell": "value", "std::sync::poison::mutex::Mutex": "data", "std::sync::mutex::Mutex": "data", "std::sync::poison::rwlock::RwLock": "data", "std::sync::rwlock::RwLock": "data"}


def show_tailed(value, address, length, name, kind, text, depth):
    """A struct whose last field has its length in the pointer to it. Whether that is text, only the struct's name tells."""
    anchor, value, fields, path = value, at(value, address, kind, "it"), fields_of(kind), kind.GetName().split("<", 1)[0]
    tail = len(fields) - 1
    last = kind.GetFieldAtIndex(tail)

    def show_last(_part, text, depth):
        inner, wanted = tail_of(kind, name)
        show_behind(anchor, address + last.GetOffsetInBytes(), length, wanted, inner, text, depth)

    if path in ("core::cell::UnsafeCell", "core::mem::manually_drop::ManuallyDrop"):
        show_last(part_of(value, tail), text, depth)
    elif path in CELLS:
        text.add(f"{plain_name(kind.GetName())} {{ {CELLS[path]}: ")
        show_part(part_of(value, tail), show_last, text, depth)
        text.add(f", poisoned: {'true' if number(value, 'poison', 'failed') else 'false'}, .. }}" if CELLS[path] == "data" else " }")
    else:
        show_fields(value, fields, plain_name(kind.GetName()), text, depth, {tail: show_last})


def tail_of(owner, name):
    """The type and the whole name of the last field of a struct with this name; for a slice, the type of its elements."""
    kind, count = owner.GetFieldAtIndex(owner.GetNumberOfFields() - 1).GetType().GetCanonicalType(), owner.GetNumberOfTemplateArguments()
    if kind.GetTypeClass() == lldb.eTypeClassArray and count:
        # If the elements are arrays, the field has lost their length.
        given = owner.GetTemplateArgumentType(count - 1).GetCanonicalType()
        kind = given if unbounded_name(given) == unbounded_name(kind) else kind
    own = kind.GetName()
    wanted = arguments(name)[-1] if "<" in name else own
    is_tail = is_tailed(kind) and wanted != f"[{rust_name(kind, 1)}]"
    if wanted.startswith("[") and not is_tail:
        return named_element(kind, wanted), wanted
    if is_tail:
        # Both structs end in the same type.
        return kind, own if wanted == own else f"{own.split('<', 1)[0]}<{wanted}>"
    return (kind, wanted) if wanted in TEXTS else (element_of(kind), "[")


def elements_at(value, address, kind, count):
    """Values of one type that lie behind each other, which are there to the last."""
    size = size_of(kind)
    if count and size:
        memory(value, address, 1)
        memory(value, address + checked(count * size) - 1, 1)
    return at_step(value, address, kind, range(count))


def at_step(value, address, kind, indices):
    """Values of one type that lie behind each other."""
    size = size_of(kind)
    for index in indices:
        yield at(value, address + index * size, kind, f"[{index}]")


def show_dyn(value, name, text, depth):
    show_object(value, unsigned(value.GetChildAtIndex(0)), 0, unsigned(value.GetChildAtIndex(1)), pointed(name), text, depth)


def show_object(value, address, offset, vtable, name, text, depth):
    """A trait object, or what has one at its end; behind counts of so many bytes."""
    inside, kind = behind(value, vtable)
    trait = re.search(r"dyn ([\w:]+)", name)
    trait = f"dyn {trait.group(1)}" if trait else "dyn"
    width = value.GetTarget().GetAddressByteSize()
    align = int.from_bytes(memory(value, vtable + 2 * width, width), "little")
    if not name.lstrip("(").startswith("dyn "):
        # Its own type is that with the real one in the place of the object.
        real = re.sub(r"dyn [^<>]*(<[^<>]*>)?[^<>]*", inside or "", name)
        kind = value.GetTarget().FindFirstType(real) if inside else None
        kind = kind if kind is not None and kind.IsValid() else None
        align = kind.GetByteAlign() if kind is not None else 0
    if kind is not None and align:
        show(at(value, address + -(-offset // align) * align, kind), text, depth + 1)
        return
    text.add(f"<{trait}: {inside}>" if inside else f"<{trait}>")


DROP = re.compile(r"^core::ptr::drop_in_place(?:::)?<(.*)>$")
# What a method that is written for all types has for the type.
PARAMETER = re.compile(r"^(&(mut )?)*[A-Z]\w*$")
METHOD = re.compile(r"^<(.*) as .*>::\w+$|<impl .* for (.*)>::\w+$")


def behind(value, vtable):
    """The name of a trait object's type, told by the functions in its table, and the type itself where it is described."""
    process, target = value.GetProcess(), value.GetTarget()
    width = target.GetAddressByteSize()
    size = int.from_bytes(memory(value, vtable + width, width), "little")
    inside = None
    for slot in (0, 3, 4, 5):
        error = lldb.SBError()
        address = process.ReadPointerFromMemory(vtable + slot * width, error)
        if error.Fail() or address == 0:
            continue
        pattern = DROP if slot == 0 else METHOD
        found = pattern.search(function_at(value, address))
        name = next(filter(None, found.groups())) if found else None
        if name is None or PARAMETER.match(name):
            continue
        inside = name
        # The library's errors that are made of a text have no description, and are just that text.
        lookup = "alloc::string::String" if inside.endswith("::StringError") else inside
        kind = target.FindFirstType(lookup)
        if kind.IsValid() and kind.GetByteSize() == size:
            return inside, kind
    return inside, None


# ---- the standard library --------------------------------------------------------------------------------------


class OtherLayout(Unreadable):
    """A type of a library whose version is not known."""

    def __init__(self):
        super().__init__("its library is laid out in another way")


def field(value, *path):
    for name in path:
        value = value.GetNonSyntheticValue().GetChildMemberWithName(name)
    if not value.IsValid():
        raise OtherLayout
    return value


def inside(value, *path):
    """What a wrapper holds, which may take no room."""
    holder = field(value, *path[:-1]).GetNonSyntheticValue()
    names = fields_of(holder.GetType().GetCanonicalType())
    if path[-1] not in names:
        raise OtherLayout
    return part_of(holder, names.index(path[-1]))


def first(value, *paths):
    """The first of several paths that is there: libraries change."""
    for path in paths:
        try:
            return field(value, *path)
        except Unreadable:
            continue
    raise OtherLayout


def number(value, *path):
    """A number, also one in wrappers."""
    found = field(value, *path).GetNonSyntheticValue()
    while found.GetNumChildren() == 1 and not found.GetType().IsPointerType():
        found = found.GetChildAtIndex(0).GetNonSyntheticValue()
    return unsigned(found)


def type_argument(value, index):
    kind = value.GetType().GetCanonicalType().GetTemplateArgumentType(index)
    if not kind.IsValid():
        raise Unreadable("the type of its elements is not known")
    return kind


def vec_parts(value):
    """Address and length of a vector."""
    length = checked(number(value, "len"))
    capacity = first(value, ("buf", "inner", "cap"), ("buf", "cap")).GetNonSyntheticValue()
    if length and size_of(type_argument(value, 0)) and length > number_in(capacity):
        raise Unreadable(f"a length of {length} beyond its capacity")
    pointer = first(value, ("buf", "inner", "ptr"), ("buf", "ptr"))
    return number_in(pointer), length


def number_in(value):
    value = value.GetNonSyntheticValue()
    while value.GetNumChildren() >= 1 and not value.GetType().IsPointerType():
        value = value.GetChildAtIndex(0).GetNonSyntheticValue()
    return unsigned(value)


def show_vec(value, text, depth):
    count, elements = elements_of(value)
    show_list(elements, count, show, text, depth)


def show_set(value, text, depth):
    count, elements = elements_of(value)
    show_list(elements, count, show, text, depth, "{}")


# Those of other crates, by their names.
CONTAINERS = {}


def elements_of(value):
    """How many elements a container has, and they themselves; those of a map are pairs."""
    value = value.GetNonSyntheticValue()
    name = value.GetType().GetCanonicalType().GetName().split("<", 1)[0]
    if name in CONTAINERS:
        return CONTAINERS[name](value)
    last = name.rsplit("::", 1)[-1]
    if last == "Vec":
        address, length = vec_parts(value)
        return length, elements_at(value, address, type_argument(value, 0), length)
    if last == "BinaryHeap":
        return elements_of(field(value, "data"))
    if last == "VecDeque":
        kind = type_argument(value, 0)
        head, length = number(value, "head"), checked(number(value, "len"))
        buffer = first(value, ("buf", "inner"), ("buf",))
        capacity = number_in(field(buffer, "cap"))
        if size_of(kind) and (length > capacity or head > capacity):
            raise Unreadable("a length beyond its capacity")
        around = ((head + i) % capacity if capacity else 0 for i in range(length))
        return length, at_step(value, number_in(field(buffer, "ptr")), kind, around)
    if last == "HashSet":
        count, pairs = hashed(field(value, "base", "map"))
        return count, (pair[0] for pair in pairs)
    if last == "HashMap":
        return hashed(field(value, "base"))
    if last == "BTreeSet":
        count, pairs = ordered(field(value, "map"))
        return count, (pair[0] for pair in pairs)
    if last == "BTreeMap":
        return ordered(value)
    raise Unreadable(f"{last} is not known")


def hashed(value):
    """The entries of hashbrown's table: they lie before its control bytes, the last one first."""
    inner = field(value, "table", "table")
    count, mask = checked(number(inner, "items")), number(inner, "bucket_mask")
    if count > mask + 1:
        raise Unreadable("more entries than its table has room for")
    control = number_in(field(inner, "ctrl"))
    kind = type_argument(field(value, "table"), 0)
    return count, entries_in(value, control, mask + 1, count, kind)


def entries_in(value, control, buckets, count, kind):
    size, seen, step = size_of(kind), 0, 4096
    for start in range(0, buckets, step):
        if seen == count:
            return
        for offset, byte in enumerate(memory(value, control + start, min(step, buckets - start))):
            if byte & 0x80:
                continue
            pair = at(value, control - (start + offset + 1) * size, kind)
            seen += 1
            yield part_of(pair, 0), part_of(pair, 1)


def ordered(value):
    """The entries of a B-tree."""
    count = checked(number(value, "length"))
    root = field(value, "root")
    if count == 0:
        return 0, iter(())
    name, inner = variant_of(root.GetNonSyntheticValue(), root.GetType().GetCanonicalType())
    if name != "Some":
        raise Unreadable("a tree without a root")
    node = inner.GetChildAtIndex(0)
    return count, nodes(value, field(node, "node", "pointer"), number(node, "height"))


def nodes(value, pointer, height):
    if height > 20:
        raise Unreadable("a tree that is too high")
    leaf = pointer.GetType().GetPointeeType()
    address = unsigned(pointer)
    node = pointee(value, address, leaf)
    length = number(node, "len")
    if length > 11:
        raise Unreadable("a node with too many keys")
    keys, values = address + offset_of(leaf, "keys"), address + offset_of(leaf, "vals")
    key, item = type_argument(value, 0), type_argument(value, 1)
    edges = None
    if height:
        # An inner node is a leaf with its edges behind it.
        edges = address + leaf.GetByteSize()
    for index in range(length + 1):
        if edges is not None:
            error = lldb.SBError()
            width = value.GetTarget().GetAddressByteSize()
            below = value.GetProcess().ReadPointerFromMemory(edges + index * width, error)
            if error.Fail():
                raise Unreadable("a node is not there")
            child = value.CreateValueFromAddress("child", edges + index * width, pointer.GetType())
            if below == 0:
                raise Unreadable("a node is not there")
            yield from nodes(value, child, height - 1)
        if index < length:
            yield (
                at(value, keys + index * size_of(key), key),
                at(value, values + index * size_of(item), item),
            )


def offset_of(kind, name):
    for index in range(kind.GetNumberOfFields()):
        member = kind.GetFieldAtIndex(index)
        if member.GetName() == name:
            return member.GetOffsetInBytes()
    raise OtherLayout


def show_linked_list(value, text, depth):
    count = checked(number(value, "len"))

    def links(node):
        for _ in range(count):
            if is_none(node):
                raise Unreadable("a list that ends early")
            pointer = number_in(some(node))
            kind = first(some(node), ("pointer",)).GetType().GetPointeeType()
            item = pointee(value, pointer, kind)
            yield field(item, "element")
            node = field(item, "next")

    show_list(links(field(value, "head")), count, show, text, depth)


def some(option):
    name, inner = variant_of(option.GetNonSyntheticValue(), option.GetType().GetCanonicalType())
    if name != "Some":
        raise Unreadable("nothing")
    return inner.GetChildAtIndex(0).GetNonSyntheticValue()


def is_none(option):
    return variant_of(option.GetNonSyntheticValue(), option.GetType().GetCanonicalType())[0] == "None"


def show_owned_string(value, text, depth):
    vector = value.GetNonSyntheticValue()
    while vector.GetNumChildren() == 1:
        vector = vector.GetChildAtIndex(0).GetNonSyntheticValue()
    address, length = vec_parts(vector)
    show_string(value, address, length, text, value.GetType().GetCanonicalType().GetName() == "alloc::string::String")


def show_c_string(value, text, depth):
    show_slice(field(value, "inner").GetNonSyntheticValue(), C_TEXT, text, depth)


def show_owner(value, text, depth):
    """What an Rc or an Arc holds, behind its counts."""
    pointer = first(value, ("ptr", "pointer")).GetNonSyntheticValue()
    if pointer.GetType().IsPointerType():
        show(inside_owner(pointer), text, depth + 1)
    elif pointer.GetType().GetFieldAtIndex(1).GetName() == "vtable":
        address, vtable = (unsigned(pointer.GetChildAtIndex(index)) for index in range(2))
        counts = 2 * value.GetTarget().GetAddressByteSize()
        show_object(value, address, counts, vtable, owned_name(pointer.GetType()), text, depth)
    else:
        address, length, kind = inside_slice(pointer)
        show_behind(value, address, length, owned_name(pointer.GetType()), kind, text, depth)


def inside_owner(pointer):
    """What an Rc or an Arc points to, if that has a size."""
    kind = pointer.GetType().GetPointeeType()
    return part_of(pointee(pointer, unsigned(pointer), kind), kind.GetNumberOfFields() - 1)


def inside_slice(pointer):
    """Address, length and type of the elements that an Rc or an Arc points to."""
    address, length = (unsigned(pointer.GetChildAtIndex(index)) for index in range(2))
    counted = pointer.GetType().GetFieldAtIndex(0).GetType().GetPointeeType()
    elements = counted.GetFieldAtIndex(counted.GetNumberOfFields() - 1)
    name = owned_name(pointer.GetType())
    # Of elements that are arrays the field has lost the length.
    kind = named_element(counted.GetTemplateArgumentType(0), name) if name.startswith("[") else elements.GetType()
    return address + elements.GetOffsetInBytes(), checked(length), kind


def transparent(*path):
    return lambda value, text, depth: show(inside(value, *path), text, depth + 1)


def wrapped(name, *fields):
    """A wrapper that shows its name and some of what is in it."""

    def render(value, text, depth):
        text.add(f"{name} {{ ")
        for index, (label, path) in enumerate(fields):
            text.add(", " if index else "")
            text.add(f"{label}: ")
            show(inside(value, *path), text, depth + 1)
        text.add(" }")

    return render


def show_lock(name):
    def render(value, text, depth):
        text.add(f"{name} {{ data: ")
        show_part(inside(value, "data", "value"), show, text, depth)
        poisoned = number(value, "poison", "failed") != 0
        text.add(f", poisoned: {'true' if poisoned else 'false'}, .. }}")

    return render


def show_refcell(value, text, depth):
    borrowed = number(value, "borrow", "value", "value")
    bits = value.GetTarget().GetAddressByteSize() * 8
    text.add("RefCell { value: ")
    show_part(inside(value, "value", "value"), show, text, depth)
    # While it is borrowed to be changed the program itself would not show it.
    text.add(", borrowed: mut }" if borrowed >> (bits - 1) else " }")


def show_range(between, has_start=True, has_end=True):
    def render(value, text, depth):
        if has_start:
            show_part(field(value, "start"), show, text, depth)
        text.add(between)
        if has_end:
            show_part(field(value, "end"), show, text, depth)

    return render


def show_range_inclusive(value, text, depth):
    show_range("..=")(value, text, depth)
    if number(value, "exhausted"):
        text.add(" (exhausted)")


def show_duration(value, text, depth):
    seconds, nanos = number(value, "secs"), number(value, "nanos")
    if nanos >= 1_000_000_000:
        raise Unreadable(f"a Duration with {nanos} nanoseconds")
    if seconds:
        whole, part, digits, unit = seconds, nanos, 9, "s"
    elif nanos >= 1_000_000:
        whole, part, digits, unit = nanos // 1_000_000, nanos % 1_000_000, 6, "ms"
    elif nanos >= 1_000:
        whole, part, digits, unit = nanos // 1_000, nanos % 1_000, 3, "µs"
    else:
        whole, part, digits, unit = nanos, 0, 0, "ns"
    rest = f"{part:0{digits}}".rstrip("0") if part else ""
    text.add(f"{whole}{'.' if rest else ''}{rest}{unit}")


def show_ipv4(value, text, depth):
    text.add(".".join(str(byte) for byte in bytes_of(field(value, "octets"), 4)))


def show_ipv6(value, text, depth):
    address = ipaddress.IPv6Address(bytes_of(field(value, "octets"), 16))
    text.add(f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else str(address))


def show_socket(value, text, depth):
    is_v6 = field(value, "ip").GetType().GetName().endswith("::Ipv6Addr")
    text.add("[" if is_v6 else "")
    show_part(field(value, "ip"), show, text, depth)
    scope = number(value, "scope_id") if is_v6 else 0
    text.add(f"{f'%{scope}' if scope else ''}{']' if is_v6 else ''}:{number(value, 'port')}")


def show_io_error(value, text, depth):
    """It packs what it is into the low bits of a pointer."""
    packed, module = number_in(value), value.GetType().GetCanonicalType().GetName().removesuffix("Error")
    tag, high = packed & 3, packed >> 32
    if tag == 2:
        code = high - (1 << 32) if high >> 31 else high
        text.add(f"Os {{ code: {code}, message: {quoted(os.strerror(code), chr(34))}, .. }}")
    elif tag == 3:
        text.add(f"Kind({error_kind(value, module, high)})")
    elif tag == 1:
        custom = value.GetTarget().FindFirstType(f"{module}Custom")
        if not custom.IsValid():
            raise Unreadable("its type is not known")
        show(value.CreateValueFromAddress("custom", packed - 1, custom), text, depth + 1)
    else:
        message = value.GetTarget().FindFirstType(f"{module}SimpleMessage")
        if not message.IsValid():
            raise Unreadable("its type is not known")
        show(value.CreateValueFromAddress("message", packed, message), text, depth + 1)


def error_kind(value, module, code):
    kind = value.GetTarget().FindFirstType(f"{module}ErrorKind")
    members = kind.GetEnumMembers()
    for index in range(members.GetSize()):
        member = members.GetTypeEnumMemberAtIndex(index)
        if member.GetValueAsUnsigned() == code:
            return member.GetName()
    return str(code)


def show_weak(_value, text, _depth):
    text.add("(Weak)")


def show_guard(value, text, depth):
    lock = field(value, "lock").GetNonSyntheticValue()
    target = pointee(value, unsigned(lock), lock.GetType().GetPointeeType())
    show(inside(target, "data", "value"), text, depth + 1)


def show_borrow(value, text, depth):
    pointer = field(value, "value", "pointer").GetNonSyntheticValue()
    show(pointer, text, depth + 1)


def show_phantom(value, text, _depth):
    text.add(f"PhantomData<{short_name(type_argument(value, 0))}>")


# ---- iterators: what is left of them ---------------------------------------------------------------------------


def show_iterator(value, text, depth):
    count, elements = left_of(value)
    text.add(f"{plain_name(value.GetType().GetCanonicalType().GetName())}(")
    show_list(elements, count, show, text, depth)
    text.add(")")


def left_of(value):
    """How many elements an iterator over memory has before it, and they themselves."""
    kind = type_argument(value, 0)
    start, end = number_in(field(value, "ptr")), number_in(first(value, ("end_or_len",), ("end",)))
    size = size_of(kind)
    if size:
        count, rest = divmod(end - start, size)
    else:
        # Of what takes no room a slice's iterator has the number, and a vector's an end that counts.
        is_slice = value.GetNonSyntheticValue().GetChildMemberWithName("end_or_len").IsValid()
        count, rest = (end if is_slice else end - start), 0
    if count < 0 or rest:
        raise Unreadable("its end does not fit its beginning")
    return count, elements_at(value, start, kind, checked(count))


def show_array_iterator(value, text, depth):
    inner = field(value, "inner").GetNonSyntheticValue()
    while inner.GetNumChildren() == 1:
        inner = inner.GetChildAtIndex(0).GetNonSyntheticValue()
    kind, data = type_argument(value, 0), field(inner, "data").GetLoadAddress()
    start, end = number(inner, "alive", "start"), number(inner, "alive", "end")
    if end < start:
        raise Unreadable("its end does not fit its beginning")
    text.add("IntoIter(")
    show_list(elements_at(value, data + start * size_of(kind), kind, checked(end - start)), end - start, show, text, depth)
    text.add(")")


def show_drain(value, text, depth):
    text.add("Drain(")
    count, elements = left_of(field(value, "iter"))
    show_list(elements, count, show, text, depth)
    text.add(")")


def show_deque_iterator(value, text, depth):
    text.add(f"{plain_name(value.GetType().GetCanonicalType().GetName())}(")
    for index, half in enumerate(("i1", "i2")):
        text.add(", " if index else "")
        count, elements = left_of(field(value, half))
        show_list(elements, count, show, text, depth)
    text.add(")")


def show_chars(value, text, _depth):
    bytes_left = field(value, "iter")
    start, count = number_in(field(bytes_left, "ptr")), left_of(bytes_left)[0]
    chars = memory(value, start, min(count, MAX_STRING)).decode("utf-8", "surrogateescape")
    shown = chars if count <= MAX_STRING else chars[:-4]
    text.add(f"Chars([{', '.join(quoted(char, chr(39)) for char in shown)}")
    text.add("])" if count <= MAX_STRING else f", … {count - len(shown.encode('utf-8', 'surrogateescape'))} more bytes])")


# ---- cells that are set once, guards ----------------------------------------------------------------------------

# From this version of the compiler on a Once that is complete is 0; before it was 3.
COMPLETE_IS_ZERO = (1, 87)


def show_once(name, *path):
    """What is set once, if it is."""

    def render(value, text, depth):
        if is_complete(value):
            text.add(f"{name}(")
            show_part(inside(value, *path), show, text, depth)
            text.add(")")
        else:
            text.add(f"{name}(<uninit>)")

    return render


def is_complete(value):
    state = number(value, "once", "inner", "state_and_queued")
    if compiler_version(value) < COMPLETE_IS_ZERO:
        raise Unreadable("this version of the standard library is not known")
    return state == 0


def compiler_version(value):
    """The version of rustc that a program is linked by, as far as it says."""
    target = value.GetTarget()
    section = target.GetModuleAtIndex(0).FindSection(".comment")
    error = lldb.SBError()
    data = section.GetSectionData()
    said = data.ReadRawData(error, 0, data.GetByteSize()) if data.GetByteSize() else b""
    found = re.search(rb"rustc version (\d+)\.(\d+)", said or b"")
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def show_once_cell(value, text, depth):
    name, inner = variant_of(*enum_in(value, "inner"))
    show_set_cell("OnceCell", name == "Some", inner, text, depth)


def show_lazy_cell(value, text, depth):
    name, inner = variant_of(*enum_in(value, "state"))
    show_set_cell("LazyCell", name == "Init", inner, text, depth)


def enum_in(value, *path):
    found = innermost_enum(field(value, *path))
    return found, found.GetType().GetCanonicalType()


def innermost_enum(value):
    """What wrappers of one field hold that is an enum."""
    value = value.GetNonSyntheticValue()
    while not is_enum(value.GetType().GetCanonicalType(), None):
        if value.GetNumChildren() != 1:
            raise OtherLayout
        value = value.GetChildAtIndex(0).GetNonSyntheticValue()
    return value


def show_set_cell(name, is_set, inner, text, depth):
    text.add(f"{name}(")
    if is_set:
        show_part(part_of(inner, 0), show, text, depth)
    else:
        text.add("<uninit>")
    text.add(")")


def show_atomic(value, text, depth):
    show(read_as(value.GetNonSyntheticValue(), "v", type_argument(value, 0)), text, depth + 1)


def show_atomic_bool(value, text, _depth):
    byte = number(value, "v", "value")
    if byte > 1:
        raise Unreadable(f"a bool of {byte}")
    text.add("true" if byte else "false")


def show_hidden(value, text, _depth):
    """What has only addresses of which nothing tells where they end."""
    text.add(f"{plain_name(value.GetType().GetCanonicalType().GetName())} {{ .. }}")


TRANSPARENT = {"alloc::borrow::Cow", "core::net::ip_addr::IpAddr", "core::net::socket_addr::SocketAddr"}

SPECIAL = {
    "alloc::string::String": show_owned_string,
    "std::ffi::os_str::OsString": show_owned_string,
    "std::path::PathBuf": show_owned_string,
    "alloc::ffi::c_str::CString": show_c_string,
    "alloc::vec::Vec": show_vec,
    "alloc::collections::vec_deque::VecDeque": show_vec,
    "alloc::collections::binary_heap::BinaryHeap": show_vec,
    "alloc::collections::linked_list::LinkedList": show_linked_list,
    "std::collections::hash::map::HashMap": show_set,
    "std::collections::hash::set::HashSet": show_set,
    "alloc::collections::btree::map::BTreeMap": show_set,
    "alloc::collections::btree::set::BTreeSet": show_set,
    "alloc::rc::Rc": show_owner,
    "alloc::sync::Arc": show_owner,
    "alloc::rc::Weak": show_weak,
    "alloc::sync::Weak": show_weak,
    "core::cell::Cell": wrapped("Cell", ("value", ("value", "value"))),
    "core::cell::RefCell": show_refcell,
    "core::cell::UnsafeCell": transparent("value"),
    "core::cell::Ref": show_borrow,
    "core::cell::RefMut": show_borrow,
    "core::mem::manually_drop::ManuallyDrop": transparent("value"),
    "core::mem::maybe_dangling::MaybeDangling": transparent("__0"),
    "core::cell::once::OnceCell": show_once_cell,
    "core::cell::lazy::LazyCell": show_lazy_cell,
    "core::slice::iter::Iter": show_iterator,
    "core::slice::iter::IterMut": show_iterator,
    "alloc::vec::into_iter::IntoIter": show_iterator,
    "alloc::vec::drain::Drain": show_drain,
    "alloc::collections::vec_deque::iter::Iter": show_deque_iterator,
    "alloc::collections::vec_deque::iter_mut::IterMut": show_deque_iterator,
    "core::array::iter::IntoIter": show_array_iterator,
    "core::str::iter::Chars": show_chars,
    "hashbrown::raw::RawIter": show_hidden,
    "hashbrown::raw::RawIterRange": show_hidden,
    "hashbrown::raw::RawIntoIter": show_hidden,
    "hashbrown::raw::RawDrain": show_hidden,
    "core::num::nonzero::NonZero": lambda value, text, depth: show(innermost(value), text, depth),
    "core::num::wrapping::Wrapping": transparent("__0"),
    "core::num::saturating::Saturating": transparent("__0"),
    "core::ptr::non_null::NonNull": transparent("pointer"),
    "core::ptr::unique::Unique": transparent("pointer"),
    "core::pin::Pin": lambda value, text, depth: show(value.GetChildAtIndex(0), text, depth + 1),
    "core::marker::PhantomData": show_phantom,
    "core::ops::range::Range": show_range(".."),
    "core::ops::range::RangeInclusive": show_range_inclusive,
    "core::ops::range::RangeFrom": show_range("..", has_end=False),
    "core::ops::range::RangeTo": show_range("..", has_start=False),
    "core::ops::range::RangeToInclusive": show_range("..=", has_start=False),
    "core::ops::range::RangeFull": show_range("..", has_start=False, has_end=False),
    "core::time::Duration": show_duration,
    "core::net::ip_addr::Ipv4Addr": show_ipv4,
    "core::net::ip_addr::Ipv6Addr": show_ipv6,
    "core::net::socket_addr::SocketAddrV4": show_socket,
    "core::net::socket_addr::SocketAddrV6": show_socket,
    "core::io::error::Error": show_io_error,
    "core::io::error::Custom": wrapped("Custom", ("kind", ("kind",)), ("error", ("error",))),
    "std::io::error::Error": show_io_error,
    "std::sync::poison::mutex::Mutex": show_lock("Mutex"),
    "std::sync::mutex::Mutex": show_lock("Mutex"),
    "std::sync::poison::rwlock::RwLock": show_lock("RwLock"),
    "std::sync::rwlock::RwLock": show_lock("RwLock"),
    "std::sync::poison::mutex::MutexGuard": show_guard,
    "std::sync::mutex::MutexGuard": show_guard,
    "std::sync::poison::rwlock::RwLockWriteGuard": show_guard,
    "std::sync::rwlock::RwLockWriteGuard": show_guard,
    "std::sync::poison::rwlock::RwLockReadGuard": transparent("data"),
    "std::sync::rwlock::RwLockReadGuard": transparent("data"),
    "std::sync::once_lock::OnceLock": show_once("OnceLock", "value", "value", "value"),
    "std::sync::lazy_lock::LazyLock": show_once("LazyLock", "data", "value", "value"),
}
for atomic in ("I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64", "Isize", "Usize"):
    SPECIAL[f"core::sync::atomic::Atomic{atomic}"] = transparent("v", "value")
SPECIAL["core::sync::atomic::AtomicBool"] = show_atomic_bool
SPECIAL["core::sync::atomic::Atomic"] = show_atomic
SPECIAL["core::sync::atomic::AtomicPtr"] = transparent("p", "value")


# ---- what can be looked into -----------------------------------------------------------------------------------


class Nothing(Parts):
    """A text has nothing inside that is worth a look."""

    def has_children(self):
        return False

    def find(self):
        return []


class Variant(Parts):
    """The fields of the variant that an enum is."""

    def find(self):
        value = self.value.GetNonSyntheticValue()
        _, inner = variant_of(value, value.GetType().GetCanonicalType())
        if isinstance(inner, Sizeless):
            return []
        return [plain_field(inner.GetChildAtIndex(i)) for i in range(inner.GetNumChildren())]

    def get_child_index(self, name):
        """By either name of a field without one: `0` and `__0`."""
        return super().get_child_index(name.removeprefix("__") if name[2:].isdigit() else name)


class Owned(Parts):
    """What an Rc or an Arc holds."""

    def find(self):
        pointer = first(self.value, ("ptr", "pointer")).GetNonSyntheticValue()
        if pointer.GetType().IsPointerType():
            inside = inside_owner(pointer)
            return [] if isinstance(inside, Sizeless) else [inside]
        if not owned_name(pointer.GetType()).startswith("["):
            return []
        address, length, kind = inside_slice(pointer)
        return as_children(elements_at(self.value, address, kind, length if size_of(kind) else 0), show)


class Left(Parts):
    """What an iterator over memory has before it."""

    def find(self):
        has_size = size_of(type_argument(self.value, 0))
        return as_children(left_of(self.value)[1], show) if has_size else []


class Elements(Parts):
    """The elements of a container."""

    def __init__(self, value, session):
        super().__init__(value, session)
        self.fixed = None

    def update(self):
        self.fixed = None
        return super().update()

    def num_children(self):
        try:
            return self.layout()[0]
        except Unreadable:
            return 0

    def layout(self):
        """Their number and, where they lie behind each other, address and type."""
        if self.fixed is None:
            value = self.value.GetNonSyntheticValue()
            kind = value.GetType().GetCanonicalType()
            if fields_of(kind) == ["data_ptr", "length"]:
                pointer = value.GetChildAtIndex(0)
                length = checked(unsigned(value.GetChildAtIndex(1)))
                self.fixed = self.behind_each_other(unsigned(pointer), length, pointer.GetType().GetPointeeType())
            elif kind.GetName().split("<", 1)[0].endswith("::Vec"):
                address, length = vec_parts(value)
                self.fixed = self.behind_each_other(address, length, type_argument(value, 0))
            else:
                self.fixed = min(elements_of(value)[0], MAX_CHILDREN), None, None
        return self.fixed

    def behind_each_other(self, address, length, kind):
        elements_at(self.value, address, kind, length)
        # LLDB counts children in 32 bits, and what takes no room is none.
        return min(length, (1 << 32) - 1) if size_of(kind) else 0, address, kind

    def get_child_index(self, name):
        return int(name.strip("[]")) if name.strip("[]").isdigit() else -1

    def get_child_at_index(self, index):
        try:
            count, address, kind = self.layout()
        except Unreadable:
            return None
        if not 0 <= index < count:
            return None
        if address is None:
            return super().get_child_at_index(index)
        at = address + index * size_of(kind)
        return self.value.CreateValueFromAddress(f"[{index}]", at, kind)

    def find(self):
        return as_children(elements_of(self.value)[1], show)


def plain_field(value):
    name = value.GetName() or ""
    return value.Clone(name[2:]) if name.startswith("__") and name[2:].isdigit() else value
