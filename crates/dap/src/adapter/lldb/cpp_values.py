"""Values of C and C++ in one line, for LLDB: what a struct holds, what a container has, what a pointer points to.

Containers of libstdc++ are read here, in the line and when they are looked into, so that both have one count: LLDB says
of an unordered_map that has entries that it is empty, and answers any name that is asked of a variant with what the
variant holds. Those of other libraries are shown as LLDB knows them. Long, because each container is laid out in its
own way.
"""

import re
import struct
from itertools import chain

import evaluator
import lldb
from common import (
    MAX_CHILDREN,
    MAX_DEPTH,
    PLAIN,
    Elements,
    Parts,
    Unreadable,
    add_commands,
    as_children,
    bytes_of,
    checked,
    children,
    described,
    float_text,
    function_at,
    long_double_text,
    memory,
    pointee,
    show_list,
    show_part,
    text_of,
    unsigned,
)
from cpp_bits import layouts, with_lost
from cpp_text import (
    MAX_BYTES,
    char_text,
    is_text,
    is_wide,
    show_bytes_or_text,
    show_char_array,
    show_characters,
    show_terminated,
    zero_in,
)
from declarations import unset_mark

CATEGORY = "termbridge-cpp"
# Pointers that are followed within a value: a list is not shown to its end.
MAX_POINTERS = 2
# Steps from an entry of a tree to the next one; no tree in memory is deeper.
MAX_TREE_DEPTH = 128


# ---- entry points ----------------------------------------------------------------------------------------------


def summary(value, _session):
    """The text of a value."""
    kind = value.GetType().GetCanonicalType()
    is_plain = (kind.GetBasicType() in PLAIN and not is_wide(value.GetType())) or kind.GetTypeClass() == lldb.eTypeClassEnumeration
    if is_plain and not unset_mark(value):
        return ""
    return text_of(value, show, name_of_run_time(value))


def name_of_run_time(value):
    """The name of a variable's type whose length is found at run time; none of others."""
    if not is_of_run_time(value) or unset_mark(value):
        return None
    try:
        return (array_of_run_time(value) or exact(value)).GetType().GetName()
    except Unreadable:
        kind = value.GetType().GetCanonicalType()
        is_array = kind.GetTypeClass() == lldb.eTypeClassArray
        return f"{kind.GetArrayElementType().GetName()}[]" if is_array else None


def __lldb_init_module(debugger, _session):
    here = __name__
    run = debugger.HandleCommand
    add_commands(run)
    import cpp_access

    evaluator.LANGUAGE = cpp_access.Access()
    run(f"type category define -e {CATEGORY}")
    run(f'type summary add -w {CATEGORY} -e -F {here}.summary -x ".*"')
    run(f"type synthetic add -w {CATEGORY} -l {here}.Inside --recognizer-function {here}.has_other_parts")


def has_other_parts(kind, _session):
    """Whether what is inside a value is not what its fields are."""
    if layouts(kind):
        return True
    kind = kind.GetCanonicalType()
    fields = [kind.GetFieldAtIndex(index) for index in range(kind.GetNumberOfFields())]
    if kind.GetTypeClass() == lldb.eTypeClassUnion:
        return any(is_unbounded(field.GetType()) for field in fields)
    if kind.GetTypeClass() == lldb.eTypeClassArray:
        # Which variables they are of, types do not tell.
        return bool(arrays_of("variables") or arrays_of("pointers"))
    if any(is_padding(field) for field in fields):
        return True
    return library_name(kind.GetName() or "") in INSIDE


