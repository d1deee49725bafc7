"""Calculates expressions of numbers without running them in the program: values that they read are inserted as literals."""

import re

import lldb
from evaluator import set_number
from importing import BEGINNING, literal, without_frame
from reader import TOKEN, Cast, Char, Failed, NotOurs, Reader, Sized, need_value

SIGN = re.compile(r"\s*(?!->|&&|\|\|)(?P<sign><<|>>|[-+*/%&|^~?:])")
# What a name can be that is not the program's.
WORDS = {"int", "unsigned", "signed", "long", "short", "char", "bool", "float", "double", "sizeof", "static_cast", "true", "false", "nullptr"}
# What is at an address.
PLACE = re.compile(r"\*\(([\w: ]+)\*\)(0x[0-9a-f]+)")
ASSIGNMENT = re.compile(r"\s*(?P<place>[\w.:>\[\]*-]+?)\s*(?P<sign>[-+*/%&|^]|<<|>>)?=(?!=)(?P<value>.*)")


def calculated(expression, language, frame, kind):
    """The value of an expression, of which LLDB cannot take some type; without one, none of those that are left to it."""
    try:
        if found := re.fullmatch(r"&\((.+)\)", expression):
            return need_value(Reader(found[1], language, frame).whole()).AddressOf()
        if found := PLACE.fullmatch(expression):
            target = frame.GetThread().GetProcess().GetTarget()
            return target.CreateValueFromAddress("it", target.ResolveLoadAddress(int(found[2], 16)), target.FindFirstType(found[1].strip()))
        if found := ASSIGNMENT.fullmatch(expression):
            place, sign, value = found.group("place", "sign", "value")
            target = language.followed(need_value(Reader(place, language, frame).whole()))
            result = Calculator(f"{place} {sign} ({value})" if sign else value, language, frame, kind).whole()
            set_number(target, language.plain(result))
            return language.followed(need_value(Reader(place, language, frame).whole()))
        return Calculator(expression, language, frame, kind).whole()
    except NotOurs:
        if kind is None:
            return None
        if (name := unknown_name(expression, language, frame)) is not None:
            raise Failed(f"there is no {name} here") from None
        short = re.sub(r"^(\w+::)+", "", kind).split("<")[0]
        what = {"_Optional_payload": "std::optional", "tuple": "std::tuple"}.get(short, short)
        raise Failed(f"LLDB would crash here, since it cannot read GCC's description of {what}: what works are paths, and operators on numbers") from None


def unknown_name(expression, language, frame):
    target = frame.GetThread().GetProcess().GetTarget()
    for name, is_called in BEGINNING.findall(re.sub(r'"([^"\\]|\\.)*"|\'[^\']*\'', "", expression)):
        if name in WORDS or is_called or target.FindFirstType(name).IsValid():
            continue
        try:
            Reader(name, language, frame).whole()
        except NotOurs:
            return name
    return None


class Either:
    """The tokens of numbers and of an expression's other signs."""

    @staticmethod
    def match(text, at):
        return SIGN.match(text, at) or TOKEN.match(text, at)


class Calculator(Reader):
    """An expression whose paths are read, and the rest of which a compiler calculates."""

    TOKEN = Either

    def __init__(self, text, language, frame, needed_type):
        super().__init__(text, language, frame)
        # Without one LLDB can try what fails here.
        self.is_last = needed_type is not None

    def variable(self, name):
        this = self.frame.FindVariable("this")
        if this.IsValid() and not self.frame.FindVariable(name).IsValid():
            found = self.language.bit_field(self.language.pointee(this), name)
            if found is not None:
                return found
        return super().variable(name)

    def whole(self):
        parts, has_choice = [], any(text in ("&&", "||", "?") for _, text in self.tokens)
        while self.at < len(self.tokens):
            kind, text = self.tokens[self.at]
            if kind == "text":
                raise NotOurs
            if kind == "name" and text not in WORDS:
                parts.append(self.number_of(self.postfix()()))
            elif text == "*" and self.is_first_of_operand():
                parts.append(self.number_of(self.unary()()))
            else:
                if text in ("/", "%") and has_choice:
                    # It may be skipped, and LLDB makes up a result of a division by zero.
                    raise NotOurs
                parts.append(text)
                self.at += 1
        self.check_divisors(parts)
        return self.compiled(" ".join(parts))

    def is_first_of_operand(self):
        kind, text = self.tokens[self.at - 1] if self.at else ("sign", "")
        return kind == "sign" and text not in (")", "]")

    def compiled(self, text):
        found = without_frame(self.frame.GetThread().GetProcess().GetTarget(), text)
        if found.GetError().Fail():
            message = found.GetError().GetCString() or ""
            if "thread" in message or not self.is_last:
                raise NotOurs
            raise Failed(re.sub(r"^(error: )*(<user expression \d+>:\d+:\d+: )?", "", message).split("\n")[0])
        return found

    def check_divisors(self, parts):
        for at, part in enumerate(parts):
            if part in ("/", "%"):
                operand = " ".join(operand_in(parts[at + 1 :]))
                divisor = self.compiled(operand)
                if not divisor.GetType().GetTypeFlags() & lldb.eTypeIsFloat and divisor.GetValueAsUnsigned() == 0:
                    raise Failed("division by zero")

    def number_of(self, value):
        """A value as an expression that the compiler knows."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Char):
            return f"((char){ord(value)})"
        if isinstance(value, Sized):
            return f"{int(value)}ul"
        if isinstance(value, (Cast, str, int, float)):
            raise NotOurs
        number, kind = self.language.number_and_type(value)
        if getattr(value, "is_narrow", False):
            # C takes a bit-field that fits for an `int`.
            return f"((int){number})"
        return literal(number, kind)


def operand_in(parts):
    """The operand that parts begin with: signs, then a number or what is in parentheses."""
    depth = 0
    for part in parts:
        yield part
        depth += {"(": 1, ")": -1}.get(part, 0)
        # A cast is only the beginning, and so is a sign.
        if depth == 0 and part not in ("+", "-", "!", "~"):
            return
