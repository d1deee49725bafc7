"""Containers, strings and iterators of Rust's standard library, each laid out in its own way."""

import lldb
from common import MAX_STRING, Unreadable, checked, memory, pointee, quoted, show_list, show_string, unsigned
from rust_enums import at, part_of, variant_of
from rust_fields import OtherLayout, field, first, is_none, number, number_in, some, type_argument
from rust_names import plain_name, size_of
from rust_values import C_TEXT, at_step, elements_at, show, show_slice


# ---- containers and strings ------------------------------------------------------------------------------------


def vec_parts(value):
    """Address and length of a vector."""
    length = checked(number(value, "len"))
    capacity = first(value, ("buf", "inner", "cap"), ("buf", "cap")).GetNonSyntheticValue()
    if length and size_of(type_argument(value, 0)) and length > number_in(capacity):
        raise Unreadable(f"a length of {length} beyond its capacity")
    pointer = first(value, ("buf", "inner", "ptr"), ("buf", "ptr"))
    return number_in(pointer), length


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


def show_owned_string(value, text, depth):
    vector = value.GetNonSyntheticValue()
    while vector.GetNumChildren() == 1:
        vector = vector.GetChildAtIndex(0).GetNonSyntheticValue()
    address, length = vec_parts(vector)
    show_string(value, address, length, text, value.GetType().GetCanonicalType().GetName() == "alloc::string::String")


def show_c_string(value, text, depth):
    show_slice(field(value, "inner").GetNonSyntheticValue(), C_TEXT, text, depth)


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
