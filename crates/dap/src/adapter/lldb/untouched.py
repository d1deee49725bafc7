"""Which places of a frame no instruction has come to yet, told by the code of its function (x86-64, without optimisation).

What ran before an instruction lies before it, or in a loop around it. A function that can be entered elsewhere (landing pads, `setjmp`),
or whose jumps are computed, is left alone.
"""

import json
import os
import re

import lldb

# Instructions of a function that are looked at.
MAX_INSTRUCTIONS = 5000
ENTERED_ELSEWHERE = ("_Unwind_Resume", "__cxa_begin_catch", "setjmp")
OPERAND = re.compile(r"(-?0x[0-9a-f]+|-?\d+)?\(%(r[bs]p)(,[^)]*)?\)")
# Bytes below the stack that a function may use which calls no other.
RED_ZONE = 128
WIDTHS = {"b": 1, "w": 2, "l": 4, "q": 8}

# The places in the frame that each function's instructions name, its jumps, and whether it is entered at its beginning alone.
CODE = {}


def is_untouched(value, frame):
    """Whether nothing that ran in a frame has named the place of a variable."""
    places, jumps, is_whole = known_code(value, frame)
    if not is_whole:
        return False
    limit = reached_from(frame.GetPC(), jumps)
    return not any(at < limit for at in naming(value, frame, places))


def is_named_later(value, frame, start, end):
    """Whether a run of instructions in which a frame is, between two addresses in the file, has not named the place of a variable
    yet, and will."""
    pc = frame.GetPC()
    moved = pc - frame.GetPCAddress().GetFileAddress()
    places, _, _ = known_code(value, frame)
    named = [at for at in naming(value, frame, places) if start + moved <= at < end + moved]
    return bool(named) and pc <= min(named)


def known_code(value, frame):
    """What is known of the code of a frame's function; nothing where it does not tell when a variable is set."""
    target = value.GetTarget()
    is_known = value.GetLoadAddress() != lldb.LLDB_INVALID_ADDRESS and value.GetByteSize() and target.GetTriple().startswith("x86_64")
    if not is_known or not is_in_frame(value, frame) or has_no_parts(value.GetType().GetCanonicalType()) or is_optimised(frame):
        return [], [], False
    return code_of(frame.GetFunction(), target)


def is_in_frame(value, frame):
    """Whether a variable lies in its frame, or in a register."""
    address = value.GetLoadAddress()
    return address == lldb.LLDB_INVALID_ADDRESS or frame.GetSP() - RED_ZONE <= address < frame.GetCFA()


def naming(value, frame, places):
    """Where instructions name the place of a variable, or may."""
    start, size = value.GetLoadAddress(), value.GetByteSize()
    registers = {"rsp": frame.GetSP(), "rbp": frame.FindRegister("rbp").GetValueAsUnsigned()}
    for at, register, offset, width in places:
        address = None if offset is None else registers[register] + offset
        if address is None or address < start + size and start < address + width:
            yield at


def has_no_parts(kind):
    """Whether a class has nothing that could be set."""
    is_class = kind.GetTypeClass() in (lldb.eTypeClassClass, lldb.eTypeClassStruct)
    bases = (kind.GetDirectBaseClassAtIndex(index).GetType().GetCanonicalType() for index in range(kind.GetNumberOfDirectBaseClasses()))
    # What is not described takes room too: a pointer to virtual functions, the fields of a library's class.
    is_small = kind.GetByteSize() <= max(1, kind.GetNumberOfDirectBaseClasses())
    return is_class and is_small and not kind.GetNumberOfFields() and all(has_no_parts(base) for base in bases)


def reached_from(pc, jumps):
    """The end of the code that may have run before an instruction."""
    limit = pc
    for at, to in sorted(jumps):
        if at >= limit and to <= limit:
            limit = at + 1
    return limit


def code_of(function, target):
    start = function.GetStartAddress().GetLoadAddress(target)
    if start not in CODE:
        CODE[start] = read_code(function, target)
    return CODE[start]


def read_code(function, target):
    instructions = function.GetInstructions(target)
    places, jumps, is_whole = [], [], True
    if not 0 < instructions.GetSize() <= MAX_INSTRUCTIONS:
        return places, jumps, False
    for instruction in instructions:
        at, name, operands = instruction.GetAddress().GetLoadAddress(target), instruction.GetMnemonic(target), instruction.GetOperands(target)
        if name.startswith("j"):
            to = re.fullmatch(r"0x[0-9a-f]+", operands.split(" ", 1)[0])
            is_whole &= to is not None
            jumps.extend([(at, int(to[0], 16))] if to else [])
        elif name.startswith("call") and any(other in f"{operands} {instruction.GetComment(target)}" for other in ENTERED_ELSEWHERE):
            is_whole = False
        for offset, register, index in OPERAND.findall(operands):
            width = WIDTHS.get(name[-1], 16) if "mm" not in operands else 32
            # One with an index may name any place.
            places.append((at, register, None if index else int(offset or "0", 0), width))
    return places, jumps, is_whole


OPTIMISED = None


def is_optimised(frame):
    """Whether a frame's file was compiled with optimisation, or nothing says that it was not."""
    global OPTIMISED
    if OPTIMISED is None:
        try:
            with open(os.path.join(os.path.dirname(__file__), "optimised.json"), encoding="utf-8") as file:
                OPTIMISED = set(json.load(file))
        except (OSError, ValueError):
            return True
    return frame.GetLineEntry().GetFileSpec().fullpath in OPTIMISED
