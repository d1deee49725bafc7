"""Changes to pydevd, inside the program that is debugged. This module is executed before the program starts.

Values are shown as `repr` writes them, as far as there is room. pydevd writes containers itself: two levels deep, without
the name of a subclass or a `maxlen`, and an empty set as an empty dict. It leaves out functions and classes wherever they
are, and None as a result. It calls properties. Exceptions stop the program once each, and answers are not held back.
Conditions and log messages read names inside of comprehensions and private names. A log message shows what it can where one
of its expressions fails. A name means the variable that the function means by it, with or without a value.

A pydevd that has other parts than those that are replaced works as it does by itself.
"""

import ast
import dis
import inspect
import socket
import sys
import threading
from collections import OrderedDict, defaultdict, deque
from functools import cached_property, lru_cache
from types import FrameType, FunctionType, MemberDescriptorType, SimpleNamespace

from _pydevd_bundle import pydevd_process_net_command_json, pydevd_resolver, pydevd_suspended_frames, pydevd_utils, pydevd_vars
from _pydevd_bundle.pydevd_comm_constants import CMD_STEP_RETURN, CMD_STEP_RETURN_MY_CODE
from _pydevd_bundle.pydevd_constants import RETURN_VALUES_DICT, get_global_debugger
from _pydevd_bundle.pydevd_suspended_frames import SafeRepr, _AbstractVariable, _FrameVariable, _ObjectVariable
from _pydevd_bundle.pydevd_utils import DAPGrouper

# Characters of a container in a list of variables, as a result, and where all of it is requested.
LISTED, EVALUATED, WHOLE = 240, 480, 1 << 20
# Characters of an object that only has fields as a result. Elsewhere it is as long as its address would be.
OBJECT = 120
# Elements of a container that shows itself.
MAX_OWN = 2000
# Levels of containers inside of each other.
MAX_DEPTH = 50

KINDS = (list, tuple, dict, set, frozenset, deque, OrderedDict, defaultdict, object)
BY_REPR = {kind.__repr__: kind for kind in KINDS}
INSIDE_ITSELF = {list: "[...]", tuple: "(...)", dict: "{...}", deque: "[...]"}
DEFINITIONS = (DAPGrouper.SCOPE_FUNCTION_VARS, DAPGrouper.SCOPE_CLASS_VARS)


def container_of(value):
    """The built-in container as which a value shows itself, if it is one; `object` for one that shows its address alone."""
    try:
        kind = BY_REPR.get(type(value).__repr__)
    except TypeError:
        return None
    return None if kind is object and not fields_of(value) else kind


def fields_of(value):
    """The attributes of an object itself, those in slots before the others."""
    fields = {}
    for kind in reversed(type(value).__mro__):
        members = vars(kind) if "__slots__" in vars(kind) else {}
        for name, member in members.items():
            if type(member) is MemberDescriptorType:
                try:
                    fields[name] = member.__get__(value)
                except AttributeError:
                    # It is not set.
                    pass
    others = getattr(value, "__dict__", None)
    return {**fields, **others} if type(others) is dict else fields


def around(kind, value):
    """What is before and behind the elements of a container, and between a key and its value."""
    name = type(value).__name__
    if kind is object:
        return "<%s " % name, ">", "="
    if kind is list:
        return "[", "]", ""
    if kind is tuple:
        return "(", ",)" if len(value) == 1 else ")", ""
    if kind is dict:
        return "{", "}", ": "
    if type(value) is set:
        return "{", "}", ""
    if kind in (set, frozenset):
        return name + "({", "})", ""
    if kind is deque:
        return name + "([", "])" if value.maxlen is None else "], maxlen=%d)" % value.maxlen, ""
    if kind is defaultdict:
        return "%s(%r, {" % (name, value.default_factory), "})", ": "
    if sys.version_info >= (3, 12):
        return name + "({", "})", ": "
    return name + "([", "])", ", "


