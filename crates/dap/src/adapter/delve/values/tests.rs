use super::*;

fn shown(kind: &str, value: &str) -> Look {
    let (kind, value) = (Some(kind.to_owned()), value.to_owned());
    look(&Variable { name: "v".to_owned(), kind, value, ..Variable::default() })
}

#[test]
fn keys_are_written_as_values() {
    for (kind, name, text) in [
        ("string", "\"a\"", "\"a\""),
        ("[2]int", "[2]int [1,2]", "[1, 2]"),
        ("[1]string", "[1]string [\"a,b\\\",c\"]", "[\"a,b\\\",c\"]"),
        ("main.Level", "High (2) = 0x2", "High (2)"),
        ("*main.Point", "*main.Point {X: 1, Y: 2}", "&{X: 1, Y: 2}"),
        ("*main.Point", "*main.Point nil", "nil"),
        ("*int", "*5", "&5"),
        ("**string", "**\"a\"", "&&\"a\""),
        ("interface {}", "interface {}(main.Point) {X: 1, Y: 2}", "main.Point{X: 1, Y: 2}"),
        ("interface {}", "interface {}(string) \"x\"", "\"x\""),
        (
            "interface {}",
            "interface {}(main.Pair[int,a.org/b.T]) {Key: 1, Val: 2}",
            "main.Pair[int,b.T]{Key: 1, Val: 2}",
        ),
        ("interface {}", "interface {} nil", "nil"),
        ("*main.Point", "*(*main.Point)(0xc00001e0f0)", "&{…}"),
        ("complex128", "(0 + 1i)", "(?+1i)"),
    ] {
        assert_eq!(key_text(name, kind), text, "{kind} {name}");
    }
}

#[test]
fn a_nil_in_an_interface_has_its_type() {
    for (kind, value, text) in [
        ("*main.T", "*main.T nil", "(*main.T)(nil)"),
        ("[]int", "[]int len: 0, cap: 0, nil", "[]int(nil)"),
        ("map[string]int", "map[string]int nil", "map[string]int(nil)"),
        ("func()", "nil", "(func())(nil)"),
        ("*example.org/a-b/v2/cart.T", "*example.org/a-b/v2/cart.T nil", "(*cart.T)(nil)"),
        ("<-chan gopkg.in/yaml%2ev3.Node", "nil", "(<-chan yaml.v3.Node)(nil)"),
    ] {
        let evaluate_name = Some("shape.(data)".to_owned());
        let (name, kind, value) = (".".to_owned(), Some(kind.to_owned()), value.to_owned());
        let held = Variable { name, value, kind, evaluate_name, ..Variable::default() };
        assert_eq!(look(&held), Look::Text(text.to_owned()));
    }
}

#[test]
fn complex_numbers_are_written_as_go_writes_them() {
    let text = |real: f64, imaginary: f64| {
        let bits = Bits::Known(vec![real.to_bits(), imaginary.to_bits()]);
        let (kind, value) = (Some("complex128".to_owned()), "(0 + 0i)".to_owned());
        by_bits(&Variable { name: "v".to_owned(), kind, value, ..Variable::default() }, bits)
    };
    assert_eq!(text(-0.0, 0.0), "(-0+0i)");
    assert_eq!(text(0.1, -0.0), "(0.1-0i)");
    assert_eq!(text(f64::NAN, f64::INFINITY), "(NaN+Infi)");
    assert_eq!(text(f64::NEG_INFINITY, f64::NAN), "(-Inf+NaNi)");
    assert_eq!(text(1e300, 1e-7), "(1e+300+1e-07i)");
}

#[test]
fn plain_values_are_written_as_go_writes_them() {
    for (kind, value, text) in [
        ("float64", "1000000000000000000000", "1e+21"),
        ("float64", "0.00000015", "1.5e-07"),
        ("float64", "100000", "100000"),
        ("float32", "340282350000000000000000000000000000000", "3.4028235e+38"),
        ("float64", "+Inf", "+Inf"),
        ("uint8", "65 = 0x41", "65"),
        ("string", "\"1 = 0x1\"", "\"1 = 0x1\""),
        ("complex128", "(1 + -2i)", "(1-2i)"),
        ("*main.T", "*main.T nil", "nil"),
        ("[]int", "[]int len: 0, cap: 0, nil", "nil"),
        ("[]int", "[]int len: 0, cap: 0, []", "[]"),
        ("map[string]int", "map[string]int []", "{}"),
        ("struct {}", "struct {} {}", "{}"),
        ("interface {}", "interface {} nil", "nil"),
        ("interface {}", "interface {}(int) 1", "1"),
        ("interface {}", "interface {}(float64) 1", "1.0"),
        ("interface {}", "interface {}(int64) 1", "int64(1)"),
        ("string: interface {}", "interface {}(string) \"x\"", "\"x\""),
        ("main.Kind", "KB (1)", "KB (1)"),
        ("main.Level", "High (2) = 0x2", "High (2)"),
        ("main.Level", "M1|M4 (5) = 0x5", "M1|M4 (5)"),
        ("main.Name", "\"(1) = 0x1\"", "\"(1) = 0x1\""),
        ("func(int) (int, error)", "main.calc", "main.calc"),
        (
            "time.Time",
            "time.Time(2024-02-29T01:02:03Z){wall: 4, ext: 63844765323, loc: *time.Location nil}",
            "2024-02-29T01:02:03.000000004Z",
        ),
        (
            "time.Time",
            "time.Time {wall: 9223373111096599808, ext: 1, loc: *(*time.Location)(0x1)}",
            "1885-01-01T00:16:40.5Z",
        ),
        (
            "time.Time",
            "time.Time(0001-01-01T00:00:00Z){wall: 0, ext: 0, loc: *time.Location nil}",
            "0001-01-01T00:00:00Z",
        ),
    ] {
        assert_eq!(shown(kind, value), Look::Text(text.to_owned()), "{kind}");
    }
}

#[test]
fn a_zero_whose_bits_are_unknown_is_delves() {
    let (name, value) = ("v".to_owned(), "0".to_owned());
    let kind = Some("float64".to_owned());
    let zero = Variable { name, value, kind, ..Variable::default() };
    assert_eq!(by_bits(&zero, Bits::Unknown), "0");
}
