"""A small language of expressions over values that the formatters read: paths, subscripts, a few calls, casts, comparisons.

It never calls into the program. What is not part of it is left to LLDB (`NotOurs`); what is, and has no value, is an error in the
program's own terms (`Failed`). An expression is read into functions, so that `a.is_some() && a.unwrap() > 3` reads `a` in order.
"""

import re
from decimal import ROUND_HALF_UP

from common import MAX_CHILDREN, as_single, float_text, quoted
from declarations import UNSET, unset_mark

TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<char>'(?:[^'\\]|\\u\{[0-9a-f]+\}|\\x[0-9a-fA-F]{2}|\\.)')"""
    r"""|(?P<number>0x[0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)(?P<suffix>[A-Za-z]\w*)?"""
    r"""|(?P<name>[A-Za-z_]\w*(?:::\w+)*)|(?P<sign>->|==|!=|<=|>=|&&|\|\||[-.!*<>()\[\],]))"""
)
NUMBER = re.compile(r"(0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(\w*)")
# Bytes of a text that is compared.
MAX_COMPARED = 1 << 20
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
COMPARISONS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class NotOurs(Exception):
    """An expression that this language does not have."""


class Failed(Exception):
    """An expression that has no value, and why."""


class Char(str):
    """One character."""


class Name(str):
    """A variant of an enum."""

    has_fields = False


class Unsigned(int):
    """A number without a sign, which C compares in its own way with those that have one."""


class Address(Unsigned):
    """Where a pointer leads."""


class Sized(Unsigned):
    """A number of elements."""


class Cast(int):
    """A number of a type that the expression names."""

    kind = ""


class Single(float):
    """A number of four bytes, as the shortest decimal that means it."""


class Language:
    """What the values that an expression makes are in a language."""

    # By their kinds here, of which the first that fits counts.
    TYPES = ()
    CONSTANTS = {"true": True, "false": False}

    def static(self, _frame, _path):
        """A static variable by its path, which LLDB does not find by that; none if it does."""
        return None

    def is_set_here(self, _value):
        """Whether LLDB would set a value together with what lies around it."""
        return False

    def check_set(self, _path):
        """Fails for a path that is not known here, by which LLDB may set what lies around a value."""

    def type_of(self, value):
        return value.kind if isinstance(value, Cast) else next(name for kind, name in self.TYPES if isinstance(value, kind))

    # What the numbers of a program's text end in, where that says their type, and what they are then.
    SUFFIXES = {}

    def number(self, digits, suffix):
        number = int(digits, 16) if digits.startswith("0x") else float(digits) if re.search(r"[.eE]", digits) else int(digits)
        if suffix and suffix not in self.SUFFIXES:
            raise NotOurs
        return self.SUFFIXES[suffix](number) if suffix else number

    def text_of(self, value):
        if isinstance(value, Name):
            raise NotOurs
        return self.float_text(value) if isinstance(value, float) else shown(value)

    def float_text(self, value):
        return float_text(value, 8)

    def truth(self, value):
        value = self.scalar(value)
        if not isinstance(value, bool) and not (self.has_truthy_numbers and isinstance(value, (int, float))):
            raise Failed(f"{shown(value)} is neither true nor false")
        return bool(value)


