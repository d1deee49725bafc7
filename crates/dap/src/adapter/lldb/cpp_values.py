"""Values of C and C++ in one line, for LLDB: what a struct holds, what a container has, what a pointer points to.

Containers of libstdc++ are read here: LLDB says of an unordered_map that has entries that it is empty. Those of
other libraries are shown as LLDB knows them. Long, because each container is laid out in its own way.
"""

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
    memory,
    pointee,
    quoted,
    show_list,
    show_part,
    show_string,
    text_of,
    unsigned,
)

CATEGORY = "termbridge-cpp"
# Pointers that are followed within a value: a list is not shown to its end.
MAX_POINTERS = 2
HASHED = r"^std::(__debug::)?unordered_(multi)?(map|set)<.+>$"
WIDE = {lldb.eBasicTypeWChar, lldb.eBasicTypeChar16, lldb.eBasicTypeChar32}


# ---- entry points ----------------------------------------------------------------------------------------------


def summary(value, _session):
    """The text of a value."""
    kind = value.GetType().GetCanonicalType()
    if kind.GetBasicType() in PLAIN or kind.GetTypeClass() == lldb.eTypeClassEnumeration:
        return ""
    return text_of(value, show)


def __lldb_init_module(debugger, _session):
    here = __name__
    run = debugger.HandleCommand
    run(f"type category define -e {CATEGORY}")
    run(f'type summary add -w {CATEGORY} -e -F {here}.summary -x ".*"')
    run(f'type synthetic add -w {CATEGORY} -l {here}.Entries -x "{HASHED}"')


class Entries(Parts):
    """The entries of an unordered container."""

    def find(self):
        return as_children(elements_of(self.value.GetNonSyntheticValue())[1], show)


# ---- values ----------------------------------------------------------------------------------------------------


def show(value, text, depth, pointers=0):
    """Adds the text of a value."""
    if depth > MAX_DEPTH or text.is_late():
        text.add("…")
        return
    value = value.GetNonSyntheticValue()
    kind = value.GetType().GetCanonicalType()
    what = kind.GetTypeClass()
    if what == lldb.eTypeClassBuiltin:
        show_basic(value, kind, text)
    elif what == lldb.eTypeClassReference:
        show(pointee(value, unsigned(value), kind.GetDereferencedType()), text, depth + 1, pointers)
    elif what == lldb.eTypeClassPointer:
        show_pointer(value, kind, text, depth, pointers)
    elif what == lldb.eTypeClassEnumeration:
        text.add(value.GetValue() or "?")
    elif what == lldb.eTypeClassArray:
        show_array(value, kind, text, depth, pointers)
    elif what in (lldb.eTypeClassStruct, lldb.eTypeClassClass):
        show_class(value, kind, text, depth, pointers)
    elif what == lldb.eTypeClassUnion:
        show_fields(value, kind, text, depth, pointers)
    else:
        text.add(value.GetValue() or "…")


def within(pointers):
    """How the parts of a value are shown that lies behind so many pointers."""
    return lambda value, text, depth: show(value, text, depth, pointers)


def show_basic(value, kind, text):
    basic = kind.GetBasicType()
    if basic == lldb.eBasicTypeVoid:
        text.add("void")
        return
    if basic in (lldb.eBasicTypeFloat, lldb.eBasicTypeDouble):
        data = bytes_of(value, kind.GetByteSize())
        text.add(float_text(struct.unpack("<f" if len(data) == 4 else "<d", data)[0], len(data)).removesuffix(".0"))
    elif basic == lldb.eBasicTypeNullPtr:
        text.add("nullptr")
    elif basic in (lldb.eBasicTypeInt128, lldb.eBasicTypeUnsignedInt128):
        signed = basic == lldb.eBasicTypeInt128
        text.add(str(int.from_bytes(bytes_of(value, 16), "little", signed=signed)))
    elif kind.GetByteSize() > 8:
        text.add(value.GetValue() or "…")
    else:
        # Asked for as numbers, since some are a few bits of a byte.
        found = unsigned(value)
        if basic == lldb.eBasicTypeBool:
            text.add({0: "false", 1: "true"}.get(found, str(found)))
        elif is_char(kind):
            text.add(quoted(chr(found & 0xFF), "'") if found & 0xFF < 0x80 else f"'\\x{found & 0xFF:02x}'")
        elif basic in WIDE:
            text.add(quoted(chr(found), "'"))
        elif kind.GetTypeFlags() & lldb.eTypeIsSigned:
            text.add(str(value.GetValueAsSigned()))
        else:
            text.add(str(found))


