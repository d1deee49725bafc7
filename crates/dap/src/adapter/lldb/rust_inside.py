"""What can be looked into: the parts of Rust's values in the place of their fields."""

from common import MAX_CHILDREN, Parts, Unreadable, as_children, checked, unsigned
from rust_containers import elements_of, left_of, vec_parts
from rust_enums import Sizeless, at, fields_of, variant_of
from rust_fields import first, inside, type_argument
from rust_library import inside_owner, inside_slice
from rust_names import owned_name, size_of
from rust_values import elements_at, show


class Nothing(Parts):
    """A text has nothing inside that is worth a look."""

    def has_children(self):
        return False

    def find(self):
        return []


class Variant(Parts):
    """The fields of the variant that an enum is."""

    def find(self):
        value = self.value.GetNonSyntheticValue()
        _, inner = variant_of(value, value.GetType().GetCanonicalType())
        if isinstance(inner, Sizeless):
            return []
        return [plain_field(inner.GetChildAtIndex(i)) for i in range(inner.GetNumChildren())]

    def get_child_index(self, name):
        """By either name of a field without one: `0` and `__0`."""
        return super().get_child_index(name.removeprefix("__") if name[2:].isdigit() else name)


class Owned(Parts):
    """What an Rc or an Arc holds."""

    def find(self):
        pointer = first(self.value, ("ptr", "pointer")).GetNonSyntheticValue()
        if pointer.GetType().IsPointerType():
            inside = inside_owner(pointer)
            return [] if isinstance(inside, Sizeless) else [inside]
        if not owned_name(pointer.GetType()).startswith("["):
            return []
        address, length, kind = inside_slice(pointer)
        return as_children(elements_at(self.value, address, kind, length if size_of(kind) else 0), show)


class Left(Parts):
    """What an iterator over memory has before it."""

    def find(self):
        has_size = size_of(type_argument(self.value, 0))
        return as_children(left_of(self.value)[1], show) if has_size else []


class Elements(Parts):
    """The elements of a container."""

    def __init__(self, value, session):
        super().__init__(value, session)
        self.fixed = None

    def update(self):
        self.fixed = None
        return super().update()

    def num_children(self):
        try:
            return self.layout()[0]
        except Unreadable:
            return 0

    def layout(self):
        """Their number and, where they lie behind each other, address and type."""
        if self.fixed is None:
            value = self.value.GetNonSyntheticValue()
            kind = value.GetType().GetCanonicalType()
            if fields_of(kind) == ["data_ptr", "length"]:
                pointer = value.GetChildAtIndex(0)
                length = checked(unsigned(value.GetChildAtIndex(1)))
                self.fixed = self.behind_each_other(unsigned(pointer), length, pointer.GetType().GetPointeeType())
            elif kind.GetName().split("<", 1)[0].endswith("::Vec"):
                address, length = vec_parts(value)
                self.fixed = self.behind_each_other(address, length, type_argument(value, 0))
            else:
                self.fixed = min(elements_of(value)[0], MAX_CHILDREN), None, None
        return self.fixed

    def behind_each_other(self, address, length, kind):
        elements_at(self.value, address, kind, length)
        # LLDB counts children in 32 bits, and what takes no room is none.
        return min(length, (1 << 32) - 1) if size_of(kind) else 0, address, kind

    def get_child_index(self, name):
        return int(name.strip("[]")) if name.strip("[]").isdigit() else -1

    def get_child_at_index(self, index):
        try:
            count, address, kind = self.layout()
        except Unreadable:
            return None
        if not 0 <= index < count:
            return None
        if address is None:
            return super().get_child_at_index(index)
        at = address + index * size_of(kind)
        return self.value.CreateValueFromAddress(f"[{index}]", at, kind)

    def find(self):
        return as_children(elements_of(self.value)[1], show)


def plain_field(value):
    name = value.GetName() or ""
    return value.Clone(name[2:]) if name.startswith("__") and name[2:].isdigit() else value