class Inside(Parts):
    """What is inside a value, in the place of its fields."""

    def has_children(self):
        return len(self.all()) > 0

    def get_child_index(self, name):
        numbered = re.match(r"^\[(\d+)\]$", name)
        if numbered and isinstance(self.all(), Elements):
            return int(numbered.group(1))
        # By this name LLDB follows a pointer.
        if name == "$$dereference$$":
            return super().get_child_index(POINTEE)
        return super().get_child_index(name)

    def find(self):
        value = exact(self.value.GetNonSyntheticValue())
        while value.GetType().GetCanonicalType().IsPointerType() or value.GetType().GetCanonicalType().IsReferenceType():
            value = pointee(value, unsigned(value), value.GetType().GetCanonicalType().GetPointeeType())
        kind = value.GetType().GetCanonicalType()
        if kind.GetTypeClass() == lldb.eTypeClassArray:
            value = array_of_run_time(value) or value
            return Elements(value.GetNumChildren(), value.GetChildAtIndex)
        name = library_name(kind.GetName() or "")
        if name not in INSIDE:
            return [part for _, part in (*bases_of(value, kind), *members(value, kind))]
        return INSIDE[name](value)


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
    elif what == lldb.eTypeClassComplexFloat:
        text.add(complex_text(bytes_of(value, kind.GetByteSize())))
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
    if basic in FLOATS:
        text.add(number_text(bytes_of(value, kind.GetByteSize())))
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
        elif is_text(value.GetType()):
            text.add(char_text(found, kind.GetByteSize()))
        elif kind.GetTypeFlags() & lldb.eTypeIsSigned:
            text.add(str(value.GetValueAsSigned()))
        else:
            text.add(str(found))


FLOATS = (lldb.eBasicTypeFloat, lldb.eBasicTypeDouble, lldb.eBasicTypeLongDouble)


def number_text(data):
    """A float by its bytes: a long one has 80 bits and some that say nothing."""
    if len(data) in (12, 16):
        return long_double_text(data).removesuffix(".0")
    return float_text(struct.unpack("<f" if len(data) == 4 else "<d", data)[0], len(data)).removesuffix(".0")


