"""Breakpoints whose conditions our evaluator checks. Where LLDB would crash at an expression, it also counts hits and writes messages."""

import json
import os
import re

import evaluator
import lldb
from common import MARK, Unreadable
from evaluator import Failed, NotOurs, evaluated

# What stands before a value in a message: those that we write are known by it.
VALUE_START = "\x1d"
# What is inserted into a message.
INSERTED = re.compile(r"\{([^}]*)\}")
# By the numbers of breakpoints: condition, as it was given and as LLDB takes it, hits and message.
CONDITIONS = {}


def set_conditions(debugger, given, result, _session):
    """A command: takes over the breakpoints, by their numbers, that our evaluator checks or that LLDB would crash at."""
    target = debugger.GetSelectedTarget()
    for number, wanted in json.loads(given).items():
        point = target.FindBreakpointByID(int(number))
        had = CONDITIONS.pop(int(number), None)
        if wanted and (wanted["isOwn"] or evaluator.LANGUAGE.would_crash_at(point, [wanted["condition"] or "", *INSERTED.findall(wanted["message"] or "")])):
            CONDITIONS[int(number)] = {**wanted, "left": (wanted["hits"] or 1) - 1}
            point.SetScriptCallbackFunction(f"{__name__}.is_met")
            point.SetCondition("")
            point.SetIgnoreCount(0)
        elif had and not (wanted and wanted["message"]):
            point.SetScriptCallbackBody("return True")
    result.AppendMessage(MARK)


def is_met(frame, location, _session):
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
