//! Values of C: numbers, characters, text, arrays, structs, bit-fields, unions, enums, pointers.

use super::{Local, Program, Random};
use crate::subject::Language;

/// Types with the function that prints one and edge values.
const SCALARS: [(&str, &str, &[&str]); 20] = [
    ("bool", "bool", &["true", "false"]),
    (
        "char",
        "char",
        &["'a'", "'\\''", "'\\n'", "'\\\\'", "'\\0'", "'\"'", "' '", "127", "1", "-61"],
    ),
    ("signed char", "signed", &["-128", "127", "0", "-1", "65"]),
    ("unsigned char", "unsigned", &["0", "255", "128", "65"]),
    ("short", "signed", &["-32768", "32767", "0", "-1"]),
    ("unsigned short", "unsigned", &["65535", "0", "256"]),
    ("int", "signed", &["INT_MIN", "INT_MAX", "0", "-1", "1000000"]),
    ("unsigned", "unsigned", &["UINT_MAX", "0", "2147483648u"]),
    ("long", "signed", &["LONG_MIN", "LONG_MAX", "0", "-1"]),
    ("unsigned long", "unsigned", &["ULONG_MAX", "0", "9223372036854775808ul"]),
    ("long long", "signed", &["LLONG_MIN", "LLONG_MAX", "-7"]),
    (
        "float",
        "float",
        &[
            "0.0f",
            "-0.0f",
            "1.5f",
            "0.1f",
            "FLT_MAX",
            "FLT_MIN",
            "FLT_TRUE_MIN",
            "1e-5f",
            "1e-4f",
            "1e16f",
            "16777216.0f",
            "-3.4e-30f",
            "INFINITY",
            "-INFINITY",
            "NAN",
            "123456.789f",
        ],
    ),
    (
        "double",
        "double",
        &[
            "0.0",
            "-0.0",
            "1.5",
            "0.1",
            "DBL_MAX",
            "DBL_MIN",
            "DBL_TRUE_MIN",
            "1e-5",
            "1e-4",
            "1e15",
            "1e16",
            "1e17",
            "1e-300",
            "-2.5e300",
            "INFINITY",
            "-INFINITY",
            "NAN",
            "123456.789",
            "1.0/3",
            "100",
            "9007199254740993.0",
        ],
    ),
    ("enum color", "color", &["RED", "GREEN", "BLUE"]),
    (
        "const char *",
        "string",
        &[
            "\"\"",
            "\"plain\"",
            "\"a\\\"b\\\\c\"",
            "\"\\t\\n\\r\"",
            "\"é €\"",
            "\"\\xff\"",
            "NULL",
            "\"\\x01\"",
        ],
    ),
    (
        "long double",
        "long_double",
        &[
            "0.1L",
            "-0.0L",
            "1e16L",
            "1e-5L",
            "LDBL_MAX",
            "LDBL_MIN",
            "LDBL_TRUE_MIN",
            "1.0L/3",
            "-2.5e4000L",
            "INFINITY",
            "NAN",
            "123456.789L",
        ],
    ),
    ("double complex", "complex", &["0.1 - 3 * I", "1e300 + 0.5 * I", "-2.0"]),
    ("long double complex", "long_complex", &["0.1L + 1.5L * I", "1e-40L - 2e4000L * I"]),
    ("__int128", "wide", &["(__int128)LLONG_MIN * 4", "-1", "7"]),
    ("wchar_t", "wchar", &["L'a'", "L'é'", "L'\\n'", "0"]),
];

