"""Which local variables have no value yet, by the places of their declarations: until then their memory is what was there before.

The code of a declaration is the first run of instructions that the line table has for its line; in C and C++, for the lines of its
statement (`statements.py`). Lines alone do not tell: a loop comes back to the line that declares its variable. A declaration without code (`int x;`, `let x;`) says nothing: there the places that
the function's code names tell (`untouched.py`).
"""

import lldb
from removed import REMOVED, is_removed
from statements import is_c_or_cpp, is_end_of_block, is_of_thread, last_line
from untouched import is_in_frame, is_named_later, is_optimised, is_untouched

UNSET = "<not set yet>"
PERHAPS_UNSET = " <perhaps not set yet>"

# The first run of instructions of a declaration, by the start of the function and the line.
RUNS = {}


def unset_mark(value):
    """The note on a variable that has no value yet, or may have none because its line runs, or that the linker removed. None for
    others.
    """
    if is_removed(value):
        return REMOVED
    if value.GetValueType() != lldb.eValueTypeVariableLocal:
        return None
    declaration, frame = value.GetDeclaration(), value.GetFrame()
    if not declaration.IsValid() or not frame.IsValid():
        return None
    here, line = frame.GetLineEntry(), declaration.GetLine()
    # In C++, what lies outside of the frame is a result or a coroutine's. In Rust, as in a future, others have set it.
    is_c = is_c_or_cpp(frame)
    is_own = is_in_frame(value, frame) or (is_c and not is_of_thread(value))
    if declaration.GetFileSpec() != here.GetFileSpec() or not is_own:
        return None
    last = last_line(frame, value)
    start, end = first_run(frame, here.GetFileSpec(), line, last)
    pc = frame.GetPCAddress().GetFileAddress()
    if line > here.GetLine():
        # One without code is just declared. The code of a `catch` block lies behind that of the lines below it.
        return UNSET if is_c or start is None or pc < start else None
    if line < here.GetLine() <= last and start is not None and start <= pc < end:
        return UNSET if frame.GetFrameID() == 0 else PERHAPS_UNSET
    if last < here.GetLine() and start is not None and start <= pc < end:
        return mark_within(value, frame, start, end)
    if line < here.GetLine():
        # Rust's compiler sets constants at the beginning of a function, in the line of their declaration.
        is_early = is_untouched(value, frame) if start is None else pc < start and not is_optimised(frame)
        return UNSET if is_early else lost_mark(value, frame, is_c)
    if start is None or not start <= pc <= end:
        return None
    is_innermost = frame.GetFrameID() == 0
    if pc == start and is_innermost:
        return UNSET
    # A call within the line returns to the run's end at the latest.
    return mark_within(value, frame, start, end) if pc < end or not is_innermost else None


def lost_mark(value, frame, is_c):
    """The note on a variable of Rust's that an `.await` may have lost."""
    if is_c:
        return None
    import rust_futures

    return rust_futures.PERHAPS_LOST if rust_futures.is_perhaps_lost(value, frame) else None


def mark_within(value, frame, start, end):
    """The note on a variable whose declaration runs."""
    return UNSET if is_named_later(value, frame, start, end) else PERHAPS_UNSET


def first_run(frame, file, line, last):
    """Where the first instructions of these lines in a frame's function begin and end, none if they have none."""
    function, unit = frame.GetFunction(), frame.GetCompileUnit()
    first, end = function.GetStartAddress().GetFileAddress(), function.GetEndAddress().GetFileAddress()
    key = (first, line)
    if key not in RUNS:
        RUNS[key] = (None, None)
        firsts = (first_index(unit, file, each, first, end) for each in range(line, last + 1))
        index = min((index for index in firsts if index is not None), default=None)
        if index is not None:
            entry = unit.GetLineEntryAtIndex(index)
            start = entry.GetStartAddress().GetFileAddress()
            while entry.IsValid():
                if line <= entry.GetLine() <= last:
                    stop = entry.GetEndAddress().GetFileAddress()
                # GCC gives parts of a list of elements to the end of the block.
                elif not (entry.GetLine() > last and is_end_of_block(frame, file, entry.GetLine())):
                    break
                index += 1
                entry = unit.GetLineEntryAtIndex(index)
            RUNS[key] = (start, stop)
    return RUNS[key]


def first_index(unit, file, line, first, end):
    """The first entry of the line table for a line, between two addresses."""
    index = unit.FindLineEntryIndex(0, line, file, True)
    while index < unit.GetNumLineEntries():
        if first <= unit.GetLineEntryAtIndex(index).GetStartAddress().GetFileAddress() < end:
            return index
        index = unit.FindLineEntryIndex(index + 1, line, file, True)
    return None