def complex_text(data):
    real, imaginary = number_text(data[: len(data) // 2]), number_text(data[len(data) // 2 :])
    return f"{real} - {imaginary[1:]}i" if imaginary.startswith("-") else f"{real} + {imaginary}i"


def show_pointer(value, kind, text, depth, pointers):
    address = unsigned(value)
    value = exact(value)
    # In C the names of characters that are wide are other names of numbers.
    target = value.GetType().GetPointeeType()
    if address == 0:
        text.add("nullptr")
    elif target.IsFunctionType():
        text.add(function_at(value, address))
    elif is_text(target):
        show_terminated(value, address, target.GetByteSize(), text)
    elif target.GetUnqualifiedType().GetName() == "unsigned char":
        show_bytes_or_text(value, address, text)
    elif target.GetCanonicalType().GetBasicType() == lldb.eBasicTypeVoid or pointers >= MAX_POINTERS or not target.IsTypeComplete():
        text.add(f"{address:#x}")
    else:
        text.add("&")
        show(pointee(value, address, target), text, depth + 1, pointers + 1)


def is_unbounded(kind):
    """Whether the length of an array is not known."""
    kind = kind.GetCanonicalType()
    return kind.GetTypeClass() == lldb.eTypeClassArray and "[]" in (kind.GetName() or "")


def show_array(value, kind, text, depth, pointers):
    sized = array_of_run_time(value)
    if sized is not None:
        value, kind = sized, sized.GetType().GetCanonicalType()
    element = value.GetType().GetArrayElementType() or kind.GetArrayElementType()
    width = element.GetByteSize()
    if is_unbounded(kind):
        if not is_text(element):
            # Also where it has none: nothing tells.
            text.add("[… of unknown length]")
            return
        show_terminated(value, value.GetLoadAddress(), width, text)
    elif is_text(element):
        length = value.GetNumChildren() * width
        show_char_array(bytes_of(value, min(length, MAX_BYTES)), length, width, text)
    else:
        count = value.GetNumChildren()
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
    """`vector` of `std::vector<int, …>`, and of its inline namespaces; not of what such a class has within it."""
    if not name.startswith("std::") or re.search(r">::\w+$", name):
        return None
    return re.sub(r"^(__cxx11|__debug|chrono|filesystem::__cxx11|filesystem)::", "", name[5:].split("<", 1)[0])


def show_fields(value, kind, text, depth, pointers):
    """What a struct, a class or a union has, its bases first."""
    text.add("{")
    is_first = True
    try:
        for name, part in chain(bases_of(value, kind), members(value, kind)):
            text.add("" if is_first else ", ")
            is_first = False
            if text.is_full():
                text.add("…")
                break
            text.add(f"{name}: " if name else "")
            show_part(part, within(pointers), text, depth)
    except Unreadable as why:
        text.add(f"{'' if is_first else ', '}<not readable: {why}>")
    text.add("}")


def bases_of(value, kind):
    """The names of the base classes that hold something, each with its part of the value. LLDB has no parts for the others."""
    parts = [value.GetChildAtIndex(index) for index in range(min(value.GetNumChildren(), kind.GetNumberOfDirectBaseClasses()))]
    for index in range(kind.GetNumberOfDirectBaseClasses()):
        base = kind.GetDirectBaseClassAtIndex(index).GetType()
        if not is_empty(base):
            found = (part for part in parts if part.GetType().GetName() == base.GetName())
            yield f"<{base.GetName()}>", next(found, lldb.SBValue())


def is_empty(base):
    """Whether neither a base class nor one of its own has fields. Those of exceptions are not described."""
    base = base.GetCanonicalType()
    if base.GetNumberOfFields() or library_name(base.GetName() or "") in EXCEPTIONS:
        return False
    return all(is_empty(base.GetDirectBaseClassAtIndex(index).GetType()) for index in range(base.GetNumberOfDirectBaseClasses()))


def members(value, kind):
    """The names of what a struct, a class or a union has itself, each with its value."""
    found = layouts(value.GetType()) or layouts(kind)
    return with_lost(value, found, list(lldbs_members(value, kind))) if found else lldbs_members(value, kind)


def lldbs_members(value, kind):
    for index in range(kind.GetNumberOfFields()):
        field = kind.GetFieldAtIndex(index)
        name = field.GetName()
        if (name and name.startswith("_vptr")) or is_padding(field):
            continue
        part = value.GetChildMemberWithName(name) if name else unnamed(value, field)
        if kind.GetTypeClass() == lldb.eTypeClassUnion and is_unbounded(field.GetType()):
            part = with_length(part, kind, name)
        yield name, part


def is_padding(field):
    return not field.GetName() and field.IsBitfield()


def with_length(part, union, name):
    """An array in a union, whose length LLDB 19 forgets unless the debug information says where the array lies."""
    names = [union.GetFieldAtIndex(index).GetName() or "" for index in range(union.GetNumberOfFields())]
    lengths = arrays_of("unions").get(f"{union.GetByteSize()} {' '.join(names)}", {})
    length, address, element = lengths.get(name), part.GetLoadAddress(), part.GetType().GetArrayElementType()
    if address == lldb.LLDB_INVALID_ADDRESS:
        return part
    if length is None and is_text(element):
        # The text up to a zero, within the union.
        width = element.GetByteSize()
        data = memory(part, address, union.GetByteSize() // width * width)
        zero = zero_in(data, width)
        length = (len(data) if zero is None else zero) // width
    return part if length is None else part.CreateValueFromAddress(name, address, element.GetArrayType(length))


def array_of_run_time(value):
    """A variable whose length is found at run time, with that; none of others. LLDB takes the size of its description for it."""
    kind = type_of_run_time(value, "variables", value.GetType().GetCanonicalType())
    return None if kind is None else pointee(value, value.GetLoadAddress(), kind)


def exact(value):
    """A variable as it is; one that points to an array whose length is found at run time, with that."""
    kind = value.GetType().GetCanonicalType()
    if not kind.IsPointerType() or not arrays_of("pointers"):
        return value
    target = type_of_run_time(value, "pointers", kind.GetPointeeType().GetCanonicalType())
    return value if target is None else value.Cast(target.GetPointerType())


def is_of_run_time(value):
    name = f"{value.GetName()}:{value.GetDeclaration().GetLine()}"
    is_variable = value.GetValueType() in (lldb.eValueTypeVariableLocal, lldb.eValueTypeVariableArgument)
    return is_variable and any(name in arrays_of(which) for which in ("variables", "pointers"))


def has_run_time_rows(value):
    """Whether LLDB does not know how far the elements of a variable are apart."""
    name = f"{value.GetName()}:{value.GetDeclaration().GetLine()}"
    return is_of_run_time(value) and (name in arrays_of("pointers") or (arrays_of("variables")[name] is None or len(arrays_of("variables")[name]) > 1))


def type_of_run_time(value, which, kind):
    """The type of an array whose length is found at run time, of a variable that is one or points to it; none of others."""
    name = f"{value.GetName()}:{value.GetDeclaration().GetLine()}"
    if value.GetValueType() not in (lldb.eValueTypeVariableLocal, lldb.eValueTypeVariableArgument) or name not in arrays_of(which):
        return None
    bounds = arrays_of(which)[name]
    if bounds is None:
        raise Unreadable("its length is not known")
    for _ in bounds:
        kind = kind.GetArrayElementType()
    for bound in reversed(bounds):
        length = bound["length"] if "length" in bound else pointer_at(value, value.GetFrame().GetCFA() + bound["at"]) + 1
        kind = kind.GetArrayType(checked(length))
    return kind


ARRAYS = None


def arrays_of(which):
    """The program's table `arrays.json`: arrays in unions, in variables and behind pointers, and the names of all bit-fields."""
    global ARRAYS
    if ARRAYS is None:
        ARRAYS = described("arrays.json") or {"unions": {}, "variables": {}, "pointers": {}, "bit_fields": []}
    return ARRAYS[which]


def unnamed(value, field):
    """A member without a name. Not as a child at an offset: LLDB gives each offset the type that was first asked for."""
    address = value.GetLoadAddress()
    if address == lldb.LLDB_INVALID_ADDRESS:
        raise Unreadable("it is not in memory")
    return value.CreateValueFromAddress("", address + field.GetOffsetInBytes(), field.GetType())


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


def elements_of(value):
    """How many elements a container has, and they themselves; those of a map are pairs."""
    name = library_name(value.GetType().GetCanonicalType().GetName())
    if name == "vector":
        kind = argument(value, 0)
        if kind.GetCanonicalType().GetBasicType() == lldb.eBasicTypeBool:
            return bits_of(value, kind)
        start, finish = number(value, "_M_impl", "_M_start"), number(value, "_M_impl", "_M_finish")
        end = number(value, "_M_impl", "_M_end_of_storage")
        size = kind.GetByteSize()
        if not start <= finish <= end or (finish - start) % size:
            raise Unreadable("its end lies before its beginning")
        count = checked((finish - start) // size)
        if count:
            memory(value, start, 1)
            memory(value, finish - 1, 1)
        return count, Elements(count, lambda i: value.CreateValueFromAddress(f"[{i}]", start + i * size, kind))
    if name == "span":
        kind, start = argument(value, 0), number(value, "_M_ptr")
        count, size = span_length(value), kind.GetByteSize()
        return count, Elements(count, lambda i: pointee(value, start + i * size, kind).Clone(f"[{i}]"))
    if name in ("initializer_list", "valarray"):
        length, start = ("_M_len", "_M_array") if name == "initializer_list" else ("_M_size", "_M_data")
        kind, count, start = argument(value, 0), checked(number(value, length)), number(value, start)
        size = kind.GetByteSize()
        return count, Elements(count, lambda i: pointee(value, start + i * size, kind).Clone(f"[{i}]"))
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


def span_length(value):
    """How many elements a span has; one of a fixed number has it in its type."""
    extent = field(value, "_M_extent").GetChildMemberWithName("_M_extent_value")
    if extent.IsValid():
        return checked(unsigned(extent))
    return int(re.search(r", (\d+)[a-z]*>$", value.GetType().GetCanonicalType().GetName()).group(1))


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

    first = number(start, "_M_node")

    def element(index):
        block, at = divmod(before + index, per_block)
        address = pointer_at(value, first + block * 8) + at * size
        return value.CreateValueFromAddress(f"[{index}]", address, kind)

    return count, Elements(count, element)


def tree(value):
    """The values of a red-black tree in their order."""
    inner = field(value, "_M_t")
    kind = argument(inner, 1)
    count = checked(number(inner, "_M_impl", "_M_node_count"))
    header = field(inner, "_M_impl", "_M_header").GetLoadAddress()
    offset = aligned(32, kind)

    def follow(node, offset):
        """The nodes from one on by the addresses at an offset."""
        for _ in range(MAX_TREE_DEPTH):
            yield node
            node = pointer_at(value, node + offset)
        raise Unreadable("a tree without an end")

    def successor(node):
        right = pointer_at(value, node + 24)
        if right:
            return next(node for node in follow(right, 16) if pointer_at(value, node + 16) == 0)
        for up in follow(pointer_at(value, node + 8), 8):
            if pointer_at(value, up + 24) != node:
                return up if pointer_at(value, node + 24) != up else node
            node = up

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


def bits_of(value, kind):
    """The elements of a vector<bool>."""
    start, finish = field(value, "_M_impl", "_M_start"), field(value, "_M_impl", "_M_finish")
    words = number(finish, "_M_p") - number(start, "_M_p")
    count = checked(words * 8 + number(finish, "_M_offset"))
    if count < 0:
        raise Unreadable("its end lies before its beginning")
    first = number(start, "_M_p")

    def bit(index):
        is_set = memory(value, first + index // 8, 1)[0] >> index % 8 & 1
        data = lldb.SBData.CreateDataFromUInt32Array(lldb.eByteOrderLittle, 8, [is_set])
        return value.CreateValueFromData(f"[{index}]", data, kind)

    return count, Elements(count, bit)


def show_array_class(value, text, depth, pointers):
    kind = value.GetType().GetCanonicalType()
    elements = value.GetChildMemberWithName("_M_elems")
    held = kind.GetFieldAtIndex(0).GetType().GetCanonicalType()
    if not elements.IsValid() or held.GetTypeClass() != lldb.eTypeClassArray:
        text.add("[]")
    else:
        show(elements, text, depth, pointers)


def show_optional(value, text, depth, pointers):
    held = held_by_optional(value)
    if held is None:
        text.add("nullopt")
    elif library_name(held.GetType().GetCanonicalType().GetName() or "") == "optional":
        # Told from one that is empty itself.
        show_list([held], 1, within(pointers), text, depth, "{}")
    else:
        show(held, text, depth + 1, pointers)


def held_by_optional(value):
    payload = field(value, "_M_payload")
    if number(payload, "_M_engaged") & 0xFF == 0:
        return None
    return field(payload, "_M_payload", "_M_value")


def show_variant(value, text, depth, pointers):
    held = held_by_variant(value)
    if held is None:
        text.add("valueless")
    else:
        show(held, text, depth + 1, pointers)


def held_by_variant(value):
    index = number(value, "_M_index") & 0xFF
    if index == 0xFF:
        return None
    place = field(value, "_M_u")
    for _ in range(index):
        place = field(place, "_M_rest")
    held = field(place, "_M_first", "_M_storage")
    if held.GetType().GetCanonicalType().GetName().startswith("__gnu_cxx::__aligned_"):
        kind = argument(field(place, "_M_first"), 0)
        held = value.CreateValueFromAddress("held", held.GetLoadAddress(), kind)
    return held


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
    parts = [value.GetChildAtIndex(index) for index in range(value.GetNumChildren())]
    # The tuple's first element; the others are of the deleter.
    for child in sorted(parts, key=lambda part: not (part.GetName() or "").startswith("std::_Head_base<0")):
        name = child.GetName() or ""
        if name in ("_M_t", "_M_head_impl") or name.startswith(("std::_Tuple_impl<", "std::_Head_base<", "std::__uniq_ptr")):
            try:
                return head_pointer(child)
            except Unreadable:
                continue
    raise Unreadable("the standard library is laid out in another way")


def show_shared(value, text, depth, pointers):
    show(field(value, "_M_ptr"), text, depth, pointers)


def is_expired(value):
    counts = field(value, "_M_refcount", "_M_pi")
    return unsigned(counts) == 0 or number(counts, "_M_use_count") & 0xFFFFFFFF == 0


def show_weak(value, text, depth, pointers):
    if is_expired(value):
        text.add("expired")
    else:
        show(field(value, "_M_ptr"), text, depth, pointers)


def show_function(value, text, depth, pointers):
    text.add("<function>" if number(value, "_M_manager") else "<empty function>")


def show_inside(*path):
    return lambda value, text, depth, pointers: show(field(value, *path), text, depth + 1, pointers)


def show_atomic(value, text, depth, pointers):
    show(held_by_atomic(value), text, depth + 1, pointers)


def held_by_atomic(value):
    """What an atomic holds, by the names that its kinds have for that."""
    for name in ("_M_base", "_M_b", "_M_i", "_M_p", "_M_fp"):
        inner = value.GetChildMemberWithName(name)
        if inner.IsValid():
            value = inner.GetNonSyntheticValue()
    if re.match(r"^std::(atomic|__atomic_base|__atomic_float)<", value.GetType().GetCanonicalType().GetName() or ""):
        raise Unreadable("the standard library is laid out in another way")
    return value


def show_bitset(value, text, depth, pointers):
    bits = int(re.match(r"std::bitset<(\d+)", value.GetType().GetCanonicalType().GetName()).group(1))
    data = int.from_bytes(bytes_of(value, value.GetType().GetByteSize()), "little")
    text.add(f"{data:0{bits}b}" if bits else "")


# Exceptions of libstdc++ that have a text: a pointer to it behind that to the functions. Their fields are not described.
EXCEPTIONS = ("logic_error", "domain_error", "invalid_argument", "length_error", "out_of_range", "runtime_error", "range_error", "overflow_error", "underflow_error")


def show_exception(value, text, _depth, _pointers):
    width = value.GetTarget().GetAddressByteSize()
    show_terminated(value, pointer_at(value, value.GetLoadAddress() + width), 1, text)


SPECIAL = {
    "basic_string": show_std_string,
    "complex": show_inside("_M_value"),
    "basic_string_view": show_view,
    "vector": show_elements("[]"),
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
for exception in EXCEPTIONS:
    SPECIAL[exception] = show_exception
for sequence in ("deque", "list", "forward_list", "span", "initializer_list", "valarray"):
    SPECIAL[sequence] = show_elements("[]")
for entries in ("map", "multimap", "set", "multiset", "unordered_map", "unordered_multimap", "unordered_set", "unordered_multiset"):
    SPECIAL[entries] = show_elements("{}")


# ---- what is inside --------------------------------------------------------------------------------------------

# The name of what a pointer of the library points to, as LLDB has it.
POINTEE = "object"


def nothing_inside(_value):
    return []


def elements_inside(value):
    elements = elements_of(value)[1]
    return elements if isinstance(elements, Elements) else as_children(elements, show)


def array_inside(value):
    elements = value.GetChildMemberWithName("_M_elems").GetNonSyntheticValue()
    return Elements(elements.GetNumChildren(), elements.GetChildAtIndex)


def one_inside(held_by):
    def inside(value):
        held = held_by(value)
        return [] if held is None else [held.Clone("Value")]

    return inside


def atomic_inside(value):
    held = held_by_atomic(value)
    return [held.Clone("Value")] if held.GetNumChildren() else []


def pointee_inside(pointer_of):
    def inside(value):
        pointer = pointer_of(value)
        kind = pointer.GetType().GetCanonicalType().GetPointeeType()
        if unsigned(pointer) == 0 or not kind.IsTypeComplete() or not kind.GetByteSize():
            return []
        return [pointee(value, unsigned(pointer), kind).Clone(POINTEE)]

    return inside


def shared_pointer(value):
    return field(value, "_M_ptr")


INSIDE = {
    "array": array_inside,
    "atomic": atomic_inside,
    "basic_string": nothing_inside,
    "basic_string_view": nothing_inside,
    "duration": nothing_inside,
    "function": nothing_inside,
    "optional": one_inside(held_by_optional),
    "path": nothing_inside,
    "shared_ptr": pointee_inside(shared_pointer),
    "unique_ptr": pointee_inside(head_pointer),
    "variant": one_inside(held_by_variant),
    "weak_ptr": lambda value: [] if is_expired(value) else pointee_inside(shared_pointer)(value),
}
for container in ("vector", "deque", "list", "forward_list", "span", "initializer_list", "valarray", *(name for name in SPECIAL if name.endswith(("map", "set")) and name != "bitset")):
    INSIDE[container] = elements_inside
