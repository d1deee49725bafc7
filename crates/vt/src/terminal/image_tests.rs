//! Images are where their lines are, within bounds, and the same after every cut, record and dump.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use proptest::prelude::*;

use crate::{ImageFormat, MAX_IMAGE_MEMORY, Options, Placement, Size, Terminal};

const SIZE: Size = Size { cols: 20, rows: 5 };
/// 8 × 18 pixels: a column and two rows.
const SIXEL: &str = "\x1bPq!8~-!8~-!8~\x1b\\";

fn terminal() -> Terminal {
    Terminal::new(SIZE, Options { scrollback_lines: 6, ..Options::default() })
}

fn after(output: &str) -> Terminal {
    let mut terminal = terminal();
    terminal.feed(output.as_bytes());
    terminal
}

/// Row and column of each image.
fn places(terminal: &Terminal) -> Vec<(i64, u16)> {
    terminal.images().map(|image| (image.placement.row, image.placement.col)).collect()
}

/// Images as they are seen, in an order that does not depend on when they were drawn.
fn seen(terminal: &Terminal) -> Vec<(Placement, String)> {
    let mut seen: Vec<_> =
        terminal.images().map(|image| (*image.placement, format!("{:?}", image.data))).collect();
    seen.sort_by_key(|(placement, data)| format!("{:6} {placement:?} {data}", placement.row));
    seen
}

/// The graphics commands of a dump.
fn commands(terminal: &Terminal) -> Vec<String> {
    let stream = String::from_utf8_lossy(&terminal.dump().stream).into_owned();
    let commands = stream.split("\x1b_G").skip(1).filter_map(|rest| rest.split_once("\x1b\\"));
    commands.map(|(command, _)| command.to_owned()).collect()
}

fn kitty(control: &str, bytes: &[u8]) -> String {
    format!("\x1b_G{control};{}\x1b\\", BASE64.encode(bytes))
}

#[test]
fn an_image_moves_with_its_line_and_goes_with_it() {
    let mut terminal = after(&format!("\x1b[2;3H{SIXEL}"));
    assert_eq!(places(&terminal), [(1, 2)]);
    for (output, place) in [
        ("\x1b[H\x1b[2L", (3, 2)),
        ("\x1b[M", (2, 2)),
        ("\x1b[5;1H\n\n\n", (-1, 2)),
        ("\x1b[HX\x1b[K\x1b[1;1H\x1b[2L", (-1, 2)),
        ("\x1b[5;1H\n\n\n\n\n", (-6, 2)),
    ] {
        terminal.feed(output.as_bytes());
        assert_eq!(places(&terminal), [place], "{output:?}");
    }
    // The history keeps six rows.
    terminal.feed(b"\n");
    assert_eq!(places(&terminal), []);
    assert_eq!(terminal.image_memory(), 0);
    let deleted = after(&format!("\x1b[2;3H{SIXEL}\x1b[M"));
    assert_eq!(places(&deleted), []);
    let region = after(&format!("\x1b[2;3H{SIXEL}\x1b[2;4r\x1b[4;1H\n"));
    assert_eq!(places(&region), []);
}

#[test]
fn the_whole_screen_is_erased_with_its_images() {
    for erased in ["\x1b[2J", "\x1b[H\x1b[J", "\x1bc", "\x1b#8"] {
        let terminal = after(&format!("{SIXEL}{erased}"));
        assert_eq!((places(&terminal), terminal.image_memory()), (vec![], 0), "{erased:?}");
    }
    for kept in ["\x1b[J", "\x1b[K", "text", "\x1b[3J", "\x1b[?2J"] {
        assert_eq!(places(&after(&format!("\r\n{SIXEL}{kept}"))), [(1, 0)], "{kept:?}");
    }
    let mut terminal = after(&format!("{SIXEL}\x1b[5;1H\n\n"));
    assert_eq!(places(&terminal), [(-2, 0)]);
    terminal.feed(b"\x1b[3J");
    assert_eq!(places(&terminal), []);
}

#[test]
fn each_screen_has_its_images() {
    let mut terminal = after(&format!("{SIXEL}\x1b[?1049h\x1b[2;2H{SIXEL}"));
    assert_eq!(places(&terminal), [(1, 1)]);
    terminal.feed(b"\x1b[?1049l");
    assert_eq!(places(&terminal), [(0, 0)]);
    terminal.feed(b"\x1b[?1049h");
    assert_eq!(places(&terminal), []);
}

