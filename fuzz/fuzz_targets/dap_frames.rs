//! What a broken debug adapter may send, in any cuts: messages or an error, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use termbridge_dap::framing::Decoder;

fuzz_target!(|input: (Vec<u8>, u8)| {
    let (bytes, piece) = input;
    let mut decoder = Decoder::default();
    for piece in bytes.chunks(usize::from(piece).max(1)) {
        decoder.feed(piece);
        loop {
            match decoder.next_message() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
});
