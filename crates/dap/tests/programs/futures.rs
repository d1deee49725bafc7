// Async functions, run without a library.
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

struct Once(bool);
impl Future for Once {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

async fn inner(n: u32, tag: &str) -> Result<u32, String> {
    let doubled = n * 2;
    Once(false).await;
    let text = format!("{tag}{doubled}");
    println!("inner {text}"); // mark: inner
    if n > 2 { Err(text) } else { Ok(doubled) }
}

async fn outer(mut list: Vec<u32>) -> u32 {
    list.push(4);
    let mut sum = 0;
    for n in &list {
        match inner(*n, "t").await {
            Ok(value) => sum += value, // mark: outer
            Err(error) => println!("{error} {sum}"),
        }
    }
    sum
}

fn main() {
    let mut future = pin!(outer(vec![1, 2, 3]));
    let mut context = Context::from_waker(Waker::noop()); // mark: begin
    let sum = loop {
        if let Poll::Ready(sum) = future.as_mut().poll(&mut context) {
            break sum;
        }
    };
    println!("{sum}"); // mark: over
}