class Repr(SafeRepr):
    """The text of a value."""

    room, outer = LISTED, ()
    maxstring_inner = maxother_inner = LISTED - 40

    def _is_long_iter(self, value, level=0):
        """Whether a container that shows itself is too large for that."""
        try:
            return isinstance(value, self.long_iter_types) and not isinstance(value, range) and len(value) > MAX_OWN
        except Exception:
            return True

    def __call__(self, value):
        kind = container_of(value)
        if kind is None or self.raw_value or self.convert_to_hex:
            return SafeRepr.__call__(self, value)
        if self.maxother_outer > SafeRepr.maxother_outer:
            self.room = WHOLE
        elif kind is object:
            self.room = min(self.room, OBJECT if self.room == EVALUATED else len(object.__repr__(value)))
        self.is_whole = self.room == WHOLE
        self.parts, self.ends, self.outer = [], [], list(self.outer)
        try:
            is_whole = self.write_container(kind, value)
        except Exception:
            # It changes while it is read, say.
            return SafeRepr.__call__(self, value)
        if not is_whole:
            self.parts.append("...")
            self.parts.extend(reversed(self.ends))
        return "".join(self.parts)

    def write(self, value):
        """Adds the text of a value; returns whether there was room."""
        kind = container_of(value)
        if kind is None:
            return self.add("".join(self._repr(value, 1)))
        if any(value is other for other in self.outer) or len(self.outer) == MAX_DEPTH:
            return self.add(INSIDE_ITSELF.get(kind, "..."))
        if kind is object and not self.is_whole:
            inner = Repr()
            inner.room, inner.outer = self.room, self.outer
            return self.add(inner(value))
        return self.write_container(kind, value)

    def write_container(self, kind, value):
        begin, end, between = around(kind, value)
        self.outer.append(value)
        if kind is object:
            kind, value = dict, fields_of(value)
        elif kind.__len__(value) == 0:
            self.outer.pop()
            return self.add(repr(value))
        if not self.add(begin):
            return False
        self.ends.append(end)
        is_pair = between == ", "
        items = kind.items(value) if between else kind.__iter__(value)
        for index, item in enumerate(items):
            if index:
                self.parts.append(", ")
            if not between:
                if not self.write(item):
                    return False
                continue
            if is_pair:
                self.parts.append("(")
                self.ends.append(")")
            if not (self.add(str(item[0])) if between == "=" else self.write(item[0])):
                return False
            self.parts.append(between)
            if not self.write(item[1]):
                return False
            if is_pair:
                self.parts.append(self.ends.pop())
        self.parts.append(self.ends.pop())
        self.outer.pop()
        return True

    def add(self, text):
        self.room -= len(text) + 2
        if self.room < 0:
            return False
        self.parts.append(text)
        return True


class NoneType(int):
    """Stands for None as a result, for which pydevd shows nothing. As a number it has nothing inside."""

    def __repr__(self):
        return "None"


class Property:
    """Replaces the value of a property, whose getter is the program's code."""

    def __repr__(self):
        return "<property>"


Property.__name__ = "property"


def is_computed(value, name):
    """Whether reading an attribute calls a property."""
    try:
        found = inspect.getattr_static(value, name, None)
        # Not `isinstance`: it reads `__class__`, which may be the program's.
        is_property = issubclass(type(found), (property, cached_property))
        return is_property and found is inspect.getattr_static(type(value), name, None)
    except Exception:
        return False


def is_shown(variable, name, value, scope):
    """Whether a function or a class is worth a line: not where its own definition, or that of its object's class, is all it is."""
    if scope not in DEFINITIONS:
        return False
    if isinstance(variable, _FrameVariable):
        frame = variable.frame
        is_module = frame.f_locals is frame.f_globals
        return variable.shows_locals and not (is_module and getattr(value, "__name__", None) == name)
    if isinstance(variable.value, (type, type(sys))):
        return False
    return name in getattr(variable.value, "__dict__", ()) or not hasattr(type(variable.value), name)


def has_stepped_out():
    """Whether the thread, which runs this while it is stopped, has just left a function."""
    info = getattr(threading.current_thread(), "additional_info", None)
    return getattr(info, "pydev_original_step_cmd", None) in (CMD_STEP_RETURN, CMD_STEP_RETURN_MY_CODE)


def answer_at_once():
    """Lets answers go out in one go: pydevd writes each in two parts, and the second waits for the other side's word of the first."""
    connection = get_global_debugger().writer.sock
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def stop_once():
    """Lets an exception stop the program where it is raised, and not again in each caller that it passes."""
    debugger = type(get_global_debugger())
    is_excluded = debugger.exclude_exception_by_filter

    def is_left_out(self, breakpoint, trace):
        if is_excluded(self, breakpoint, trace):
            return True
        # That filter is about the outermost frame of the user's.
        inner = None if breakpoint.notify_on_user_unhandled_exceptions else trace.tb_next
        while inner is not None:
            if not is_excluded(self, breakpoint, inner):
                return True
            inner = inner.tb_next
        return False

    debugger.exclude_exception_by_filter = is_left_out


