// Values of many shapes, and what the program itself says of them: `name=value` for each.
#![allow(dead_code, unused)]
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::*;
use std::num::*;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

#[derive(Debug, Clone)]
struct User { name: String, age: u32, tags: Vec<String> }
#[derive(Debug, Clone, Copy, PartialEq)]
enum Color { Red, Green = 7, Blue }
#[derive(Debug, Clone)]
enum Shape { Unit, Circle(f64), Rect { w: i32, h: i32 }, Named(String), Boxed(Box<Shape>) }
#[derive(Debug)]
#[repr(u8)] enum R8 { A(u8) = 3, B { x: u16 } = 200 }
#[derive(Debug)]
#[repr(i16)] enum R16 { A = -5, B(u8) = 300 }
#[derive(Debug)]
#[repr(u64)] enum R64 { A(u8) = 0x1_0000_0001, B(u8) = 0x2_0000_0001, C(u8) = 1 }
#[derive(Debug)]
#[repr(i64)] enum I64 { A(u8) = -1, B(u8) = i64::MIN, C(u8) = 0 }
#[derive(Debug)] struct Unit;
#[derive(Debug)] struct Meters(f32);
#[derive(Debug)] enum Single { Only(u32) }
#[derive(Debug)] struct Gen<T> { inner: Option<T> }

#[inline(never)]
fn here() {}

macro_rules! show { ($($v:ident),* $(,)?) => { $( println!("{}={:?}", stringify!($v), $v); )* } }