const BEFORE: &str = r#"
#include <complex.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
enum color { RED, GREEN = 7, BLUE = -3 };
struct point { int x; double y; };
struct named { const char *name; struct point at; unsigned char small; bool flag; };
struct bits { unsigned a : 3; unsigned : 5; int b : 4; unsigned : 0; bool c : 1; unsigned long d : 40; };
union either { int i; float f; unsigned char bytes[4]; };
static void character(int c, char quote) {
    if (c == quote) printf("\\%c", c);
    else if (c == '\\') printf("\\\\");
    else if (c == '\n') printf("\\n");
    else if (c == '\t') printf("\\t");
    else if (c == '\r') printf("\\r");
    else if (c == 0) printf("\\0");
    else if (c < 32 || c == 127) printf("\\u{%x}", c);
    else putchar(c);
}
static void say_bool(bool v) { printf(v ? "true" : "false"); }
static void say_char(char v) {
    putchar('\'');
    if (v < 0) printf("\\x%02x", (unsigned char)v); else character(v, '\'');
    putchar('\'');
}
static void say_string(const char *v) {
    if (!v) { printf("nullptr"); return; }
    putchar('"');
    bool broken = strchr(v, 0xff) != NULL;
    for (; *v; v++) {
        if (*v < 0 && broken) printf("\\x%02X", (unsigned char)*v);
        else if (*v < 0) putchar(*v);
        else character(*v, '"');
    }
    putchar('"');
}
static void say_signed(long long v) { printf("%lld", v); }
static void say_unsigned(unsigned long long v) { printf("%llu", v); }
static void say_digits(long double v, const char *shortest) {
    if (isnan(v)) { printf("NaN"); return; }
    if (isinf(v)) { printf(v < 0 ? "-inf" : "inf"); return; }
    char digits[40] = ""; int exponent = atoi(strchr(shortest, 'e') + 1), count = 0;
    for (const char *at = shortest; *at != 'e'; at++) if (*at >= '0' && *at <= '9') digits[count++] = *at;
    while (count > 1 && digits[count - 1] == '0') digits[--count] = 0;
    if (signbit(v)) putchar('-');
    if (v != 0 && (exponent < -4 || exponent >= 16)) {
        printf("%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1, exponent);
    } else if (exponent < 0) {
        printf("0.");
        for (int i = -1; i > exponent; i--) putchar('0');
        printf("%s", digits);
    } else {
        for (int i = 0; i <= exponent || i < count; i++) {
            if (i == exponent + 1) putchar('.');
            putchar(i < count ? digits[i] : '0');
        }
    }
}
static void say_double(double v) {
    char text[64];
    for (int precision = 0; precision < 18; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, v);
        if (strtod(text, NULL) == v) break;
    }
    say_digits(v, text);
}
static void say_float(float v) {
    char text[64];
    for (int precision = 0; precision < 10; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, v);
        if (strtof(text, NULL) == v) break;
    }
    say_digits(v, text);
}
static void say_long_double(long double v) {
    char text[64];
    for (int precision = 0; precision < 25; precision++) {
        snprintf(text, sizeof text, "%.*Le", precision, v);
        if (strtold(text, NULL) == v) break;
    }
    say_digits(v, text);
}
static void say_complex(double complex v) {
    say_double(creal(v)); printf(signbit(cimag(v)) ? " - " : " + "); say_double(fabs(cimag(v))); putchar('i');
}
static void say_long_complex(long double complex v) {
    say_long_double(creall(v)); printf(signbit(cimagl(v)) ? " - " : " + "); say_long_double(fabsl(cimagl(v))); putchar('i');
}
static void say_wide(__int128 v) {
    unsigned __int128 rest = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
    char digits[48]; int at = sizeof digits;
    do digits[--at] = '0' + (int)(rest % 10); while (rest /= 10);
    if (v < 0) putchar('-');
    printf("%.*s", (int)sizeof digits - at, digits + at);
}
static void say_wchar(wchar_t v) {
    putchar('\'');
    if (v < 128) character(v, '\''); else printf("%c%c", 0xC0 | v >> 6, 0x80 | (v & 0x3F));
    putchar('\'');
}
static void say_color(enum color v) { printf(v == RED ? "RED" : v == GREEN ? "GREEN" : "BLUE"); }
static void say_point(struct point v) { printf("{x: %d, y: ", v.x); say_double(v.y); printf("}"); }
static void say_named(struct named v) {
    printf("{name: "); say_string(v.name); printf(", at: "); say_point(v.at);
    printf(", small: %d, flag: ", v.small); say_bool(v.flag); printf("}");
}
static void say_bits(struct bits v) {
    printf("{a: %u, b: %d, c: ", v.a, v.b); say_bool(v.c); printf(", d: %lu}", (unsigned long)v.d);
}
static void say_either(union either v) {
    printf("{i: %d, f: ", v.i); say_float(v.f);
    printf(", bytes: [%d, %d, %d, %d]}", v.bytes[0], v.bytes[1], v.bytes[2], v.bytes[3]);
}
static void say_text(const char *v, size_t size) {
    while (size && !v[size - 1]) size--;
    putchar('"');
    for (size_t i = 0; i < size; i++) character(v[i], '"');
    putchar('"');
}
#define LIST(say, v) do { printf("["); for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) { \
    if (i) printf(", "); say(v[i]); } printf("]"); } while (0)
