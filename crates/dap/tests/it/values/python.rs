//! Values of Python as `repr` writes them, and in log messages as `str` does.

use std::collections::HashMap;
use std::process::Command;

use super::{Random, Table, log_message, logged};
use crate::subject::{Language, Subject, adapters};

/// Variables of the program.
const VARIABLES: usize = 120;
/// A text that is longer may be cut.
const LONG: usize = 200;

const BEFORE: &str = r#"
import array, collections, dataclasses, datetime, decimal, enum, fractions, functools, ipaddress, itertools
import operator, pathlib, re, types, typing, uuid
class Color(enum.Enum):
    RED = 1
class Flags(enum.IntFlag):
    A = 1
    B = 2
class Kind(enum.IntEnum):
    LOW = 1
class Word(str, enum.Enum):
    X = "x"
class Text(str): pass
class Number(int): pass
class OwnList(list): pass
class OwnTuple(tuple): pass
class OwnDict(dict): pass
class OwnSet(set): pass
class OwnFrozen(frozenset): pass
class OwnDeque(collections.deque): pass
class OwnDefault(collections.defaultdict): pass
class Shown(list):
    def __repr__(self): return "Shown%d" % len(self)
Pair = collections.namedtuple("Pair", "first second")
class Typed(typing.NamedTuple):
    inner: object
    size: int = 3
@dataclasses.dataclass
class Data:
    inner: object
    size: int = 3
@dataclasses.dataclass(frozen=True, slots=True)
class Slots:
    inner: object
    hidden: str = dataclasses.field(default="h", repr=False)
class Failure(Exception):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code
class Lines:
    def __init__(self, inner): self.inner = inner
    def __repr__(self): return "Lines<%r>" % (self.inner,)
class Huge:
    def __repr__(self): return "H" * 10000
class Computed:
    @property
    def value(self): raise RuntimeError("called")
    def __repr__(self): return "Computed()"
    def __getattr__(self, name): raise RuntimeError(name)
    def __bool__(self): raise RuntimeError("bool")
    def __len__(self): raise RuntimeError("len")
    def __eq__(self, other): raise RuntimeError("eq")
class UserDict(collections.UserDict): pass
class Attributes(dict):
    __getattr__ = dict.__getitem__
def numbers():
    yield 1
def show(name, value):
    try: text = "-" if " at 0x" in str(value) else str(value).encode().hex()
    except UnicodeEncodeError: text = "-"
    print(name, repr(value), text, sep="\t")
def work():
"#;

const SCALARS: [&str; 119] = [
    "0",
    "-1",
    "2**63",
    "-2**64",
    "10**40",
    "True",
    "False",
    "None",
    "...",
    "NotImplemented",
    "0.0",
    "-0.0",
    "0.1",
    "1e300",
    "5e-324",
    "1e16",
    "1e22",
    "1/3",
    "float('inf')",
    "-float('inf')",
    "float('nan')",
    "complex(-0.0, -0.0)",
    "1j",
    "complex('nan')",
    "''",
    "'a'",
    "\"it's\"",
    "'\"'",
    "'\\'\"'",
    "'\\n\\t\\\\'",
    "'\\0'",
    "'é'",
    "'😀'",
    "'e\\u0301'",
    "'\\u200b'",
    "'\\x7f\\x1b'",
    "'\\xa0'",
    "'\\ud800'",
    "'{x} %s'",
    "b''",
    "b'\\xff\\0'",
    "b\"'\"",
    "bytearray(b'x')",
    "range(0)",
    "range(1, 10, 2)",
    "slice(1, None)",
    "decimal.Decimal('-0')",
    "decimal.Decimal('NaN')",
    "decimal.Decimal('1E+3')",
    "fractions.Fraction(-1, 3)",
    "datetime.datetime(2024, 2, 29, 1, 2, 3, 4)",
    "datetime.timedelta(days=-1, microseconds=1)",
    "datetime.date.min",
    "uuid.UUID(int=0)",
    "pathlib.PurePosixPath('/tmp/a b')",
    "re.compile('a+')",
    "Color.RED",
    "Color",
    "Flags.A | Flags.B",
    "Flags(0)",
    "Text('t')",
    "Number(5)",
    "ValueError()",
    "KeyError('k')",
    "int",
    "type(None)",
    "len",
    "array.array('i', [1, 2])",
    "array.array('d')",
    "types.SimpleNamespace(a=1)",
    "collections.Counter('aab')",
    "{'k': 1}.keys()",
    "{'k': 1}.items()",
    "types.MappingProxyType({1: 2})",
    "collections.ChainMap({1: 2}, {})",
    "Shown([1])",
    "enum",
    "'x' * 150",
    "'x' * 5000",
    "b'x' * 3000",
    "list(range(1000))",
    "dict.fromkeys(range(500))",
    "Huge()",
    "Computed()",
    "Kind.LOW",
    "Word.X",
    "Flags.A",
    "Failure('m', 5)",
    "ValueError('a', 1)",
    "OSError(2, 'No such', 'f')",
    "ExceptionGroup('g', [ValueError(1)])",
    "functools.partial(int, base=2)",
    "operator.itemgetter(1)",
    "itertools.count(5)",
    "itertools.repeat('x', 2)",
    "memoryview(b'abc')",
    "lambda x: x",
    "iter([1])",
    "zip([1])",
    "numbers()",
    "object()",
    "[].append",
    "'a'.join",
    "numbers",
    "property()",
    "datetime.datetime(2024, 1, 2, 3, 4, 5, 6, datetime.timezone.utc)",
    "datetime.timezone(datetime.timedelta(hours=1))",
    "datetime.time(1, 2)",
    "ipaddress.ip_address('1.2.3.4')",
    "list[int]",
    "int | str",
    "typing.Optional[int]",
    "re.match('a', 'ab')",
    "bytearray(b'\\xff\\n')",
    "decimal.Decimal('1.10')",
    "{'k': 1}.values()",
    "collections.UserList([1])",
    "type('Made', (), {})",
    "-0.0j",
];

