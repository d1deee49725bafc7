"""What the formatters of values share: limits, reading memory, text.

What cannot be read is said to be so, in angle brackets: a wrong value is worse than none.
"""

import json
import math
import os
import re
import struct
import time
import unicodedata
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction

import lldb
from declarations import UNSET, unset_mark
from removed import REMOVED

# Bytes of one value's text, after which no more elements are added.
MAX_TEXT = 240
# Bytes of one string.
MAX_STRING = 400
# Values within each other.
MAX_DEPTH = 12
# Seconds of work for one value; what is not read by then is left out, and marked so. Waiting is not work: on a busy machine a value
# is as whole as on an idle one.
MAX_WORK = 0.2
# Seconds for one value with everything that it waits for.
MAX_SECONDS = 2
# Elements that a list, a map or a tree is asked for at once.
MAX_CHILDREN = 10_000

# Stands before every text, by which it is told from what LLDB puts before it.
MARK = "\x1f"
# Stands between the name of a type and the text.
TYPE_END = "\x1e"


# Bits of a frame's number that are its place in the stack; the others are the index of its thread.
FRAME_BITS = 19
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


def add_commands(run):
    """Adds the commands that are in this module."""
    run(f"script import {__name__}")
    import evaluator
    import own_breakpoints
    import stepping

    run("script import evaluator, own_breakpoints, stepping")
    for function in (origin, watched, stepping.past_prologue, evaluator.evaluate, evaluator.assign, own_breakpoints.set_conditions, own_breakpoints.unreported):
        name = function.__name__.replace("_", "-")
        run(f"command script add --overwrite --function {function.__module__}.{function.__name__} termbridge-{name}")


def numbered_frame(debugger, given):
    """The frame whose number by lldb-dap an argument begins with, and the rest: it runs commands in whichever frame is selected."""
    number, _, rest = given.partition(" ")
    process = debugger.GetSelectedTarget().GetProcess()
    frame = process.GetThreadByIndexID(int(number) >> FRAME_BITS).GetFrameAtIndex(int(number) & ((1 << FRAME_BITS) - 1))
    return frame if frame.IsValid() else process.GetSelectedThread().GetSelectedFrame(), rest


def origin(debugger, given, result, _session):
    """A command: of which other library a name is a static variable, which no source of this frame can mean."""
    frame, name = numbered_frame(debugger, given)
    if frame.FindVariable(name).IsValid() or frame.GetValueForVariablePath(f"this->{name}").IsValid():
        return
    import importing

    if importing.endless_type(frame, name):
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


class Unreadable(Exception):
    """A value that is not what its type says, or whose memory cannot be read."""


# Characters shown of a value that may not be set yet.
MAX_DOUBTFUL = 200


class Text:
    """The text of one value while it is written."""

    def __init__(self, limit=MAX_TEXT):
        self.parts = []
        self.length = 0
        self.limit = limit
        self.work_end, self.end = time.thread_time() + MAX_WORK, time.monotonic() + MAX_SECONDS

    def add(self, part):
        self.parts.append(part)
        self.length += len(part)

    def is_full(self):
        return self.length >= self.limit or self.is_late()

    def is_late(self):
        return time.thread_time() > self.work_end or time.monotonic() > self.end

    def __str__(self):
        return "".join(self.parts)


def text_of(value, show, kind=None):
    """The text of a value, behind the name of its type where LLDB has another."""
    # Before the time of the text begins: it may read the code of a function.
    mark = unset_mark(value)
    begin = MARK if kind is None else f"{MARK}{kind}{TYPE_END}"
    if mark in (UNSET, REMOVED):
        return begin + mark
    text = Text()
    try:
        show(value, text, 0)
    except Unreadable as why:
        text.add(f"<not readable: {why}>")
    written = str(text)
    if mark and len(written) > MAX_DOUBTFUL:
        # Its mark is not cut off with the rest of what may be no value.
        written = written[:MAX_DOUBTFUL] + "…"
    return begin + written + (mark or "")


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


class Elements:
    """Elements that can be reached by their numbers."""

    def __init__(self, count, at):
        self.count = count
        self.at = at

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        return self.at(index)


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