#[test]
fn a_resize_takes_images_along() {
    let mut terminal = after(&format!("a line of thirty characters ...\r\n\r\n{SIXEL}"));
    assert_eq!(places(&terminal), [(3, 0)]);
    for (cols, rows, place) in [(40, 5, (2, 0)), (10, 5, (4, 0)), (10, 3, (2, 0)), (40, 9, (2, 0))]
    {
        terminal.resize(Size { cols, rows });
        assert_eq!(places(&terminal), [place], "{cols} x {rows}");
    }
    let mut terminal = after(&format!("1\r\n{SIXEL}\x1b[5;1H\n\n\n"));
    assert_eq!(places(&terminal), [(-2, 0)]);
    terminal.resize(Size { cols: 20, rows: 8 });
    assert_eq!(places(&terminal), [(1, 0)]);
    terminal.feed(b"\x1b[8;1H\n\n\n");
    terminal.resize(Size { cols: 21, rows: 8 });
    assert_eq!(places(&terminal), []);
}

#[test]
fn readers_see_the_images_from_before_a_synchronized_update() {
    let named = kitty("a=T,i=7,f=24,s=1,v=1", &[1, 2, 3]);
    let mut terminal = after(&format!("{named}{SIXEL}\x1b[?2026h"));
    let before = seen(&terminal);
    let replaced = kitty("a=T,i=7,f=24,s=1,v=1", &[4, 5, 6]);
    terminal.feed(format!("\x1b[2J{replaced}\x1b_Ga=d,d=A\x1b\\").as_bytes());
    assert_eq!(seen(&terminal), before);
    terminal.feed(b"\x1b[?2026l");
    assert_eq!((seen(&terminal).len(), terminal.image_memory()), (0, 0));
}

#[test]
fn a_sixel_takes_the_place_of_what_it_covers() {
    let twice = after(&format!("{SIXEL}{SIXEL}"));
    assert_eq!(places(&twice), [(0, 0)]);
    let transparent = after(&format!("{SIXEL}{}", SIXEL.replace("Pq", "P0;1q")));
    assert_eq!(places(&transparent), [(0, 0), (0, 0)]);
    let home = after(&format!("\x1b[?80h\x1b[3;3H{SIXEL}"));
    assert_eq!(places(&home), [(0, 0)]);
    assert_eq!(home.cursor_position(), (2, 2));
}

#[test]
fn chunks_are_one_image_whatever_comes_between() {
    let pixels: Vec<u8> = (0..=255).cycle().take(40 * 40 * 4).collect();
    let encoded = BASE64.encode(&pixels);
    let (first, rest) = encoded.split_at(4000);
    let terminal = after(&format!(
        "\x1b_Ga=T,s=40,v=40,i=4294967295,c=3,z=-1,m=1;{first}\x1b\\text\x1b_Gm=0,q=2;{rest}\x1b\\"
    ));
    let image = terminal.images().next().unwrap();
    assert_eq!((image.data.width, image.data.format), (40, ImageFormat::Rgba));
    assert_eq!(image.data.bytes, pixels);
    let Placement { col, cells, scaled, z, .. } = *image.placement;
    assert_eq!((col, cells, scaled, z), (4, (3, 2), true, -1));
    // Another command ends what was not complete.
    let cut = after(&format!(
        "\x1b_Ga=T,s=40,v=40,m=1;{first}\x1b\\{}",
        kitty("a=t,i=1,f=24,s=1,v=1", &[0; 3])
    ));
    assert_eq!((places(&cut).len(), cut.image_memory()), (0, 3));
}

#[test]
fn a_png_is_stored_as_it_is_and_compressed_pixels_too() {
    let png =
        [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 0, 9, 0, 0, 1, 0, 8, 6]].concat();
    let terminal = after(&kitty("a=T,f=100", &png));
    let image = terminal.images().next().unwrap();
    assert_eq!((image.data.width, image.data.height, &image.data.bytes), (9, 256, &png));
    assert_eq!(image.placement.cells, (2, 16));
    let terminal = after(&kitty("a=T,f=24,o=z,s=9,v=9", b"zlib"));
    let image = terminal.images().next().unwrap();
    assert!(image.data.compressed && image.data.format == ImageFormat::Rgb);
}