class LogMessage(str):
    """A log message as it was given."""


class Condition(str):
    """A condition with the names that it means, which shows itself as it was given."""

    def __new__(cls, given, meant):
        condition = str.__new__(cls, meant)
        condition.given = given
        return condition

    def __str__(self):
        return self.given


class PrivateNames(ast.NodeTransformer):
    """Private names (`self.__rate`) as they are called outside of their class."""

    def __init__(self, owner):
        own = owner.lstrip("_")
        # A class named with underscores alone has no private names.
        self.prefix = "_" + own if own else ""

    def meant(self, name):
        return self.prefix + name if name.startswith("__") and not name.endswith("__") else name

    def visit_Attribute(self, node):
        node.attr = self.meant(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node):
        node.id = self.meant(node.id)
        return node


def with_private_names(expression, frame):
    """An expression as it is meant in the method of a class that a frame is in."""
    owner = class_of(frame) if "__" in expression and hasattr(ast, "unparse") else None
    if owner is None:
        return expression
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError:
        return expression
    return ast.unparse(PrivateNames(owner.__name__).visit(tree))


def class_of(frame):
    """The class that has the method that a frame is in."""
    first = frame.f_locals.get(next(iter(frame.f_code.co_varnames), None))
    for kind in (first if isinstance(first, type) else type(first)).__mro__:
        if any(has_code(member, frame.f_code) for member in vars(kind).values()):
            return kind
    return None


def has_code(member, code):
    """Whether a member of a class is a method with this code, perhaps a decorated one."""
    if isinstance(member, (classmethod, staticmethod)):
        member = member.__func__
    elif isinstance(member, property):
        member = member.fget
    while isinstance(member, FunctionType):
        if member.__code__ is code:
            return True
        member = vars(member).get("__wrapped__")
    return False


def logged(message, names, frame):
    """The text of a log message with the values of its expressions."""
    own = frame.f_locals
    letters, parts = iter(message), []
    for letter in letters:
        if letter != "{":
            parts.append(letter)
            continue
        try:
            expression = pydevd_utils._extract_variable_nested_braces(letters)
            if not expression:
                parts.append("{}")
                continue
            try:
                parts.append(str(eval(with_private_names(expression, frame), names, own)))
            except SyntaxError:
                # With a conversion or a format, as in an f-string.
                parts.append(eval(with_private_names("f" + repr("{%s}" % expression), frame), names, own))
        except BaseException as error:
            parts.append("<%s: %s>" % (type(error).__name__, error))
    return "".join(parts)


def own_names(code):
    """The variables of a function itself and of those around it."""
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars}


@lru_cache(maxsize=1024)
def global_names(code):
    """The names that a function reads from its module. From Python 3.12 on, a comprehension inside it can add names."""
    return {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}


def unset_names(frame):
    """The own variables of a function that have no value, where the module has others of the same name."""
    code, own = frame.f_code, frame.f_locals
    if not code.co_flags & inspect.CO_OPTIMIZED:
        return []
    names = [name for name in own_names(code) if name in frame.f_globals and name not in own]
    return [name for name in names if name not in global_names(code)] if names else names


class Names:
    """The names of a frame without those of the module that its function does not mean."""

    def __init__(self, frame, unset):
        self.frame, self.f_locals = frame, frame.f_locals
        self.f_globals = {"globals": lambda: frame.f_globals, **frame.f_globals}
        for name in unset:
            del self.f_globals[name]


def assign_names():
    """Lets an assignment that is evaluated change the variable that the function means."""
    update, evaluate = pydevd_vars.update_globals_and_locals, pydevd_vars.evaluate_expression

    def updated(values, before, frame):
        frame = frame.frame if isinstance(frame, Names) else frame
        own = {*own_names(frame.f_code), *frame.f_locals}
        for name in set(values).difference(own) if frame.f_code.co_flags & inspect.CO_OPTIMIZED else ():
            if name in before and name in frame.f_globals and values[name] is not before[name]:
                frame.f_globals[name] = before[name] = values[name]
        return update(values, before, frame)

    def evaluated(py_db, frame, expression, is_exec):
        unset = unset_names(frame) if frame is not None else ()
        return evaluate(py_db, Names(frame, unset) if unset else frame, expression, is_exec)

    pydevd_vars.update_globals_and_locals, pydevd_vars.evaluate_expression = updated, evaluated