def is_char(kind):
    """Whether it holds text; a `signed char` and an `unsigned char` are numbers."""
    return kind.GetCanonicalType().GetUnqualifiedType().GetName() in ("char", "char8_t")


def show_pointer(value, kind, text, depth, pointers):
    address = unsigned(value)
    target = kind.GetPointeeType()
    if address == 0:
        text.add("nullptr")
    elif target.IsFunctionType():
        text.add(function_at(value, address))
    elif is_char(target):
        show_c_string(value, address, text)
    elif target.GetCanonicalType().GetBasicType() == lldb.eBasicTypeVoid or pointers >= MAX_POINTERS or not target.IsTypeComplete():
        text.add(f"{address:#x}")
    else:
        text.add("&")
        show(pointee(value, address, target), text, depth + 1, pointers + 1)


def show_c_string(value, address, text):
    """Text that ends with a zero byte."""
    data, step = b"", 64
    while len(data) <= 400 and b"\0" not in data:
        try:
            # Not beyond a page: what follows may not be there.
            size = min(step, 4096 - (address + len(data)) % 4096)
            data += memory(value, address + len(data), size)
        except Unreadable:
            if not data:
                raise
            break
    end = data.find(b"\0")
    if 0 <= end <= 400:
        text.add(quoted(data[:end].decode("utf-8", "backslashreplace"), '"'))
    else:
        text.add(quoted(data[:400].decode("utf-8", "ignore"), '"') + "…")


def show_array(value, kind, text, depth, pointers):
    count = value.GetNumChildren()
    if is_char(kind.GetArrayElementType()):
        data = bytes_of(value, min(count, 400))
        end = data.find(b"\0")
        text.add(quoted(data[: end if end >= 0 else None].decode("utf-8", "backslashreplace"), '"'))
        if end < 0 and count > 400:
            text.add(f"… {count - 400} more bytes")
        return
    show_list(children(value, count), count, within(pointers), text, depth)


def show_class(value, kind, text, depth, pointers):
    name = kind.GetName() or ""
    special = SPECIAL.get(library_name(name))
    if special is not None:
        special(value, text, depth, pointers)
    elif re.match(r"^std::__(1|ndk1|Cr)::", name):
        show_as_known(value, text, depth, pointers)
    else:
        show_fields(value, kind, text, depth, pointers)


def library_name(name):
    """`vector` of `std::vector<int, …>`, and of its inline namespaces."""
    if not name.startswith("std::"):
        return None
    return re.sub(r"^(__cxx11|__debug|chrono|filesystem|filesystem::__cxx11)::", "", name[5:].split("<", 1)[0])


def show_fields(value, kind, text, depth, pointers):
    """What a struct, a class or a union has, its bases first."""
    text.add("{")
    is_first = True
    parts = []
    for index in range(kind.GetNumberOfDirectBaseClasses()):
        base = kind.GetDirectBaseClassAtIndex(index).GetType()
        if base.GetNumberOfFields() or base.GetNumberOfDirectBaseClasses():
            parts.append((f"<{base.GetName()}>", part_of_type(value, base)))
    for index in range(kind.GetNumberOfFields()):
        name = kind.GetFieldAtIndex(index).GetName()
        if name and name.startswith("_vptr"):
            continue
        part = value.GetChildMemberWithName(name) if name else None
        parts.append((name, part if part is not None else unnamed(value, kind.GetFieldAtIndex(index))))
    for name, part in parts:
        text.add("" if is_first else ", ")
        is_first = False
        if text.is_full():
            text.add("…")
            break
        text.add(f"{name}: " if name else "")
        show_part(part, within(pointers), text, depth)
    text.add("}")


def part_of_type(value, base):
    for index in range(value.GetNumChildren()):
        child = value.GetChildAtIndex(index)
        if child.GetType().GetName() == base.GetName():
            return child
    raise Unreadable("a base class is not there")


