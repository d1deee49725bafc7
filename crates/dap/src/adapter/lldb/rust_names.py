"""Names of Rust's types. LLDB writes the arguments of types as C does and a slice as its elements; what has no arguments of its
own (tuples, enums, pointers with a length) keeps its whole name. The names of variables' types lie beside this file
(`variables.json`).
"""

import re

import lldb
from common import MAX_DEPTH, described

# What is shown of a type's name within a value.
MAX_NAME = 120
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


NOTHING = {"functions": {}, "types": []}
VARIABLES = None


def variable_type(value):
    """The name of a variable's type as its source has it, if it is known."""
    global VARIABLES
    if value.GetValueType() not in (lldb.eValueTypeVariableLocal, lldb.eValueTypeVariableArgument):
        return None
    if VARIABLES is None:
        VARIABLES = described("variables.json") or NOTHING
    function = VARIABLES["functions"].get(value.GetFrame().GetFunction().GetMangledName(), {})
    number = function.get(f"{value.GetName()}:{value.GetDeclaration().GetLine()}")
    return None if number is None else VARIABLES["types"][number]


def rust_name(kind, depth=0):
    """A type's name in Rust; LLDB writes arguments as C does."""
    kind = kind.GetCanonicalType()
    name = kind.GetName() or ""
    if depth > MAX_DEPTH:
        return name
    if kind.GetTypeClass() == lldb.eTypeClassArray:
        element = rust_name(kind.GetArrayElementType(), depth + 1)
        # What is no argument of a type has a length.
        return f"[{element}]" if depth and is_slice(kind) else f"[{element}; {length_of(kind)}]"
    if kind.IsPointerType():
        target = kind.GetPointeeType()
        return function_name(target, depth + 1) if target.IsFunctionType() else f"{rust_name(target, depth + 1)}*"
    if kind.GetNumberOfTemplateArguments() == 0 or "<" not in name:
        return BASIC.get(kind.GetBasicType(), name)
    if re.match(OWNERS, name):
        held = kind.GetFieldAtIndex(0).GetType().GetFieldAtIndex(0).GetType()
        if held.GetNumberOfFields() == 2:
            # The pointer has the whole name of what has no fixed size.
            return f"{name.split('<', 1)[0]}<{owned_name(held)}>"
    given = (rust_name(kind.GetTemplateArgumentType(index), depth + 1) for index in range(kind.GetNumberOfTemplateArguments()))
    return f"{name.split('<', 1)[0]}<{', '.join(argument for argument in given if argument not in USUAL)}>"


def function_name(kind, depth):
    given, result = kind.GetFunctionArgumentTypes(), rust_name(kind.GetFunctionReturnType(), depth)
    names = (rust_name(given.GetTypeAtIndex(index), depth) for index in range(given.GetSize()))
    return f"fn({', '.join(names)}){'' if result == '()' else f' -> {result}'}"


def short_name(kind):
    """A type's name where it is not the point; some have kilobytes."""
    name = rust_name(kind)
    return name if len(name) <= MAX_NAME else f"{name.split('<', 1)[0]}<…>"


def length_of(array):
    """How many elements an array has; one that LLDB writes without a length has none."""
    element = array.GetArrayElementType()
    if not size_of(element):
        # An array of pointers does not have its lengths at the end: `short (*[3][0])[2]`.
        return int(re.search(r"((?:\[\d*\])+)(?:\)[^>]*)?$", array.GetName()).group(1)[1:].split("]", 1)[0] or 0)
    count = array.GetByteSize() // element.GetByteSize()
    # LLDB gives an array of no elements the size of one.
    return 0 if count == 1 and array.GetName() != element.GetArrayType(1).GetName() else count


def is_slice(kind):
    """Whether a type that has no fixed size is a slice as newer compilers describe it: an array without a length. Older compilers
    describe one element instead. LLDB writes `[T; 0]` in the same way.
    """
    kind = kind.GetCanonicalType()
    return kind.GetTypeClass() == lldb.eTypeClassArray and length_of(kind) == 0 and size_of(kind.GetArrayElementType()) > 0


def element_of(kind):
    """The type of a slice's elements if the slice's name is not known."""
    kind = kind.GetCanonicalType()
    has_no_length = kind.GetTypeClass() == lldb.eTypeClassArray and length_of(kind) == 0
    return kind.GetArrayElementType() if has_no_length else kind


def named_element(kind, name):
    """The type of a slice's elements, by the slice's name: the elements may be arrays themselves, even empty ones."""
    kind, levels = kind.GetCanonicalType(), 0
    within = kind
    while within.GetTypeClass() == lldb.eTypeClassArray:
        within, levels = within.GetArrayElementType().GetCanonicalType(), levels + 1
    element = name.removeprefix("[")
    return kind.GetArrayElementType() if levels > len(element) - len(element.lstrip("[")) else kind


def size_of(kind):
    """The bytes of a type; LLDB gives an array of no elements the size of one."""
    kind = kind.GetCanonicalType()
    if kind.GetTypeClass() == lldb.eTypeClassArray:
        return length_of(kind) * size_of(kind.GetArrayElementType())
    return kind.GetByteSize()


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