class Reader:
    """An expression while it is read."""

    TOKEN = TOKEN

    def __init__(self, text, language, frame):
        self.language, self.frame = language, frame
        self.tokens, at = [], 0
        text = text.rstrip()
        while at < len(text):
            found = self.TOKEN.match(text, at)
            # A tuple's field is a number without a fraction.
            if found and found.groupdict().get("number") and self.tokens[-1:] == [("sign", ".")]:
                found = re.compile(r"(?P<number>\d+)(?P<suffix>)").match(text, at)
            if not found:
                raise NotOurs
            kind = next(kind for kind in ("text", "char", "number", "name", "sign") if found.groupdict().get(kind) is not None)
            self.tokens.append((kind, found[kind] + (found.groupdict().get("suffix") or "")))
            at = found.end()
        self.at = 0

    def next_is(self, *signs):
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        if text in signs and kind in ("sign", "name"):
            self.at += 1
            return text
        return None

    def take(self, wanted):
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        if kind != wanted:
            raise NotOurs
        self.at += 1
        return text

    def expect(self, sign):
        if not self.next_is(sign):
            raise NotOurs

    def whole(self):
        read = self.either()
        if self.at < len(self.tokens):
            raise NotOurs
        return read()

    def either(self):
        return self.chain("||", self.both, lambda a, b: lambda: self.language.truth(a()) or self.language.truth(b()))

    def both(self):
        return self.chain("&&", self.comparison, lambda a, b: lambda: self.language.truth(a()) and self.language.truth(b()))

    def chain(self, sign, operand, join):
        left = operand()
        while self.next_is(sign):
            left = join(left, operand())
        return left

    def comparison(self):
        left = self.cast()
        sign = self.next_is(*COMPARISONS)
        if not sign:
            return left
        right = self.cast()
        return lambda: self.compare(left(), sign, right())

    def cast(self):
        read = self.unary()
        while self.next_is("as"):
            read = self.as_type(read, self.take("name"))
        return read

    def unary(self):
        sign = self.next_is("!", "-", "*")
        if not sign:
            return self.postfix()
        read = self.unary()
        if sign == "*":
            return lambda: self.pointee(read())
        return (lambda: not self.language.truth(read())) if sign == "!" else (lambda: -self.number(read()))

    def postfix(self):
        read = self.primary()
        while sign := self.next_is(".", "->", "["):
            if sign == "[":
                key = self.either()
                self.expect("]")
                read = self.element(read, key)
                continue
            kind, name = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
            self.take(kind if kind == "number" else "name")
            if self.next_is("("):
                given = []
                while not self.next_is(")"):
                    given.append(self.either())
                    if not self.next_is(","):
                        self.expect(")")
                        break
                read = self.call(read, name, given)
            else:
                read = self.part(read, name)
        return read

    def primary(self):
        if self.next_is("("):
            read = self.either()
            self.expect(")")
            return read
        kind, text = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        self.at += 1
        if kind == "text":
            said = unescaped(text[1:-1])
            return lambda: said
        if kind == "char":
            char = Char(unescaped(text[1:-1]))
            return lambda: char
        if kind == "number":
            number = self.language.number(*NUMBER.fullmatch(text.replace("_", "")).groups())
            return lambda: number
        if kind != "name":
            raise NotOurs
        if text in self.language.CONSTANTS:
            return lambda: self.language.CONSTANTS[text]
        if self.tokens[self.at : self.at + 1] == [("sign", "(")]:
            raise NotOurs
        return lambda: self.variable(text)

    # ---- what the parts of an expression come to

    def variable(self, name):
        found = None
        for value in self.frame.GetVariables(True, True, False, True):
            # Of several, the innermost that has a value.
            if value.GetName() == name and (found is None or not unset_mark(value)):
                found = value
        if found is None:
            # A static variable.
            found = self.frame.GetValueForVariablePath(name)
        if not found.IsValid() and name != "this":
            found = self.language.static(self.frame, name) or self.frame.GetValueForVariablePath(f"this->{name}")
        if not found.IsValid() or found.GetError().Fail() and not found.GetType().IsValid():
            if self.language.is_variant(name):
                return Name(name.rsplit("::", 1)[-1])
            raise NotOurs
        if unset_mark(found) == UNSET:
            raise Failed(f"{name} is not set yet")
        return self.language.exact(found)

    def number(self, value):
        value = self.language.scalar(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Failed(f"{shown(value)} is not a number")
        if isinstance(value, Address):
            raise NotOurs
        return value

    def compare(self, left, sign, right):
        left, right = self.language.scalar(left), self.language.scalar(right)
        if isinstance(left, Address) or isinstance(right, Address):
            left, right = (value if isinstance(value, Address) else self.language.address(value) for value in (left, right))
        if isinstance(left, Char) and isinstance(right, int):
            left = ord(left)
        elif isinstance(right, Char) and isinstance(left, int):
            right = ord(right)
        kinds = [Char if isinstance(value, Char) else Name if isinstance(value, Name) else str if isinstance(value, str) else float for value in (left, right)]
        if kinds[0] != kinds[1] or (kinds[0] is Name and sign not in ("==", "!=")):
            raise Failed(f"{shown(left)} cannot be compared with {shown(right)}")
        if kinds[0] is Name and left == right and (left.has_fields or right.has_fields):
            raise Failed(f"both are {left}; fields are not compared")
        numbers = [value for value in (left, right) if isinstance(value, (int, float))]
        if any(isinstance(value, Unsigned) for value in numbers) and any(value < 0 for value in numbers):
            raise NotOurs
        return COMPARISONS[sign](left, right)

    def as_type(self, read, name):
        found = re.fullmatch(r"([iu])(8|16|32|64|128|size)|f32|f64", name)
        if not found:
            raise NotOurs

        def cast():
            value = self.language.scalar(read())
            value = ord(value) if isinstance(value, Char) else value
            if not isinstance(value, (int, float)):
                raise Failed(f"{shown(value)} is not a number")
            if name == "f32":
                return single(value)
            if name == "f64":
                return float(as_single(value) if isinstance(value, Single) else value)
            bits = 64 if found[2] == "size" else int(found[2])
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if found[1] == "i" else (0, (1 << bits) - 1)
            # A float ends at the type's limits; a whole number is cut.
            if isinstance(value, float):
                number = 0 if value != value else min(max(value, low), high)
            else:
                number = (int(value) - low) % (1 << bits) + low
            number = Cast(number)
            number.kind = name
            return number

        return cast

    def pointee(self, value):
        found = self.language.pointee(need_value(value))
        if found is None:
            raise NotOurs
        return found

    def part(self, read, name):
        def find():
            found = self.language.part(need_value(read()), name)
            if found is None:
                raise NotOurs
            return found

        return find

    def element(self, read, key):
        def find():
            value, wanted = need_value(read()), self.language.scalar(key())
            items = self.language.items(value)
            if items is None:
                raise NotOurs
            count, elements, is_map = items
            if is_map:
                for number, (at, element) in enumerate(elements):
                    if number >= MAX_CHILDREN:
                        raise Failed(f"it has {count} entries, of which only {MAX_CHILDREN} are looked through")
                    if self.language.scalar(at) == wanted:
                        return element
                raise Failed(f"it has no key {shown(wanted)}")
            if isinstance(wanted, bool) or not isinstance(wanted, int):
                raise Failed(f"{shown(wanted)} is not an index")
            if count is not None and not 0 <= wanted < count:
                raise Failed(f"the index {wanted} is out of range: there are {count} elements")
            return nth(elements, wanted)

        return find

    def call(self, read, name, given):
        if name not in self.language.CALLS or len(given) != self.language.CALLS[name]:
            raise NotOurs

        def result():
            found = self.language.call(need_value(read()), name, [self.language.scalar(one()) for one in given])
            if found is None:
                raise NotOurs
            return found

        return result


def need_value(value):
    """What has parts: not a number or a text that the expression itself has made."""
    if isinstance(value, (bool, int, float, str)):
        raise NotOurs
    return value


def single(value):
    """A number with the precision of four bytes; one that is too large for them is infinite."""
    rounded = as_single(value)
    if rounded is None:
        rounded = float("inf") if value > 0 else float("-inf")
    return Single(float_text(rounded, 4, ROUND_HALF_UP))


def nth(elements, number):
    if hasattr(elements, "__getitem__"):
        return elements[number]
    for index, element in enumerate(elements):
        if index == number:
            return element
    raise Failed(f"the element {number} cannot be reached")


def unescaped(text):
    def meant(found):
        code = found[1]
        if code[0] in "ux" and len(code) > 1:
            return chr(int(code.strip("ux{}"), 16))
        return ESCAPES.get(code, code)

    return re.sub(r"\\(u\{[0-9a-f]+\}|x[0-9a-fA-F]{2}|.)", meant, text)


def shown(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Name):
        return str(value)
    return quoted(value, "'" if isinstance(value, Char) else '"') if isinstance(value, str) else str(value)
