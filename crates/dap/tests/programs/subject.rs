//! Debugged by the tests. The comments `mark: NAME` are how they find lines.

use std::collections::HashMap;

fn add(a: i32, b: i32) -> i32 {
    let total = a + b; // mark: add
    std::hint::black_box(total) // mark: return
}

fn add_all() -> i32 {
    let mut total = 0; // mark: start
    let values = vec![10, 20, 30];
    let name = String::from("Ada");
    let ages: HashMap<String, u32> = HashMap::from([("Ada".to_owned(), 36)]);
    let maybe: Option<i32> = Some(7);
    for i in 0..5 {
        total = add(total, i); // mark: call
    }
    println!("total {total} {} {name} {} {maybe:?}", values.len(), ages.len()); // mark: print
    total
}

fn crash() {
    let values: Vec<i32> = Vec::new();
    let index = values.len() + 4;
    println!("{}", values[index]); // mark: crash
}

fn work(number: i32) -> i32 {
    let answer = number * 2;
    std::hint::black_box(answer) // mark: work
}

fn threads() {
    let thread = std::thread::Builder::new().name("worker".to_owned()).spawn(|| work(21));
    thread.expect("starts").join().expect("ends");
}

fn spin() {
    let mut turns = 0_u64;
    println!("looping {}", std::process::id());
    loop {
        turns = turns.wrapping_add(1); // mark: loop
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("sum") => {
            add_all();
            std::process::exit(3);
        }
        Some("crash") => crash(),
        Some("threads") => threads(),
        Some("loop") => spin(),
        _ => {}
    }
}
