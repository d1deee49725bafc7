"""Owners, cells, locks, ranges, times, addresses and errors of Rust's standard library, and what shows each of its types."""

import ipaddress
import os
import re

import lldb
import rust_values as values
from common import Unreadable, bytes_of, checked, innermost, pointee, quoted, show_part, unsigned
from rust_containers import (
    show_array_iterator,
    show_c_string,
    show_chars,
    show_deque_iterator,
    show_drain,
    show_iterator,
    show_linked_list,
    show_owned_string,
    show_set,
    show_vec,
)
from rust_enums import is_enum, part_of, read_as, variant_of
from rust_fields import OtherLayout, field, first, inside, number, number_in, type_argument
from rust_names import named_element, owned_name, plain_name, short_name
from rust_values import show, show_behind, show_object


# ---- owners, cells, ranges, times, addresses, errors -----------------------------------------------------------


def show_owner(value, text, depth):
    """What an Rc or an Arc holds, behind its counts."""
    pointer = first(value, ("ptr", "pointer")).GetNonSyntheticValue()
    if pointer.GetType().IsPointerType():
        show(inside_owner(pointer), text, depth + 1)
    elif pointer.GetType().GetFieldAtIndex(1).GetName() == "vtable":
        address, vtable = (unsigned(pointer.GetChildAtIndex(index)) for index in range(2))
        counts = 2 * value.GetTarget().GetAddressByteSize()
        show_object(value, address, counts, vtable, owned_name(pointer.GetType()), text, depth)
    else:
        address, length, kind = inside_slice(pointer)
        show_behind(value, address, length, owned_name(pointer.GetType()), kind, text, depth)


def inside_owner(pointer):
    """What an Rc or an Arc points to, if that has a size."""
    kind = pointer.GetType().GetPointeeType()
    return part_of(pointee(pointer, unsigned(pointer), kind), kind.GetNumberOfFields() - 1)


def inside_slice(pointer):
    """Address, length and type of the elements that an Rc or an Arc points to."""
    address, length = (unsigned(pointer.GetChildAtIndex(index)) for index in range(2))
    counted = pointer.GetType().GetFieldAtIndex(0).GetType().GetPointeeType()
    elements = counted.GetFieldAtIndex(counted.GetNumberOfFields() - 1)
    name = owned_name(pointer.GetType())
    # Of elements that are arrays the field has lost the length.
    kind = named_element(counted.GetTemplateArgumentType(0), name) if name.startswith("[") else elements.GetType()
    return address + elements.GetOffsetInBytes(), checked(length), kind


def transparent(*path):
    return lambda value, text, depth: show(inside(value, *path), text, depth + 1)


def wrapped(name, *fields):
    """A wrapper that shows its name and some of what is in it."""

    def render(value, text, depth):
        text.add(f"{name} {{ ")
        for index, (label, path) in enumerate(fields):
            text.add(", " if index else "")
            text.add(f"{label}: ")
            show(inside(value, *path), text, depth + 1)
        text.add(" }")

    return render


def show_lock(name):
    def render(value, text, depth):
        text.add(f"{name} {{ data: ")
        show_part(inside(value, "data", "value"), show, text, depth)
        poisoned = number(value, "poison", "failed") != 0
        text.add(f", poisoned: {'true' if poisoned else 'false'}, .. }}")

    return render


def show_refcell(value, text, depth):
    borrowed = number(value, "borrow", "value", "value")
    bits = value.GetTarget().GetAddressByteSize() * 8
    text.add("RefCell { value: ")
    show_part(inside(value, "value", "value"), show, text, depth)
    # While it is borrowed to be changed the program itself would not show it.
    text.add(", borrowed: mut }" if borrowed >> (bits - 1) else " }")


def show_range(between, has_start=True, has_end=True):
    def render(value, text, depth):
        if has_start:
            show_part(field(value, "start"), show, text, depth)
        text.add(between)
        if has_end:
            show_part(field(value, "end"), show, text, depth)

    return render