#[test]
fn nothing_is_read_but_the_stream_and_nothing_is_answered() {
    for (control, bytes) in [
        ("a=T,t=f,f=100", b"/etc/passwd".as_slice()),
        ("a=T,t=t,f=24,s=1,v=1", b"/tmp/x"),
        ("a=T,t=s,f=24,s=1,v=1", b"shm"),
        ("a=q,i=1,s=1,v=1,f=24", b"AAA"),
        ("a=T,f=24,s=2,v=1", b"AAA"),
        ("a=T,f=24,s=4294967295,v=4294967295", b"AAA"),
        ("a=T,f=100", b"no PNG"),
        ("a=T,f=7,s=1,v=1", b"AAAA"),
        ("a=t,f=24,s=1,v=1", b"AAA"),
        ("a=p,i=1", b""),
    ] {
        let mut terminal = after(&kitty(control, bytes));
        assert_eq!((places(&terminal).len(), terminal.image_memory()), (0, 0), "{control}");
        assert_eq!(terminal.take_replies(), b"");
        assert_eq!(terminal.unanswered_query(), Some("APC G (kitty graphics)"));
    }
}

#[test]
fn placements_are_deleted_by_name_and_place() {
    let image = kitty("a=t,i=3,f=24,s=1,v=1", &[0; 3]);
    let drawn = format!(
        "{image}\x1b_Ga=p,i=3,p=1\x1b\\\x1b[2;2H\x1b_Ga=p,i=3,p=2,z=5\x1b\\\x1b[3;3H{SIXEL}"
    );
    for (control, left) in [
        ("d=a", vec![]),
        ("d=i,i=3", vec![(2, 2)]),
        ("d=i,i=3,p=2", vec![(0, 0), (2, 2)]),
        ("d=i", vec![(0, 0), (1, 1), (2, 2)]),
        ("d=c", vec![(0, 0), (1, 1)]),
        ("d=p,x=2,y=2", vec![(0, 0), (2, 2)]),
        ("d=y,y=4", vec![(0, 0), (1, 1)]),
        ("d=x,x=1", vec![(1, 1), (2, 2)]),
        ("d=z,z=5", vec![(0, 0), (2, 2)]),
        ("d=r,x=2,y=9", vec![(2, 2)]),
    ] {
        let mut terminal = after(&format!("{drawn}\x1b_Ga=d,{control}\x1b\\"));
        assert_eq!(places(&terminal), left, "{control}");
        // A name stays without a place, but for a capital letter.
        terminal.feed(b"\x1b[H\x1b_Ga=p,i=3,p=9\x1b\\");
        assert_eq!(places(&terminal).len(), left.len() + 1, "{control}");
    }
    assert_eq!(after(&format!("{drawn}\x1b_Ga=d,d=A\x1b\\")).image_memory(), 0);
    let moved = after(&format!("{drawn}\x1b[H\x1b_Ga=p,i=3,p=2\x1b\\"));
    assert_eq!(places(&moved), [(0, 0), (2, 2), (0, 0)]);
}

#[test]
fn old_images_make_room() {
    let mut terminal = terminal();
    for round in 0..400 {
        terminal.feed(kitty(&format!("a=T,i={round},f=24,s=1,v=1"), &[0; 3]).as_bytes());
    }
    assert_eq!((places(&terminal).len(), terminal.image_memory()), (128, 3 * 128));
    let large = kitty("a=T,f=100,o=z,s=9,v=9", &vec![0; 700_000]);
    for _ in 0..40 {
        terminal.feed(large.as_bytes());
        assert!(terminal.image_memory() <= MAX_IMAGE_MEMORY);
    }
    assert_eq!(places(&terminal).len(), 23);
    // One that never ends is given up.
    let chunk = format!("\x1b_Gs=9,v=9,m=1;{0}\x1b\\", "A".repeat(1_000_000));
    terminal.feed(chunk.as_bytes());
    for _ in 0..40 {
        terminal.feed(chunk.replace("s=9,v=9,", "").as_bytes());
        assert!(terminal.image_memory() <= MAX_IMAGE_MEMORY);
    }
    terminal.shrink_memory(0);
    assert_eq!(terminal.image_memory(), 0);
}

