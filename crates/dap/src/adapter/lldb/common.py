"""What the formatters of values share: limits, reading memory, text.

What cannot be read is said to be so, in angle brackets: a wrong value is worse than none.
"""

import re
import struct
import time
import unicodedata
from decimal import Decimal

import lldb

# Bytes of one value's text, after which no more elements are added.
MAX_TEXT = 240
# Bytes of one string.
MAX_STRING = 400
# Values within each other.
MAX_DEPTH = 12
# Seconds for one value; what is not read by then is said to be so.
MAX_SECONDS = 0.2
# Elements that a list, a map or a tree is asked for at once.
MAX_CHILDREN = 10_000

# Stands before every text, by which it is told from what LLDB puts before it.
MARK = "\x1f"
# Stands between the name of a type and the text.
TYPE_END = "\x1e"


# Instructions before the arguments of a function are stored.
MAX_PROLOGUE = 64
# What LLDB shows as programs do.
PLAIN = {
    lldb.eBasicTypeBool,
    lldb.eBasicTypeShort,
    lldb.eBasicTypeUnsignedShort,
    lldb.eBasicTypeInt,
    lldb.eBasicTypeUnsignedInt,
    lldb.eBasicTypeLong,
    lldb.eBasicTypeUnsignedLong,
    lldb.eBasicTypeLongLong,
    lldb.eBasicTypeUnsignedLongLong,
}


# Their names. LLDB asks no function of ours about a type that has a text of its own, which takes half a millisecond.
PLAIN_NAMES = ("short", "unsigned short", "int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long")

# What has keys, in both languages' libraries.
MAPS = re.compile(r"^(std::(__\w+::|__cxx11::|__debug::)*(unordered_)?(multi)?map|std::collections::hash::map::HashMap|alloc::collections::btree::map::BTreeMap)<")


def show_plain(run, category):
    """Shows numbers as LLDB writes them, after the mark."""
    for name in PLAIN_NAMES:
        run(f'type summary add -w {category} -e -p -r -C false -s "{MARK}${{var%V}}" "{name}"')


def past_prologue(debugger, thread, result, _session):
    """A command: lets a thread at the first instruction of a function go on until its arguments are stored; says if it did."""
    thread = debugger.GetSelectedTarget().GetProcess().GetThreadByID(int(thread))
    frame = thread.GetFrameAtIndex(0)
    if frame.GetFunction().GetStartAddress() != frame.GetPCAddress():
        return
    # What lies below the stack at this point was written by nobody yet.
    places = [argument.GetLocation() or "" for argument in frame.GetVariables(True, False, False, True)]
    if not any(place.startswith("0x") and int(place, 16) < frame.GetSP() for place in places):
        return
    target = debugger.GetSelectedTarget()
    end = frame.GetLineEntry().GetEndAddress().GetLoadAddress(target)
    debugger.SetAsync(False)
    try:
        for _ in range(MAX_PROLOGUE):
            pc = thread.GetFrameAtIndex(0).GetPC()
            if not frame.GetFunction().GetStartAddress().GetLoadAddress(target) <= pc < end:
                break
            thread.StepInstruction(True)
    finally:
        debugger.SetAsync(True)
    result.AppendMessage(MARK)


def add_commands(run):
    """Adds the commands that are in this module."""
    run(f"script import {__name__}")
    for name, function in (("origin", origin), ("keyed", keyed), ("watched", watched), ("past-prologue", past_prologue)):
        run(f"command script add --overwrite --function {__name__}.{function.__name__} termbridge-{name}")


def origin(debugger, name, result, _session):
    """A command: of which other library a name is a static variable, which no source of this frame can mean."""
    frame = debugger.GetSelectedTarget().GetProcess().GetSelectedThread().GetSelectedFrame()
    if frame.FindVariable(name).IsValid() or frame.GetValueForVariablePath(f"this->{name}").IsValid():
        return
    target = debugger.GetSelectedTarget()
    address = frame.EvaluateExpression(name).GetAddress()
    # A constant has no address of its own.
    having = [address.GetModule()] if address.GetModule().IsValid() else [module for module in target.modules if module.FindGlobalVariables(target, name, 1).GetSize()]
    # What a library exports can be meant.
    if not having or address.GetSymbol().IsExternal() or any(module == frame.GetModule() or module.FindSymbol(name).IsExternal() for module in having):
        return
    result.AppendMessage(f"{MARK}{having[0].GetFileSpec().GetFilename()}{MARK}")