def show_range_inclusive(value, text, depth):
    show_range("..=")(value, text, depth)
    if number(value, "exhausted"):
        text.add(" (exhausted)")


def show_duration(value, text, depth):
    seconds, nanos = number(value, "secs"), number(value, "nanos")
    if nanos >= 1_000_000_000:
        raise Unreadable(f"a Duration with {nanos} nanoseconds")
    if seconds:
        whole, part, digits, unit = seconds, nanos, 9, "s"
    elif nanos >= 1_000_000:
        whole, part, digits, unit = nanos // 1_000_000, nanos % 1_000_000, 6, "ms"
    elif nanos >= 1_000:
        whole, part, digits, unit = nanos // 1_000, nanos % 1_000, 3, "µs"
    else:
        whole, part, digits, unit = nanos, 0, 0, "ns"
    rest = f"{part:0{digits}}".rstrip("0") if part else ""
    text.add(f"{whole}{'.' if rest else ''}{rest}{unit}")


def show_ipv4(value, text, depth):
    text.add(".".join(str(byte) for byte in bytes_of(field(value, "octets"), 4)))


def show_ipv6(value, text, depth):
    address = ipaddress.IPv6Address(bytes_of(field(value, "octets"), 16))
    text.add(f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else str(address))


def show_socket(value, text, depth):
    is_v6 = field(value, "ip").GetType().GetName().endswith("::Ipv6Addr")
    text.add("[" if is_v6 else "")
    show_part(field(value, "ip"), show, text, depth)
    scope = number(value, "scope_id") if is_v6 else 0
    text.add(f"{f'%{scope}' if scope else ''}{']' if is_v6 else ''}:{number(value, 'port')}")


def show_io_error(value, text, depth):
    """It packs what it is into the low bits of a pointer."""
    packed, module = number_in(value), value.GetType().GetCanonicalType().GetName().removesuffix("Error")
    tag, high = packed & 3, packed >> 32
    if tag == 2:
        code = high - (1 << 32) if high >> 31 else high
        text.add(f"Os {{ code: {code}, message: {quoted(os.strerror(code), chr(34))}, .. }}")
    elif tag == 3:
        text.add(f"Kind({error_kind(value, module, high)})")
    elif tag == 1:
        custom = value.GetTarget().FindFirstType(f"{module}Custom")
        if not custom.IsValid():
            raise Unreadable("its type is not known")
        show(value.CreateValueFromAddress("custom", packed - 1, custom), text, depth + 1)
    else:
        message = value.GetTarget().FindFirstType(f"{module}SimpleMessage")
        if not message.IsValid():
            raise Unreadable("its type is not known")
        show(value.CreateValueFromAddress("message", packed, message), text, depth + 1)


def error_kind(value, module, code):
    kind = value.GetTarget().FindFirstType(f"{module}ErrorKind")
    members = kind.GetEnumMembers()
    for index in range(members.GetSize()):
        member = members.GetTypeEnumMemberAtIndex(index)
        if member.GetValueAsUnsigned() == code:
            return member.GetName()
    return str(code)


def show_weak(_value, text, _depth):
    text.add("(Weak)")


def show_guard(value, text, depth):
    lock = field(value, "lock").GetNonSyntheticValue()
    target = pointee(value, unsigned(lock), lock.GetType().GetPointeeType())
    show(inside(target, "data", "value"), text, depth + 1)


def show_borrow(value, text, depth):
    pointer = field(value, "value", "pointer").GetNonSyntheticValue()
    show(pointer, text, depth + 1)


def show_phantom(value, text, _depth):
    text.add(f"PhantomData<{short_name(type_argument(value, 0))}>")


# ---- cells that are set once, guards ----------------------------------------------------------------------------


# From this version of the compiler on a Once that is complete is 0; before it was 3.
COMPLETE_IS_ZERO = (1, 87)


