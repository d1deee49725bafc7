"""What a stop leaves behind when its thread runs on. Executed in the program before it starts.

pydevd waits for the return of a frame to step out of it. A generator that is not asked again never returns, and pydevd does not
trace the import of a module. Such a step becomes a step over in the function that the thread returns to.

If the local variables of a frame were read, CPython 3.12 writes them back after each traced line. It sets the variables of
comprehensions at the top level of a module to None, because they are not among the module's.
"""

import ctypes
import inspect
import sys

from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_OVER, CMD_STEP_OVER_MY_CODE, CMD_STEP_RETURN, CMD_STEP_RETURN_MY_CODE
from _pydevd_bundle.pydevd_constants import get_global_debugger

WRITES_BACK = sys.implementation.name == "cpython" and sys.version_info[:2] == (3, 12)
STEPS_OVER = {CMD_STEP_RETURN: CMD_STEP_OVER, CMD_STEP_RETURN_MY_CODE: CMD_STEP_OVER_MY_CODE}


class Frame(ctypes.Structure):
    """A frame of CPython 3.12."""

    _fields_ = [
        ("head", ctypes.c_char * object.__basicsize__),
        ("back", ctypes.c_void_p),
        ("frame", ctypes.c_void_p),
        ("trace", ctypes.c_void_p),
        ("line", ctypes.c_int),
        ("traces_lines", ctypes.c_bool),
        ("traces_opcodes", ctypes.c_bool),
        ("locals_were_read", ctypes.c_bool),
    ]


def keep_comprehensions():
    """Keeps the variables of comprehensions in all functions that call this; returns whether there are any."""
    frame, has_any = sys._getframe(), False
    while WRITES_BACK and frame is not None:
        code = frame.f_code
        if code.co_varnames and not code.co_flags & inspect.CO_OPTIMIZED:
            Frame.from_address(id(frame)).locals_were_read = False
            has_any = True
        frame = frame.f_back
    return has_any


def step_over_in_caller(debugger, info):
    """Turns a step out into a step over if pydevd does not see the return of its frame."""
    frame, command = info.pydev_step_stop, info.pydev_step_cmd
    if command not in STEPS_OVER or frame is None:
        return
    if not frame.f_code.co_flags & inspect.CO_GENERATOR and debugger.get_file_type(frame) is None:
        return
    is_own_code = command == CMD_STEP_RETURN_MY_CODE
    caller = frame.f_back
    while caller is not None and (
        debugger.get_file_type(caller) is not None or debugger.apply_files_filter(caller, caller.f_code.co_filename, is_own_code)
    ):
        caller = caller.f_back
    if caller is not None:
        info.pydev_step_stop, info.pydev_step_cmd = caller, STEPS_OVER[command]


def resume_as_meant():
    debugger = type(get_global_debugger())
    wait, handle_condition = debugger.do_wait_suspend, debugger.handle_breakpoint_condition
    handle_expression = debugger.handle_breakpoint_expression
    debugger.hides_return_values = False

    def do_wait_suspend(self, thread, *args, **kwargs):
        if self.hides_return_values:
            self.show_return_values, self.hides_return_values = True, False
        wait(self, thread, *args, **kwargs)
        step_over_in_caller(self, thread.additional_info)
        # pydevd would read the locals of a caller to add what a function returned.
        if keep_comprehensions() and self.show_return_values:
            self.show_return_values, self.hides_return_values = False, True

    def handle_breakpoint_condition(self, *args, **kwargs):
        result = handle_condition(self, *args, **kwargs)
        keep_comprehensions()
        return result

    def handle_breakpoint_expression(self, *args, **kwargs):
        handle_expression(self, *args, **kwargs)
        keep_comprehensions()

    debugger.do_wait_suspend = do_wait_suspend
    debugger.handle_breakpoint_condition = handle_breakpoint_condition
    debugger.handle_breakpoint_expression = handle_breakpoint_expression


resume_as_meant()