def read_names():
    """Lets conditions and log messages read all names, also inside of a comprehension or a lambda."""
    debugger = type(get_global_debugger())
    handle_condition, handle_expression = debugger.handle_breakpoint_condition, debugger.handle_breakpoint_expression

    def all_names(frame):
        names = {**frame.f_globals, **frame.f_locals}
        for name in unset_names(frame):
            del names[name]
        return names

    def condition(self, info, breakpoint, frame):
        given = breakpoint.condition
        if given and not isinstance(given, Condition):
            breakpoint.condition = Condition(given, with_private_names(given, frame))
        return handle_condition(self, info, breakpoint, SimpleNamespace(f_globals=all_names(frame), f_locals=frame.f_locals))

    def expression(self, breakpoint, info, frame):
        if not isinstance(breakpoint.expression, LogMessage):
            return handle_expression(self, breakpoint, info, frame)
        info.pydev_message = logged(breakpoint.expression, all_names(frame), frame)

    debugger.handle_breakpoint_condition, debugger.handle_breakpoint_expression = condition, expression
    pydevd_process_net_command_json.convert_dap_log_message_to_expression = LogMessage


def show_values():
    """Replaces what shows values."""
    get_var_data = _AbstractVariable.get_var_data
    group_entries = _AbstractVariable._group_entries
    get_children = _FrameVariable.get_children_variables
    evaluate_expression = pydevd_vars.evaluate_expression
    get_attributes = pydevd_resolver.DefaultResolver._get_py_dictionary
    nothing = NoneType()

    def var_data(self, fmt=None, context=None, **attributes):
        attributes.setdefault("room", LISTED if context is None else EVALUATED)
        return get_var_data(self, fmt=fmt, context=context, **attributes)

    def grouped(self, entries, handle_return_values):
        if isinstance(self.value, DAPGrouper):
            return group_entries(self, entries, handle_return_values)
        shown, others = set(), []
        for entry in entries:
            scope = pydevd_resolver.get_var_scope(entry[0], entry[1], entry[2], handle_return_values)
            is_protected = scope == DAPGrouper.SCOPE_PROTECTED_VARS
            if is_protected:
                scope = pydevd_resolver.get_var_scope("name", entry[1], entry[2], handle_return_values)
            if is_shown(self, entry[0], entry[1], scope):
                shown.add(entry[0])
            elif not (is_protected and scope in DEFINITIONS):
                others.append(entry)
        others, groups = group_entries(self, others, handle_return_values)
        shown.update(entry[0] for entry in others)
        groups = [group for group in groups if group[0] != DAPGrouper.SCOPE_CLASS_VARS]
        return [entry for entry in entries if entry[0] in shown], groups

    def attributes_of(self, value, names=None, used___dict__=False):
        if not names:
            names, used___dict__ = self.get_names(value)
        computed = set() if used___dict__ else {name for name in names if is_computed(value, name)}
        plain = [name for name in names if name not in computed]
        found, used = get_attributes(self, value, plain, used___dict__) if plain else ({}, used___dict__)
        found.update((name, Property()) for name in computed)
        return found, used

    def children(self, fmt=None, scope=None):
        self.shows_locals = scope is None or scope.scope == "locals"
        if self.shows_locals and not has_stepped_out():
            # What was returned before the step that ended here.
            self.frame.f_locals.get(RETURN_VALUES_DICT, {}).clear()
        return get_children(self, fmt=fmt, scope=scope)

    def evaluated(py_db, frame, expression, is_exec):
        result = evaluate_expression(py_db, frame, expression, is_exec)
        return nothing if result is None and not is_exec else result

    def reference(self):
        # A frame that is a value has other variables than the same frame of the stack.
        return id(self if isinstance(self.value, FrameType) else self.value)

    pydevd_resolver.DefaultResolver._get_py_dictionary = attributes_of
    _ObjectVariable.get_variable_reference = reference
    _AbstractVariable.get_var_data = var_data
    _AbstractVariable._group_entries = grouped
    _FrameVariable.get_children_variables = children
    pydevd_vars.evaluate_expression = evaluated
    pydevd_suspended_frames.SafeRepr = pydevd_resolver.SafeRepr = Repr


answer_at_once()
stop_once()
read_names()
assign_names()
show_values()
