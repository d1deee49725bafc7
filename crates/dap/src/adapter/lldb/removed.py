"""Static variables that the linker removed because no code uses them.

Their debug information has the address 0, so LLDB reads the beginning of the program's file instead.
"""

import re

import lldb
from importing import BEGINNING
from statements import is_c_or_cpp

REMOVED = "<not readable: the linker removed it>"
STATIC = (lldb.eValueTypeVariableGlobal, lldb.eValueTypeVariableStatic)
# Variables of one name that are looked at.
MAX_NAMESAKES = 20
# Parts of an expression in which names are not read.
UNREAD = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.[^']*)'|\b(?:sizeof|alignof|decltype)\s*\([^()]*\)""")


def is_removed(value):
    """Whether a value is a static variable without a place in the program, or a part of one."""
    kind = value.GetValueType()
    # LLDB takes the path of a static variable in Rust for an expression.
    if kind not in STATIC and (kind != lldb.eValueTypeConstResult or is_c_or_cpp(value.GetFrame())):
        return False
    address, is_whole = value.GetAddress(), value.GetDeclaration().IsValid()
    if address.GetSection().GetSectionType() == lldb.eSectionTypeContainer:
        # Only the file's header is in a segment but in none of its sections. A pointer may lead there.
        return address.GetFileAddress() == 0 if is_whole else not re.search(r"->|\*", value.get_expr_path() or "")
    # A program that is not relocated has nothing at this address.
    return is_whole and (value.GetLoadAddress() == 0 or (value.GetError().GetCString() or "").startswith("read memory from 0x0 failed"))


def removed_name(frame, expression):
    """The first name in an expression that means a removed variable; None if there is none."""
    return next((name for name in names_in(expression) if is_removed_here(frame, name)), None)


def names_in(expression):
    """The names of variables that an expression reads, and of others."""
    return [name for name, is_called in BEGINNING.findall(UNREAD.sub("", expression)) if not is_called]


def is_removed_here(frame, name):
    found = frame.GetValueForVariablePath(name)
    if found.IsValid():
        return is_removed(found) and not frame.GetValueForVariablePath(f"this->{name}").IsValid()
    return "::" in name and are_removed(frame.GetThread().GetProcess().GetTarget(), name)


def are_removed(target, name):
    """Whether all static variables of a name are removed, and there are some."""
    namesakes = target.FindGlobalVariables(name.rsplit("::", 1)[-1], MAX_NAMESAKES)
    meant = [value for value in namesakes if f"::{without_hash(value.GetName())}".endswith(f"::{name.removeprefix('::')}")]
    return bool(meant) and all(is_removed(value) for value in meant)


def reads_removed(point, expressions):
    """Whether an expression of a breakpoint calculates with what may be a removed variable. LLDB itself finds one by its path."""
    target = point.GetTarget()
    names = {name for expression in expressions if not re.fullmatch(r"[\w.:]*", expression) for name in names_in(expression)}
    removed = {name for name in names if are_removed(target, name)}
    return any(removed - names_at(location.GetAddress(), target) for location in point)


def names_at(address, target):
    """The names of the variables of the function at an address."""
    block, names = address.GetBlock(), set()
    while block.IsValid():
        names |= {value.GetName() for value in block.GetVariables(target, True, True, True)}
        block = block.GetParent()
    return names


def without_hash(name):
    """The path of a variable, to which symbols of Rust add a hash."""
    return re.sub(r"::h[0-9a-f]{16}$", "", name or "")