def watched(debugger, number, result, _session):
    """A command: the address that a watchpoint watches."""
    watchpoint = debugger.GetSelectedTarget().FindWatchpointByID(int(number))
    if watchpoint.IsValid():
        result.AppendMessage(f"{MARK}{watchpoint.GetWatchAddress():x}{MARK}")


def keyed(debugger, expression, result, _session):
    """A command: of which map an expression takes a subscript. LLDB would take it for the position of an entry."""
    frame = debugger.GetSelectedTarget().GetProcess().GetSelectedThread().GetSelectedFrame()
    for bracket in re.finditer(r"\[", expression):
        path = expression[: bracket.start()]
        container = frame.GetValueForVariablePath(path)
        if not container.IsValid() or container.GetError().Fail():
            container = frame.EvaluateExpression(path)
        kind = container.GetType().GetCanonicalType()
        while kind.IsPointerType() or kind.IsReferenceType():
            kind = (kind.GetPointeeType() if kind.IsPointerType() else kind.GetDereferencedType()).GetCanonicalType()
        if MAPS.match(kind.GetName() or ""):
            result.AppendMessage(f"{MARK}{path}{MARK}")
            return


class Unreadable(Exception):
    """A value that is not what its type says, or whose memory cannot be read."""


class Text:
    """The text of one value while it is written."""

    def __init__(self, limit=MAX_TEXT):
        self.parts = []
        self.length = 0
        self.limit = limit
        self.deadline = time.monotonic() + MAX_SECONDS

    def add(self, part):
        self.parts.append(part)
        self.length += len(part)

    def is_full(self):
        return self.length >= self.limit or time.monotonic() > self.deadline

    def is_late(self):
        return time.monotonic() > self.deadline

    def __str__(self):
        return "".join(self.parts)


def text_of(value, show, kind=None):
    """The text of a value, behind the name of its type where LLDB has another."""
    text = Text()
    text.add(MARK if kind is None else f"{MARK}{kind}{TYPE_END}")
    text.length = 0
    try:
        show(value, text, 0)
    except Unreadable as why:
        text.add(f"<not readable: {why}>")
    return str(text)


def show_part(part, show, text, depth):
    """A part of a value; one that cannot be read leaves the others readable."""
    try:
        if not part.IsValid():
            raise Unreadable("it is not there")
        show(part, text, depth + 1)
    except Unreadable as why:
        text.add(f"<not readable: {why}>")


def show_list(elements, count, show, text, depth, brackets="[]"):
    """Elements, or pairs of a map, as far as there is room."""
    text.add(brackets[0])
    shown = 0
    try:
        for element in elements:
            if shown:
                text.add(", ")
            if text.is_full():
                text.add(f"… {count - shown} more")
                break
            if isinstance(element, tuple):
                show_part(element[0], show, text, depth)
                text.add(": ")
                show_part(element[1], show, text, depth)
            else:
                show_part(element, show, text, depth)
            shown += 1
    except Unreadable as why:
        # What was found so far stands, and the brackets close.
        text.add(f"{', ' if shown else ''}<not readable: {why}>")
    text.add(brackets[1])


def as_children(elements, show):
    """Elements with their numbers for names; those of a map with their keys."""
    found = []
    try:
        for index, element in zip(range(MAX_CHILDREN), elements):
            if isinstance(element, tuple):
                text = Text(60)
                show_part(element[0], show, text, 0)
                found.append(element[1].Clone(f"[{text}]"))
            else:
                found.append(element.Clone(f"[{index}]"))
    except Unreadable:
        # What was found until then is there.
        pass
    return found


class Parts:
    """The parts of a value in the place of its fields."""

    def __init__(self, value, _session):
        self.value = value
        self.parts = None

    def update(self):
        self.parts = None
        return False

    def has_children(self):
        return True

    def num_children(self):
        return len(self.all())

    def get_child_index(self, name):
        for index, part in enumerate(self.all()):
            if part.GetName() == name:
                return index
        return -1

    def get_child_at_index(self, index):
        parts = self.all()
        return parts[index] if 0 <= index < len(parts) else None

    def all(self):
        if self.parts is None:
            try:
                self.parts = self.find()
            except Unreadable:
                self.parts = []
        return self.parts


def children(value, count):
    return (value.GetChildAtIndex(index) for index in range(count))