/// Values around a value `$`.
const WRAPPERS: [&str; 47] = [
    "[]",
    "[$]",
    "[$, $]",
    "[[], [$]]",
    "()",
    "($,)",
    "($, $)",
    "((),)",
    "{}",
    "{'k': $}",
    "{1: $, None: $}",
    "{(1, 'x'): $}",
    "{'a': {'b': [$]}}",
    "set()",
    "{1, 2}",
    "{(1, 2)}",
    "frozenset()",
    "frozenset({3})",
    "{frozenset({1})}",
    "collections.deque()",
    "collections.deque([$])",
    "collections.deque([$, $], maxlen=2)",
    "collections.deque(maxlen=0)",
    "collections.OrderedDict()",
    "collections.OrderedDict(k=$)",
    "collections.OrderedDict([(1, $), ((), $)])",
    "collections.defaultdict(int)",
    "collections.defaultdict(None, {1: $})",
    "collections.defaultdict(list, {1: [$]})",
    "OwnList([$])",
    "OwnList()",
    "OwnTuple([$])",
    "OwnDict(k=$)",
    "OwnSet([1])",
    "OwnSet()",
    "OwnFrozen([1])",
    "OwnDeque([$], 3)",
    "OwnDefault(list, k=$)",
    "Pair($, $)",
    "Data($)",
    "Typed($)",
    "Slots($)",
    "Lines($)",
    "UserDict(k=$)",
    "Attributes(k=$)",
    "types.SimpleNamespace(a=$)",
    "collections.ChainMap({'k': $}, {})",
];

fn value(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(6) == 0 {
        return random.pick(&SCALARS).to_owned();
    }
    let mut text = random.pick(&WRAPPERS).to_owned();
    while text.contains('$') {
        text = text.replacen('$', &value(random, depth - 1), 1);
    }
    text
}

/// The source, and the marks at which it is stopped.
fn source(random: &mut Random) -> (String, Vec<String>) {
    let (mut source, mut marks) = (BEFORE.to_owned(), Vec::new());
    for index in 0..VARIABLES {
        source.push_str(&format!("    v{index} = {}", value(random, index % 4)));
        if index % (VARIABLES / 3) == 0 {
            source.push_str(&format!("  # mark: v{index}"));
            marks.push(format!("v{index}"));
        }
        source.push('\n');
    }
    source.push_str("    pass  # mark: log\n    pass  # mark: end\n");
    marks.push("end".to_owned());
    for index in 0..VARIABLES {
        source.push_str(&format!("    show('v{index}', v{index})\n"));
    }
    (source + "work()\n", marks)
}

/// Whether a text is another one, or its beginning up to a mark where the other one is long.
fn is_same(_: &str, shown: &str, said: &str) -> bool {
    let (shown, said) = (&*without_addresses(shown), &*without_addresses(said));
    let begin = shown.split_once("...").or(shown.split_once('…')).map(|(begin, _)| begin);
    shown == said || said.len() > LONG && begin.is_some_and(|begin| said.starts_with(begin))
}

/// Each run has others.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split(" at 0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + " at " + part.trim_start_matches(|c: char| c.is_ascii_hexdigit())
    })
}

#[tokio::test]
async fn values_of_python_are_what_the_program_says() {
    let (source, marks) = source(&mut Random::seeded());
    let subject = Subject::new(Language::Python);
    std::fs::write(&subject.source, source).expect("a source");
    let python = adapters().python.expect("Python");
    let output = Command::new(python).arg(subject.program()).env("PYTHONHASHSEED", "0").output();
    let output = output.expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("text");
    let said: HashMap<_, _> = said.lines().filter_map(|line| line.split_once('\t')).collect();
    let texts: Vec<_> = (0..VARIABLES)
        .map(|index| {
            let name = format!("v{index}");
            let (repr, text) = said[name.as_str()].split_once('\t').expect("two texts");
            ((name, repr.to_owned()), text)
        })
        .collect();
    let (said, texts): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
    for mark in &marks {
        subject.break_at(mark).await;
    }
    let message = log_message(said.iter().map(|(name, _)| name.as_str()));
    let log = subject.breakpoint("log").log_message(&message);
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let configuration =
        subject.configuration("").with("env", serde_json::json!({"PYTHONHASHSEED": "0"}));
    let session = subject.debugger.start(configuration).await.expect("starts");
    let mut table = Table::default();
    table.compare_stops(&subject, &session, &marks, &said, is_same).await;
    for ((name, _), text) in said.iter().zip(texts).filter(|(_, text)| *text != "-") {
        table.compare("log", name, text, logged(&subject, &session, name).map(hex).as_deref());
    }
    session.stop().await.expect("ends");
    table.finish(400);
}

fn hex(text: String) -> String {
    text.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
