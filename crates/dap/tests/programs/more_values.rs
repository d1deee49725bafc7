// Values that are laid out in less usual ways, and what the program itself says of them: `function.name=value` for each.
#![allow(dead_code, unused)]
use std::borrow::Cow;
use std::cell::*;
use std::cmp::Ordering;
use std::collections::*;
use std::convert::Infallible;
use std::ffi::*;
use std::fmt::Debug;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::num::{NonZeroU8, Saturating};
use std::ops::*;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI8};
use std::sync::*;

mod structs {
    #[derive(Debug, Clone)]
    pub struct P { pub a: u32, pub b: u8 }
}
use structs::P;
// The last field has its length in the pointer to the whole.
#[derive(Debug)] struct Tailed<T: ?Sized> { len: u32, tail: T }
#[derive(Debug)] struct Header { len: u32, data: [u8; 0] }
#[derive(Debug)] struct Outer<T: ?Sized> { id: u8, inner: Tailed<T> }
#[derive(Debug)] struct Newtype([u16]);
#[derive(Debug)] struct Units([()]);
#[derive(Debug)] struct OfPath(Path);
#[repr(C)] struct Packed(u8, u32, [u8; 3]);
trait Shape: Debug { fn area(&self) -> f64; }
#[derive(Debug)] struct Square(f64);
#[derive(Debug)] struct Circle { radius: f64, name: String }
impl Shape for Square { fn area(&self) -> f64 { self.0 * self.0 } }
impl Shape for Circle { fn area(&self) -> f64 { self.radius } }
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(align(32))] struct Aligned(u8);
#[derive(Debug)] enum Never {}
#[derive(Debug, Clone)] struct Nil;
#[derive(Debug)] enum Mixed { One(Infallible), Two(u8), Three(Infallible, u64) }
#[derive(Debug)] enum Wide { A(u32), B { x: String }, C(Never) }
#[derive(Debug)] #[repr(i128)] enum Signed128 { A = -5, B = 1 << 100 }
#[derive(Debug)] #[repr(u128)] enum Unsigned128 { A = 1 << 127, B = 2 }
#[derive(Debug)] #[repr(u64)] enum Huge { A = 0xffff_ffff_0000_0001, B = 1 }
#[derive(Debug, Clone)] struct NoBytes { a: [i8; 0] }
#[derive(Debug, Clone, Copy)] enum Fieldless { A, B, C }
#[derive(Debug)] struct Options<'a> { s: &'a [Option<bool>] }
#[derive(Debug)] struct Marked<T> { a: [T; 2], p: PhantomData<T> }

#[inline(never)]
fn here() {}

macro_rules! show { ($of:ident: $($v:ident),* $(,)?) => { $( println!("{}.{}={:?}", stringify!($of), stringify!($v), $v); )* } }

fn main() {
    uninhabited();
    slices();
    owners();
    trees();
    iterators();
    cells();
    small();
    tails();
    broken();
}

fn uninhabited() {
    let ok: Result<u32, Infallible> = Ok(5);
    let ok_text: Result<String, Infallible> = Ok("par".into());
    let ok_unit: Result<(), Infallible> = Ok(());
    let error: Result<Infallible, String> = Err("bad".into());
    let ok_never: Result<i32, Never> = Ok(3);
    let none: Option<Infallible> = None;
    let none_never: Option<Never> = None;
    let go_on: ControlFlow<Infallible, u8> = ControlFlow::Continue(4);
    let stop: ControlFlow<u8, Infallible> = ControlFlow::Break(4);
    let mixed = Mixed::Two(9);
    let wide_a = Wide::A(1);
    let wide_b = Wide::B { x: "x".into() };
    let nested: Option<Result<u8, Infallible>> = Some(Ok(1));
    let nested_none: Option<Result<u8, Infallible>> = None;
    let many: Vec<Result<u8, Never>> = vec![Ok(1), Ok(2)];
    here(); // mark: uninhabited
    show!(uninhabited: ok, ok_text, ok_unit, error, ok_never, none, none_never, go_on, stop, mixed, wide_a, wide_b, nested, nested_none, many);
}

