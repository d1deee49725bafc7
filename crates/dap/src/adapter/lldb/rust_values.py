"""Values of Rust as `{:?}` shows them, for LLDB, each within a limit of text and time: numbers, structs, enums, slices, trait objects.

The types of the standard library are shown by `rust_library.py` and `rust_containers.py`.
"""

import re
import struct
from decimal import ROUND_HALF_UP

import evaluator
import lldb
from common import (
    MAX_DEPTH,
    PLAIN,
    Unreadable,
    add_commands,
    bytes_of,
    checked,
    children,
    float_text,
    function_at,
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
from rust_enums import Sizeless, at, fields_of, is_empty, is_enum, is_unit, part_of, unbounded_name, variant_name, variant_of, variant_types
from rust_fields import field, inside, number
from rust_names import (
    OWNERS,
    arguments,
    element_of,
    is_slice,
    length_of,
    named_element,
    plain_name,
    pointed,
    rust_name,
    short_name,
    size_of,
    variable_type,
)

CATEGORY = "termbridge-rust"
LISTS = r"^(alloc::vec::Vec|alloc::collections::vec_deque::VecDeque|alloc::collections::binary_heap::BinaryHeap)<.+>$"
SETS = r"^(std::collections::hash::(map::HashMap|set::HashSet)|alloc::collections::btree::(map::BTreeMap|set::BTreeSet))<.+>$"
# An array of slices ends in its length.
SLICES = r"^(&(mut )?|alloc::boxed::Box<)\[.*([^[0-9]|[^[0-9][0-9]+)\](, .+>)?$"
ITERATORS = r"^(core::slice::iter::Iter(Mut)?|alloc::vec::into_iter::IntoIter)<.+>$"
STRINGS = r"^(&(mut )?str|alloc::string::String|std::ffi::os_str::OsString|std::path::PathBuf|&(mut )?std::path::Path)$"
# What shows the types of libraries, by their names.
SPECIAL = {}


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
    import rust_library

    rust_library.add_to_values()
    rust_crates.add_to_values()
    evaluator.LANGUAGE = rust_access.Access()
    run("script import rust_inside")
    run(f"type category define -e {CATEGORY}")
    run(f'type summary add -w {CATEGORY} -e -F {here}.summary -x ".*"')
    run(f'type synthetic add -w {CATEGORY} -l rust_inside.Elements -x "{LISTS}"')
    run(f'type synthetic add -w {CATEGORY} -l rust_inside.Elements -x "{SETS}"')
    run(f'type synthetic add -w {CATEGORY} -l rust_inside.Elements -x "{SLICES}"')
    run(f'type synthetic add -w {CATEGORY} -l rust_inside.Elements -x "{rust_crates.PATTERN}"')
    run(f'type synthetic add -w {CATEGORY} -l rust_inside.Left -x "{ITERATORS}"')
    run(f'type synthetic add -w {CATEGORY} -l rust_inside.Owned -x "{OWNERS}"')
    run(f'type synthetic add -w {CATEGORY} -l rust_inside.Nothing -x "{STRINGS}"')
    # Enums cannot be told by their names; older versions of LLDB show their parts.
    run(f"type synthetic add -w {CATEGORY} -l rust_inside.Variant --recognizer-function {here}.is_enum")


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
    elif kind.GetName() == "core::ops::range::RangeFull":
        text.add("..")
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
        text.add(float_text(struct.unpack(form, data)[0], len(data), ROUND_HALF_UP))
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


# ---- cells that are set once, guards ----------------------------------------------------------------------------


TRANSPARENT = {"alloc::borrow::Cow", "core::net::ip_addr::IpAddr", "core::net::socket_addr::SocketAddr"}
