"""Breakpoints: which threads they stopped, and conditions that our evaluator checks. Where LLDB would crash at an expression, the
evaluator also counts hits and writes messages.
"""

import json
import os
import re

import evaluator
import lldb
from common import MARK, Unreadable
from evaluator import evaluated
from reader import Failed, NotOurs

# What stands before a value in a message: those that we write are known by it.
VALUE_START = "\x1d"
# What is inserted into a message.
INSERTED = re.compile(r"\{([^}]*)\}")
# What the compiler calls its functions for a program's start: what calls those of a file, and initialises its variables.
START_UP = ("_GLOBAL__sub_", "__static_initialization_and_destruction_0")
# By the numbers of breakpoints: condition, as it was given and as LLDB takes it, hits and message.
CONDITIONS = {}
# The numbers of the breakpoints that note which thread they stop.
TRACKED = set()
# By threads: the number of the process's stop at which a breakpoint stopped the thread.
STOPPED_AT = {}
# By threads: the stop that is reported already, and the number of the process's stop at which it was.
REPORTED = {}
# Stops that are a thread's own.
OWN_REASONS = {
    lldb.eStopReasonBreakpoint,
    lldb.eStopReasonWatchpoint,
    lldb.eStopReasonSignal,
    lldb.eStopReasonException,
}


def set_conditions(debugger, given, result, _session):
    """A command: takes over the breakpoints, by their numbers, that our evaluator checks or that LLDB would crash at, and notes which
    threads the others stop.
    """
    target = debugger.GetSelectedTarget()
    for number, wanted in json.loads(given).items():
        point = target.FindBreakpointByID(int(number))
        CONDITIONS.pop(int(number), None)
        leave_start_up(point)
        TRACKED.add(int(number))
        if wanted and (wanted["isOwn"] or evaluator.LANGUAGE.needs_own_evaluator(point, [wanted["condition"] or "", *INSERTED.findall(wanted["message"] or "")])):
            CONDITIONS[int(number)] = {**wanted, "left": (wanted["hits"] or 1) - 1}
            point.SetScriptCallbackFunction(f"{__name__}.is_met")
            point.SetCondition("")
            point.SetIgnoreCount(0)
        elif not (wanted and wanted["message"]):
            # A message is lldb-dap's, and stops no thread.
            point.SetScriptCallbackFunction(f"{__name__}.is_met")
    result.AppendMessage(MARK)


def leave_start_up(point):
    """Disables what a breakpoint has in the functions that the compiler makes for a program's start, for which GCC names the last
    line of the file. LLDB would continue from there to code of another line.
    """
    made = [location for location in point if function_of(location).startswith(START_UP)]
    lines = {line_of(location) for location in point if not function_of(location).startswith(START_UP)}
    for location in made:
        if lines and (function_of(location).startswith(START_UP[0]) or line_of(location) not in lines):
            location.SetEnabled(False)


def function_of(location):
    return (location.GetAddress().GetFunction().GetName() or "").removeprefix("::")


def line_of(location):
    entry = location.GetAddress().GetLineEntry()
    return entry.GetFileSpec().fullpath, entry.GetLine()


def is_met(frame, location, _session):
    """Whether a breakpoint stops the program. LLDB asks where its own conditions are met."""
    stops = stops_program(frame, location)
    if stops:
        thread = frame.GetThread()
        STOPPED_AT[thread.GetThreadID()] = thread.GetProcess().GetStopID()
    return stops


def unreported(debugger, focus, result, _session):
    """A command: the threads with a stop of their own that is not reported yet. LLDB may report one that has none."""
    process = debugger.GetSelectedTarget().GetProcess()
    stops = {thread.GetThreadID(): stop_of(process, thread) for thread in process}
    for known in (STOPPED_AT, REPORTED):
        for gone in known.keys() - stops.keys():
            del known[gone]
    now = process.GetStopID()

    def is_new(thread, stop):
        known, at = REPORTED.get(thread, (None, None))
        return stop and (thread == int(focus) or known != stop or at == now)

    found = [thread for thread, stop in stops.items() if is_new(thread, stop)]
    REPORTED.update({thread: (stops[thread], now) for thread in found})
    result.AppendMessage(f"{MARK}{json.dumps(found)}{MARK}")


def stop_of(process, thread):
    """Identifies a thread's own stop. None if another thread stopped it, if it has not run since an earlier stop, or
    if the condition at its breakpoint is not met.
    """
    reason = thread.GetStopReason()
    if reason not in OWN_REASONS:
        return None
    count = None
    if reason == lldb.eStopReasonWatchpoint:
        count = process.GetTarget().FindWatchpointByID(thread.GetStopReasonDataAtIndex(0)).GetHitCount()
    if reason == lldb.eStopReasonBreakpoint:
        points = {thread.GetStopReasonDataAtIndex(index) for index in range(0, thread.GetStopReasonDataCount(), 2)}
        if points & TRACKED:
            at = STOPPED_AT.get(thread.GetThreadID())
            return (at,) if at == process.GetStopID() else None
        found = [process.GetTarget().FindBreakpointByID(point) for point in points]
        count = sum(point.GetHitCount() for point in found)
    return reason, count, thread.GetStopDescription(200), thread.GetFrameAtIndex(0).GetPC()


def stops_program(frame, location):
    """Whether a breakpoint stops the program; one whose condition has no value does, and says so."""
    wanted = CONDITIONS.get(location.GetBreakpoint().GetID())
    if wanted is None:
        return True
    try:
        if wanted["condition"] and not is_true(frame, wanted):
            return False
    except (Failed, Unreadable) as why:
        number = f"{location.GetBreakpoint().GetID()}.{location.GetID()}"
        os.write(2, f'error evaluating condition of breakpoint {number}: "{wanted["condition"]}"\nerror: {why}\n'.encode())
        return True
    if wanted["left"]:
        wanted["left"] -= 1
        return False
    if wanted["message"] is None:
        return True
    message = INSERTED.sub(lambda found: VALUE_START + inserted(frame, found[1]), wanted["message"])
    os.write(2, f"{VALUE_START}{message}\n".encode("utf-8", "surrogateescape"))
    return False


def is_true(frame, wanted):
    try:
        return evaluator.LANGUAGE.truth(evaluated(frame, wanted["condition"]))
    except NotOurs:
        found = frame.EvaluateExpression(wanted["exact"])
        if found.GetError().Fail():
            raise Failed(found.GetError().GetCString().removeprefix("error: ")) from None
        return found.GetValueAsUnsigned() != 0


def inserted(frame, expression):
    """What stands in a message for an expression."""
    try:
        value = evaluated(frame, expression)
        if not isinstance(value, lldb.SBValue):
            return evaluator.LANGUAGE.text_of(value)
        text = evaluator.LANGUAGE.summary(value, None)
        return text.rsplit(MARK, 1)[-1] if text else value.GetValue() or ""
    except NotOurs:
        return "<error: it cannot be evaluated>"
    except (Failed, Unreadable) as why:
        return f"<error: {why}>"
