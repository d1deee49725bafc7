"""The fields of the standard library's types, by their paths, and what wrappers hold."""

from common import Unreadable, unsigned
from rust_enums import fields_of, part_of, variant_of


class OtherLayout(Unreadable):
    """A type of a library whose version is not known."""

    def __init__(self):
        super().__init__("its library is laid out in another way")


def field(value, *path):
    for name in path:
        value = value.GetNonSyntheticValue().GetChildMemberWithName(name)
    if not value.IsValid():
        raise OtherLayout
    return value


def inside(value, *path):
    """What a wrapper holds, which may take no room."""
    holder = field(value, *path[:-1]).GetNonSyntheticValue()
    names = fields_of(holder.GetType().GetCanonicalType())
    if path[-1] not in names:
        raise OtherLayout
    return part_of(holder, names.index(path[-1]))


def first(value, *paths):
    """The first of several paths that is there: libraries change."""
    for path in paths:
        try:
            return field(value, *path)
        except Unreadable:
            continue
    raise OtherLayout


def number(value, *path):
    """A number, also one in wrappers."""
    found = field(value, *path).GetNonSyntheticValue()
    while found.GetNumChildren() == 1 and not found.GetType().IsPointerType():
        found = found.GetChildAtIndex(0).GetNonSyntheticValue()
    return unsigned(found)


def type_argument(value, index):
    kind = value.GetType().GetCanonicalType().GetTemplateArgumentType(index)
    if not kind.IsValid():
        raise Unreadable("the type of its elements is not known")
    return kind


def number_in(value):
    value = value.GetNonSyntheticValue()
    while value.GetNumChildren() >= 1 and not value.GetType().IsPointerType():
        value = value.GetChildAtIndex(0).GetNonSyntheticValue()
    return unsigned(value)


def some(option):
    name, inner = variant_of(option.GetNonSyntheticValue(), option.GetType().GetCanonicalType())
    if name != "Some":
        raise Unreadable("nothing")
    return inner.GetChildAtIndex(0).GetNonSyntheticValue()


def is_none(option):
    return variant_of(option.GetNonSyntheticValue(), option.GetType().GetCanonicalType())[0] == "None"
