//! Whatever an agent writes as keys: no panic, bounded bytes, canonical names that read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use termbridge_vt::input::{
    InputItem, InputModes, KeyPress, encode_items, encode_paste, parse_keys,
};

fuzz_target!(|input: &str| {
    let modes = InputModes::default();
    if let Ok(items) = parse_keys(input) {
        for item in &items {
            if let InputItem::Press(press) = item {
                assert_eq!(press.to_string().parse::<KeyPress>().as_ref(), Ok(press));
            }
        }
        let _ = encode_items(&items, &modes);
    }
    let bracketed = InputModes { bracketed_paste: true, ..modes };
    let pasted = encode_paste(input, &bracketed);
    let inner = &pasted[b"\x1b[200~".len()..pasted.len() - b"\x1b[201~".len()];
    assert!(!inner.contains(&0x1b), "a paste cannot close its own bracket");
});