fn main() {
    let o_none: Option<String> = None;
    let o_empty: Option<String> = Some(String::new());
    let o_some: Option<String> = Some("hi".into());
    let oo_none: Option<Option<String>> = None;
    let oo_some_none: Option<Option<String>> = Some(None);
    let oo_some_some: Option<Option<String>> = Some(Some("x".into()));
    let ok3: Result<u32, String> = Ok(3);
    let err: Result<u32, String> = Err("bad".into());
    let err_empty: Result<u32, String> = Err(String::new());
    let path_none: Option<PathBuf> = None;
    let path_some: Option<PathBuf> = Some("/tmp/x".into());
    let dur_none: Option<Duration> = None;
    let dur_some: Option<Duration> = Some(Duration::new(3, 5));
    let dur_zero: Option<Duration> = Some(Duration::new(0, 0));
    let bool_none: Option<bool> = None;
    let bool_some: Option<bool> = Some(false);
    let char_none: Option<char> = None;
    let char_some: Option<char> = Some('é');
    let u_none: Option<u32> = None;
    let u_some: Option<u32> = Some(0);
    let u64_some: Option<u64> = Some(u64::MAX);
    let u128_none: Option<u128> = None;
    let u128_some: Option<u128> = Some(u128::MAX);
    let nz_none: Option<NonZeroU64> = None;
    let nz_some: Option<NonZeroU64> = NonZeroU64::new(5);
    let nz128_none: Option<NonZeroU128> = None;
    let nz128_some: Option<NonZeroU128> = NonZeroU128::new(1 << 100);
    let ref_none: Option<&u32> = None;
    let ref_some: Option<&u32> = Some(&7);
    let box_none: Option<Box<u32>> = None;
    let box_some: Option<Box<u32>> = Some(Box::new(8));
    let rc_none: Option<Rc<String>> = None;
    let rc_some: Option<Rc<String>> = Some(Rc::new("rc".into()));
    let arc_mutex = Arc::new(Mutex::new(vec![1u8, 2, 3]));
    let rwlock = RwLock::new(5i32);
    let cell = Cell::new(5u8);
    let refcell = RefCell::new(Some(1i8));
    let red = Color::Red; let green = Color::Green; let blue = Color::Blue;
    let color_none: Option<Color> = None;
    let color_some = Some(Color::Green);
    let unit_v = Shape::Unit; let circle = Shape::Circle(1.5);
    let rect = Shape::Rect { w: -1, h: 2 };
    let named = Shape::Named("n".into()); let named_e = Shape::Named(String::new());
    let boxed = Shape::Boxed(Box::new(Shape::Circle(2.0)));
    let shape_none: Option<Shape> = None;
    let shape_some: Option<Shape> = Some(Shape::Unit);
    let r8a = R8::A(1); let r8b = R8::B { x: 9 };
    let r16a = R16::A; let r16b = R16::B(4);
    let r64a = R64::A(1); let r64b = R64::B(2); let r64c = R64::C(3);
    let i64a = I64::A(1); let i64b = I64::B(2); let i64c = I64::C(3);
    let cow_b: Cow<'static, str> = Cow::Borrowed("bor");
    let cow_o: Cow<'static, str> = Cow::Owned("own".into());
    let cow_oe: Cow<'static, str> = Cow::Owned(String::new());
    let io_os = std::io::Error::from_raw_os_error(2);
    let io_simple: std::io::Error = std::io::ErrorKind::TimedOut.into();
    let io_custom = std::io::Error::new(std::io::ErrorKind::Other, "oh no");
    let io_none: Option<std::io::Error> = None;
    let io_res: Result<(), std::io::Error> = Ok(());
    let user = User { name: "a".into(), age: 30, tags: vec!["x".into(), "y \"q\" \n".into()] };
    let user_ref = &user;
    let users = vec![user.clone(), User { name: "b".into(), age: 1, tags: vec![] }];
    let slice: &[u16] = &[1, 2, 3];
    let text: &str = "str";
    let array = [1i32, -2, 3];
    let tuple = (1u8, "two", 3.5f64);
    let unit = ();
    let unit_struct = Unit;
    let meters = Meters(0.1);
    let single = Single::Only(4);
    let gen_ = Gen { inner: Some(3u8) };
    let gen_none: Gen<String> = Gen { inner: None };
    let nested: Result<Option<Box<Shape>>, Box<str>> = Ok(Some(Box::new(Shape::Named("deep".into()))));
    let nested_err: Result<Option<Box<Shape>>, Box<str>> = Err("boxstr".into());
    let mut map = HashMap::new(); map.insert("k".to_string(), 1u32);
    let mut bmap = BTreeMap::new(); for i in 0..20u8 { bmap.insert(i, (i as char).to_string()); }
    let bset: BTreeSet<i32> = [3, 1, 2].into_iter().collect();
    let hset: HashSet<u8> = [9].into_iter().collect();
    let mut deque: VecDeque<u8> = (0..5).collect(); deque.pop_front(); deque.push_back(9);
    let mut list: LinkedList<u8> = LinkedList::new(); list.push_back(1); list.push_back(2);
    let heap: BinaryHeap<u8> = vec![5].into();
    let weak = Rc::downgrade(&Rc::new(5));
    let ordering = std::cmp::Ordering::Less;
    let ord_none: Option<std::cmp::Ordering> = None;
    let dynerr: Box<dyn std::error::Error> = "boom".into();
    let dynerr2: Box<dyn std::error::Error> = Box::new("x".parse::<i32>().unwrap_err());
    let dyndbg: &dyn std::fmt::Debug = &user;
    let range = 1..5usize; let rangei = 1..=5usize;
    let string = String::from("s ü \t");
    let bytes = b"ab\0";
    let ch = '\n';
    let atomic = std::sync::atomic::AtomicUsize::new(3);
    let wrapping = Wrapping(3u8);
    let floats = [1.0f64, f64::NAN, f64::INFINITY, 1e300, 1e-7, 0.1];
    let osstr = std::ffi::OsString::from("os");
    let cstr = std::ffi::CString::new("c").unwrap();
    let ip: std::net::IpAddr = "127.0.0.1".parse().unwrap();
    let dur = Duration::from_millis(1500);
    let raw: *const u32 = std::ptr::null();
    let fnp: fn() = here;
    let closure = |x: u32| x + user.age;
    // What is not what its type says.
    let broken_vec: std::mem::ManuallyDrop<Vec<u64>> = unsafe { std::mem::transmute([usize::MAX, 8, usize::MAX]) };
    let broken_enum: &Color = unsafe { std::mem::transmute(&99u8) };
    let broken_str: &str = unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(16 as *const u8, 4)) };
    let many: Vec<u32> = (0..1_000_000).collect();
    let long = "long ü ".repeat(1000);
    here(); // mark: values
    show!(o_none, o_empty, o_some, oo_none, oo_some_none, oo_some_some, ok3, err, err_empty, path_none, path_some,
      dur_none, dur_some, dur_zero, bool_none, bool_some, char_none, char_some, u_none, u_some, u64_some, u128_none, u128_some,
      nz_none, nz_some, nz128_none, nz128_some, ref_none, ref_some, box_none, box_some, rc_none, rc_some, arc_mutex, rwlock, cell, refcell,
      red, green, blue, color_none, color_some, unit_v, circle, rect, named, named_e, boxed, shape_none, shape_some, r8a, r8b, r16a, r16b,
      r64a, r64b, r64c, i64a, i64b, i64c, cow_b, cow_o, cow_oe, io_simple, io_custom, io_none, io_res, user, user_ref, users, slice,
      text, array, tuple, unit, unit_struct, meters, single, gen_, gen_none, nested, nested_err, map, bmap, bset, hset, deque, list, heap, weak,
      ordering, ord_none, dynerr, dynerr2, dyndbg, range, rangei, string, bytes, ch, atomic, wrapping, floats, osstr, cstr, ip, dur, raw);
    println!("{}", closure(1)); fnp();
}