def innermost(value):
    """What wrappers of one field hold in the end."""
    value = value.GetNonSyntheticValue()
    while value.GetNumChildren() == 1 and not value.GetType().IsPointerType():
        value = value.GetChildAtIndex(0).GetNonSyntheticValue()
    return value


def pointee(value, address, kind):
    """What lies at an address; LLDB would show zeros where nothing is."""
    size = kind.GetByteSize()
    if size:
        memory(value, address, 1)
        memory(value, address + size - 1, 1)
    return value.CreateValueFromAddress("it", address, kind)


def unsigned(value):
    """A number or an address; LLDB would give 0 where nothing is."""
    error = lldb.SBError()
    found = value.GetValueAsUnsigned(error, 0)
    if error.Fail():
        raise Unreadable(plain_error(error))
    return found


def bytes_of(value, size):
    """The bytes of a value, wherever it is."""
    if size == 0:
        return b""
    address = value.GetLoadAddress()
    if address != lldb.LLDB_INVALID_ADDRESS:
        return memory(value, address, size)
    if value.GetError().Fail():
        # Its data would be zeros.
        raise Unreadable(plain_error(value.GetError()))
    data, error = value.GetData(), lldb.SBError()
    read = data.ReadRawData(error, 0, size) if data.GetByteSize() >= size else None
    if error.Fail() or read is None:
        raise Unreadable(plain_error(value.GetError()))
    return read


def memory(value, address, size):
    if size == 0:
        return b""
    error = lldb.SBError()
    read = value.GetProcess().ReadMemory(address, size, error)
    if error.Fail() or read is None:
        raise Unreadable(f"no memory at {address:#x}")
    return read


def plain_error(error):
    return (error.GetCString() if error.Fail() else None) or "no memory there"


def checked(length):
    if length >= 1 << 47:
        raise Unreadable(f"a length of {length}")
    return length


def function_at(value, address):
    place = value.GetTarget().ResolveLoadAddress(address)
    name = place.GetFunction().GetName() or place.GetSymbol().GetName() or hex(address)
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    # Names of the older kind of symbols come half decoded.
    if "$" in name:
        name = re.sub(r"\$u([0-9a-f]+)\$", lambda code: chr(int(code.group(1), 16)), name)
        for sign, meant in (("$LT$", "<"), ("$GT$", ">"), ("$RF$", "&"), ("$BP$", "*"), ("$LP$", "("), ("$RP$", ")"), ("$C$", ","), ("..", "::")):
            name = name.replace(sign, meant)
        name = name.removeprefix("_")
    return name


def show_string(value, address, length, text):
    """Text in memory, of which the beginning is shown."""
    limit = min(length, MAX_STRING)
    data = memory(value, address, limit)
    if limit < length:
        # Not in the middle of a character.
        data = data[: -(next((n for n in range(1, 4) if len(data) > n and data[-n] & 0xC0 == 0xC0), 0)) or None]
    text.add(quoted_bytes(data))
    if limit < length:
        text.add(f"… {length - len(data)} more bytes")


ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0", "\\": "\\\\"}


def escaped(char, mark):
    """A character as Rust escapes it; a byte that is no UTF-8, as Python keeps it, as `\\xE9`."""
    if char == mark or char in ESCAPES:
        return ESCAPES.get(char, f"\\{mark}")
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02X}"
    # A mark that would join what stands before it is not seen as one.
    is_plain = char.isprintable() and unicodedata.category(char) not in ("Mn", "Me")
    return char if is_plain else f"\\u{{{ord(char):x}}}"


def quoted(text, mark):
    """Text in quotes, as Rust escapes it."""
    return mark + "".join(escaped(char, mark) for char in text) + mark


def quoted_bytes(data):
    """Bytes of text in quotes."""
    return quoted(data.decode("utf-8", "surrogateescape"), '"')


def float_text(value, width):
    """The shortest decimal that means this number."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if width < 8:
        digits = next(d for d in range(1, 10) if struct.unpack("<f", struct.pack("<f", float(f"{value:.{d}g}")))[0] == value)
        value = float(f"{value:.{digits}g}")
    if value == 0 or 1e-5 <= abs(value) < 1e16:
        text = format_plain(value)
        return text if "." in text else f"{text}.0"
    mantissa, exponent = repr(value).split("e") if "e" in repr(value) else f"{value:e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"


def format_plain(value):
    return format(Decimal(repr(value)), "f")
