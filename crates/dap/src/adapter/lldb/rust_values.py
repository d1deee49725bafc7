"""Values of Rust as `{:?}` shows them, for LLDB, each within a limit of text and time.

Variants of enums are told by the table that lies beside this file, since LLDB cuts and misplaces their discriminants. Long, because
each container of the standard library is laid out in its own way.
"""

import ipaddress
import json
import os
import re
import struct

import lldb
from common import (
    MAX_CHILDREN,
    MAX_DEPTH,
    PLAIN,
    Parts,
    Unreadable,
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
    show_list,
    show_part,
    show_string,
    text_of,
    unsigned,
)

CATEGORY = "termbridge-rust"
LISTS = r"^(alloc::vec::Vec|alloc::collections::vec_deque::VecDeque|alloc::collections::binary_heap::BinaryHeap)<.+>$"
SETS = r"^(std::collections::hash::(map::HashMap|set::HashSet)|alloc::collections::btree::(map::BTreeMap|set::BTreeSet))<.+>$"
SLICES = r"^&(mut )?\[.+\]$"
STRINGS = r"^(&(mut )?str|alloc::string::String|std::ffi::os_str::OsString|std::path::PathBuf|&(mut )?std::path::Path)$"
OWNERS = r"^alloc::(rc::Rc|sync::Arc)<.+>$"


# ---- entry points ----------------------------------------------------------------------------------------------


def summary(value, _session):
    """The text of a value, after a mark by which it is told from what LLDB puts before it."""
    if value.GetType().GetCanonicalType().GetBasicType() in PLAIN:
        return ""
    return text_of(value, show)


def __lldb_init_module(debugger, _session):
    here = __name__
    run = debugger.HandleCommand
    run(f"type category define -e {CATEGORY}")
    run(f'type summary add -w {CATEGORY} -e -F {here}.summary -x ".*"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Elements -x "{LISTS}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Elements -x "{SETS}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Elements -x "{SLICES}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Owned -x "{OWNERS}"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Nothing -x "{STRINGS}"')
    # Enums cannot be told by their names; older versions of LLDB show their parts.
    run(f"type synthetic add -w {CATEGORY} -l {here}.Variant --recognizer-function {here}.is_enum")


def is_enum(kind, _session):
    return kind.GetNumberOfFields() == 1 and kind.GetFieldAtIndex(0).GetName() == "$variants$"


# ---- values ----------------------------------------------------------------------------------------------------


def show(value, text, depth):
    """Adds the text of a value."""
    if depth > MAX_DEPTH or text.is_late():
        text.add("…")
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
        show_list(children(value, value.GetNumChildren()), value.GetNumChildren(), show, text, depth)
    elif what in (lldb.eTypeClassStruct, lldb.eTypeClassClass):
        show_struct(value, kind, text, depth)
    elif what == lldb.eTypeClassUnion:
        text.add(f"{plain_name(kind.GetName())} {{ .. }}")
    else:
        text.add(value.GetValue() or "…")


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
    elif target.GetByteSize() == 0 and target.GetTypeClass() == lldb.eTypeClassBuiltin:
        text.add(f"{address:#x}")
    else:
        show(pointee(value, address, target), text, depth + 1)


def show_plain_enum(value, kind, text):
    name = value.GetValue()
    members = kind.GetEnumMembers()
    data = int.from_bytes(bytes_of(value, kind.GetByteSize()), "little")
    width = kind.GetByteSize() * 8
    for index in range(members.GetSize()):
        member = members.GetTypeEnumMemberAtIndex(index)
        if member.GetValueAsUnsigned() % (1 << width) == data:
            text.add(member.GetName())
            return
    raise Unreadable(f"{plain_name(kind.GetName())} of {name or data}")


def show_struct(value, kind, text, depth):
    name = kind.GetName() or ""
    fields = [kind.GetFieldAtIndex(i).GetName() or "" for i in range(kind.GetNumberOfFields())]
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


def show_fields(value, fields, name, text, depth):
    """A struct, a tuple or a variant by its fields."""
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
        if value.GetType().GetFieldAtIndex(index).GetType().GetBasicType() == lldb.eBasicTypeVoid:
            # What takes no room has no value.
            text.add("()")
        else:
            show_part(value.GetChildAtIndex(index), show, text, depth)
    if is_tuple:
        text.add(",)" if len(fields) == 1 and name.startswith("(") else ")")
    else:
        text.add(" }")


# ---- enums -----------------------------------------------------------------------------------------------------

TABLE = None


def table():
    """The layouts of the program's enums."""
    global TABLE
    if TABLE is None:
        try:
            with open(os.path.join(os.path.dirname(__file__), "enums.json"), encoding="utf-8") as file:
                TABLE = json.load(file)
        except (OSError, ValueError):
            TABLE = {}
    return TABLE


