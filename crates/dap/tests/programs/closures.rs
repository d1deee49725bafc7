// What the compiler adds to a program: tables of traits, types of closures. See `subject.rs` for the marks.
static COUNT: u32 = 7;

trait Show {
    fn show(&self) -> u32;
}

struct Shown(u32);

impl Show for Shown {
    fn show(&self) -> u32 {
        self.0 + COUNT
    }
}

fn main() {
    let boxed: Box<dyn Show> = Box::new(Shown(3));
    let more = 5;
    let add = move |number: u32| number + more;
    let sum = add(boxed.show());
    println!("{sum}"); // mark: print
}
