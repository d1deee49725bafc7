//! Values of Rust as `{:?}` writes them: numbers, text, containers within containers, enums, owners.

use super::{Local, Program, Random};
use crate::subject::Language;

/// Types and edge values.
const SCALARS: [(&str, &[&str]); 25] = [
    ("bool", &["true", "false"]),
    (
        "char",
        &[
            "'a'",
            "'\\''",
            "'\\n'",
            "'\\\\'",
            "'\\0'",
            "'\"'",
            "'é'",
            "'\\u{7f}'",
            "char::MAX",
            "'😀'",
            "'\\u{301}'",
            "'\\u{a0}'",
        ],
    ),
    ("i8", &["i8::MIN", "i8::MAX", "0"]),
    ("u8", &["0", "u8::MAX", "65"]),
    ("i16", &["i16::MIN", "i16::MAX"]),
    ("u16", &["u16::MAX", "0"]),
    ("i32", &["i32::MIN", "i32::MAX", "0", "-1"]),
    ("u32", &["u32::MAX", "0"]),
    ("i64", &["i64::MIN", "i64::MAX", "0"]),
    ("u64", &["u64::MAX", "0"]),
    ("i128", &["i128::MIN", "i128::MAX", "-1"]),
    ("u128", &["u128::MAX", "0"]),
    ("isize", &["isize::MIN", "0"]),
    ("usize", &["usize::MAX", "0"]),
    (
        "f32",
        &[
            "0.0",
            "-0.0",
            "0.1",
            "f32::MAX",
            "f32::MIN",
            "f32::MIN_POSITIVE",
            "1e-45",
            "1e-5",
            "1e-4",
            "1e16",
            "1e15",
            "16777216.0",
            "f32::INFINITY",
            "f32::NAN",
            "f32::EPSILON",
            "-3.4e-30",
        ],
    ),
    (
        "f64",
        &[
            "0.0",
            "-0.0",
            "0.1",
            "f64::MAX",
            "f64::MIN",
            "f64::MIN_POSITIVE",
            "5e-324",
            "1e-5",
            "1e-4",
            "9.9e-5",
            "1e15",
            "1e16",
            "1e17",
            "1e-300",
            "f64::NEG_INFINITY",
            "f64::NAN",
            "1.0 / 3.0",
            "-2.5e300",
            "123456789.125",
        ],
    ),
    (
        "&'static str",
        &[
            "\"\"",
            "\"plain\"",
            "\"a\\\"b\\\\c\"",
            "\"\\t\\n\\r\\0\"",
            "\"é €\"",
            "\"it's\"",
            "\"e\\u{301}\"",
            "\"\\u{1f}\"",
        ],
    ),
    (
        "String",
        &[
            "String::new()",
            "\"plain\".to_owned()",
            "\"a\\\"b\".to_owned()",
            "\"\\u{200b}x\".to_owned()",
            "\"日本\".to_owned()",
        ],
    ),
    ("Color", &["Color::Red", "Color::Green", "Color::Blue"]),
    ("()", &["()"]),
    ("&'static &'static str", &["&\"plain\"", "&\"\""]),
    ("Low", &["Low::First", "Low::Second", "Low::Last"]),
    ("AtomicI16", &["AtomicI16::new(-1)"]),
    (
        "std::net::Ipv6Addr",
        &[
            "\"::1\".parse::<std::net::Ipv6Addr>().unwrap()",
            "\"::ffff:1.2.3.4\".parse::<std::net::Ipv6Addr>().unwrap()",
            "\"1:0:0:2::3\".parse::<std::net::Ipv6Addr>().unwrap()",
        ],
    ),
    (
        "Duration",
        &[
            "Duration::ZERO",
            "Duration::MAX",
            "Duration::from_millis(1500)",
            "Duration::from_nanos(1001)",
        ],
    ),
];

