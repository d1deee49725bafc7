// Enums that change their variants between two stops at one place.
#![allow(dead_code)]
#[derive(Debug, Clone)]
enum Shape { Unit, Circle(u32), Named { name: String } }
#[derive(Debug, Clone)]
struct Holder { shape: Shape, some: Option<Box<u32>> }

#[inline(never)]
fn look(_at: &Holder) {}

fn main() {
    let (mut number, mut result, mut text): (Option<u32>, Result<u8, String>, Option<String>) = (None, Ok(1), None);
    let mut holder = Holder { shape: Shape::Unit, some: None };
    for turn in 0..4u32 {
        look(&holder); // mark: change
        println!("turn{turn}.number={number:?}\nturn{turn}.result={result:?}\nturn{turn}.text={text:?}\nturn{turn}.holder={holder:?}");
        number = if turn == 1 { None } else { Some(turn + 10) };
        result = if turn == 1 { Ok(7) } else { Err(format!("e{turn}")) };
        text = if turn == 1 { None } else { Some(format!("t{turn}")) };
        holder.shape = match turn {
            0 => Shape::Circle(5),
            1 => Shape::Named { name: "zz".into() },
            _ => Shape::Unit,
        };
        holder.some = if turn == 1 { None } else { Some(Box::new(turn)) };
    }
}