fn slices() {
    let boxes: Vec<Box<str>> = vec!["alpha".into(), "beta".into()];
    let of_boxes: &[Box<str>] = &boxes;
    let boxed_boxes: Box<[Box<str>]> = boxes.clone().into_boxed_slice();
    let cows: Vec<Cow<str>> = vec![Cow::Borrowed("p"), Cow::Owned("q".into())];
    let of_cows: &[Cow<str>] = &cows;
    let rcs: Vec<Rc<str>> = vec!["r1".into(), "r2".into()];
    let of_rcs: &[Rc<str>] = &rcs;
    let strings: Arc<[String]> = vec!["s1".to_string(), "s2".into()].into();
    let strs: Rc<[&str]> = vec!["x", "y"].into();
    let of_strs: &[&str] = &["x", "y"];
    let points: Arc<[P]> = vec![P { a: 1, b: 2 }].into();
    let of_options: &[Option<P>] = &[Some(P { a: 7, b: 8 }), None];
    let c_strings: &[&CStr] = &[c"cc", c"dd"];
    let paths: &[&Path] = &["/a".as_ref(), "/b".as_ref()];
    let os_str: &OsStr = "osstr".as_ref();
    let os_strs: &[&OsStr] = &[os_str];
    let path_bufs: &[PathBuf] = &["/pb".into()];
    let box_path: Box<Path> = Path::new("/bp").into();
    let box_os: Box<OsStr> = os_str.into();
    let box_c: Box<CStr> = c"bc".into();
    let c_str: &CStr = c"c";
    let text: &mut str = String::from("mm").leak();
    let cow_slice: Cow<[String]> = Cow::Owned(vec!["cw".into()]);
    let cow_path: Cow<Path> = Cow::Borrowed(Path::new("/cp"));
    let not_utf8 = OsString::from_vec(b"f\xe9 \\xe9".to_vec());
    let not_utf8_path: PathBuf = OsString::from_vec(b"/\xff".to_vec()).into();
    let none: Option<&[&str]> = None;
    let str_slice_ref: &&[&str] = &of_strs;
    let option_non_zeros: &[Option<NonZeroU8>] = &[NonZeroU8::new(3), None];
    let option_bools: &[Option<bool>] = &[Some(true), None];
    let option_chars: &[Option<char>] = &[Some('c'), None];
    let option_boxes: &[Option<Box<i32>>] = &[Some(Box::new(1)), None];
    let option_fieldless: &[Option<Fieldless>] = &[Some(Fieldless::B), None];
    let option_units: &[Option<()>] = &[Some(()), None];
    let option_nils: Box<[Option<Nil>]> = vec![Some(Nil), None].into();
    let option_options: &[Option<Option<bool>>] = &[Some(None), None, Some(Some(false))];
    let results: &[Result<(), io::Error>] = &[Ok(()), Err(io::ErrorKind::NotFound.into())];
    let unit_errors: &mut [Result<(), ()>] = &mut [Ok(()), Err(())];
    let orderings: Box<[Option<Ordering>]> = vec![None, Some(Ordering::Less)].into();
    let options_field = Options { s: option_bools };
    let options_list = vec![Options { s: option_bools }, Options { s: &[] }];
    let no_bytes: &[NoBytes] = &[NoBytes { a: [] }, NoBytes { a: [] }];
    let no_bytes_box: Box<[NoBytes]> = vec![NoBytes { a: [] }; 2].into();
    let no_array: &[[i8; 0]] = &[[], []];
    let unit_arrays: &[[(); 2]] = &[[(); 2]];
    let of_numbers: Box<[&[u64]]> = vec![&[1u64, 2][..], &[3][..]].into();
    let os_error = io::Error::from_raw_os_error(2);
    let negative_error = io::Error::from_raw_os_error(-5);
    let large_error = io::Error::from_raw_os_error(i32::MAX);
    here(); // mark: slices
    show!(slices: option_non_zeros, option_bools, option_chars, option_boxes, option_fieldless, option_units, option_nils, option_options, results,
      unit_errors, orderings, options_field, options_list, no_bytes, no_bytes_box, no_array, unit_arrays, of_numbers,
      boxes, of_boxes, boxed_boxes, cows, of_cows, rcs, of_rcs, strings, strs, of_strs, points, of_options, c_strings, paths, os_str, os_strs,
      path_bufs, box_path, box_os, box_c, c_str, text, cow_slice, cow_path, not_utf8, not_utf8_path, none, str_slice_ref);
}

