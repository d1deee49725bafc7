//! Values of Go as the language writes them, without the types of their variables. The program writes them by reflection.

use std::collections::HashMap;
use std::process::Command;

use super::{Random, Table, log_message, logged};
use crate::subject::{Language, Subject};

/// Variables of the program.
const VARIABLES: usize = 80;
/// A text that is longer may be cut.
const LONG: usize = 150;

const BEFORE: &str = r#"package main

import ("errors"; "fmt"; "io"; "math"; "reflect"; "runtime"; "sort"; "strconv"; "strings"; "time")

type Kind int
const ( KA Kind = iota; KB )
type Name string
type Ratio float64
type Point struct { X, Y int }
type Key struct { A int; B string }
type Box[T any] struct { Inner T; size uint8 }
type Empty struct{}
type Inner struct { Point; note string; next *Inner }
type Outer struct { *Inner; Empty; Name string }
type Shape interface { Area() int }
type Square struct { side int }
func (s Square) Area() int { return s.side * s.side }
type Circle struct { r float64 }
func (c *Circle) Area() int { return int(c.r) }
type Failure struct { Code int; Err error }
func (f *Failure) Error() string { return fmt.Sprint(f.Code, f.Err) }
type List []int
type Trio [3]int8
type Table map[string]int
type Handler func(int) error
type Flag bool
type Level uint8
const ( Low Level = iota + 1; High )
type Pair[K comparable, V any] struct { Key K; Val V }
type Around[T any] struct { Pair[int, T]; *Point }
func calc(a int) error { return nil }
func full(c chan int) chan int { c <- 1; return c }
func many(count int) map[int]int { m := map[int]int{}; for i := 0; i < count; i++ { m[i] = -i }; return m }

func ptr[T any](v T) *T { return &v }

