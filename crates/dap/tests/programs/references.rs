// Tuples, enums, maps, references and names that C++ has a use for.
use std::collections::{BTreeMap, HashMap};
#[derive(Debug)]
enum Shape { Dot(u8, u8), Line { length: f64 } }
#[derive(Debug)]
struct Counter { count: u32, pair: (i32, i64), shape: Shape, list: [u16; 2] }

fn change(counter: &mut Counter, read: &u32, written: &mut i64, turn: i32) -> u32 {
    let (point, id, flag) = ((turn, turn * 10), turn, &mut true);
    let mut boxed: Box<u32> = Box::new(11);
    let by_hash: HashMap<i32, &str> = HashMap::from([(5, "five")]);
    let by_order: BTreeMap<i32, i32> = BTreeMap::from([(1, 10), (3, 30)]);
    let pairs = vec![(1u8, 2u8), (3, 4)];
    *boxed += 1; // mark: change
    counter.pair.1 += 1;
    counter.shape = Shape::Line { length: 2.5 };
    counter.list[1] = 4;
    println!("{read} {written} {boxed} {flag} {id} {point:?} {by_hash:?} {by_order:?} {pairs:?}");
    *boxed
}

fn main() {
    let mut counter = Counter { count: 7, pair: (1, 20), shape: Shape::Dot(3, 4), list: [1, 2] };
    let mut written = 5;
    for turn in 0..3 {
        change(&mut counter, &6, &mut written, turn);
    }
    println!("{counter:?}");
}