fn owners() {
    let rc_dyn: Rc<dyn Shape> = Rc::new(Square(1.5));
    let rc_full: Rc<&std::ops::RangeFull> = Rc::new(&..);
    let arc_dyn: Arc<dyn Shape> = Arc::new(Circle { radius: 2.0, name: "c".into() });
    let box_dyn: Box<dyn Shape> = Box::new(Square(3.0));
    let rcs_dyn: Vec<Rc<dyn Shape>> = vec![Rc::new(Square(1.0)), Rc::new(Circle { radius: 1.5, name: "q".into() })];
    let rc_numbers: Rc<[u16]> = vec![1u16, 2].into();
    let arc_aligned: Arc<[Aligned]> = vec![Aligned(1), Aligned(2)].into();
    let rc_aligned = Rc::new(Aligned(4));
    let aligned_dyn: Rc<dyn Debug> = Rc::new(Aligned(5));
    let rc_path: Rc<Path> = Path::new("/rp").into();
    let arc_os: Arc<OsStr> = OsStr::new("ao").into();
    let arc_c: Arc<CStr> = c"ac".into();
    let rc_str: Rc<str> = "rs".into();
    let arc_str: Arc<str> = "as".into();
    let arc_empty: Arc<[u8]> = Arc::new([]);
    let option_str: Option<Arc<str>> = Some("os".into());
    let no_str: Option<Arc<str>> = None;
    let pin: Pin<Box<u8>> = Box::pin(8);
    let pin_dyn: Pin<Box<dyn Shape>> = Box::pin(Square(2.0));
    let weak_dyn = Rc::downgrade(&rc_dyn);
    let rc_bools: Rc<[Option<bool>]> = vec![Some(true), None].into();
    let arc_orderings: Arc<[Option<Ordering>]> = vec![None, None, Some(Ordering::Less)].into();
    let arc_results: Arc<[Result<(), ()>]> = vec![Ok(()), Err(())].into();
    let rc_option_boxes: Rc<[Option<Box<i32>>]> = vec![Some(Box::new(1)), None].into();
    let rc_fieldless: Rc<[Fieldless]> = vec![Fieldless::A, Fieldless::C].into();
    let rc_no_bytes: Rc<[NoBytes]> = vec![NoBytes { a: [] }; 2].into();
    let arc_nils: Arc<[Nil]> = vec![Nil; 2].into();
    let arc_units: Arc<[()]> = vec![(); 3].into();
    let rc_no_arrays: Rc<[[i8; 0]]> = vec![[], []].into();
    let rc_arrays: Rc<[[u16; 2]]> = vec![[1, 2], [3, 4]].into();
    let rc_array: Rc<[&[u64]; 2]> = Rc::new([&[1, 2], &[3]]);
    let rc_slice: Rc<&[u64]> = Rc::new(&[1, 2]);
    let rc_slices: Rc<[&[u64]]> = vec![&[1u64, 2][..], &[3][..]].into();
    let arc_bool_slices: Arc<[&[bool]]> = vec![&[true][..], &[][..]].into();
    let rc_mut_slices: Rc<[&mut [i32]]> = vec![Box::leak(vec![1, 2].into_boxed_slice())].into();
    let nested: &[&[u8]] = &[&[1], &[2, 3]];
    let rc_nested: Rc<[&[&[u8]]]> = vec![nested].into();
    let rc_box_slices: Rc<[Box<[u64]>]> = vec![vec![1u64].into(), vec![2, 3].into()].into();
    let rc_rc_slices: Rc<[Rc<[u64]>]> = vec![vec![1u64].into(), vec![2, 3].into()].into();
    let rc_struct_slices: Rc<[&[P]]> = vec![&[P { a: 1, b: 2 }][..]].into();
    let rc_array_refs: Rc<[&[u16; 2]]> = vec![&[1, 2], &[3, 4]].into();
    let rc_pairs: Rc<[(&[u8], u8)]> = vec![(&[1u8, 2][..], 3)].into();
    let rc_options: Rc<[Option<&[u8]>]> = vec![Some(&[1u8][..]), None].into();
    here(); // mark: owners
    show!(owners: rc_full, rc_bools, arc_orderings, arc_results, rc_option_boxes, rc_fieldless, rc_no_bytes, arc_nils, arc_units, rc_no_arrays, rc_arrays, rc_array,
      rc_slice, rc_slices, arc_bool_slices, rc_mut_slices, rc_nested, rc_box_slices, rc_rc_slices, rc_struct_slices, rc_array_refs, rc_pairs, rc_options,
      rc_dyn, arc_dyn, box_dyn, rcs_dyn, rc_numbers, arc_aligned, rc_aligned, aligned_dyn, rc_path, arc_os, arc_c, rc_str, arc_str,
      arc_empty, option_str, no_str, pin, pin_dyn, weak_dyn);
}

