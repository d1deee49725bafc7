"""Names of Rust's types. LLDB writes the arguments of types as C does and a slice as its elements; what has no arguments of its
own (tuples, enums, pointers with a length) keeps its whole name.
"""

import re

import lldb
from common import MAX_DEPTH

OWNERS = r"^alloc::(rc::Rc|sync::Arc)<.+>$"
BASIC = {
    lldb.eBasicTypeVoid: "()",
    lldb.eBasicTypeBool: "bool",
    lldb.eBasicTypeChar: "i8",
    lldb.eBasicTypeSignedChar: "i8",
    lldb.eBasicTypeUnsignedChar: "u8",
    lldb.eBasicTypeChar32: "char",
    lldb.eBasicTypeShort: "i16",
    lldb.eBasicTypeUnsignedShort: "u16",
    lldb.eBasicTypeInt: "i32",
    lldb.eBasicTypeUnsignedInt: "u32",
    lldb.eBasicTypeLong: "i64",
    lldb.eBasicTypeUnsignedLong: "u64",
    lldb.eBasicTypeInt128: "i128",
    lldb.eBasicTypeUnsignedInt128: "u128",
    lldb.eBasicTypeHalf: "f16",
    lldb.eBasicTypeFloat: "f32",
    lldb.eBasicTypeDouble: "f64",
}
# Arguments that types have unless they are told others.
USUAL = {"alloc::alloc::Global", "std::hash::random::RandomState"}


def rust_name(kind, depth=0):
    """A type's name in Rust; LLDB writes arguments as C does."""
    kind = kind.GetCanonicalType()
    name = kind.GetName() or ""
    if depth > MAX_DEPTH:
        return name
    if kind.GetTypeClass() == lldb.eTypeClassArray:
        element = kind.GetArrayElementType()
        count = kind.GetByteSize() // element.GetByteSize() if element.GetByteSize() else 0
        return f"[{rust_name(element, depth + 1)}; {count}]" if count else name
    if kind.IsPointerType() and not kind.GetPointeeType().IsFunctionType():
        return f"{rust_name(kind.GetPointeeType(), depth + 1)}*"
    if kind.GetNumberOfTemplateArguments() == 0 or "<" not in name:
        return BASIC.get(kind.GetBasicType(), name)
    if re.match(OWNERS, name):
        held = kind.GetFieldAtIndex(0).GetType().GetFieldAtIndex(0).GetType()
        if held.GetNumberOfFields() == 2:
            # The pointer has the whole name of what has no fixed size.
            return f"{name.split('<', 1)[0]}<{owned_name(held)}>"
    given = (rust_name(kind.GetTemplateArgumentType(index), depth + 1) for index in range(kind.GetNumberOfTemplateArguments()))
    return f"{name.split('<', 1)[0]}<{', '.join(argument for argument in given if argument not in USUAL)}>"


def pointed(name):
    """The name of what a reference, a pointer or a box points to."""
    for sign in ("&mut ", "&", "*const ", "*mut "):
        if name.startswith(sign):
            return name.removeprefix(sign)
    return arguments(name)[0] if name.startswith("alloc::boxed::Box<") else name


def arguments(name):
    """The arguments of a type, by its name."""
    found, depth, start = [], 0, name.find("<") + 1
    for index in range(start, len(name)):
        char = name[index]
        if char in "<([{":
            depth += 1
        elif depth == 0 and char in ",>":
            found.append(name[start:index].strip())
            start = index + 1
        elif char in ">)]}" and not (char == ">" and name[index - 1] == "-"):
            depth -= 1
    return found or [name]


def owned_name(pointer):
    """The name of what has no fixed size, as the pointer to it and its counts has it."""
    return arguments(pointed(pointer.GetName()))[0]


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
