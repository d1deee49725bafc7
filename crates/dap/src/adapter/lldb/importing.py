"""Types that LLDB 19 cannot import from GCC's debug information, and how to calculate without them.

GCC omits template parameters that have no name, and LLDB drops those of a pack. If a specialization derives from another one of its
template (`std::optional` of a class), or holds one (a tuple in a tuple), LLDB takes both for one class. It then recurses without
end and crashes, and the program dies with it. In a method, LLDB imports the class for every expression. Expressions that need
such a type are therefore calculated without the frame: values of the program are inserted as numbers.
"""

import re

import lldb

RECORDS = (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion)
WITH_TARGET = (lldb.eTypeClassPointer, lldb.eTypeClassReference, lldb.eTypeClassArray)
# A name that begins a path, and whether it is called.
BEGINNING = re.compile(r"(?<![\w.])(?<!->)([A-Za-z_]\w*(?:::\w+)*)(\s*\()?")


def endless_type(frame, expression):
    """The name of a type without an end that LLDB would take over for an expression."""
    return endless_among(frame.GetVariables(True, True, False, True), frame.GetThread().GetProcess().GetTarget(), expression)


def endless_type_at(address, target, expression):
    """The same for a place in the code."""
    block, variables = address.GetBlock(), []
    while block.IsValid():
        variables += block.GetVariables(target, True, True, True)
        block = block.GetParent()
    return endless_among(variables, target, expression)


def endless_among(variables, target, expression):
    names, seen = set(re.findall(r"\w+", expression)), set()
    found = (endless_in(kind, names, seen) for kind in needed_types(variables, target, expression))
    return next((name for name in found if name), None)


def needed_types(variables, target, expression):
    begins = dict(BEGINNING.findall(expression))
    for value in variables:
        if value.GetName() == "this" or value.GetName() in begins:
            begins.pop(value.GetName(), None)
            yield value.GetType()
    for name, is_called in begins.items():
        yield target.FindFirstType(name)
        yield target.FindFirstGlobalVariable(name).GetType()
        for function in target.FindFunctions(name) if is_called else ():
            kind = function.GetFunction().GetType()
            arguments = kind.GetFunctionArgumentTypes()
            yield kind.GetFunctionReturnType()
            yield from (arguments.GetTypeAtIndex(index) for index in range(arguments.GetSize()))


def endless_in(kind, names, seen, around=()):
    """A type without an end among the parts of a type; what its fields point to counts where the expression names them."""
    kind = kind.GetCanonicalType().GetUnqualifiedType()
    while kind.GetTypeClass() in WITH_TARGET:
        is_array = kind.GetTypeClass() == lldb.eTypeClassArray
        inner = kind.GetArrayElementType() if is_array else kind.GetPointeeType()
        kind = (inner if inner.IsValid() else kind.GetDereferencedType()).GetCanonicalType().GetUnqualifiedType()
        around = around if is_array else ()
    name = kind.GetName()
    if kind.GetTypeClass() not in RECORDS:
        return None
    if name in around:
        # Nothing holds itself: those are two for which LLDB has one name.
        return name
    if name in seen:
        return None
    seen.add(name)
    parts = [(kind.GetDirectBaseClassAtIndex(index).GetType(), (*around, name)) for index in range(kind.GetNumberOfDirectBaseClasses())]
    for index in range(kind.GetNumberOfFields()):
        field = kind.GetFieldAtIndex(index)
        if field.GetType().GetCanonicalType().GetTypeClass() not in WITH_TARGET[:2] or field.GetName() in names:
            parts.append((field.GetType(), (*around, name)))
    arguments = (kind.GetTemplateArgumentType(index) for index in range(kind.GetNumberOfTemplateArguments()))
    parts += [(argument, ()) for argument in arguments if argument.IsValid()]
    return next((found for part, within in parts if (found := endless_in(part, names, seen, within))), None)


def without_frame(target, expression):
    """The value of an expression of numbers."""
    data = lldb.SBData.CreateDataFromInt(0)
    anchor = target.CreateValueFromData("none", data, target.GetBasicType(lldb.eBasicTypeInt))
    return anchor.CreateValueFromExpression("result", expression)


def literal(value, kind):
    """A number as an expression of C that has a plain type."""
    name = kind.GetName()
    if isinstance(value, float):
        special = {value != value: '__builtin_nan("")', value == float("inf"): "__builtin_inf()", value == float("-inf"): "-__builtin_inf()"}
        return f"(({name}){special.get(True) or value.hex()})"
    return f"(({name}){value & (1 << 64) - 1:#x}ull)"
