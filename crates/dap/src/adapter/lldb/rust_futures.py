"""Variables of Rust's async functions and blocks that an `.await` may have lost: what is not needed behind it stays on the stack, and
with that it is gone when the future is continued.
"""

import re

from common import Unreadable, pointee, unsigned
from rust_enums import is_enum, variant_of
from statements import TOKEN, source
from untouched import is_in_frame

PERHAPS_LOST = " <perhaps lost at an .await>"
# What suspends a future.
AWAIT = re.compile(r"\.\s*await\b|\b(select|join|try_join)!")


def is_perhaps_lost(value, frame):
    """Whether a variable lies on the stack of a future that was continued, and there is an `.await` between its statement and here."""
    declaration = value.GetDeclaration()
    if not is_in_frame(value, frame) or not was_continued(frame):
        return False
    lines = source(declaration.GetFileSpec().fullpath)[declaration.GetLine() - 1 : frame.GetLineEntry().GetLine() - 1]
    text = "".join(lines)
    name = re.search(rf"\b{re.escape(value.GetName() or '')}\b", lines[0]) if lines else None
    return bool(name) and AWAIT.search(text, end_of_line(text, name)) is not None


def end_of_line(text, name):
    """Where the last line of the statement ends that sets a variable, which begins with its name."""
    is_let = re.search(r"(?<!\bif )(?<!\bwhile )\blet\b", text[: name.start()])
    depth = 0
    for token in TOKEN.finditer(text, name.end()):
        if depth <= 0 and token[0] in (";" if is_let else ";{"):
            end = text.find("\n", token.start())
            return len(text) if end < 0 else end
        depth += 1 if token[0] in "([{" else -1 if token[0] in ")]}" else 0
    return len(text)


def was_continued(frame):
    """Whether a frame is of a future that it continues where it was suspended."""
    for argument in frame.GetVariables(True, False, False, True):
        pointer = argument.GetNonSyntheticValue().GetChildAtIndex(0)
        kind = pointer.GetType().GetPointeeType().GetCanonicalType()
        if "::{async_" in (kind.GetName() or "") and is_enum(kind, None):
            try:
                return variant_of(pointee(argument, unsigned(pointer), kind), kind)[0].startswith("Suspend")
            except Unreadable:
                return False
    return False