def show_once(name, *path):
    """What is set once, if it is."""

    def render(value, text, depth):
        if is_complete(value):
            text.add(f"{name}(")
            show_part(inside(value, *path), show, text, depth)
            text.add(")")
        else:
            text.add(f"{name}(<uninit>)")

    return render


def is_complete(value):
    state = number(value, "once", "inner", "state_and_queued")
    if compiler_version(value) < COMPLETE_IS_ZERO:
        raise Unreadable("this version of the standard library is not known")
    return state == 0


def compiler_version(value):
    """The version of rustc that a program is linked by, as far as it says."""
    target = value.GetTarget()
    section = target.GetModuleAtIndex(0).FindSection(".comment")
    error = lldb.SBError()
    data = section.GetSectionData()
    said = data.ReadRawData(error, 0, data.GetByteSize()) if data.GetByteSize() else b""
    found = re.search(rb"rustc version (\d+)\.(\d+)", said or b"")
    return (int(found.group(1)), int(found.group(2))) if found else (0, 0)


def show_once_cell(value, text, depth):
    name, inner = variant_of(*enum_in(value, "inner"))
    show_set_cell("OnceCell", name == "Some", inner, text, depth)


def show_lazy_cell(value, text, depth):
    name, inner = variant_of(*enum_in(value, "state"))
    show_set_cell("LazyCell", name == "Init", inner, text, depth)


def enum_in(value, *path):
    found = innermost_enum(field(value, *path))
    return found, found.GetType().GetCanonicalType()


def innermost_enum(value):
    """What wrappers of one field hold that is an enum."""
    value = value.GetNonSyntheticValue()
    while not is_enum(value.GetType().GetCanonicalType(), None):
        if value.GetNumChildren() != 1:
            raise OtherLayout
        value = value.GetChildAtIndex(0).GetNonSyntheticValue()
    return value


def show_set_cell(name, is_set, inner, text, depth):
    text.add(f"{name}(")
    if is_set:
        show_part(part_of(inner, 0), show, text, depth)
    else:
        text.add("<uninit>")
    text.add(")")


def show_atomic(value, text, depth):
    show(read_as(value.GetNonSyntheticValue(), "v", type_argument(value, 0)), text, depth + 1)


def show_atomic_bool(value, text, _depth):
    byte = number(value, "v", "value")
    if byte > 1:
        raise Unreadable(f"a bool of {byte}")
    text.add("true" if byte else "false")


def show_hidden(value, text, _depth):
    """What has only addresses of which nothing tells where they end."""
    text.add(f"{plain_name(value.GetType().GetCanonicalType().GetName())} {{ .. }}")