def unnamed(value, field):
    return value.CreateChildAtOffset("", field.GetOffsetInBytes(), field.GetType())


def show_as_known(value, text, depth, pointers):
    """By the formatters of LLDB, which know this library."""
    known = value.GetSyntheticValue()
    if known.IsValid() and known.GetNumChildren() and (known.GetChildAtIndex(0).GetName() or "").startswith("["):
        count = known.GetNumChildren()
        show_list(children(known, count), count, within(pointers), text, depth)
        return
    show_fields(value, value.GetType().GetCanonicalType(), text, depth, pointers)


# ---- libstdc++ -------------------------------------------------------------------------------------------------


def field(value, *path):
    for name in path:
        value = value.GetNonSyntheticValue().GetChildMemberWithName(name)
    if not value.IsValid():
        raise Unreadable("the standard library is laid out in another way")
    return value.GetNonSyntheticValue()


def number(value, *path):
    return unsigned(field(value, *path))


def argument(value, index):
    kind = value.GetType().GetCanonicalType().GetTemplateArgumentType(index)
    if not kind.IsValid():
        raise Unreadable("the type of its elements is not known")
    return kind


def aligned(offset, kind):
    align = kind.GetByteAlign() if hasattr(kind, "GetByteAlign") else min(kind.GetByteSize() or 1, 8)
    align = max(1, align)
    return (offset + align - 1) // align * align


def show_std_string(value, text, depth, pointers):
    show_characters(value, field(value, "_M_dataplus", "_M_p"), number(value, "_M_string_length"), text)


def show_view(value, text, depth, pointers):
    show_characters(value, field(value, "_M_str"), number(value, "_M_len"), text)


