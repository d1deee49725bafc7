"""Reports each of several threads that stop at the same moment. Executed in the program before it starts.

pydevd stops all threads at the first breakpoint. It then forgets the breakpoints that other threads have reached. If a thread
reaches its breakpoint while the others resume, all threads may stay stopped without a report.
"""

import os
from contextlib import contextmanager

import pydevd
from _pydev_bundle._pydev_saved_modules import threading
from _pydevd_bundle import pydevd_api, pydevd_comm, pydevd_vars
from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK, CMD_THREAD_SUSPEND
from _pydevd_bundle.pydevd_constants import STATE_SUSPEND, get_global_debugger
from pydevd_file_utils import get_abs_path_real_path_and_base_from_frame

# Seconds between checks whether the holder was resumed before it waited.
POLL_SECONDS = 0.05


class Turn:
    """Held by the thread whose stop is reported, from when it stops the others until it runs again."""

    def __init__(self):
        self.changed = threading.Condition(threading.Lock())
        self.holder, self.depth, self.is_marked = None, 0, False
        # The number of the thread whose stop was reported last.
        self.reported = None

    def take(self, thread):
        with self.changed:
            while self.holder not in (None, thread) and not self.is_given_up():
                self.changed.wait(POLL_SECONDS)
            if self.holder is not thread:
                self.holder, self.depth, self.is_marked = thread, 0, False

    def is_given_up(self):
        """Whether the thread that holds it ended, or was let go between its two steps: it may not come to the second."""
        is_let_go = self.is_marked and not self.depth and self.holder.additional_info.pydev_state != STATE_SUSPEND
        return is_let_go or not self.holder.is_alive()

    def give(self, thread):
        """Gives it to the thread whose stop is reported, unless another has it."""
        with self.changed:
            if self.holder is None:
                self.holder, self.depth, self.is_marked = thread, 1, True

    @contextmanager
    def held(self, thread):
        """While a thread is stopped; within that, what it evaluates may stop it again."""
        with self.changed:
            self.depth += self.holder is thread
        try:
            yield
        finally:
            with self.changed:
                if self.holder is thread:
                    self.depth -= 1
                    if not self.depth:
                        self.holder = None
                        self.changed.notify_all()


def report_each_stop():
    """Lets threads stop the program one after the other."""
    debugger = type(get_global_debugger())
    notification = pydevd.ThreadsSuspendedSingleNotification
    suspend, wait = debugger.set_suspend, debugger.do_wait_suspend
    send_suspend, resumed = notification.send_suspend_notification, notification.on_thread_resume
    turn = Turn()

    def in_one_go(resume_threads):
        """Resumes threads before one of them gives its turn to the next, which would be resumed too."""

        def resume(*args, **kwargs):
            with turn.changed:
                resume_threads(*args, **kwargs)

        return resume

    def set_suspend(self, thread, stop_reason, *args, **kwargs):
        is_own = thread is threading.current_thread() and stop_reason != CMD_THREAD_SUSPEND and not kwargs.get("suspend_requested")
        if is_own:
            turn.take(thread)
        suspend(self, thread, stop_reason, *args, **kwargs)
        if is_own:
            turn.is_marked = True

    def do_wait_suspend(self, thread, frame, event, arg, exception_type=None):
        info = thread.additional_info
        is_own = thread.stop_reason != CMD_THREAD_SUSPEND
        trace_type = info.trace_suspend_type
        if is_own:
            turn.take(thread)
        with turn.held(thread):
            wait(self, thread, frame, event, arg, exception_type)
        # It was stopped by another right before a line with a breakpoint of its own.
        if not is_own and event == "line" and info.pydev_step_cmd in (-1, CMD_THREAD_SUSPEND) and stops_at_line(self, info, frame):
            self.set_suspend(thread, CMD_SET_BREAK, suspend_other_threads=True)
            info.trace_suspend_type = trace_type
            self.do_wait_suspend(thread, frame, event, arg)

    def send_suspend_notification(self, thread_id, thread, stop_reason):
        turn.reported = thread_id
        turn.give(thread)
        send_suspend(self, thread_id, thread, stop_reason)

    def on_thread_resume(self, thread_id, thread):
        if turn.reported == thread_id:
            return resumed(self, thread_id, thread)
        # One that is late must not say that all run: the next may be stopped.
        with self._lock:
            self._suspended_thread_id_to_thread.pop(thread_id, None)

    debugger.set_suspend, debugger.do_wait_suspend = set_suspend, do_wait_suspend
    notification.send_suspend_notification, notification.on_thread_resume = send_suspend_notification, on_thread_resume
    for module in (pydevd_api, pydevd_comm, pydevd_vars):
        module.resume_threads = in_one_go(module.resume_threads)


def stops_at_line(debugger, info, frame):
    """Whether the line that a frame comes to has a breakpoint that stops it; writes its log message."""
    path = get_abs_path_real_path_and_base_from_frame(frame)[1]
    breakpoint = debugger.breakpoints.get(path, {}).get(frame.f_lineno)
    if breakpoint is None:
        return False
    if breakpoint.expression is not None:
        debugger.handle_breakpoint_expression(breakpoint, info, frame)
    if breakpoint.has_condition and not debugger.handle_breakpoint_condition(info, breakpoint, frame):
        return False
    if breakpoint.is_logpoint:
        if info.pydev_message:
            debugger.writer.add_command(debugger.cmd_factory.make_io_message(info.pydev_message + os.linesep, "1"))
        return False
    info.hit_breakpoint_ids = [breakpoint.breakpoint_id]
    return True


report_each_stop()