fn trees() {
    let texts: BTreeSet<String> = ["z".to_string(), "a".into()].into();
    let pairs: BTreeSet<(i32, char)> = [(2, 'b'), (1, 'a')].into();
    let aligned: BTreeSet<Aligned> = [Aligned(3), Aligned(1)].into();
    let units: BTreeSet<()> = [()].into();
    let thirty: BTreeSet<u8> = (0..30).collect();
    let aligned_keys: BTreeMap<Aligned, u8> = [(Aligned(9), 1), (Aligned(2), 2)].into();
    let aligned_values: BTreeMap<u8, Aligned> = (0..12).map(|i| (i, Aligned(i))).collect();
    let unit_values: BTreeMap<u16, ()> = [(1, ()), (2, ())].into();
    let str_keys: BTreeMap<&str, Vec<u8>> = [("k", vec![1]), ("a", vec![])].into();
    let hash_units: HashSet<()> = [()].into();
    let hash_aligned: HashSet<Aligned> = [Aligned(5)].into();
    let hash_pair: HashMap<u8, Aligned> = [(1, Aligned(6))].into();
    let empty: BTreeSet<String> = BTreeSet::new();
    let list: LinkedList<String> = ["l".to_string()].into();
    here(); // mark: trees
    show!(trees: texts, pairs, aligned, units, thirty, aligned_keys, aligned_values, unit_values, str_keys, hash_units, hash_aligned, hash_pair, empty, list);
}

fn iterators() {
    let array = [1u16, 2, 3];
    let mut iter = array.iter();
    iter.next();
    let mut done = array.iter();
    done.by_ref().for_each(drop);
    let empty: std::slice::Iter<u64> = [].iter();
    let mut units = [(), ()].iter();
    units.next();
    let mut numbers = array;
    let iter_mut = numbers.iter_mut();
    let mut into_iter = vec!["a".to_string(), "b".into()].into_iter();
    into_iter.next();
    let mut into_done = vec![1u8].into_iter();
    into_done.next();
    let into_empty = Vec::<u8>::new().into_iter();
    let mut into_units = vec![(), (), ()].into_iter();
    into_units.next();
    let mut of_array = ["x", "y"].into_iter();
    of_array.next();
    let skip = array.iter().skip(1);
    let peekable = vec![1, 2].into_iter().peekable();
    let mut chars = "héllo".chars();
    chars.next();
    let no_chars = "".chars();
    let bytes = "ab".bytes();
    let enumerate = array.iter().enumerate();
    let mut drain_from = vec![1, 2, 3];
    let drain = drain_from.drain(1..);
    let deque: VecDeque<u8> = [1, 2].into();
    let deque_iter = deque.iter();
    here(); // mark: iterators
    show!(iterators: iter, done, empty, units, iter_mut, into_iter, into_done, into_empty, into_units, of_array, skip, peekable, chars, no_chars, bytes,
      enumerate, drain, deque_iter);
}

