"""Values of C and C++ for the evaluator of expressions."""

import re
import struct
from itertools import chain

import calculation
import cpp_values as values
import importing
import lldb
from common import Elements, Text, as_single, bytes_of, memory, pointee, unsigned
from cpp_bits import has_lost, read_bits, set_bits
from cpp_text import is_text, until_zero, zero_in
from reader import MAX_COMPARED, Address, Char, Failed, Language, NotOurs, Sized, Unsigned, shown
from removed import reads_removed


POINTERS = {"unique_ptr": values.head_pointer, "shared_ptr": values.shared_pointer}

# Operators of classes, and calls, which LLDB finds in the program only if that uses them.
OURS = re.compile(r"\[|(\.|->)(size|length|empty|has_value|value|front|back|at|count)\(")


class Access(Language):
    """What an expression can do with a value."""

    TYPES = ((bool, "bool"), (Sized, "unsigned long"), (Char, "char"), (str, "const char *"), (float, "double"), (int, "long"))
    CONSTANTS = {**Language.CONSTANTS, "nullptr": Address(0)}
    has_truthy_numbers = True
    SUFFIXES = {"f": as_single, "l": int, "ll": int, "u": Unsigned, "ul": Unsigned, "ull": Unsigned, "uz": Unsigned}
    # The calls, and how many arguments they have.
    CALLS = {"size": 0, "length": 0, "empty": 0, "has_value": 0, "value": 0, "front": 0, "back": 0, "at": 1, "count": 1, "contains": 1, "starts_with": 1, "ends_with": 1, "c_str": 0, "str": 0}

    def is_variant(self, _name):
        return False

    def exact(self, variable):
        return values.exact(variable)

    def summary(self, value, session):
        return values.summary(value, session)

    def needs_own_evaluator(self, point, expressions):
        """Whether LLDB would crash at one of the expressions, where the breakpoint is, or invent a value."""
        return reads_removed(point, expressions) or any(importing.endless_type_at(location.GetAddress(), point.GetTarget(), expression) for location in point for expression in expressions if expression)

    def is_lldbs(self, frame, expression):
        # What LLDB finds by a path without subscripts can be changed there.
        is_path = re.fullmatch(r"[\w.:>-]+", expression)
        return bool(is_path) and frame.GetValueForVariablePath(expression, lldb.eDynamicDontRunTarget).GetError().Success()

    def without_lldb(self, frame, expression):
        """The value of an expression that LLDB gets wrong or crashes at, or an error; None leaves it to LLDB."""
        if values.arrays_of("variables") or values.arrays_of("pointers"):
            names = set(re.findall(r"[A-Za-z_]\w*", expression))
            for value in frame.GetVariables(True, True, False, True):
                if value.GetName() in names and values.has_run_time_rows(value):
                    raise Failed(f"the length of {value.GetName()} is found at run time: read its elements alone")
        kind = importing.endless_type(frame, expression)
        if kind is None and not OURS.search(expression) and not has_lost():
            return None
        return calculation.calculated(expression, self, frame, kind)

    def followed(self, value):
        """What references lead to."""
        if self.is_set_here(value):
            return value
        value = value.GetNonSyntheticValue()
        while value.GetType().GetCanonicalType().IsReferenceType():
            value = pointee(value, unsigned(value), value.GetType().GetCanonicalType().GetDereferencedType())
        return value

    def library(self, value):
        return values.library_name(value.GetType().GetCanonicalType().GetName() or "")

    def pointee(self, value):
        value = self.followed(value)
        kind, name = value.GetType().GetCanonicalType(), self.library(value)
        if name == "optional":
            held = values.held_by_optional(value)
            if held is None:
                raise Failed("the optional is empty")
            return held
        pointer = POINTERS[name](value) if name in POINTERS else value
        kind = pointer.GetType().GetCanonicalType()
        if not kind.IsPointerType() or kind.GetPointeeType().IsFunctionType() or not kind.GetPointeeType().GetByteSize():
            return None
        if unsigned(pointer) == 0:
            raise Failed("the pointer is null")
        return pointee(value, unsigned(pointer), kind.GetPointeeType())

    def address(self, value):
        """A text or a number as an address that it is compared with."""
        if isinstance(value, str):
            # A literal is never null, and never where a pointer of the program leads.
            return Address((1 << 64) - 1)
        if value == 0:
            return Address(0)
        raise NotOurs

    def part(self, value, name):
        value = self.followed(value)
        # A dot behind a pointer is taken for an arrow.
        while (next_value := self.pointee(value)) is not None:
            value = self.followed(next_value)
        part = self.bit_field(value, name) or value.GetChildMemberWithName(name)
        return part if part.IsValid() and self.library(value) in (None, "pair") else None

    def bit_field(self, value, name):
        """A bit-field by its name, also one of a base class or of a member without a name; none of other members."""
        kind = value.GetType().GetCanonicalType()
        if kind.GetTypeClass() not in (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion):
            return None
        fields = (kind.GetFieldAtIndex(index) for index in range(kind.GetNumberOfFields()))
        field = next((field for field in fields if field.GetName() == name), None)
        if field is not None:
            if not field.IsBitfield():
                return None
            return read_bits(value, name, field.GetOffsetInBits(), field.GetBitfieldSizeInBits(), field.GetType())
        for member, part in chain(values.members(value, kind), values.bases_of(value, kind)):
            found = part if member == name else self.bit_field(part, name) if not member or member.startswith("<") else None
            if found is not None:
                return found
        return None

    def items(self, value):
        value = self.followed(value)
        kind, name = value.GetType().GetCanonicalType(), self.library(value)
        if kind.GetTypeClass() == lldb.eTypeClassArray:
            if values.is_unbounded(kind):
                return None
            value = values.array_of_run_time(value) or value
            return value.GetNumChildren(), Elements(value.GetNumChildren(), value.GetChildAtIndex), False
        if kind.IsPointerType():
            target = kind.GetPointeeType()
            if not target.GetByteSize():
                return None
            start, size = unsigned(value), target.GetByteSize()
            return None, Unending(lambda index: pointee(value, start + index * size, target)), False
        if name == "array":
            elements = value.GetChildMemberWithName("_M_elems").GetNonSyntheticValue()
            return elements.GetNumChildren(), Elements(elements.GetNumChildren(), elements.GetChildAtIndex), False
        if name == "basic_string":
            pointer, count = values.field(value, "_M_dataplus", "_M_p"), values.number(value, "_M_string_length")
            return count, self.items(pointer)[1], False
        if name not in values.INSIDE or values.INSIDE[name] is not values.elements_inside:
            return None
        count, elements = values.elements_of(value)
        if name == "vector" and value.GetType().GetCanonicalType().GetTemplateArgumentType(0).GetBasicType() == lldb.eBasicTypeBool:
            # They have no place by which LLDB could keep them.
            bits = elements
            elements = Elements(count, lambda index: bool(unsigned(bits[index])))
        return count, elements, name.endswith("map")

    def text(self, value):
        """The whole of a text; none of what is not one."""
        kind, name = value.GetType().GetCanonicalType(), self.library(value)
        if name in ("basic_string", "basic_string_view"):
            path, length = (("_M_dataplus", "_M_p"), "_M_string_length") if name == "basic_string" else (("_M_str",), "_M_len")
            pointer, length = values.field(value, *path), values.number(value, length)
            if pointer.GetType().GetPointeeType().GetByteSize() != 1:
                return None
            if length > MAX_COMPARED:
                raise Failed(f"a text of {length} bytes is not compared")
            return memory(value, unsigned(pointer), length).decode("utf-8", "surrogateescape")
        if name == "path":
            return self.text(values.field(value, "_M_pathname"))
        if kind.IsPointerType() and is_text(kind.GetPointeeType()) and kind.GetPointeeType().GetByteSize() == 1:
            if unsigned(value) == 0:
                return None
            data = until_zero(value, unsigned(value), 1)
            end = zero_in(data, 1)
            if end is None:
                raise Failed("the text is too long to be compared")
            return data[:end].decode("utf-8", "surrogateescape")
        if kind.GetTypeClass() == lldb.eTypeClassArray and is_text(kind.GetArrayElementType()) and kind.GetArrayElementType().GetByteSize() == 1:
            data = memory(value, value.GetLoadAddress(), min(kind.GetByteSize(), MAX_COMPARED))
            return data.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")
        return None

    # What stands behind a text.
    text_end = b"\0"

    def text_place(self, value):
        """Where a text is, how many bytes there are for it, and where its length is, if it has one."""
        value = self.followed(value)
        kind, name = value.GetType().GetCanonicalType(), self.library(value)
        if name == "basic_string" and self.text(value) is not None:
            data = unsigned(values.field(value, "_M_dataplus", "_M_p"))
            place = value.GetChildMemberWithName("_M_local_buf")
            own = place.GetLoadAddress() if place.IsValid() else None
            room = 15 if data == own else values.number(value, "_M_allocated_capacity")
            return data, room, values.field(value, "_M_string_length")
        if kind.GetTypeClass() == lldb.eTypeClassArray and self.text(value) is not None:
            return value.GetLoadAddress(), kind.GetByteSize() - 1, None
        raise Failed("it does not own its text" if self.text(value) is not None else "it is not a text")

    def scalar(self, value):
        """What can be compared: a number, a text, a character. Enumerators are left to LLDB."""
        if isinstance(value, (bool, int, float, str)):
            return value
        value = self.followed(value)
        text = self.text(value)
        if text is not None:
            return text
        library = self.library(value)
        if library == "atomic":
            value = values.held_by_atomic(value)
        elif library in POINTERS:
            value = POINTERS[library](value)
        kind = value.GetType().GetCanonicalType()
        if kind.IsPointerType():
            return Address(unsigned(value))
        if kind.GetTypeClass() != lldb.eTypeClassBuiltin or kind.GetByteSize() > 8:
            raise NotOurs
        basic = kind.GetBasicType()
        if basic == lldb.eBasicTypeBool:
            return unsigned(value) != 0
        if kind.GetTypeFlags() & lldb.eTypeIsFloat:
            data = bytes_of(value, kind.GetByteSize())
            return struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
        if is_text(value.GetType()) and unsigned(value) < 0x80:
            return Char(chr(unsigned(value)))
        return value.GetValueAsSigned() if kind.GetTypeFlags() & lldb.eTypeIsSigned else Unsigned(unsigned(value))

    def number_and_type(self, value):
        """A number of the program and its plain type, that of an enum's numbers included."""
        value = self.followed(value)
        if self.library(value) == "atomic":
            value = values.held_by_atomic(value)
        kind = value.GetType().GetCanonicalType().GetUnqualifiedType()
        if kind.GetTypeClass() == lldb.eTypeClassEnumeration and not kind.IsScopedEnumerationType():
            kind = kind.GetEnumerationIntegerType().GetCanonicalType()
        if kind.GetTypeClass() != lldb.eTypeClassBuiltin or not 0 < kind.GetByteSize() <= 8:
            raise NotOurs
        if kind.GetTypeFlags() & lldb.eTypeIsFloat:
            data = bytes_of(value, kind.GetByteSize())
            return struct.unpack("<f" if len(data) == 4 else "<d", data)[0], kind
        return value.GetValueAsSigned(), kind

    def is_set_here(self, value):
        return hasattr(value, "place")

    def check_set(self, path):
        name = re.search(r"\w*$", path)[0]
        if name in values.arrays_of("bit_fields"):
            raise Failed(f"{name} may be a bit-field, which the debugger sets by its whole path alone: evaluate `PATH.{name} = VALUE`")

    def set_here(self, value, number):
        set_bits(value, float(number) if isinstance(number, str) else number)

    def plain(self, value):
        """A number as LLDB sets it."""
        number, _ = self.number_and_type(value) if isinstance(value, lldb.SBValue) else (value, None)
        return repr(number) if isinstance(number, float) else int(number)

    def call(self, value, name, given):
        value = self.followed(value)
        library = self.library(value)
        if library == "optional" and name in ("has_value", "value"):
            return values.held_by_optional(value) is not None if name == "has_value" else self.pointee(value)
        if library in ("optional", *POINTERS) or value.GetType().GetCanonicalType().IsPointerType():
            # Behind an arrow.
            held = self.pointee(value)
            return None if held is None else self.call(held, name, given)
        text = self.text(value) if library else None
        if text is not None and name in ("starts_with", "ends_with") and isinstance(given[0], str):
            return text.startswith(given[0]) if name == "starts_with" else text.endswith(given[0])
        if text is not None:
            size = len(text.encode("utf-8", "surrogateescape"))
            return {"size": Sized(size), "length": Sized(size), "empty": size == 0, "c_str": text, "str": text}.get(name)
        items = self.items(value) if library else None
        if items is None:
            return None
        count, elements, is_map = items
        if name in ("size", "empty"):
            return Sized(count) if name == "size" else count == 0
        if name in ("front", "back", "at") and not is_map:
            index = {"front": 0, "back": count - 1}.get(name, given[0] if given else 0)
            if not isinstance(index, int) or not 0 <= index < count:
                raise Failed(f"the index {index} is out of range: there are {count} elements")
            return elements[index] if hasattr(elements, "__getitem__") else next(one for at, one in enumerate(elements) if at == index)
        if name == "at" and is_map:
            found = next((element for at, element in elements if self.scalar(at) == given[0]), None)
            if found is None:
                raise Failed(f"it has no key {shown(given[0])}")
            return found
        if name in ("count", "contains") and (is_map or library.endswith("set")):
            found = sum(self.scalar(element[0] if is_map else element) == given[0] for element in elements)
            return Sized(found) if name == "count" else found > 0
        return None

    def type_of(self, value):
        return value.GetType().GetName() if isinstance(value, lldb.SBValue) else super().type_of(value)

    def shown(self, value):
        text = Text()
        values.show(value, text, 0)
        return str(text)

    def float_text(self, value):
        return super().float_text(value).removesuffix(".0")


class Unending:
    """What a pointer points to, of which nothing says how much there is."""

    def __init__(self, at):
        self.at = at

    def __getitem__(self, index):
        return self.at(index)