func show(v reflect.Value, held bool) string {
	typed := func(text string) string {
		if held { return v.Type().String() + "(" + text + ")" }
		return text
	}
	none := func() string {
		name := v.Type().String()
		if v.Kind() == reflect.Pointer || v.Kind() == reflect.Func { name = "(" + name + ")" }
		if held { return name + "(nil)" }
		return "nil"
	}
	title := ""
	if held && v.Type() != reflect.TypeOf([]any{}) && v.Type() != reflect.TypeOf(map[string]any{}) {
		title = v.Type().String()
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Type() != reflect.TypeOf(true) { return typed(fmt.Sprint(v.Bool())) }
		return fmt.Sprint(v.Bool())
	case reflect.String:
		if v.Type() != reflect.TypeOf("") { return typed(strconv.Quote(v.String())) }
		return strconv.Quote(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		text := fmt.Sprint(v.Int())
		if v.Type() == reflect.TypeOf(KA) { text = []string{"KA", "KB"}[v.Int()] + " (" + text + ")" }
		if v.Type() == reflect.TypeOf(0) { return text }
		return typed(text)
	case reflect.Uintptr:
		return typed(fmt.Sprint(v.Uint()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		text := fmt.Sprint(v.Uint())
		if v.Type() == reflect.TypeOf(Low) && v.Uint() > 0 { text = []string{"Low", "High"}[v.Uint() - 1] + " (" + text + ")" }
		return typed(text)
	case reflect.Float32:
		return typed(float(v.Float(), 32))
	case reflect.Float64:
		text := float(v.Float(), 64)
		if v.Type() != reflect.TypeOf(0.0) { return typed(text) }
		if held && strings.Trim(text, "-0123456789") == "" { return text + ".0" }
		return text
	case reflect.Complex64, reflect.Complex128:
		text := fmt.Sprint(v.Complex())
		if v.Kind() == reflect.Complex64 { text = fmt.Sprint(complex64(v.Complex())) }
		if held { return v.Type().String() + text }
		return text
	case reflect.Chan:
		if v.IsNil() { return none() }
		name := "chan"
		if held { name = v.Type().String() }
		return fmt.Sprintf("%s(len %d, cap %d)", name, v.Len(), v.Cap())
	case reflect.Func:
		if v.IsNil() { return none() }
		return typed(runtime.FuncForPC(v.Pointer()).Name())
	case reflect.Interface:
		if v.IsNil() { return "nil" }
		return show(v.Elem(), true)
	case reflect.Pointer:
		if v.IsNil() { return none() }
		return "&" + show(v.Elem(), held)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() { return none() }
		parts := []string{}
		for i := 0; i < v.Len(); i++ { parts = append(parts, show(v.Index(i), false)) }
		return title + "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		if v.IsNil() { return none() }
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool {
			if keys[i].CanInt() { return keys[i].Int() < keys[j].Int() }
			if keys[i].CanFloat() { return keys[i].Float() < keys[j].Float() }
			return show(keys[i], false) < show(keys[j], false)
		})
		parts := []string{}
		for _, key := range keys { parts = append(parts, show(key, false) + ": " + show(v.MapIndex(key), false)) }
		return title + "{" + strings.Join(parts, ", ") + "}"
	case reflect.Struct:
		if v.Type() == reflect.TypeOf(time.Time{}) && v.CanInterface() { return v.Interface().(time.Time).UTC().Format(time.RFC3339Nano) }
		parts := []string{}
		for i := 0; i < v.NumField(); i++ { parts = append(parts, v.Type().Field(i).Name + ": " + show(v.Field(i), false)) }
		return title + "{" + strings.Join(parts, ", ") + "}"
	}
	return "?" + v.Kind().String()
}

func float(f float64, bits int) string {
	if math.Abs(f) < 1e21 && math.Abs(f) >= 1e-4 || f == 0 { return strconv.FormatFloat(f, 'f', -1, bits) }
	return strconv.FormatFloat(f, 'g', -1, bits)
}

func say[T any](name string, v *T) { fmt.Printf("%s\t%s\n", name, show(reflect.ValueOf(v).Elem(), false)) }

var _, _, _ = math.Pi, errors.New, io.EOF

func values() {
"#;

const SCALARS: [(&str, &[&str]); 46] = [
    ("bool", &["true", "false"]),
    ("int", &["0", "-1", "math.MaxInt64", "math.MinInt64"]),
    ("int8", &["-128", "127"]),
    ("int16", &["math.MinInt16"]),
    ("int32", &["'é'", "math.MinInt32"]),
    ("int64", &["0", "math.MinInt64"]),
    ("uint", &["0", "math.MaxUint64"]),
    ("uint8", &["0", "65", "255"]),
    ("uint16", &["math.MaxUint16"]),
    ("uint32", &["math.MaxUint32"]),
    ("uint64", &["math.MaxUint64", "1"]),
    ("uintptr", &["5"]),
    (
        "float64",
        &[
            "0",
            "math.Copysign(0, -1)",
            "0.1",
            "1e300",
            "-1e300",
            "5e-324",
            "1e20",
            "1e21",
            "123456789.125",
            "1e-4",
            "1e-5",
            "1.0/3",
            "math.Inf(1)",
            "math.Inf(-1)",
            "math.NaN()",
            "math.MaxFloat64",
            "-2",
        ],
    ),
    (
        "float32",
        &[
            "0",
            "float32(math.Copysign(0, -1))",
            "0.1",
            "math.MaxFloat32",
            "1e-45",
            "16777216",
            "1e21",
            "1e-5",
        ],
    ),
    ("Ratio", &["1.5", "1e30", "0.25"]),
    (
        "complex128",
        &[
            "complex(1, -2)",
            "complex(0.5, 3)",
            "complex(0, 0)",
            "complex(math.Copysign(0, -1), 0)",
            "complex(0.1, math.Copysign(0, -1))",
            "complex(1.0/3, math.Inf(-1))",
            "complex(math.NaN(), 1e300)",
        ],
    ),
    ("complex64", &["complex(-1, 2)", "complex(0.1, float32(math.Inf(1)))", "complex(0, 1e-7)"]),
    (
        "string",
        &[
            "\"\"",
            "\"plain\"",
            "\"a\\\"b\\\\c\"",
            "\"\\t\\n\\r\\x00\"",
            "\"é €\"",
            "\"\\xff\"",
            "\"😀\"",
            "\"e\\u0301\"",
            "\"1 = 0x1\"",
            "`{x: 1}, [2]`",
            "\"nil\"",
            "\"(int) 5\"",
        ],
    ),
    ("Name", &["\"n\"", "\"\""]),
    ("Kind", &["KA", "KB"]),
    ("Level", &["Low", "High", "0"]),
    ("Flag", &["true"]),
    ("rune", &["'x'", "'€'"]),
    ("byte", &["'x'"]),
    ("[]byte", &["\"hi\\x00\"", "nil", "\"\""]),
    ("[]rune", &["\"é€\""]),
    ("List", &["List{1, 2}", "List{}", "nil"]),
    ("Trio", &["Trio{1, -2}"]),
    ("Table", &["Table{\"a\": 1, \"b\": 2}", "Table{}", "nil"]),
    ("[2][3]int", &["[2][3]int{{1, 2, 3}, {4}}"]),
    ("[]float64", &["[]float64{0, math.Copysign(0, -1), math.NaN(), 1e21}"]),
    ("chan int", &["nil", "make(chan int)", "full(make(chan int, 3))"]),
    ("<-chan Point", &["make(chan Point, 2)"]),
    ("func(int) error", &["nil", "calc"]),
    ("Handler", &["nil", "calc"]),
    (
        "time.Time",
        &[
            "time.Time{}",
            "time.Date(2024, 2, 29, 1, 2, 3, 4, time.UTC)",
            "time.Date(1999, 12, 31, 23, 59, 59, 500000000, time.FixedZone(\"X\", 3600))",
            "time.Unix(0, 0)",
        ],
    ),
    ("Shape", &["nil", "Square{3}", "&Circle{2.5}", "(*Circle)(nil)", "&Square{1}"]),
    (
        "error",
        &[
            "nil",
            "errors.New(\"bad\")",
            "&Failure{3, nil}",
            "&Failure{4, errors.New(\"inner\")}",
            "(*Failure)(nil)",
            "io.EOF",
        ],
    ),
    (
        "any",
        &[
            "nil",
            "5",
            "1.0",
            "-0.5",
            "\"x\"",
            "true",
            "int64(1)",
            "uint8(7)",
            "float32(2)",
            "math.Copysign(0, -1)",
            "Kind(1)",
            "Name(\"q\")",
            "Point{1, -2}",
            "&Point{3, 4}",
            "(*Point)(nil)",
            "[]int(nil)",
            "map[string]int(nil)",
            "(func(int))(nil)",
            "[]int{1}",
            "[]any{1, \"x\", nil, 2.5}",
            "map[string]any{\"z\": true, \"a\": []any{}}",
            "Empty{}",
            "ptr(5)",
            "complex(1, 1)",
            "struct{ Q int }{7}",
            "[2]bool{true}",
            "List{3}",
            "Table{\"z\": 0}",
            "Low",
            "Flag(false)",
            "calc",
            "make(chan int, 1)",
            "time.Unix(5, 6)",
            "Outer{&Inner{Point{1, 2}, \"n\", nil}, Empty{}, \"o\"}",
            "Pair[string, []int]{\"k\", []int{1}}",
            "complex(0, math.Copysign(0, -1))",
            "errors.New(\"held\")",
        ],
    ),
    ("Point", &["Point{}", "Point{1, -2}"]),
    ("Empty", &["Empty{}"]),
    ("Outer", &["Outer{}", "Outer{&Inner{Point{1, 2}, \"n\", &Inner{}}, Empty{}, \"o\"}"]),
    ("*Inner", &["&Inner{next: &Inner{note: \"second\"}}"]),
    ("map[int]int", &["many(20)"]),
    ("[200]int16", &["[200]int16{5, 6}"]),
    ("*List", &["&List{1}", "nil"]),
];

/// Types around a type `~`, and values of them around a value `$`.
const WRAPPERS: [(&str, &[&str]); 25] = [
    ("[]~", &["nil", "[]~{}", "[]~{$}", "[]~{$, $}"]),
    ("[2]~", &["[2]~{$, $}"]),
    ("[0]~", &["[0]~{}"]),
    (
        "map[string]~",
        &["nil", "map[string]~{}", "map[string]~{\"k\": $}", "map[string]~{\"b\": $, \"a\": $}"],
    ),
    ("map[int]~", &["map[int]~{10: $, -1: $, 9: $}"]),
    ("map[Key]~", &["map[Key]~{{1, \"x\"}: $}"]),
    ("map[bool]~", &["map[bool]~{true: $}"]),
    ("map[Level]~", &["map[Level]~{High: $}"]),
    ("map[float64]~", &["map[float64]~{0.5: $, 1e21: $}"]),
    ("map[[2]int]~", &["map[[2]int]~{{1, 2}: $}"]),
    ("map[*Point]~", &["map[*Point]~{{1, 2}: $}"]),
    (
        "map[any]~",
        &[
            "map[any]~{1: $}",
            "map[any]~{\"k\": $}",
            "map[any]~{Point{1, 2}: $}",
            "map[any]~{nil: $}",
        ],
    ),
    ("[]struct{ A, B ~ }", &["[]struct{ A, B ~ }{{$, $}}"]),
    ("Pair[string, ~]", &["Pair[string, ~]{\"k\", $}"]),
    ("Around[~]", &["Around[~]{Pair[int, ~]{1, $}, nil}"]),
    ("func(~) int", &["nil"]),
    ("*~", &["nil", "ptr[~]($)"]),
    ("**~", &["ptr(ptr[~]($))"]),
    ("Box[~]", &["Box[~]{$, 200}", "Box[~]{}"]),
    ("*Box[~]", &["nil", "&Box[~]{$, 0}"]),
    ("[]*~", &["[]*~{nil, ptr[~]($)}"]),
    ("struct { A ~; B string }", &["struct { A ~; B string }{$, \"b\"}"]),
    (
        "map[string]any",
        &[
            "map[string]any{\"k\": $}",
            "map[string]any{\"a\": 1, \"b\": []any{$, map[string]any{\"z\": nil}}}",
        ],
    ),
    ("[]any", &["[]any{$, $}", "[]any{}"]),
    ("any", &["any($)", "Box[~]{$, 1}", "&Box[~]{$, 1}", "[]~{$}"]),
];

fn value(random: &mut Random, depth: usize) -> (String, String) {
    if depth == 0 || random.below(6) == 0 {
        let (kind, edges) = SCALARS[random.below(SCALARS.len())];
        let value = random.pick(edges);
        let value = if value == "nil" { value.to_owned() } else { format!("({kind})({value})") };
        return (kind.to_owned(), value);
    }
    let (kind, one) = value(random, depth - 1);
    let (outer, values) = WRAPPERS[random.below(WRAPPERS.len())];
    let text = random.pick(values);
    let kind = |text: &str| text.replace('~', &kind);
    (kind(outer), kind(&text.replace('$', &one)))
}

/// The source, and the marks at which it is stopped.
fn source(random: &mut Random) -> (String, Vec<String>) {
    let (mut source, mut marks) = (BEFORE.to_owned(), Vec::new());
    for index in 0..VARIABLES {
        let (kind, value) = value(random, index % 4);
        source.push_str(&format!("\tvar v{index} {kind} = {value}"));
        if index % (VARIABLES / 3) == 0 {
            source.push_str(&format!(" // mark: v{index}"));
            marks.push(format!("v{index}"));
        }
        source.push('\n');
    }
    source.push_str("\tfmt.Print() // mark: log\n\tfmt.Print() // mark: end\n");
    marks.push("end".to_owned());
    for index in 0..VARIABLES {
        source.push_str(&format!("\tsay(\"v{index}\", &v{index})\n"));
    }
    (source + "}\n\nfunc main() { values() }\n", marks)
}

/// What delve says of a value in an interface whose type it does not find in the program.
const UNREADABLE: &str = "(unreadable could not resolve interface type)";

/// Whether a text is another one, or its beginning up to a mark where it may be cut: of a list only so much is looked into.
fn is_same(way: &str, shown: &str, said: &str) -> bool {
    if let Some((begin, rest)) = shown.split_once(UNREADABLE) {
        let next = rest.split(UNREADABLE).next().unwrap_or_default();
        let next = next.split('…').next().unwrap_or_default();
        return said.strip_prefix(begin).is_some_and(|behind| behind.contains(next));
    }
    // Of a key that is deep inside, delve reads only the address; of zeros behind some keys, not the sign.
    let shown = &*shown.replace("&{…}: ", "&{X: 1, Y: 2}: ");
    let (shown, said) = match shown.contains('±') {
        true => (&*shown.replace(['-', '±'], ""), &*said.replace('-', "")),
        false => (shown, said),
    };
    // Nor what of a complex number is not finite.
    if let Some((begin, _)) = shown.split_once('?') {
        return said.starts_with(begin);
    }
    let may_cut =
        way != "evaluate" || said.len() > LONG || depth(said) > 3 || said.contains("]: [{}");
    let begin = shown.split_once('…').map(|(begin, _)| begin);
    shown == said || may_cut && begin.is_some_and(|begin| said.starts_with(begin))
}

/// How many containers are inside of each other.
fn depth(said: &str) -> usize {
    let step = |(open, most): (usize, usize), c: char| match c {
        '{' | '[' => (open + 1, most.max(open + 1)),
        '}' | ']' => (open.saturating_sub(1), most),
        _ => (open, most),
    };
    said.chars().fold((0, 0), step).1
}

#[tokio::test]
async fn values_of_go_are_what_the_program_says() {
    let (source, marks) = source(&mut Random::seeded());
    let subject = Subject::new(Language::Go);
    std::fs::write(&subject.source, source).expect("a source");
    let output = Command::new("go").args(["run", "."]).current_dir(subject.folder.path()).output();
    let output = output.expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("text");
    let said: HashMap<_, _> = said.lines().filter_map(|line| line.split_once('\t')).collect();
    let of_index = |index| (format!("v{index}"), said[format!("v{index}").as_str()].to_owned());
    let said: Vec<_> = (0..VARIABLES).map(of_index).collect();
    for mark in &marks {
        subject.break_at(mark).await;
    }
    let message = log_message(said.iter().map(|(name, _)| name.as_str()));
    let log = subject.breakpoint("log").log_message(&message);
    subject.debugger.set_breakpoint(log).await.expect("is set");
    let session = subject.start("").await;
    let mut table = Table::default();
    let listed = table.compare_stops(&subject, &session, &marks, &said, is_same).await;
    // Of others delve writes the types, too.
    let is_plain = |kind: &str| ["bool", "string", "int", "int8", "int64"].contains(&kind);
    for local in listed.iter().filter(|local| local.kind.as_deref().is_some_and(is_plain)) {
        let said = said.iter().find(|(name, _)| *name == local.name).expect("is printed");
        table.compare("log", &said.0, &said.1, logged(&subject, &session, &said.0).as_deref());
    }
    session.stop().await.expect("ends");
    table.finish(400);
}