fn cells() {
    let once: OnceLock<String> = OnceLock::from("ol".to_string());
    let once_empty: OnceLock<u8> = OnceLock::new();
    let lazy: LazyLock<u32> = LazyLock::new(|| 5);
    let lazy_done: LazyLock<String> = LazyLock::new(|| "lz".into());
    lazy_done.len();
    let cell: OnceCell<String> = OnceCell::from("set".to_string());
    let cell_empty: OnceCell<u8> = OnceCell::new();
    let lazy_cell: LazyCell<u32> = LazyCell::new(|| 5);
    let lazy_cell_done: LazyCell<u32> = LazyCell::new(|| 6);
    let _ = *lazy_cell_done;
    let lock = RwLock::new(2);
    let reading = lock.read().unwrap();
    let other = RwLock::new("w".to_string());
    let writing = other.write().unwrap();
    let mutex = Mutex::new(vec![1]);
    let locked = mutex.lock().unwrap();
    let flag = AtomicBool::new(true);
    let flag_off = AtomicBool::new(false);
    let small = AtomicI8::new(-3);
    let flags = [AtomicBool::new(false), AtomicBool::new(true)];
    let cell_bool = Cell::new(true);
    let ref_cell = RefCell::new(4);
    let borrowed = ref_cell.borrow();
    let other_cell = RefCell::new(vec![5]);
    let borrowed_mut = other_cell.borrow_mut();
    let uninit = MaybeUninit::<u32>::new(5);
    here(); // mark: cells
    show!(cells: once, once_empty, lazy, lazy_done, cell, cell_empty, lazy_cell, lazy_cell_done, reading, writing, locked, flag, flag_off, small,
      flags, cell_bool, ref_cell, borrowed, borrowed_mut, uninit);
}

fn small() {
    let units = vec![(), (), ()];
    let unit_array = [(), ()];
    let unit_slice: &[()] = &units;
    let unit_deque: VecDeque<()> = [(), ()].into();
    let unit_some = Some(());
    let unit_result: Result<(), ()> = Err(());
    let unit_rc = Rc::new(());
    let nils = vec![Nil, Nil];
    let nil_array = [Nil, Nil];
    let nil_slice: &[Nil] = &nil_array;
    let nil_pairs = vec![(Nil, ()); 2];
    let unit_tuple = ((), 1u8, ());
    let signed_a = Signed128::A;
    let signed_b = Signed128::B;
    let unsigned_a = Unsigned128::A;
    let unsigned_b = Unsigned128::B;
    let huge = Huge::A;
    let combining = '\u{301}';
    let combining_text = "e\u{301}\u{200b}";
    let mut exhausted = 1..=3u8;
    exhausted.by_ref().for_each(drop);
    let inclusive = 'a'..='c';
    let from = 3u8..;
    let to = ..9usize;
    let to_inclusive = ..=9i64;
    let full = ..;
    let bound: Bound<i32> = Bound::Excluded(4);
    let saturating = Saturating(5i8);
    let signed = -7i8;
    let size = 7usize;
    let signed_size = -7isize;
    let signeds: Vec<i8> = vec![-1, 2, 65];
    let sizes: Vec<usize> = vec![1];
    let phantom: PhantomData<u8> = PhantomData;
    let phantom_function: PhantomData<fn(u8, i64) -> char> = PhantomData;
    let phantom_action: PhantomData<fn()> = PhantomData;
    let halves = (370048.625f32, -5155.03125f32, 248061350943220.125f64, 2793164.25f32);
    let marked = Marked::<i8> { a: [1, 2], p: PhantomData };
    let option_i8: Option<i8> = Some(-2);
    let tuple = (65i8, 66u8, 1usize, -1isize, 'c');
    let long = 5u64;
    let socket: std::net::SocketAddr = "127.0.0.1:80".parse().unwrap();
    let socket6: std::net::SocketAddr = "[::1]:80".parse().unwrap();
    let numbers: &[usize] = &[1];
    let arc_str: Arc<str> = "as".into();
    let rc_slice: Rc<[u16]> = vec![1u16].into();
    let (ref_i16, ref_u16, ref_i32, ref_u32) = (&-16i16, &16u16, &-32i32, &32u32);
    let (ref_i64, ref_u64, ref_isize, ref_usize) = (&-64i64, &64u64, &-8isize, &8usize);
    let (mut changing, ref_ref, ref_ref_ref) = (4i64, &&5u32, &&&6i32);
    let ref_mut = &mut changing;
    let (boxed, boxed_i64, ref_box, rc_u32) = (Box::new(7u32), Box::new(-7i64), &Box::new(9u16), Rc::new(3u32));
    let array_refs = [&[1u16, 2], &[3, 4], &[5, 6]];
    let no_array_refs: [&[u16; 2]; 0] = [];
    let one_array_ref = [&[1u16, 2]];
    let empty_arrays: [[&[u16; 2]; 0]; 3] = [[], [], []];
    here(); // mark: small
    show!(small: units, unit_array, unit_slice, unit_deque, unit_some, unit_result, unit_rc, nils, nil_array, nil_slice, nil_pairs, unit_tuple, signed_a, signed_b,
      unsigned_a, unsigned_b, huge, combining, combining_text, exhausted, inclusive, from, to, to_inclusive, full, bound, saturating,
      signed, size, signed_size, signeds, sizes, phantom, phantom_function, phantom_action, halves, marked, option_i8, tuple, long, socket, socket6, numbers, arc_str, rc_slice,
      ref_i16, ref_u16, ref_i32, ref_u32, ref_i64, ref_u64, ref_isize, ref_usize, ref_ref, ref_ref_ref, ref_mut, boxed, boxed_i64,
      ref_box, rc_u32, array_refs, no_array_refs, one_array_ref, empty_arrays);
}

