use proptest::prelude::*;

use super::*;

fn all(decoder: &mut Decoder) -> Result<Vec<Vec<u8>>, FramingError> {
    let mut messages = Vec::new();
    while let Some(message) = decoder.next_message()? {
        messages.push(message.to_vec());
    }
    Ok(messages)
}

fn decode(bytes: &[u8]) -> Result<Vec<Vec<u8>>, FramingError> {
    let mut decoder = Decoder::default();
    decoder.feed(bytes);
    all(&mut decoder)
}

#[test]
fn several_messages_in_one_read() {
    let mut bytes = encode("{}");
    bytes.extend(encode("{\"é\":1}"));
    bytes.extend(b"Content-Length: 9\r\n\r\n{\"cut");
    assert_eq!(decode(&bytes).unwrap(), [b"{}".to_vec(), "{\"é\":1}".as_bytes().to_vec()]);
}

#[test]
fn every_cut_gives_the_same_messages() {
    let mut bytes = encode("{\"a\":\"\\r\\n\\r\\n\"}");
    bytes.extend(b"content-length:4\r\nContent-Type: application/json\r\n\r\nnull");
    let whole = decode(&bytes).unwrap();
    assert_eq!(whole.len(), 2);
    for cut in 0..=bytes.len() {
        let mut decoder = Decoder::default();
        decoder.feed(&bytes[..cut]);
        let mut messages = all(&mut decoder).unwrap();
        decoder.feed(&bytes[cut..]);
        messages.extend(all(&mut decoder).unwrap());
        assert_eq!(messages, whole, "cut at {cut}");
        assert!(!decoder.is_mid_message());
    }
}

#[test]
fn what_is_no_header_is_an_error() {
    let bad = |bytes: &[u8]| matches!(decode(bytes), Err(FramingError::BadHeader(_)));
    assert!(bad(b"hello\r\n\r\n"));
    assert!(bad(b"Content-Type: x\r\n\r\n{}"));
    assert!(bad(b"Content-Length: -1\r\n\r\n"));
    assert!(bad(b"Content-Length: 2x\r\n\r\n{}"));
    assert!(bad(b"Content-Length: 99999999999999999999999\r\n\r\n"));
    assert!(bad(b"\xff\xfe\r\n\r\n"));
}

#[test]
fn a_header_without_end_is_an_error() {
    let endless = [b'x'; MAX_HEADER + 1];
    assert!(matches!(decode(&endless), Err(FramingError::HeaderTooLong(_))));
    assert_eq!(decode(&endless[1..]), Ok(vec![]), "it may still end in time");
}

#[test]
fn the_size_of_a_message_is_limited() {
    let over = format!("Content-Length: {}\r\n\r\n", MAX_MESSAGE + 1);
    assert_eq!(decode(over.as_bytes()), Err(FramingError::TooLarge(MAX_MESSAGE as u64 + 1)));
    let just = format!("Content-Length: {MAX_MESSAGE}\r\n\r\n");
    assert_eq!(decode(just.as_bytes()), Ok(vec![]));
}

proptest! {
    #[test]
    fn any_bytes_are_an_answer_or_an_error(bytes: Vec<u8>) {
        let _ = decode(&bytes);
    }

    #[test]
    fn messages_survive_any_reads(
        messages in prop::collection::vec("\\PC{0,200}", 0..6),
        sizes in prop::collection::vec(1_usize..50, 1..20),
    ) {
        let bytes: Vec<u8> = messages.iter().flat_map(|message| encode(message)).collect();
        let mut decoder = Decoder::default();
        let (mut rest, mut sizes, mut decoded) = (&bytes[..], sizes.iter().cycle(), Vec::new());
        while !rest.is_empty() {
            let (read, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            decoder.feed(read);
            decoded.extend(all(&mut decoder).unwrap());
            rest = after;
        }
        let expected: Vec<_> = messages.iter().map(|message| message.as_bytes().to_vec()).collect();
        prop_assert_eq!(decoded, expected);
    }
}