def variant_of(value, kind):
    """The name of the variant that a value is, and its fields."""
    size = kind.GetByteSize()
    layouts = [layout for layout in table().get(kind.GetName(), []) if layout["size"] == size]
    if not layouts:
        raise Unreadable(f"the layout of {plain_name(kind.GetName())} is not known")
    data = bytes_of(value, size)
    names = {variant_in(layout, data) for layout in layouts}
    if len(names) > 1:
        raise Unreadable(f"there are {len(layouts)} different enums {kind.GetName()}")
    name = names.pop()
    if name is None:
        raise Unreadable(f"{plain_name(kind.GetName())} has no such variant")
    variants = kind.GetFieldAtIndex(0).GetType()
    for index in range(variants.GetNumberOfFields()):
        holder = variants.GetFieldAtIndex(index).GetType()
        if (holder.GetName() or "").endswith(f"::{name}$Variant"):
            inner = holder.GetFieldAtIndex(holder.GetNumberOfFields() - 1).GetType()
            # Its fields count from the beginning of the enum, wherever LLDB puts them.
            return name, value.CreateChildAtOffset(name, 0, inner)
    raise Unreadable(f"the variant {name} is not described")


def variant_in(layout, data):
    tag = int.from_bytes(data[layout["at"]:layout["at"] + layout["width"]], "little")
    otherwise = None
    for number, name in layout["variants"]:
        if number is None:
            otherwise = name
        elif int(number) == tag:
            return name
    return otherwise


def show_enum(value, kind, text, depth):
    name, inner = variant_of(value, kind)
    of = inner.GetType()
    fields = [of.GetFieldAtIndex(i).GetName() or "" for i in range(of.GetNumberOfFields())]
    if kind.GetName().split("<", 1)[0] in TRANSPARENT:
        show_part(inner.GetChildAtIndex(0), show, text, depth)
    else:
        show_fields(inner, fields, name, text, depth)


# ---- slices, strings, trait objects ----------------------------------------------------------------------------


def show_slice(value, name, text, depth):
    pointer = value.GetChildAtIndex(0)
    length = checked(unsigned(value.GetChildAtIndex(1)))
    inside = name.split("<", 1)[-1]
    if re.search(r"(^&(mut )?|[<*]|^)(str|std::path::Path|std::ffi::os_str::OsStr)\b", name) or inside.startswith("str"):
        show_string(value, unsigned(pointer), length, text)
    elif "core::ffi::c_str::CStr" in name:
        show_string(value, unsigned(pointer), length - 1, text)
    else:
        show_list(slice_of(value, pointer, length), length, show, text, depth)


def slice_of(value, pointer, length):
    return at_step(value, unsigned(pointer), pointer.GetType().GetPointeeType(), range(length))


def at_step(value, address, kind, indices):
    """Values of one type that lie behind each other."""
    size = kind.GetByteSize()
    for index in indices:
        yield value.CreateValueFromAddress(f"[{index}]", address + index * size, kind)


def show_dyn(value, name, text, depth):
    address = unsigned(value.GetChildAtIndex(0))
    inside, kind = behind(value, unsigned(value.GetChildAtIndex(1)))
    if kind is not None:
        show(value.CreateValueFromAddress("it", address, kind), text, depth + 1)
        return
    trait = re.search(r"dyn ([\w:]+)", name)
    trait = f"dyn {trait.group(1)}" if trait else "dyn"
    text.add(f"<{trait}: {inside}>" if inside else f"<{trait}>")


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
        pattern = r"^core::ptr::drop_in_place(?:::)?<(.*)>$" if slot == 0 else r"^<(.*) as .*>::\w+$"
        found = re.match(pattern, function_at(value, address))
        if not found:
            continue
        inside = found.group(1)
        # The library's errors that are made of a text have no description, and are just that text.
        lookup = "alloc::string::String" if inside.endswith("::StringError") else inside
        kind = target.FindFirstType(lookup)
        if kind.IsValid() and kind.GetByteSize() == size:
            return inside, kind
    return inside, None


# ---- the standard library --------------------------------------------------------------------------------------


def field(value, *path):
    for name in path:
        value = value.GetNonSyntheticValue().GetChildMemberWithName(name)
    if not value.IsValid():
        raise Unreadable("the standard library is laid out in another way")
    return value


def first(value, *paths):
    """The first of several paths that is there: libraries change."""
    for path in paths:
        try:
            return field(value, *path)
        except Unreadable:
            continue
    raise Unreadable("the standard library is laid out in another way")


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
    if length and type_argument(value, 0).GetByteSize() and length > number_in(capacity):
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