fn tails() {
    let tail: &Tailed<[u16]> = &Tailed { len: 3, tail: [1, 2, 3] };
    let tail_box: Box<Tailed<[String]>> = Box::new(Tailed { len: 1, tail: ["x".into(), "y".into()] });
    let tail_rc: Rc<Tailed<[u8]>> = Rc::new(Tailed { len: 2, tail: [7, 8] });
    let tail_arc: Arc<Tailed<[u64]>> = Arc::new(Tailed { len: 2, tail: [7, 8] });
    let tail_outer: Box<Outer<[i32]>> = Box::new(Outer { id: 4, inner: Tailed { len: 2, tail: [-7, 8] } });
    let tail_none: &Tailed<[u16]> = &Tailed { len: 0, tail: [] };
    let tail_list: Vec<&Tailed<[u16]>> = vec![tail, tail_none];
    let tail_some: Option<&Tailed<[u16]>> = Some(tail);
    let tail_newtype: &Newtype = unsafe { &*(&[1u16, 2][..] as *const [u16] as *const Newtype) };
    let headers: &[Header] = &[Header { len: 1, data: [] }, Header { len: 2, data: [] }];
    let no_bytes: [u8; 0] = [];
    let cell_slice: Rc<RefCell<[u8]>> = Rc::new(RefCell::new([1, 2]));
    let mutex_slice: Arc<Mutex<[u8]>> = Arc::new(Mutex::new([4, 5]));
    let scoped: std::net::SocketAddr = "[fe80::1%3]:80".parse().unwrap();
    let c_text = CString::new("c \"q\" \x01\n").unwrap();
    let tail_bools: &Tailed<[Option<bool>]> = &Tailed { len: 2, tail: [Some(true), None] };
    let tail_slices: Rc<Tailed<[&[u64]]>> = Rc::new(Tailed { len: 2, tail: [&[1, 2][..], &[3]] });
    let tail_units: &Tailed<[()]> = &Tailed { len: 2, tail: [(), ()] };
    let tail_no_bytes: Rc<Tailed<[NoBytes]>> = Rc::new(Tailed { len: 2, tail: [NoBytes { a: [] }, NoBytes { a: [] }] });
    let cell_bools: Rc<RefCell<[Option<bool>]>> = Rc::new(RefCell::new([Some(true), None]));
    let tail_no_arrays: Box<Tailed<[[i8; 0]]>> = Box::new(Tailed { len: 2, tail: [[], []] });
    let tail_arrays: Box<Tailed<[[u16; 2]]>> = Box::new(Tailed { len: 2, tail: [[1, 2], [3, 4]] });
    let outer_vecs: &Outer<[Vec<u8>]> = &Outer { id: 1, inner: Tailed { len: 2, tail: [vec![1], vec![]] } };
    let outer_headers: &Outer<[Header]> = &Outer { id: 1, inner: Tailed { len: 1, tail: [Header { len: 5, data: [] }] } };
    let outer_points: Rc<Outer<[P]>> = Rc::new(Outer { id: 1, inner: Tailed { len: 1, tail: [P { a: 1, b: 2 }] } });
    let outer_tailed: &Outer<[Tailed<u8>]> = &Outer { id: 1, inner: Tailed { len: 1, tail: [Tailed { len: 5, tail: 6 }] } };
    let tail_tailed: &Tailed<[Tailed<u8>]> = &Tailed { len: 1, tail: [Tailed { len: 5, tail: 6 }] };
    let newtype_units: &Units = unsafe { &*(&[(), ()][..] as *const [()] as *const Units) };
    let newtype_path: &OfPath = unsafe { &*(Path::new("/n") as *const Path as *const OfPath) };
    let tail_path: &Tailed<Path> = unsafe { &*(std::ptr::slice_from_raw_parts(&(7u32, *b"/pqr") as *const _ as *const u8, 4) as *const Tailed<Path>) };
    let outer_str: &Outer<str> = unsafe { &*(std::ptr::slice_from_raw_parts(&Packed(1, 7, *b"abc") as *const _ as *const u8, 3) as *const Outer<str>) };
    here(); // mark: tails
    show!(tails: tail_no_arrays, tail_arrays, outer_vecs, outer_headers, outer_points, outer_tailed, tail_tailed, newtype_units,
      newtype_path, tail_path, outer_str,
      tail_bools, tail_slices, tail_units, tail_no_bytes, cell_bools, tail, tail_box, tail_rc, tail_arc, tail_outer, tail_none, tail_list, tail_some, tail_newtype, headers, no_bytes, cell_slice, mutex_slice, scoped, c_text);
}