def show_characters(value, pointer, length, text):
    length = checked(length)
    kind = pointer.GetType().GetPointeeType().GetCanonicalType()
    width = kind.GetByteSize()
    if width == 1:
        show_string(value, unsigned(pointer), length, text)
        return
    shown = min(length, 400 // width)
    data = memory(value, unsigned(pointer), shown * width)
    text.add(quoted(data.decode("utf-16-le" if width == 2 else "utf-32-le", "backslashreplace"), '"'))
    if shown < length:
        text.add(f"… {length - shown} more characters")


def elements_of(value):
    """How many elements a container has, and they themselves; those of a map are pairs."""
    name = library_name(value.GetType().GetCanonicalType().GetName())
    if name == "vector":
        kind = argument(value, 0)
        if kind.GetCanonicalType().GetBasicType() == lldb.eBasicTypeBool:
            raise Unreadable("bits")
        start, finish = number(value, "_M_impl", "_M_start"), number(value, "_M_impl", "_M_finish")
        end = number(value, "_M_impl", "_M_end_of_storage")
        size = kind.GetByteSize()
        if not start <= finish <= end or (finish - start) % size:
            raise Unreadable("its end lies before its beginning")
        count = checked((finish - start) // size)
        return count, (value.CreateValueFromAddress(f"[{i}]", start + i * size, kind) for i in range(count))
    if name == "deque":
        return deque(value)
    if name == "list":
        kind = argument(value, 0)
        count = checked(number(value, "_M_impl", "_M_node", "_M_size"))
        first = number(value, "_M_impl", "_M_node", "_M_next")
        return count, chained(value, first, count, kind, aligned(16, kind))
    if name == "forward_list":
        kind = argument(value, 0)
        first = number(value, "_M_impl", "_M_head", "_M_next")
        found = list(chained(value, first, MAX_CHILDREN, kind, aligned(8, kind)))
        return len(found), iter(found)
    if name in ("map", "multimap", "set", "multiset"):
        count, entries = tree(value)
        return count, pairs(entries) if name.endswith("map") else entries
    if name and name.startswith("unordered_"):
        table = field(value, "_M_h")
        kind = argument(table, 1)
        count = checked(number(table, "_M_element_count"))
        entries = chained(value, number(table, "_M_before_begin", "_M_nxt"), count, kind, aligned(8, kind))
        return count, pairs(entries) if name.endswith("map") else entries
    raise Unreadable(f"{name} is not known")


def pairs(entries):
    for entry in entries:
        yield entry.GetChildMemberWithName("first"), entry.GetChildMemberWithName("second")


def pointer_at(value, address):
    error = lldb.SBError()
    found = value.GetProcess().ReadPointerFromMemory(address, error)
    if error.Fail():
        raise Unreadable("no memory there")
    return found


def chained(value, node, count, kind, offset):
    """Values in nodes that begin with the address of the next one."""
    for index in range(count):
        if node == 0:
            return
        yield value.CreateValueFromAddress(f"[{index}]", node + offset, kind)
        node = pointer_at(value, node)


def deque(value):
    kind = argument(value, 0)
    size = kind.GetByteSize()
    per_block = max(1, 512 // size)
    start, finish = field(value, "_M_impl", "_M_start"), field(value, "_M_impl", "_M_finish")
    blocks = (number(finish, "_M_node") - number(start, "_M_node")) // 8
    before = (number(start, "_M_cur") - number(start, "_M_first")) // size
    last = (number(finish, "_M_cur") - number(finish, "_M_first")) // size
    count = checked(blocks * per_block + last - before)
    if count < 0:
        raise Unreadable("its end lies before its beginning")

    def elements():
        first = number(start, "_M_node")
        for index in range(count):
            block, at = divmod(before + index, per_block)
            address = pointer_at(value, first + block * 8) + at * size
            yield value.CreateValueFromAddress(f"[{index}]", address, kind)

    return count, elements()


def tree(value):
    """The values of a red-black tree in their order."""
    inner = field(value, "_M_t")
    kind = argument(inner, 1)
    count = checked(number(inner, "_M_impl", "_M_node_count"))
    header = field(inner, "_M_impl", "_M_header").GetLoadAddress()
    offset = aligned(32, kind)

    def successor(node):
        right = pointer_at(value, node + 24)
        if right:
            node = right
            while left := pointer_at(value, node + 16):
                node = left
            return node
        up = pointer_at(value, node + 8)
        while node == pointer_at(value, up + 24):
            node, up = up, pointer_at(value, up + 8)
        return up if pointer_at(value, node + 24) != up else node

    def entries():
        node = pointer_at(value, header + 16)
        for index in range(count):
            if node in (0, header):
                raise Unreadable("a tree that ends early")
            yield value.CreateValueFromAddress(f"[{index}]", node + offset, kind)
            node = successor(node)

    return count, entries()


def show_elements(brackets):
    def render(value, text, depth, pointers):
        count, elements = elements_of(value)
        show_list(elements, count, within(pointers), text, depth, brackets)

    return render


def show_vector(value, text, depth, pointers):
    if argument(value, 0).GetCanonicalType().GetBasicType() != lldb.eBasicTypeBool:
        show_elements("[]")(value, text, depth, pointers)
        return
    start, finish = field(value, "_M_impl", "_M_start"), field(value, "_M_impl", "_M_finish")
    words = number(finish, "_M_p") - number(start, "_M_p")
    count = checked(words * 8 + number(finish, "_M_offset"))
    shown = min(count, 40)
    data = int.from_bytes(memory(value, number(start, "_M_p"), (shown + 7) // 8), "little")
    rest = f", … {count - shown} more" if shown < count else ""
    text.add("[" + ", ".join("true" if data >> i & 1 else "false" for i in range(shown)) + rest + "]")


def show_array_class(value, text, depth, pointers):
    kind = value.GetType().GetCanonicalType()
    elements = value.GetChildMemberWithName("_M_elems")
    held = kind.GetFieldAtIndex(0).GetType().GetCanonicalType()
    if not elements.IsValid() or held.GetTypeClass() != lldb.eTypeClassArray:
        text.add("[]")
    else:
        show(elements, text, depth, pointers)


def show_optional(value, text, depth, pointers):
    payload = field(value, "_M_payload")
    if number(payload, "_M_engaged") & 0xFF == 0:
        text.add("nullopt")
    else:
        show(field(payload, "_M_payload", "_M_value"), text, depth + 1, pointers)


def show_variant(value, text, depth, pointers):
    index = number(value, "_M_index") & 0xFF
    if index == 0xFF:
        text.add("valueless")
        return
    place = field(value, "_M_u")
    for _ in range(index):
        place = field(place, "_M_rest")
    held = field(place, "_M_first", "_M_storage")
    if held.GetType().GetCanonicalType().GetName().startswith("__gnu_cxx::__aligned_"):
        kind = argument(field(place, "_M_first"), 0)
        held = value.CreateValueFromAddress("held", held.GetLoadAddress(), kind)
    show(held, text, depth + 1, pointers)


def show_pair(value, text, depth, pointers):
    parts = [value.GetChildMemberWithName("first"), value.GetChildMemberWithName("second")]
    show_list(parts, 2, within(pointers), text, depth, "{}")


def show_tuple(value, text, depth, pointers):
    parts = []

    def collect(part):
        part = part.GetNonSyntheticValue()
        for index in range(part.GetNumChildren()):
            child = part.GetChildAtIndex(index).GetNonSyntheticValue()
            name = child.GetType().GetCanonicalType().GetName() or ""
            if name.startswith("std::_Head_base<"):
                number_of = int(re.match(r"std::_Head_base<(\d+)", name).group(1))
                head = child.GetChildMemberWithName("_M_head_impl")
                parts.append((number_of, head if head.IsValid() else child))
            elif name.startswith("std::_Tuple_impl<"):
                collect(child)

    collect(value)
    parts = [part for _, part in sorted(parts, key=lambda pair: pair[0])]
    show_list(parts, len(parts), within(pointers), text, depth, "{}")


def show_unique(value, text, depth, pointers):
    pointer = head_pointer(value)
    show(pointer, text, depth, pointers)


def head_pointer(value):
    """The pointer in a unique_ptr's tuple."""
    value = value.GetNonSyntheticValue()
    if value.GetType().GetCanonicalType().IsPointerType():
        return value
    for index in range(value.GetNumChildren()):
        child = value.GetChildAtIndex(index)
        name = child.GetName() or ""
        if name in ("_M_t", "_M_head_impl") or name.startswith(("std::_Tuple_impl<", "std::_Head_base<", "std::__uniq_ptr")):
            try:
                return head_pointer(child)
            except Unreadable:
                continue
    raise Unreadable("the standard library is laid out in another way")


def show_shared(value, text, depth, pointers):
    show(field(value, "_M_ptr"), text, depth, pointers)


def show_weak(value, text, depth, pointers):
    counts = field(value, "_M_refcount", "_M_pi")
    if unsigned(counts) == 0 or number(counts, "_M_use_count") & 0xFFFFFFFF == 0:
        text.add("expired")
    else:
        show(field(value, "_M_ptr"), text, depth, pointers)


def show_function(value, text, depth, pointers):
    text.add("<function>" if number(value, "_M_manager") else "<empty function>")


def show_inside(*path):
    return lambda value, text, depth, pointers: show(field(value, *path), text, depth + 1, pointers)


def show_atomic(value, text, depth, pointers):
    inner = value.GetChildMemberWithName("_M_i")
    inner = inner if inner.IsValid() else field(value, "_M_b")
    inner = inner.GetNonSyntheticValue()
    deeper = inner.GetChildMemberWithName("_M_i")
    show(deeper if deeper.IsValid() else inner, text, depth + 1, pointers)


def show_bitset(value, text, depth, pointers):
    bits = int(re.match(r"std::bitset<(\d+)", value.GetType().GetCanonicalType().GetName()).group(1))
    data = int.from_bytes(bytes_of(value, value.GetType().GetByteSize()), "little")
    text.add(f"{data:0{bits}b}" if bits else "")


SPECIAL = {
    "basic_string": show_std_string,
    "basic_string_view": show_view,
    "vector": show_vector,
    "array": show_array_class,
    "optional": show_optional,
    "variant": show_variant,
    "pair": show_pair,
    "tuple": show_tuple,
    "unique_ptr": show_unique,
    "shared_ptr": show_shared,
    "weak_ptr": show_weak,
    "function": show_function,
    "atomic": show_atomic,
    "bitset": show_bitset,
    "duration": show_inside("__r"),
    "path": show_inside("_M_pathname"),
    "reference_wrapper": show_inside("_M_data"),
}
for sequence in ("deque", "list", "forward_list"):
    SPECIAL[sequence] = show_elements("[]")
for entries in ("map", "multimap", "set", "multiset", "unordered_map", "unordered_multimap", "unordered_set", "unordered_multiset"):
    SPECIAL[entries] = show_elements("{}")