def elements_of(value):
    """How many elements a container has, and they themselves; those of a map are pairs."""
    value = value.GetNonSyntheticValue()
    name = value.GetType().GetCanonicalType().GetName().split("<", 1)[0]
    last = name.rsplit("::", 1)[-1]
    if name.startswith("&"):
        length = checked(unsigned(value.GetChildAtIndex(1)))
        return length, slice_of(value, value.GetChildAtIndex(0), length)
    if last == "Vec":
        address, length = vec_parts(value)
        return length, at_step(value, address, type_argument(value, 0), range(length))
    if last == "BinaryHeap":
        return elements_of(field(value, "data"))
    if last == "VecDeque":
        kind = type_argument(value, 0)
        head, length = number(value, "head"), checked(number(value, "len"))
        buffer = first(value, ("buf", "inner"), ("buf",))
        capacity = number_in(field(buffer, "cap"))
        if kind.GetByteSize() and (length > capacity or head > capacity):
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
    size, seen, step = kind.GetByteSize(), 0, 4096
    for start in range(0, buckets, step):
        if seen == count:
            return
        for offset, byte in enumerate(memory(value, control + start, min(step, buckets - start))):
            if byte & 0x80:
                continue
            pair = value.CreateValueFromAddress("it", control - (start + offset + 1) * size, kind)
            seen += 1
            yield pair.GetChildAtIndex(0), pair.GetChildAtIndex(1)


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
    node = value.CreateValueFromAddress("node", address, leaf)
    length = number(node, "len")
    if length > 11:
        raise Unreadable("a node with too many keys")
    keys, values = field(node, "keys"), field(node, "vals")
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
                value.CreateValueFromAddress("key", keys.GetLoadAddress() + index * key.GetByteSize(), key),
                value.CreateValueFromAddress("value", values.GetLoadAddress() + index * item.GetByteSize(), item),
            )


def show_linked_list(value, text, depth):
    count = checked(number(value, "len"))

    def links(node):
        for _ in range(count):
            if is_none(node):
                raise Unreadable("a list that ends early")
            pointer = number_in(some(node))
            kind = first(some(node), ("pointer",)).GetType().GetPointeeType()
            item = value.CreateValueFromAddress("node", pointer, kind)
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
    show_string(value, address, length, text)


def show_c_string(value, text, depth):
    show_slice(field(value, "inner").GetNonSyntheticValue(), "core::ffi::c_str::CStr", text, depth)


def inside_owner(value):
    """What an Rc or an Arc holds."""
    pointer = first(value, ("ptr", "pointer")).GetNonSyntheticValue()
    if pointer.GetType().IsPointerType():
        address = unsigned(pointer)
        counted = pointee(value, address, pointer.GetType().GetPointeeType())
        return first(counted, ("value",), ("data",))
    # What has no fixed size lies behind two counts.
    address = unsigned(pointer.GetChildAtIndex(0))
    fat = pointer.GetType().GetName()
    if pointer.GetType().GetFieldAtIndex(1).GetName() == "length" and "str" in fat:
        return address + 16, checked(unsigned(pointer.GetChildAtIndex(1)))
    raise Unreadable("its type is not known")


def show_owner(value, text, depth):
    inside = inside_owner(value)
    if isinstance(inside, tuple):
        show_string(value, *inside, text)
    else:
        show(inside, text, depth + 1)


def transparent(*path):
    return lambda value, text, depth: show(field(value, *path), text, depth + 1)


def wrapped(name, *fields):
    """A wrapper that shows its name and some of what is in it."""

    def render(value, text, depth):
        text.add(f"{name} {{ ")
        for index, (label, path) in enumerate(fields):
            text.add(", " if index else "")
            text.add(f"{label}: ")
            show(field(value, *path), text, depth + 1)
        text.add(" }")

    return render


def show_lock(name):
    def render(value, text, depth):
        text.add(f"{name} {{ data: ")
        show_part(field(value, "data", "value"), show, text, depth)
        poisoned = number(value, "poison", "failed") != 0
        text.add(f", poisoned: {'true' if poisoned else 'false'}, .. }}")

    return render


def show_refcell(value, text, depth):
    borrowed = number(value, "borrow", "value", "value")
    bits = value.GetTarget().GetAddressByteSize() * 8
    text.add("RefCell { value: ")
    show_part(field(value, "value", "value"), show, text, depth)
    # While it is borrowed to be changed the program itself would not show it.
    text.add(", borrowed: mut }" if borrowed >> (bits - 1) else " }")


def show_range(between):
    def render(value, text, depth):
        show_part(field(value, "start"), show, text, depth)
        text.add(between)
        show_part(field(value, "end"), show, text, depth)

    return render


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
    text.add(str(ipaddress.IPv6Address(bytes_of(field(value, "octets"), 16))))