/// What is not what its type says: each shows that it is not readable.
fn broken() {
    let flag: &bool = unsafe { std::mem::transmute(&7u8) };
    let flags: &[bool; 2] = unsafe { std::mem::transmute(&[1u8, 7]) };
    let mut bad_flag = false;
    unsafe { (&raw mut bad_flag).cast::<u8>().write(7) };
    let letter: &char = unsafe { std::mem::transmute(&0xD800u32) };
    let bad_letter: char = unsafe { std::mem::transmute(0x11_0000u32) };
    let iter: std::slice::Iter<'static, u64> = unsafe { std::mem::transmute([64usize, 8]) };
    let into_iter: std::mem::ManuallyDrop<std::vec::IntoIter<u64>> = unsafe { std::mem::transmute([8usize, 16, 1, 24]) };
    let tree: std::mem::ManuallyDrop<BTreeSet<u8>> = unsafe { std::mem::transmute([16usize, 0, 3]) };
    let list: std::mem::ManuallyDrop<LinkedList<u8>> = unsafe { std::mem::transmute([16usize, 16, 3]) };
    let texts: std::mem::ManuallyDrop<Arc<[String]>> = unsafe { std::mem::transmute([16usize, 3]) };
    let any: Box<dyn std::any::Any> = Box::new(5u32);
    let mutex: Arc<Mutex<dyn Debug>> = Arc::new(Mutex::new(7u16));
    let mutex_ref: &Mutex<dyn Debug> = &*mutex;
    let huge: &[u64] = unsafe { std::mem::transmute([8usize, 1 << 38]) };
    here(); // mark: broken
    println!("{}", std::mem::size_of_val(&tree));
}
