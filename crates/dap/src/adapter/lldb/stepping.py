"""Steps that the debugger leaves too early: before the arguments of a function are stored, and in libraries."""

from common import MARK

# Instructions before the arguments of a function are stored.
MAX_PROLOGUE = 64
# Libraries' functions that one step leaves.
MAX_LEFT = 100
# Bytes of the instructions that store where a future is.
MAX_SPILL = 16


def past_prologue(debugger, given, result, _session):
    """A command: lets a thread at the first instruction of a function go on until its arguments are stored; says if it did. After a
    step into a library it says which step is next.
    """
    thread, _, step = given.partition(" ")
    thread = debugger.GetSelectedTarget().GetProcess().GetThreadByID(int(thread))
    frame = thread.GetFrameAtIndex(0)
    if not step:
        LEFT.pop(thread.GetThreadID(), None)
    elif LIBRARIES_ARE_LEFT and (next_step := step_from_library(thread, frame)):
        result.AppendMessage(f"{MARK}{next_step}{MARK}")
        return
    if is_future_unknown(frame):
        step_while(debugger, lambda: is_future_unknown(thread.GetFrameAtIndex(0)), thread)
        result.AppendMessage(MARK)
        return
    if frame.GetFunction().GetStartAddress() != frame.GetPCAddress():
        return
    # What lies below the stack at this point was written by nobody yet.
    places = [argument.GetLocation() or "" for argument in frame.GetVariables(True, False, False, True)]
    if not any(place.startswith("0x") and int(place, 16) < frame.GetSP() for place in places):
        return
    target = debugger.GetSelectedTarget()
    end = frame.GetLineEntry().GetEndAddress().GetLoadAddress(target)
    start = frame.GetFunction().GetStartAddress().GetLoadAddress(target)
    step_while(debugger, lambda: start <= thread.GetFrameAtIndex(0).GetPC() < end, thread)
    result.AppendMessage(MARK)


# Whether steps pass over Rust's libraries.
LIBRARIES_ARE_LEFT = True
# How often each thread was made to leave a library since its last step, and which frame called that in which line.
LEFT = {}


def step_from_library(thread, frame):
    """The step that leaves Rust's libraries, and then the one that continues in the line that called them."""
    left, place = LEFT.pop(thread.GetThreadID(), (0, None))
    if left < MAX_LEFT and is_in_library(frame):
        caller = next((frame for frame in thread if not is_in_library(frame)), frame)
        LEFT[thread.GetThreadID()] = (left + 1, place_of(caller))
        return "stepOut"
    if not left or place_of(frame) != place:
        return None
    # What it comes to next is reported, unless that is a library's again.
    LEFT[thread.GetThreadID()] = (left, None)
    return "stepIn"


def place_of(frame):
    return frame.GetCFA(), frame.GetLineEntry().GetLine()


def is_in_library(frame):
    folder = frame.GetLineEntry().GetFileSpec().GetDirectory() or ""
    return folder.startswith("/rustc/") or "/rustlib/src/rust/library/" in f"{folder}/"


def step_while(debugger, is_early, thread):
    debugger.SetAsync(False)
    try:
        for _ in range(MAX_PROLOGUE):
            if not is_early():
                break
            thread.StepInstruction(True)
    finally:
        debugger.SetAsync(True)


def is_future_unknown(frame):
    """Whether an async function of Rust stands before its first statement and has yet to store where its variables are."""
    given = frame.GetVariables(True, False, False, True)
    future = given.GetValueAtIndex(0)
    if future.GetName() or not (future.GetTypeName() or "").startswith("core::pin::Pin<") or "async_" not in future.GetTypeName():
        return False
    function = frame.GetFunction()
    since = frame.GetPCAddress().GetFileAddress() - function.GetStartAddress().GetFileAddress() - function.GetPrologueByteSize()
    pointer = future.GetNonSyntheticValue().GetChildAtIndex(0)
    start, size = pointer.GetValueAsUnsigned(), pointer.GetType().GetPointeeType().GetByteSize()
    own = (value for value in frame.GetVariables(False, True, False, True) if value.GetName() != "_task_context")
    return 0 <= since < MAX_SPILL and any(not start <= value.GetLoadAddress() < start + size for value in own)