/// Output with images, and with what moves, erases and restores them.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let small = 0u16..7;
    let sixel = (small.clone(), 1u16..40, any::<bool>()).prop_map(|(color, count, clear)| {
        format!("\x1bP0;{}q#{color}!{count}~-!9{color}A\x1b\\", u8::from(clear))
    });
    let transmit =
        (small.clone(), "[tTq]", small.clone(), 1usize..4).prop_map(|(id, action, p, size)| {
            let control = format!("a={action},i={id},p={p},f=24,s={size},v={size},z={p},X={id}");
            kitty(&control, &vec![id as u8; size * size * 3])
        });
    let chunk = (small.clone(), 0u8..2, "[A-Z]{0,8}")
        .prop_map(|(id, more, data)| format!("\x1b_Ga=T,o=z,i={id},s=1,v=1,m={more};{data}\x1b\\"));
    let rest = (0u8..2, "[A-Z]{4}").prop_map(|(more, data)| format!("\x1b_Gm={more};{data}\x1b\\"));
    let place = (small.clone(), small.clone(), small.clone())
        .prop_map(|(id, p, c)| format!("\x1b_Ga=p,i={id},p={p},c={c},r={p}\x1b\\"));
    let delete = ("[aAiIcCpPxyYzrR]", small.clone(), small.clone())
        .prop_map(|(kind, x, y)| format!("\x1b_Ga=d,d={kind},i={x},x={x},y={y}\x1b\\"));
    let csi = (small.clone(), small, "[ABCDHJKLMPSTr]")
        .prop_map(|(a, b, last)| format!("\x1b[{a};{b}{last}"));
    let fixed = proptest::sample::select(vec![
        "\r\n",
        "\r\n\r\n\r\n",
        "\x1bM",
        "\x1b7",
        "\x1b8",
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1b[?47h",
        "\x1b[?47l",
        "\x1b[?2026h",
        "\x1b[?2026l",
        "\x1b[?80h",
        "\x1b[2J",
        "\x1b[3J",
        "\x1bc",
        "\x1b[r",
        "\x1b_Ga=T",
        "\x1bPq#1~",
        "\x1b#8",
        "\x1b[41m",
    ])
    .prop_map(str::to_owned);
    let text = "[a-z漢 ]{1,12}";
    let piece = prop_oneof![
        3 => sixel, 3 => transmit, 1 => chunk, 1 => rest, 2 => place, 1 => delete, 4 => csi, 4 => fixed, 4 => text,
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat().into_bytes())
}

fn size() -> impl Strategy<Value = Size> {
    (2u16..14, 1u16..7).prop_map(|(cols, rows)| Size { cols, rows })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn cuts_records_and_dumps_change_no_image(
        sizes in (size(), size()), output in (output(), output()), cut in any::<proptest::sample::Index>(),
    ) {
        let options = || Options { scrollback_lines: 12, ..Options::default() };
        let mut whole = Terminal::new(sizes.0, options());
        whole.feed(&output.0);
        let mut restored = Terminal::new(sizes.0, options());
        let (first, rest) = output.0.split_at(cut.index(output.0.len() + 1));
        restored.feed(first);
        restored = Terminal::from_bytes(&restored.to_bytes(), options()).unwrap();
        rest.iter().for_each(|byte| restored.feed(&[*byte]));
        prop_assert_eq!(seen(&restored), seen(&whole));
        prop_assert_eq!(restored.dump(), whole.dump());
        prop_assert!(whole.image_memory() <= MAX_IMAGE_MEMORY);

        let mut replayed = Terminal::new(sizes.0, options());
        replayed.feed(&whole.dump().stream);
        prop_assert_eq!(replayed.screen(), whole.screen());
        // The images from before an update are not in a dump.
        for terminal in [&mut replayed, &mut whole] {
            terminal.end_synchronized();
        }
        prop_assert_eq!(seen(&replayed), seen(&whole));
        prop_assert_eq!(commands(&replayed), commands(&whole));
        restored.end_synchronized();
        for terminal in [&mut restored, &mut whole] {
            terminal.resize(sizes.1);
            terminal.feed(&output.1);
        }
        prop_assert_eq!(seen(&restored), seen(&whole));
    }

    #[test]
    fn any_bytes_are_sixels_and_commands(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut terminal = terminal();
        for start in ["\x1bPq", "\x1bPq\"1;1;9;9#1;1;", "\x1b_G", "\x1b_Ga=T,f=24,s=1,v=1;"] {
            terminal.feed(start.as_bytes());
            terminal.feed(&bytes);
            terminal.feed(b"\x1b\\");
            prop_assert!(terminal.image_memory() <= MAX_IMAGE_MEMORY);
        }
    }
}
