"""Characters and text of C and C++, in quotes: strings that end with a zero, arrays of characters, wide ones.

Bytes that are no UTF-8 are written as `\\xE9`; a backslash that is in the text is written twice.
"""

from common import Unreadable, checked, escaped, memory, quoted, quoted_bytes, unsigned

# Bytes of one text.
MAX_BYTES = 400
# Bytes of an array of characters behind its first zero: often they are what was there before.
MAX_BEHIND_ZERO = 32
# The compiler's own types; in C they are other names of numbers.
WIDE_NAMES = ("wchar_t", "char16_t", "char32_t")


def is_char(kind):
    """Whether it holds text; a `signed char` and an `unsigned char` are numbers."""
    return kind.GetCanonicalType().GetUnqualifiedType().GetName() in ("char", "char8_t")


def is_wide(kind):
    """Whether it holds a character of two or four bytes."""
    names = (kind.GetUnqualifiedType().GetName(), kind.GetCanonicalType().GetUnqualifiedType().GetName())
    return any(name in WIDE_NAMES for name in names)


def is_text(kind):
    return is_char(kind) or is_wide(kind)


def char_text(code, width):
    """A character by its code, of so many bytes."""
    code &= (1 << width * 8) - 1
    is_known = code < 0x80 if width == 1 else code < 0x110000
    return quoted(chr(code), "'") if is_known else f"'\\x{code:0{width * 2}x}'"


def quoted_text(data, width):
    """Text of characters that have so many bytes each."""
    if width == 1:
        return quoted_bytes(data)
    if width == 2:
        return quoted(data.decode("utf-16-le", "surrogatepass"), '"')
    codes = (int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))
    return '"' + "".join(escaped(chr(code), '"') if code < 0x110000 else f"\\x{code:08x}" for code in codes) + '"'


def show_terminated(value, address, width, text):
    """Text that ends with a zero."""
    data = until_zero(value, address, width)
    end = zero_in(data, width)
    if end is not None:
        text.add(quoted_text(data[:end], width))
    else:
        text.add(quoted_text(whole_characters(data[:MAX_BYTES], width), width) + "…")


def show_bytes_or_text(value, address, text):
    """What bytes without a sign point to: text if they can be read as that, else a number.

    LLDB takes a `char8_t` for an `unsigned char`.
    """
    data = until_zero(value, address, 1)
    end = zero_in(data, 1)
    try:
        said = data[:end].decode("utf-8") if end else ""
    except UnicodeDecodeError:
        said = ""
    text.add(quoted(said, '"') if said and said.isprintable() else f"&{data[0]}")


def until_zero(value, address, width):
    """Memory up to a zero and somewhat beyond it."""
    data = b""
    while len(data) <= MAX_BYTES and zero_in(data, width) is None:
        try:
            # Not beyond a page: what follows may not be there.
            size = min(64, 4096 - (address + len(data)) % 4096)
            data += memory(value, address + len(data), size, least=1)
        except Unreadable:
            if not data:
                raise
            break
    return data


def zero_in(data, width):
    """Where the first character of zeros begins."""
    zero = b"\0" * width
    return next((at for at in range(0, len(data) - width + 1, width) if data[at : at + width] == zero), None)


def whole_characters(data, width):
    """Without a character that is cut at the end."""
    if width > 1:
        return data[: len(data) // width * width]
    cut = next((n for n in range(1, 4) if len(data) > n and data[-n] & 0xC0 == 0xC0), 0)
    return data[:-cut] if cut else data


def show_char_array(data, length, width, text):
    """An array of characters, of which these are the first bytes; zeros at its end say nothing."""
    zero = zero_in(data, width)
    used = len(data)
    while used >= width and not any(data[used - width : used]):
        used -= width
    shown = used if zero is None else min(used, zero + MAX_BEHIND_ZERO)
    rest = 0
    if shown < used:
        rest = used - shown
    elif used == len(data) < length:
        rest = length - used
    text.add(quoted_text(data[:shown], width))
    if rest:
        text.add(f"… {rest} more bytes")


def show_characters(value, pointer, length, text):
    """So many characters at a pointer."""
    width = pointer.GetType().GetPointeeType().GetCanonicalType().GetByteSize()
    size = checked(length) * width
    data = memory(value, unsigned(pointer), min(size, MAX_BYTES))
    if len(data) < size:
        data = whole_characters(data, width)
    text.add(quoted_text(data, width))
    if len(data) < size:
        text.add(f"… {size - len(data)} more bytes")