def memory(value, address, size, least=None):
    """Bytes of the program; where it ends, at least so many."""
    least = size if least is None else least
    if size == 0:
        return b""
    error = lldb.SBError()
    read = value.GetProcess().ReadMemory(address, size, error)
    if error.Fail() or read is None or len(read) < least:
        # A core file leaves out what the program's file has.
        target, error = value.GetTarget(), lldb.SBError()
        read = target.ReadMemory(target.ResolveLoadAddress(address), size, error)
    if error.Fail() or read is None or len(read) < least:
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


def show_string(value, address, length, text, is_utf8=False):
    """Text in memory, of which the beginning is shown; what must be UTF-8 and is not was moved or freed."""
    limit = min(length, MAX_STRING)
    data = memory(value, address, limit)
    if limit < length:
        # Not in the middle of a character.
        data = data[: -(next((n for n in range(1, 4) if len(data) > n and data[-n] & 0xC0 == 0xC0), 0)) or None]
    if is_utf8:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable("its bytes are not UTF-8, it may have been moved") from None
    text.add(quoted_bytes(data))
    if limit < length:
        text.add(f"… {length - len(data)} more bytes")


def show_bytes(value, address, length, text):
    """Text in memory as C's strings of Rust escape it: byte by byte."""
    data = memory(value, address, min(length, MAX_STRING))
    plain = {byte: "\\" + chr(byte) for byte in b"\"'\\"} | {ord(char): f"\\{name}" for char, name in (("\n", "n"), ("\r", "r"), ("\t", "t"))}
    text.add('"' + "".join(plain.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}") for byte in data) + '"')
    if len(data) < length:
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


def float_text(value, width, rounding=ROUND_HALF_EVEN):
    """The shortest decimal that means this number; of two that are as near, that which the language takes."""
    if value != value:
        return "NaN"
    sign, value = "-" if math.copysign(1, value) < 0 else "", abs(value)
    if value == math.inf:
        return f"{sign}inf"
    return sign + (decimal_text(shortest(value, as_single if width < 8 else float, rounding)) if value else "0.0")


def shortest(value, read, rounding):
    """The decimal with the fewest digits that is read as a number. Below a power of two lies less room for it than above."""
    exact = Decimal(value)
    shorts = (Context(digits, way).plus(exact) for digits in range(1, 18) for way in (rounding, ROUND_CEILING))
    return next(short for short in shorts if read(short) == value)


def decimal_text(short):
    """A positive decimal, with an exponent where it would be long."""
    if Decimal("1e-4") <= short < Decimal("1e16"):
        text = format(short, "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text if "." in text else f"{text}.0"
    digits, power = f"{short:e}".lower().split("e")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{digits}e{int(power)}"


# Bits of the whole mantissa and the exponent's offset of an x87 number.
X87_MANTISSA, X87_BIAS = 64, 16383


def long_double_text(data):
    """The shortest decimal that means a number of 80 bits, as x86's processors have it."""
    mantissa, high = int.from_bytes(data[:8], "little"), int.from_bytes(data[8:10], "little")
    sign, exponent = "-" if high >> 15 else "", high & 0x7FFF
    if exponent == 0x7FFF:
        return f"{sign}inf" if mantissa << 1 & (1 << X87_MANTISSA) - 1 == 0 else "NaN"
    if mantissa == 0:
        return f"{sign}0.0"
    power = max(exponent, 1) - X87_BIAS - X87_MANTISSA + 1
    exact = Fraction(mantissa) * Fraction(2) ** power
    # What lies nearer to it than to its neighbours means it.
    room = Fraction(2) ** (power - 1)
    below = room / 2 if mantissa == 1 << X87_MANTISSA - 1 and exponent > 1 else room
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 40, MAX_EMAX, MIN_EMIN
        whole = Decimal(exact.numerator) / Decimal(exact.denominator)
        for digits in range(1, 22):
            short = Decimal(f"{whole:.{digits - 1}e}")
            if exact - below < Fraction(short) < exact + room:
                break
        return sign + decimal_text(short)


def described(name):
    """What a file beside this one says of the program; none while it is not there."""
    try:
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def as_single(value):
    """A number with the precision of four bytes; none if it is too large for them."""
    try:
        return struct.unpack("<f", struct.pack("<f", float(value)))[0]
    except OverflowError:
        return None
