//! C++ through lldb-dap, its values shown as the program itself shows them.

use crate::flows;
use crate::subject::Language;

#[tokio::test]
async fn values_are_what_the_program_says() {
    let shown = flows::values_are_what_the_program_says(Language::Cpp).await;
    assert!(shown["million"].starts_with("[7, 7, 7, ") && shown["million"].ends_with(" more]"));
    assert!(shown["long_text"].ends_with(" more bytes"), "{}", shown["long_text"]);
    // A list is not followed to its end, which it may not have.
    let address = shown["loop"].rsplit("0x").next().expect("an address");
    assert_eq!(
        shown["loop"],
        format!("{{value: 1, next: &{{value: 1, next: &{{value: 1, next: 0x{address}")
    );
    assert!(shown["broken"].contains("<not readable: "), "{}", shown["broken"]);
}