SPECIAL = {
    "alloc::string::String": show_owned_string,
    "std::ffi::os_str::OsString": show_owned_string,
    "std::path::PathBuf": show_owned_string,
    "alloc::ffi::c_str::CString": show_c_string,
    "alloc::vec::Vec": show_vec,
    "alloc::collections::vec_deque::VecDeque": show_vec,
    "alloc::collections::binary_heap::BinaryHeap": show_vec,
    "alloc::collections::linked_list::LinkedList": show_linked_list,
    "std::collections::hash::map::HashMap": show_set,
    "std::collections::hash::set::HashSet": show_set,
    "alloc::collections::btree::map::BTreeMap": show_set,
    "alloc::collections::btree::set::BTreeSet": show_set,
    "alloc::rc::Rc": show_owner,
    "alloc::sync::Arc": show_owner,
    "alloc::rc::Weak": show_weak,
    "alloc::sync::Weak": show_weak,
    "core::cell::Cell": wrapped("Cell", ("value", ("value", "value"))),
    "core::cell::RefCell": show_refcell,
    "core::cell::UnsafeCell": transparent("value"),
    "core::cell::Ref": show_borrow,
    "core::cell::RefMut": show_borrow,
    "core::mem::manually_drop::ManuallyDrop": transparent("value"),
    "core::mem::maybe_dangling::MaybeDangling": transparent("__0"),
    "core::cell::once::OnceCell": show_once_cell,
    "core::cell::lazy::LazyCell": show_lazy_cell,
    "core::slice::iter::Iter": show_iterator,
    "core::slice::iter::IterMut": show_iterator,
    "alloc::vec::into_iter::IntoIter": show_iterator,
    "alloc::vec::drain::Drain": show_drain,
    "alloc::collections::vec_deque::iter::Iter": show_deque_iterator,
    "alloc::collections::vec_deque::iter_mut::IterMut": show_deque_iterator,
    "core::array::iter::IntoIter": show_array_iterator,
    "core::str::iter::Chars": show_chars,
    "hashbrown::raw::RawIter": show_hidden,
    "hashbrown::raw::RawIterRange": show_hidden,
    "hashbrown::raw::RawIntoIter": show_hidden,
    "hashbrown::raw::RawDrain": show_hidden,
    "core::num::nonzero::NonZero": lambda value, text, depth: show(innermost(value), text, depth),
    "core::num::wrapping::Wrapping": transparent("__0"),
    "core::num::saturating::Saturating": transparent("__0"),
    "core::ptr::non_null::NonNull": transparent("pointer"),
    "core::ptr::unique::Unique": transparent("pointer"),
    "core::pin::Pin": lambda value, text, depth: show(value.GetChildAtIndex(0), text, depth + 1),
    "core::marker::PhantomData": show_phantom,
    "core::ops::range::Range": show_range(".."),
    "core::ops::range::RangeInclusive": show_range_inclusive,
    "core::ops::range::RangeFrom": show_range("..", has_end=False),
    "core::ops::range::RangeTo": show_range("..", has_start=False),
    "core::ops::range::RangeToInclusive": show_range("..=", has_start=False),
    "core::ops::range::RangeFull": show_range("..", has_start=False, has_end=False),
    "core::time::Duration": show_duration,
    "core::net::ip_addr::Ipv4Addr": show_ipv4,
    "core::net::ip_addr::Ipv6Addr": show_ipv6,
    "core::net::socket_addr::SocketAddrV4": show_socket,
    "core::net::socket_addr::SocketAddrV6": show_socket,
    "core::io::error::Error": show_io_error,
    "core::io::error::Custom": wrapped("Custom", ("kind", ("kind",)), ("error", ("error",))),
    "std::io::error::Error": show_io_error,
    "std::sync::poison::mutex::Mutex": show_lock("Mutex"),
    "std::sync::mutex::Mutex": show_lock("Mutex"),
    "std::sync::poison::rwlock::RwLock": show_lock("RwLock"),
    "std::sync::rwlock::RwLock": show_lock("RwLock"),
    "std::sync::poison::mutex::MutexGuard": show_guard,
    "std::sync::mutex::MutexGuard": show_guard,
    "std::sync::poison::rwlock::RwLockWriteGuard": show_guard,
    "std::sync::rwlock::RwLockWriteGuard": show_guard,
    "std::sync::poison::rwlock::RwLockReadGuard": transparent("data"),
    "std::sync::rwlock::RwLockReadGuard": transparent("data"),
    "std::sync::once_lock::OnceLock": show_once("OnceLock", "value", "value", "value"),
    "std::sync::lazy_lock::LazyLock": show_once("LazyLock", "data", "value", "value"),
}
for atomic in ("I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64", "Isize", "Usize"):
    SPECIAL[f"core::sync::atomic::Atomic{atomic}"] = transparent("v", "value")
SPECIAL["core::sync::atomic::AtomicBool"] = show_atomic_bool
SPECIAL["core::sync::atomic::Atomic"] = show_atomic
SPECIAL["core::sync::atomic::AtomicPtr"] = transparent("p", "value")


def add_to_values():
    """Lets the formatters know these."""
    values.SPECIAL.update(SPECIAL)
