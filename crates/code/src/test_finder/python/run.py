# Runs a test with its runner: pytest or unittest, as the first argument says, the others are its
# own. The debugger stops where the test fails: what the runner catches is handed to it as if
# nobody had. Its own way, to stop at what leaves the project's code, also stops at what
# `pytest.raises` expects.
import sys


def debugger():
    try:
        from _pydevd_bundle.pydevd_constants import get_global_debugger

        return get_global_debugger()
    except Exception:
        return None


def hide(*codes):
    # The debugger leaves these frames out of stacks, as it does its own.
    try:
        from pydevd import _CACHE_FILE_TYPE

        for code in codes:
            _CACHE_FILE_TYPE[code.co_firstlineno, code.co_filename, code] = debugger().PYDEV_FILE
    except Exception:
        # It is another version, and shows them.
        pass


def from_test(trace):
    # A `with self.subTest()` is still running when its error is reported: the trace begins inside of it, in frames that
    # the test has called. pydevd would show the line of the `with`.
    callers, frame = set(), trace.tb_frame.f_back
    while frame is not None:
        callers.add(frame)
        frame = frame.f_back
    entry = trace
    while entry is not None:
        if entry.tb_frame in callers:
            trace = entry
        entry = entry.tb_next
    return trace


def stop(error):
    found = debugger()
    if found is None or error[2] is None:
        return
    error = (error[0], error[1], from_test(error[2]))
    try:
        import threading

        from _pydevd_bundle.pydevd_additional_thread_info import set_additional_thread_info
        from _pydevd_bundle.pydevd_breakpoints import stop_on_unhandled_exception

        thread = threading.current_thread()
        info = set_additional_thread_info(thread)
        info.is_tracing += 1
        try:
            stop_on_unhandled_exception(found, thread, info, error)
        finally:
            info.is_tracing -= 1
    except Exception as problem:
        print("the debugger cannot stop where the test failed:", problem, file=sys.stderr)


class Plugin:
    def pytest_exception_interact(self, call):
        error = call.excinfo
        if error is not None:
            stop((error.type, error.value, error.tb))


def run_pytest(arguments):
    import pytest

    return int(pytest.main(arguments, plugins=[Plugin()]))


def run_unittest(arguments):
    import unittest

    class Result(unittest.TextTestResult):
        def addError(self, test, error):
            stop(error)
            super().addError(test, error)

        def addFailure(self, test, error):
            stop(error)
            super().addFailure(test, error)

        def addSubTest(self, test, subtest, error):
            if error is not None:
                stop(error)
            super().addSubTest(test, subtest, error)

    class Runner(unittest.TextTestRunner):
        resultclass = Result

    arguments = ["python -m unittest", *arguments]
    program = unittest.main(module=None, argv=arguments, testRunner=Runner, exit=False)
    return int(not program.result.wasSuccessful())


hide(sys._getframe().f_code, run_pytest.__code__, run_unittest.__code__)
runner, arguments = sys.argv[1], sys.argv[2:]
sys.argv[:] = [runner, *arguments]
code = {"pytest": run_pytest, "unittest": run_unittest}[runner](arguments)
if debugger() is not None:
    # That tests failed is no exception of the program's.
    debugger().set_ignore_system_exit_codes(list(range(256)))
sys.exit(code)