#define POINTER(say, v) do { if (v) { putchar('&'); say(*v); } else printf("nullptr"); } while (0)
static void nothing(void) {}
static volatile int three = 3;
static void values(void) {
"#;

const AFTER: &str = "}\nint main(void) { values(); return 0; }\n";

fn scalar(random: &mut Random) -> (&'static str, &'static str, &'static [&'static str]) {
    SCALARS[random.below(SCALARS.len())]
}

/// A variable's declaration and the call that prints it, by the number of its kind.
fn local(random: &mut Random, kind: usize, name: &str) -> (String, String) {
    let (of, say, edges) = scalar(random);
    let edge = random.pick(edges);
    match kind {
        0 if !matches!(of, "char" | "wchar_t") => {
            let all: Vec<_> = (0..=random.below(3)).map(|_| random.pick(edges)).collect();
            (format!("{of} {name}[] = {{{}}};", all.join(", ")), format!("LIST(say_{say}, {name})"))
        }
        1 => {
            let line = format!("{of} {name}_target = {edge}; {of} *{name} = &{name}_target;");
            let shown = matches!(of, "char" | "unsigned char" | "wchar_t");
            // Characters behind a pointer are text.
            let line = if shown { format!("double *{name} = NULL;") } else { line };
            let say = if shown { "double" } else { say };
            (line, format!("POINTER(say_{say}, {name})"))
        }
        2 => {
            let x = random.pick(SCALARS[6].2);
            let y = random.pick(SCALARS[12].2);
            (format!("struct point {name} = {{{x}, {y}}};"), format!("say_point({name})"))
        }
        3 => {
            let text = random.pick(SCALARS[14].2);
            let y = random.pick(SCALARS[12].2);
            let small = random.pick(SCALARS[3].2);
            let line = format!("struct named {name} = {{{text}, {{-1, {y}}}, {small}, true}};");
            (line, format!("say_named({name})"))
        }
        4 => {
            let (a, b, c) = (random.below(8), random.below(16) as i64 - 8, random.below(2));
            let d = random.next() >> 24;
            let line = format!("struct bits {name} = {{{a}, {b}, {c}, {d}ul}};");
            (line, format!("say_bits({name})"))
        }
        5 => {
            let line = format!("union either {name} = {{.f = {}}};", random.pick(SCALARS[11].2));
            (line, format!("say_either({name})"))
        }
        6 => {
            let text =
                random.pick(&["\"\"", "\"abc\"", "\"a\\\"b\"", "\"tab\\t\"", "{'a', 0, 'b'}"]);
            (format!("char {name}[8] = {text};"), format!("say_text({name}, sizeof {name})"))
        }
        7 => {
            let step = random.below(1000);
            let fill = format!("for (int i = 0; i < three; i++) {name}[i] = i * {step};");
            (format!("int {name}[three]; {fill}"), format!("LIST(say_signed, {name})"))
        }
        8 => {
            let row =
                |random: &mut Random| format!("{{{}, {}}}", random.below(9), random.below(99));
            let line = format!("int {name}[2][2] = {{{}, {}}};", row(random), row(random));
            let print = format!(
                "printf(\"[\"); LIST(say_signed, {name}[0]); printf(\", \"); LIST(say_signed, {name}[1]); printf(\"]\")"
            );
            (line, print)
        }
        _ => (format!("{of} {name} = {edge};"), format!("say_{say}({name})")),
    }
}

#[tokio::test]
async fn values_of_c_are_what_the_program_says() {
    let mut random = Random::seeded();
    let variables = (0..70).map(|index| {
        let name = format!("v{index}");
        let (line, call) = local(&mut random, index % 16, &name);
        Local { print: format!("printf(\"{name}\\t\"); {call}; putchar('\\n');"), name, line }
    });
    let variables = variables.collect();
    let program = Program { before: BEFORE, variables, after: AFTER, nothing: "nothing();" };
    program.check(Language::C, 400).await;
}
