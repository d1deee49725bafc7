"""Evaluates and assigns for the debugger: the commands that use the language of expressions (`reader.py`)."""

import json
import re

import lldb
from common import MARK, Unreadable, numbered_frame
from reader import Failed, NotOurs, Reader, need_value, unescaped
from removed import removed_name

LANGUAGE = None


def check_removed(frame, expression):
    """Fails for an expression that reads what the linker removed: LLDB would make a value up."""
    if (name := removed_name(frame, expression)) is not None:
        raise Failed(f"{name} is not readable: the linker removed it, since no code uses it")


def evaluated(frame, expression):
    check_removed(frame, expression)
    return computed(frame, expression)


def computed(frame, expression):
    """The value of an expression that reads nothing which the linker removed."""
    try:
        return Reader(expression, LANGUAGE, frame).whole()
    except NotOurs:
        if (found := LANGUAGE.without_lldb(frame, expression)) is None:
            raise
        return found


def evaluate(debugger, given, result, _session):
    """A command: the value of an expression: its text and type, a name that LLDB knows it by, an error, or nothing."""
    frame, expression = numbered_frame(debugger, given)
    try:
        check_removed(frame, expression)
        if LANGUAGE.is_lldbs(frame, expression):
            return
        value = computed(frame, expression)
        # What takes no room, or is a part of a byte, LLDB cannot keep.
        if isinstance(value, lldb.SBValue) and value.GetType().GetBasicType() != lldb.eBasicTypeVoid and not LANGUAGE.is_set_here(value):
            said = {"name": value.Persist().GetName()}
        elif isinstance(value, (bool, int, float, str)):
            said = {"text": LANGUAGE.text_of(value), "type": LANGUAGE.type_of(value)}
        else:
            said = {"text": LANGUAGE.shown(value), "type": LANGUAGE.type_of(value)}
    except NotOurs:
        return
    except (Failed, Unreadable) as why:
        said = {"error": str(why)}
    result.AppendMessage(f"{MARK}{json.dumps(said)}{MARK}")


def assign(debugger, given, result, _session):
    """A command: sets a variable to a character, a variant or a text, or a bit-field, by its path; says nothing of what LLDB can set itself."""
    frame, given = numbered_frame(debugger, given)
    path, new = json.loads(given)
    try:
        try:
            value = need_value(evaluated(frame, path))
        except (NotOurs, Failed, Unreadable) as why:
            LANGUAGE.check_set(path)
            raise NotOurs if re.match(r"\s*[-+.\d]", new) else why from None
        read = re.fullmatch(r"""\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|'(?P<char>(?:[^'\\]|\\.[^']*))')\s*""", new)
        text, char = (read["text"], read["char"]) if read else (None, None)
        if text is not None:
            set_text(value, unescaped(text).encode("utf-8", "surrogateescape"))
        elif char is not None:
            set_number(value, ord(unescaped(char)))
        else:
            set_number(value, number_for(frame, value, new.strip()))
        said = {"text": "", "type": ""}
    except NotOurs:
        return
    except (Failed, Unreadable) as why:
        said = {"error": str(why)}
    result.AppendMessage(f"{MARK}{json.dumps(said)}{MARK}")


def set_number(value, number):
    if LANGUAGE.is_set_here(value):
        LANGUAGE.set_here(value, number)
        return
    error = lldb.SBError()
    if not value.SetValueFromCString(str(number), error):
        raise Failed(error.GetCString() or "it cannot be set")


def number_for(frame, value, new):
    """The number that a text stands for: a member of an enum, or for what LLDB cannot set an expression."""
    try:
        return enumerator(value, new)
    except NotOurs:
        if not LANGUAGE.is_set_here(value):
            raise
        return int(LANGUAGE.scalar(evaluated(frame, new)))


def enumerator(value, name):
    """The number of a plain enum's member by its name."""
    kind = value.GetType().GetCanonicalType()
    if kind.GetTypeClass() != lldb.eTypeClassEnumeration or not re.fullmatch(r"[A-Za-z_]\w*(::\w+)*", name):
        raise NotOurs
    members = kind.GetEnumMembers()
    members = [members.GetTypeEnumMemberAtIndex(index) for index in range(members.GetSize())]
    for member in members:
        if member.GetName() == name.rsplit("::", 1)[-1]:
            is_signed = kind.GetEnumerationIntegerType().GetTypeFlags() & lldb.eTypeIsSigned
            return member.GetValueAsSigned() if is_signed else member.GetValueAsUnsigned()
    raise Failed(f"there is no {name}: it is one of {', '.join(member.GetName() for member in members)}")


def set_text(value, data):
    """Puts a text into the memory that an owner of text has for it."""
    address, room, length = LANGUAGE.text_place(value)
    if len(data) > room:
        raise Failed(f"the text has {len(data)} bytes, but its buffer holds {room}, and the debugger cannot enlarge it")
    error = lldb.SBError()
    end = LANGUAGE.text_end
    if value.GetProcess().WriteMemory(address, data + end, error) != len(data + end) or error.Fail():
        raise Failed(error.GetCString() or "it cannot be written")
    if length is not None:
        set_number(length, len(data))
