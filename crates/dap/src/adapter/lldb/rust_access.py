"""Values of Rust for the evaluator of expressions."""

import re
from decimal import ROUND_HALF_UP

import lldb
import rust_values as values
from common import Elements, Text, Unreadable, float_text, memory, pointee, unsigned
from reader import MAX_COMPARED, Char, Failed, Language, Name, Single, Sized, single
from removed import reads_removed
from rust_containers import elements_of, show_owned_string, vec_parts
from rust_enums import Sizeless, fields_of, is_enum, variant_of
from rust_fields import field, first, number_in
from rust_library import inside_owner, inside_slice
from rust_names import length_of, owned_name, plain_name, pointed, rust_name, size_of

# Static variables of one name that are looked at.
MAX_STATICS = 100
OWNERS_BEGIN = ("alloc::rc::Rc<", "alloc::sync::Arc<")
HASH = re.compile(r"::h[0-9a-f]{16}$")


class Access(Language):
    """What an expression can do with a value."""

    TYPES = ((bool, "bool"), (Sized, "usize"), (Char, "char"), (str, "&str"), (Single, "f32"), (float, "f64"), (int, "i64"))
    has_truthy_numbers = False
    SUFFIXES = {"f32": single, "f64": float, **{f"{sign}{bits}": int for sign in "iu" for bits in (8, 16, 32, 64, 128, "size")}}
    # The calls, and how many arguments they have.
    CALLS = {"len": 0, "is_empty": 0, "is_some": 0, "is_none": 0, "is_ok": 0, "is_err": 0, "unwrap": 0, "as_str": 0, "contains_key": 1, "starts_with": 1, "contains": 1}

    def is_variant(self, name):
        return name.rsplit("::", 1)[-1][:1].isupper()

    def static(self, frame, path):
        """LLDB's name of one ends in a hash. One whose path more than one ends in is not guessed."""
        if "::" not in path:
            return None
        path = path.removeprefix("crate::")
        found = frame.GetThread().GetProcess().GetTarget().FindGlobalVariables(path.rsplit("::", 1)[-1], MAX_STATICS)
        named = [static for static in found if f"::{HASH.sub('', static.GetName() or '')}".endswith(f"::{path}")]
        return named[0] if len({static.GetLoadAddress() for static in named}) == 1 else None

    def exact(self, variable):
        return variable

    def needs_own_evaluator(self, point, expressions):
        """Whether LLDB would make up a value of one of the expressions, where the breakpoint is."""
        return reads_removed(point, expressions)

    def is_lldbs(self, _frame, _expression):
        return False

    def without_lldb(self, _frame, _expression):
        """LLDB reads the others."""

    def followed(self, value):
        """What references, boxes and owners lead to."""
        while (next_value := self.pointee(value)) is not None:
            value = next_value
        return value if isinstance(value, Sizeless) else value.GetNonSyntheticValue()

    def pointee(self, value):
        if isinstance(value, Sizeless):
            return None
        value = value.GetNonSyntheticValue()
        kind = value.GetType().GetCanonicalType()
        if kind.IsPointerType() and not kind.GetPointeeType().IsFunctionType():
            target = kind.GetPointeeType()
            return pointee(value, unsigned(value), target) if size_of(target) else Sizeless(target)
        if (kind.GetName() or "").startswith(OWNERS_BEGIN):
            held = first(value, ("ptr", "pointer")).GetNonSyntheticValue()
            return inside_owner(held) if held.GetType().IsPointerType() else None
        return None

    def part(self, value, name):
        value = self.followed(value)
        if isinstance(value, Sizeless):
            return None
        kind = value.GetType().GetCanonicalType()
        if fields_of(kind) == ["data_ptr", "length"] and values.points_to_tailed(value):
            kind = value.GetChildAtIndex(0).GetType().GetPointeeType()
            value = pointee(value, unsigned(value.GetChildAtIndex(0)), kind)
            if name == fields_of(kind)[-1]:
                raise Failed(f"the length of {name} is in the pointer to it: read the whole")
        if is_enum(kind, None):
            value = variant_of(value, kind)[1]
        names = fields_of(value.GetType().GetCanonicalType())
        wanted = f"__{name}" if name.isdigit() else name
        if wanted not in names:
            raise Failed(f"there is no field {name}: it has {', '.join(n.removeprefix('__') for n in names) or 'none'}")
        part = value.GetChildAtIndex(names.index(wanted))
        return part if part.IsValid() else None

    def items(self, value):
        value = self.followed(value)
        kind = value.kind if isinstance(value, Sizeless) else value.GetType().GetCanonicalType()
        if kind.GetTypeClass() == lldb.eTypeClassArray:
            count = length_of(kind)
            return count, Elements(count, value.GetChildAtIndex), False
        if self.text(value) is not None or isinstance(value, Sizeless):
            return None
        if owned_name_of(value).startswith("["):
            address, length, kind = inside_slice(first(value, ("ptr", "pointer")).GetNonSyntheticValue())
            return length, values.elements_at(value, address, kind, length), False
        if fields_of(kind) == ["data_ptr", "length"]:
            if values.points_to_tailed(value):
                return None
            pointer, length = value.GetChildAtIndex(0), unsigned(value.GetChildAtIndex(1))
            return length, values.elements_at(value, unsigned(pointer), pointer.GetType().GetPointeeType(), length), False
        try:
            count, elements = elements_of(value)
        except Unreadable as why:
            if str(why).endswith(" is not known"):
                return None
            raise
        return count, elements, kind.GetName().split("<", 1)[0].endswith("Map")

    def text(self, value):
        """The whole of a text; none of what is not one."""
        if isinstance(value, Sizeless):
            return None
        name = value.GetType().GetCanonicalType().GetName() or ""
        if fields_of(value.GetType().GetCanonicalType()) == ["data_ptr", "length"] and pointed(name) in values.TEXTS:
            address, length = unsigned(value.GetChildAtIndex(0)), unsigned(value.GetChildAtIndex(1))
        elif owned_name_of(value) in values.TEXTS:
            address, length, _ = inside_slice(first(value, ("ptr", "pointer")).GetNonSyntheticValue())
        elif values.SPECIAL.get(name) is show_owned_string:
            while value.GetNumChildren() == 1:
                value = value.GetChildAtIndex(0).GetNonSyntheticValue()
            address, length = vec_parts(value)
        else:
            return None
        if length > MAX_COMPARED:
            raise Failed(f"a text of {length} bytes is not compared")
        return memory(value, address, length).decode("utf-8", "surrogateescape")

    # What stands behind a text.
    text_end = b""

    def text_place(self, value):
        """Where a text is, how many bytes there are for it, and where its length is."""
        value = self.followed(value)
        name = value.GetType().GetCanonicalType().GetName() or ""
        if values.SPECIAL.get(name) is not show_owned_string:
            raise Failed(f"a {plain_name(name)} does not own its text" if self.text(value) is not None else "it is not a text")
        while value.GetNumChildren() == 1:
            value = value.GetChildAtIndex(0).GetNonSyntheticValue()
        capacity = first(value, ("buf", "inner", "cap"), ("buf", "cap"))
        return vec_parts(value)[0], number_in(capacity), field(value, "len")

    def scalar(self, value):
        """What can be compared: a number, a text, a character, a variant without fields."""
        if isinstance(value, (bool, int, float, str)):
            return value
        value = self.followed(value)
        text = self.text(value)
        if text is not None:
            return text
        if isinstance(value, Sizeless):
            raise Failed("it cannot be compared")
        while value.GetNumChildren() == 1 and not is_enum(value.GetType().GetCanonicalType(), None):
            value = value.GetChildAtIndex(0).GetNonSyntheticValue()
        kind = value.GetType().GetCanonicalType()
        if is_enum(kind, None):
            name, inner = variant_of(value, kind)
            name = Name(name)
            name.has_fields = bool(fields_of(inner.kind if isinstance(inner, Sizeless) else inner.GetType()))
            return name
        if kind.GetTypeClass() not in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration):
            raise Failed(f"{plain_name(kind.GetName())} cannot be compared")
        shown = self.shown(value)
        if kind.GetTypeClass() == lldb.eTypeClassEnumeration:
            return Name(shown)
        basic = kind.GetBasicType()
        if basic == lldb.eBasicTypeBool:
            return shown == "true"
        if basic == lldb.eBasicTypeChar32:
            return Char(chr(unsigned(value)))
        if kind.GetTypeFlags() & lldb.eTypeIsFloat:
            return Single(shown) if kind.GetByteSize() == 4 else float(shown)
        return int(shown)

    def call(self, value, name, given):
        value = self.followed(value)
        if name.startswith("is_") and name != "is_empty":
            kind = value.GetType().GetCanonicalType()
            if isinstance(value, Sizeless) or not kind.GetName().startswith(("core::option::Option<", "core::result::Result<")):
                return None
            return variant_of(value, kind)[0] == name[3:].title()
        if name == "unwrap":
            kind = value.GetType().GetCanonicalType()
            variant, inner = variant_of(value, kind)
            if variant not in ("Some", "Ok"):
                raise Failed(f"it is {variant}")
            return inner.GetChildAtIndex(0)
        text = self.text(value)
        if text is not None:
            if name in ("starts_with", "contains") and isinstance(given[0], str):
                return text.startswith(given[0]) if name == "starts_with" else given[0] in text
            size = len(text.encode("utf-8", "surrogateescape"))
            return {"len": Sized(size), "is_empty": size == 0, "as_str": text}.get(name)
        items = self.items(value)
        if items is None:
            return None
        count, elements, is_map = items
        if name in ("len", "is_empty"):
            return Sized(count) if name == "len" else count == 0
        if (name == "contains_key") != is_map or name not in ("contains_key", "contains"):
            return None
        return any(self.scalar(element[0] if is_map else element) == given[0] for element in elements)

    def type_of(self, value):
        if isinstance(value, (Sizeless, lldb.SBValue)):
            return rust_name(value.kind if isinstance(value, Sizeless) else value.GetType())
        return super().type_of(value)

    def shown(self, value):
        text = Text()
        values.show(value, text, 0)
        return str(text)

    def float_text(self, value):
        return float_text(value, 8, ROUND_HALF_UP)


def owned_name_of(value):
    """The name of what an Rc or an Arc owns that has no fixed size; empty for other values."""
    if not (value.GetType().GetCanonicalType().GetName() or "").startswith(OWNERS_BEGIN):
        return ""
    held = first(value, ("ptr", "pointer")).GetNonSyntheticValue()
    return "" if held.GetType().IsPointerType() else owned_name(held.GetType())