const BEFORE: &str = r"
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::*;
use std::num::*;
use std::rc::Rc;
use std::cmp::Reverse;
use std::ops::{Bound, ControlFlow};
use std::pin::Pin;
use std::sync::{Arc, Mutex, RwLock, atomic::AtomicI16};
use std::task::Poll;
use std::time::Duration;
#[derive(Debug, Clone, Copy)]
#[repr(i64)]
enum Low { First = i64::MIN, Second = -1, Last = i64::MAX }
#[derive(Debug)]
enum Tree<T> { Leaf, Node(Box<Tree<T>>, T, Box<Tree<T>>) }
#[derive(Debug)]
struct Many<T, const N: usize> { all: [T; N] }
#[derive(Debug, Clone, Copy, PartialEq)]
enum Color { Red, Green = 7, Blue = -3 }
#[derive(Debug, Clone)]
enum Shape<T> { Empty, One(T), Both(T, i32), Named { inner: T, size: u8 } }
#[derive(Debug, Clone)]
struct Pair<A, B> { first: A, second: B }
#[derive(Debug, Clone)]
struct Wrapper<T>(T);
#[derive(Debug, Clone)]
struct Unit;
#[derive(Debug)]
enum Single { Only }
#[inline(never)]
fn nothing() {}
fn values() {
";

const AFTER: &str = "}\nfn main() { values() }\n";

/// A type and a value of it.
fn value(random: &mut Random, depth: usize) -> (String, String) {
    let choice = if depth == 0 { 0 } else { random.below(WRAPPERS.len() + 12) };
    let inner = |random: &mut Random| value(random, depth - 1);
    if let Some(wrapper) = choice.checked_sub(8).and_then(|index| WRAPPERS.get(index)) {
        let (kind, one) = inner(random);
        let (outer, values) = wrapper;
        let value = random.pick(values);
        return (outer.replace('~', &kind), value.replace('$', &one).replace('~', &kind));
    }
    if let Some(pair) = choice.checked_sub(WRAPPERS.len() + 8) {
        let ((a, x), (b, y)) = (inner(random), inner(random));
        return match pair {
            0 => (format!("({a}, {b})"), format!("({x}, {y})")),
            1 => (format!("Pair<{a}, {b}>"), format!("Pair {{ first: {x}, second: {y} }}")),
            2 => (
                format!("Result<{a}, {b}>"),
                random.pick(&[&format!("Ok({x})"), &format!("Err({y})")]).to_owned(),
            ),
            _ => (
                format!("BTreeMap<i32, ({a}, {b})>"),
                format!("BTreeMap::from([(-1, ({x}, {y}))])"),
            ),
        };
    }
    let (kind, edges) = SCALARS[random.below(SCALARS.len())];
    (kind.to_owned(), random.pick(edges).to_owned())
}

/// Types around a type `~`, and values of them around a value `$`.
const WRAPPERS: [(&str, &[&str]); 62] = [
    ("Option<~>", &["None", "Some($)"]),
    ("Option<Option<~>>", &["None", "Some(None)", "Some(Some($))"]),
    ("Vec<~>", &["Vec::new()", "vec![$]", "vec![$, $]"]),
    ("[~; 2]", &["[$, $]"]),
    ("Wrapper<[u8; 0]>", &["Wrapper([])"]),
    ("VecDeque<~>", &["VecDeque::new()", "VecDeque::from([$])"]),
    ("LinkedList<~>", &["LinkedList::new()", "LinkedList::from([$])"]),
    ("Box<~>", &["Box::new($)"]),
    ("Rc<~>", &["Rc::new($)"]),
    ("Arc<~>", &["Arc::new($)"]),
    ("Option<Box<~>>", &["None", "Some(Box::new($))"]),
    ("Box<[~]>", &["Box::from([])", "Box::from([$])"]),
    ("Rc<[~]>", &["Rc::from([$])"]),
    ("HashMap<&'static str, ~>", &["HashMap::new()", "HashMap::from([(\"k\", $)])"]),
    ("BTreeMap<u8, ~>", &["BTreeMap::new()", "BTreeMap::from([(1, $), (2, $)])"]),
    ("Cell<Option<u16>>", &["Cell::new(None)", "Cell::new(Some(5))"]),
    ("RefCell<~>", &["RefCell::new($)"]),
    ("Mutex<~>", &["Mutex::new($)"]),
    (
        "Shape<~>",
        &[
            "Shape::Empty",
            "Shape::One($)",
            "Shape::Both($, -7)",
            "Shape::Named { inner: $, size: 3 }",
        ],
    ),
    ("Wrapper<~>", &["Wrapper($)"]),
    ("(~,)", &["($,)"]),
    ("(Unit, ~)", &["(Unit, $)"]),
    ("Wrapping<i16>", &["Wrapping(-5)"]),
    ("Option<NonZeroU8>", &["None", "NonZeroU8::new(7)"]),
    ("std::ops::Range<i64>", &["-1..i64::MAX"]),
    ("HashSet<i32>", &["HashSet::new()", "HashSet::from([5])"]),
    ("Cow<'static, str>", &["Cow::Borrowed(\"b\")", "Cow::Owned(\"o\".to_owned())"]),
    ("std::path::PathBuf", &["\"/tmp/a b\".into()"]),
    ("[[~; 0]; 2]", &["[[], []]"]),
    ("([[~; 0]; 2], u8)", &["([[], []], 1)"]),
    ("[[~; 1]; 2]", &["[[$], [$]]"]),
    ("Vec<[~; 0]>", &["vec![[], []]"]),
    ("Vec<Vec<~>>", &["vec![vec![$], vec![]]"]),
    ("&'static ~", &["&*Box::leak(Box::new($))"]),
    ("&'static mut ~", &["Box::leak(Box::new($))"]),
    ("&'static &'static ~", &["&*Box::leak(Box::new(&*Box::leak(Box::new($))))"]),
    ("&'static [~]", &["&*Box::leak(Box::<[~]>::from([$, $]))", "&([] as [~; 0])[..]"]),
    ("Vec<&'static ~>", &["vec![&*Box::leak(Box::new($))]"]),
    ("&'static [&'static str]", &["&[\"a\", \"\"][..]", "&([] as [&'static str; 0])[..]"]),
    ("&'static &'static [u8]", &["&*Box::leak(Box::new(&[1u8, 2][..]))"]),
    ("Option<Option<Option<~>>>", &["None", "Some(Some(None))", "Some(Some(Some($)))"]),
    ("Result<Option<~>, Box<str>>", &["Ok(None)", "Ok(Some($))", "Err(Box::from(\"e\"))"]),
    ("Option<Result<~, ()>>", &["None", "Some(Err(()))", "Some(Ok($))"]),
    ("Option<Rc<RefCell<~>>>", &["None", "Some(Rc::new(RefCell::new($)))"]),
    ("Arc<RwLock<Vec<~>>>", &["Arc::new(RwLock::new(vec![$]))"]),
    ("Pin<Box<~>>", &["Box::pin($)"]),
    ("Tree<~>", &["Tree::Leaf", "Tree::Node(Box::new(Tree::Leaf), $, Box::new(Tree::Leaf))"]),
    ("Many<Option<~>, 2>", &["Many { all: [None, Some($)] }"]),
    ("Many<(~, u8), 0>", &["Many { all: [] }"]),
    ("RefCell<[(); 2]>", &["RefCell::new([(); 2])"]),
    ("Rc<[[~; 2]]>", &["Rc::from([[$, $]])"]),
    ("((), [(); 3])", &["((), [(); 3])"]),
    ("Mutex<()>", &["Mutex::new(())"]),
    ("Vec<Single>", &["vec![Single::Only]"]),
    ("Box<Option<Box<~>>>", &["Box::new(None)", "Box::new(Some(Box::new($)))"]),
    ("Reverse<~>", &["Reverse($)"]),
    ("Bound<~>", &["Bound::Included($)", "Bound::Unbounded"]),
    ("ControlFlow<~, ()>", &["ControlFlow::Break($)", "ControlFlow::Continue(())"]),
    ("Poll<~>", &["Poll::Ready($)", "Poll::Pending"]),
    ("OnceCell<~>", &["OnceCell::<~>::new()", "OnceCell::<~>::from($)"]),
    ("BTreeMap<(i8, char), Vec<~>>", &["BTreeMap::from([((-1, 'c'), vec![$])])"]),
    ("HashMap<u8, HashMap<u8, ~>>", &["HashMap::from([(1, HashMap::from([(2, $)]))])"]),
];

#[tokio::test]
async fn values_of_rust_are_what_the_program_says() {
    let mut random = Random::seeded();
    let variables = (0..70).map(|index| {
        let name = format!("v{index}");
        let (kind, value) = value(&mut random, index % 4);
        let print = format!("println!(\"{name}\\t{{{name}:?}}\");");
        Local { line: format!("let {name}: {kind} = {value};"), name, print }
    });
    let variables = variables.collect();
    let program = Program { before: BEFORE, variables, after: AFTER, nothing: "nothing();" };
    program.check(Language::Rust, 400).await;
}
