//! Containers of widespread crates, and what the program itself says of them: `name<TAB>value` for each.

use std::collections::BTreeMap;

use arrayvec::{ArrayString, ArrayVec};
use bytes::{Buf, Bytes, BytesMut};
use indexmap::{IndexMap, IndexSet};
use smallvec::{SmallVec, smallvec};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key { id: u32, name: String }

fn spilled() -> SmallVec<[u32; 1]> {
    let mut all: SmallVec<[u32; 1]> = smallvec![1, 2, 3];
    all.clear();
    all
}

macro_rules! show { ($($name:ident)*) => { $(println!("{}\t{:?}", stringify!($name), $name);)* } }

#[inline(never)]
fn nothing() {}

fn main() {
    let small: SmallVec<[u8; 8]> = smallvec![1, 2, 3];
    let small_full: SmallVec<[u16; 2]> = smallvec![1, 2];
    let small_empty: SmallVec<[u64; 2]> = SmallVec::new();
    let small_texts: SmallVec<[String; 4]> = smallvec!["x".to_owned()];
    let small_pairs: SmallVec<[(u8, Option<&str>); 2]> = smallvec![(1, Some("p")), (2, None)];
    let small_units: SmallVec<[(); 4]> = smallvec![(), ()];
    let small_spilled: SmallVec<[String; 1]> = smallvec!["a".to_owned(), "b".to_owned()];
    let small_cleared = spilled();
    let small_lists: Vec<SmallVec<[i8; 4]>> = vec![smallvec![-1], smallvec![]];
    let index: IndexMap<String, Vec<u8>> = IndexMap::from([("z".into(), vec![1]), ("a".into(), vec![])]);
    let index_empty: IndexMap<u8, u8> = IndexMap::new();
    let index_set: IndexSet<&str> = IndexSet::from(["z", "a"]);
    let index_units = IndexMap::from([(Key { id: 1, name: "k".to_owned() }, ())]);
    let index_nested = Some(IndexMap::from([(1u8, IndexSet::from(['c']))]));
    let brown = hashbrown::HashMap::<&str, u32>::from_iter([("k", 5)]);
    let brown_empty = hashbrown::HashMap::<String, String>::new();
    let brown_set = hashbrown::HashSet::<Option<u8>>::from_iter([Some(3)]);
    let bytes = Bytes::from_static(b"st\"at\x00\xff\n");
    let bytes_empty = Bytes::new();
    let bytes_shared = Bytes::from(vec![1u8; 40]).slice(3..6);
    let bytes_list = vec![Some(Bytes::from(vec![b'h', b'i'])), None];
    let mut bytes_mut = BytesMut::from(&b"hello world"[..]);
    bytes_mut.advance(6);
    let bytes_split = bytes_mut.split_to(2);
    let array: ArrayVec<u32, 4> = ArrayVec::from_iter([1, 2]);
    let array_empty: ArrayVec<String, 2> = ArrayVec::new();
    let array_texts: ArrayVec<String, 3> = ArrayVec::from_iter(["q".to_owned()]);
    let array_text: ArrayString<16> = ArrayString::from("ar\"r").expect("it fits");
    let json: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(r#"{"a":-1,"b":2.5,"c":null,"d":"s","e":18446744073709551615}"#).expect("JSON");
    let tree = BTreeMap::from([("t", IndexMap::from([(1u8, small.clone())]))]);
    nothing(); // mark: log0
    nothing(); // mark: log1
    nothing(); // mark: log2
    nothing(); // mark: end
    show!(small small_full small_empty small_texts small_pairs small_units small_spilled small_cleared small_lists);
    show!(index index_empty index_set index_units index_nested brown brown_empty brown_set);
    show!(bytes bytes_empty bytes_shared bytes_list bytes_mut bytes_split array array_empty array_texts array_text json tree);
}