def show_io_error(value, text, depth):
    """It packs what it is into the low bits of a pointer."""
    packed = number_in(value)
    tag, high = packed & 3, packed >> 32
    if tag == 2:
        text.add(f'Os {{ code: {high}, message: {quoted(os.strerror(high), chr(34))}, .. }}')
    elif tag == 3:
        text.add(f"Kind({error_kind(value, high)})")
    elif tag == 1:
        custom = value.GetTarget().FindFirstType("std::io::error::Custom")
        if not custom.IsValid():
            raise Unreadable("its type is not known")
        show(value.CreateValueFromAddress("custom", packed - 1, custom), text, depth + 1)
    else:
        message = value.GetTarget().FindFirstType("std::io::error::SimpleMessage")
        if not message.IsValid():
            raise Unreadable("its type is not known")
        show(value.CreateValueFromAddress("message", packed, message), text, depth + 1)


def error_kind(value, code):
    kind = value.GetTarget().FindFirstType("std::io::error::ErrorKind")
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
    show(field(target, "data", "value"), text, depth + 1)


def show_borrow(value, text, depth):
    pointer = field(value, "value", "pointer").GetNonSyntheticValue()
    show(pointer, text, depth + 1)


def show_phantom(value, text, _depth):
    text.add(f"PhantomData<{value.GetType().GetName().split('<', 1)[1].rstrip()[:-1].strip()}>")


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
    "core::num::nonzero::NonZero": lambda value, text, depth: show(innermost(value), text, depth),
    "core::num::wrapping::Wrapping": transparent("__0"),
    "core::num::saturating::Saturating": transparent("__0"),
    "core::ptr::non_null::NonNull": transparent("pointer"),
    "core::ptr::unique::Unique": transparent("pointer"),
    "core::pin::Pin": lambda value, text, depth: show(value.GetChildAtIndex(0), text, depth + 1),
    "core::marker::PhantomData": show_phantom,
    "core::ops::range::Range": show_range(".."),
    "core::ops::range::RangeInclusive": show_range("..="),
    "core::time::Duration": show_duration,
    "core::net::ip_addr::Ipv4Addr": show_ipv4,
    "core::net::ip_addr::Ipv6Addr": show_ipv6,
    "std::io::error::Error": show_io_error,
    "std::sync::poison::mutex::Mutex": show_lock("Mutex"),
    "std::sync::mutex::Mutex": show_lock("Mutex"),
    "std::sync::poison::rwlock::RwLock": show_lock("RwLock"),
    "std::sync::rwlock::RwLock": show_lock("RwLock"),
    "std::sync::poison::mutex::MutexGuard": show_guard,
    "std::sync::mutex::MutexGuard": show_guard,
}
for atomic in ("Bool", "I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64", "Isize", "Usize"):
    SPECIAL[f"core::sync::atomic::Atomic{atomic}"] = transparent("v", "value")
SPECIAL["core::sync::atomic::Atomic"] = transparent("v", "value")
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
        return [plain_field(inner.GetChildAtIndex(i)) for i in range(inner.GetNumChildren())]


class Owned(Parts):
    """What an Rc or an Arc holds."""

    def find(self):
        inside = inside_owner(self.value)
        return [] if isinstance(inside, tuple) else [inside]


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
            name = value.GetType().GetCanonicalType().GetName().split("<", 1)[0]
            if name.startswith("&"):
                pointer = value.GetChildAtIndex(0)
                length = checked(unsigned(value.GetChildAtIndex(1)))
                kind = pointer.GetType().GetPointeeType()
                self.fixed = length, unsigned(pointer), kind
            elif name.endswith("::Vec"):
                address, length = vec_parts(value)
                self.fixed = length, address, type_argument(value, 0)
            else:
                self.fixed = min(elements_of(value)[0], MAX_CHILDREN), None, None
        return self.fixed

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
        at = address + index * kind.GetByteSize()
        return self.value.CreateValueFromAddress(f"[{index}]", at, kind)

    def find(self):
        return as_children(elements_of(self.value)[1], show)


def plain_field(value):
    name = value.GetName() or ""
    return value.Clone(name[2:]) if name.startswith("__") and name[2:].isdigit() else value


# ---- text ------------------------------------------------------------------------------------------------------


def plain_name(name):
    """A type's name without its path and arguments."""
    if name.startswith("("):
        return "("
    depth, start, end = 0, 0, None
    for index, char in enumerate(name):
        if char == "<":
            if depth == 0:
                end = index
            depth += 1
        elif char == ">":
            depth -= 1
        elif char == ":" and depth == 0:
            start, end = index + 1, None
    return name[start:end]
