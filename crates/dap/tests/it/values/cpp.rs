//! Values of C++: numbers, text, containers within containers, pointers that own, variants.

use super::{Local, Program, Random};
use crate::subject::Language;

/// Types and edge values.
const SCALARS: [(&str, &[&str]); 17] = [
    ("bool", &["true", "false"]),
    ("char", &["'a'", "'\\''", "'\\n'", "'\\\\'", "'\\0'", "'\"'", "'\\x7f'"]),
    ("int8_t", &["-128", "127", "0"]),
    ("uint8_t", &["0", "255", "65"]),
    ("int16_t", &["-32768", "32767"]),
    ("uint16_t", &["65535", "0"]),
    ("int", &["INT_MIN", "INT_MAX", "0", "-1"]),
    ("unsigned", &["UINT_MAX", "0"]),
    ("long", &["LONG_MIN", "LONG_MAX", "0"]),
    ("uint64_t", &["ULONG_MAX", "0"]),
    (
        "float",
        &[
            "0.0f",
            "-0.0f",
            "0.1f",
            "FLT_MAX",
            "FLT_MIN",
            "FLT_TRUE_MIN",
            "1e-5f",
            "1e-4f",
            "1e16f",
            "-3.4e-30f",
            "INFINITY",
            "NAN",
        ],
    ),
    (
        "double",
        &[
            "0.0",
            "-0.0",
            "0.1",
            "DBL_MAX",
            "DBL_MIN",
            "DBL_TRUE_MIN",
            "1e-5",
            "1e-4",
            "1e15",
            "1e16",
            "1e-300",
            "-INFINITY",
            "NAN",
            "1.0/3",
            "-2.5e300",
        ],
    ),
    (
        "std::string",
        &[
            "\"\"",
            "\"plain\"",
            "\"a\\\"b\\\\c\"",
            "\"\\t\\n\"",
            "\"é €\"",
            "\"sixteen and more characters\"",
            "std::string(\"a\\0b\", 3)",
        ],
    ),
    ("Color", &["Color::Red", "Color::Green"]),
    ("Low", &["Low::First", "Low::Second", "Low::Last"]),
    ("Long", &["0.1L", "-0.0L", "1e16L", "LDBL_MIN", "1.0L/3", "-2.5e4000L", "NAN"]),
    ("std::complex<double>", &["0.1, -2.0", "1e300"]),
];

const BEFORE: &str = r#"
#include <array>
#include <bitset>
#include <cfloat>
#include <charconv>
#include <climits>
#include <cmath>
#include <complex>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
enum class Color : uint8_t { Red, Green = 7 };
using Long = long double;
enum class Low : int64_t { First = INT64_MIN, Second = -1, Last = INT64_MAX };
template <class A, class B> struct Both { A a; B b; };
std::string say(bool v) { return v ? "true" : "false"; }
std::string escaped(char c, char quote) {
    char text[16];
    if (c == quote) return std::string("\\") + c;
    if (c == '\\') return "\\\\";
    if (c == '\n') return "\\n";
    if (c == '\t') return "\\t";
    if (c == 0) return "\\0";
    if (c == 127) return "\\u{7f}";
    return std::string(1, c);
}
std::string say(char v) { return "'" + escaped(v, '\'') + "'"; }
std::string say(std::string_view v) {
    std::string text = "\"";
    for (char c : v) text += escaped(c, '"');
    return text + "\"";
}
std::string say(const std::string &v) { return say(std::string_view(v)); }
std::string say(const std::filesystem::path &v) { return say(v.string()); }
std::string say(Color v) { return v == Color::Red ? "Red" : "Green"; }
std::string say(Low v) { return v == Low::First ? "First" : v == Low::Second ? "Second" : v == Low::Last ? "Last" : "0"; }
std::string say(std::monostate) { return "{}"; }
template <class T> std::string say_float(T v) {
    if (std::isnan(v)) return "NaN";
    if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
    char text[6000];
    T size = std::abs(v);
    bool is_plain = size == 0 || (size >= T(1e-4) && size < T(1e16));
    auto end = std::to_chars(text, text + 6000, v, is_plain ? std::chars_format::fixed : std::chars_format::scientific).ptr;
    std::string all(text, end);
    if (is_plain) return all;
    // `e-05` and `e+05` are `e-5` and `e5`.
    size_t at = all.find('e');
    return all.substr(0, at) + "e" + std::to_string(std::stoi(all.substr(at + 1)));
}
std::string say(float v) { return say_float(v); }
std::string say(double v) { return say_float(v); }
std::string say(long double v) { return say_float(v); }
std::string say(std::complex<double> v) { return say(v.real()) + (std::signbit(v.imag()) ? " - " : " + ") + say(std::abs(v.imag())) + "i"; }
template <size_t N> std::string say(const std::bitset<N> &v) { return v.to_string(); }
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0> std::string say(T v) {
    return std::to_string(v);
}
template <class T> std::string say(const std::vector<T> &);
template <class T> std::string say(const std::optional<T> &);
template <class T> std::string say(const std::list<T> &);
template <class T> std::string say(const std::forward_list<T> &);
template <class T> std::string say(const std::initializer_list<T> &);
template <class T> std::string say(const std::unique_ptr<T, void (*)(T *)> &);
template <class K, class V> std::string say(const std::multimap<K, V> &);
template <class T> std::string say(const std::deque<T> &);
template <class T> std::string say(const std::set<T> &);
template <class T> std::string say(const std::unordered_set<T> &);
template <class T, size_t N> std::string say(const std::array<T, N> &);
template <size_t N> std::string say(const std::array<char, N> &);
template <class T> std::string say(const std::unique_ptr<T> &);
template <class T> std::string say(const std::shared_ptr<T> &);
template <class K, class V> std::string say(const std::map<K, V> &);
template <class K, class V> std::string say(const std::unordered_map<K, V> &);
template <class K, class V> std::string say(const std::pair<K, V> &);
template <class... T> std::string say(const std::tuple<T...> &);
template <class... T> std::string say(const std::variant<T...> &);
template <class A, class B> std::string say(const Both<A, B> &v) { return "{a: " + say(v.a) + ", b: " + say(v.b) + "}"; }
template <class T> std::string say(T *v) { return v ? "&" + say(*v) : "nullptr"; }
template <class C> std::string each(const C &all, const char *open, const char *close) {
    std::string text = open;
    bool is_first = true;
    for (const auto &one : all) { text += is_first ? "" : ", "; is_first = false; text += say(one); }
    return text + close;
}
template <class C> std::string entries(const C &all) {
    std::string text = "{";
    for (const auto &[key, value] : all) text += (text.size() > 1 ? ", " : "") + say(key) + ": " + say(value);
    return text + "}";
}
template <class T> std::string say(const std::vector<T> &v) { return each(v, "[", "]"); }
std::string say(const std::vector<bool> &v) {
    std::string text = "[";
    for (bool one : v) text += (text.size() > 1 ? ", " : "") + say(one);
    return text + "]";
}
template <class T> std::string say(const std::forward_list<T> &v) { return each(v, "[", "]"); }
template <class T> std::string say(const std::initializer_list<T> &v) { return each(v, "[", "]"); }
template <class K, class V> std::string say(const std::multimap<K, V> &v) { return entries(v); }
template <class T> std::string say(const std::unique_ptr<T, void (*)(T *)> &v) { return say(v.get()); }
template <class T> void drop(T *) {}
template <class T> std::string say(const std::list<T> &v) { return each(v, "[", "]"); }
template <class T> std::string say(const std::deque<T> &v) { return each(v, "[", "]"); }
template <size_t N> std::string say(const std::array<char, N> &v) {
    size_t end = N;
    while (end && !v[end - 1]) end--;
    return say(std::string_view(v.data(), end));
}
template <class T, size_t N> std::string say(const std::array<T, N> &v) { return each(v, "[", "]"); }
template <class T> std::string say(const std::set<T> &v) { return each(v, "{", "}"); }
template <class T> std::string say(const std::unordered_set<T> &v) { return each(v, "{", "}"); }
template <class K, class V> std::string say(const std::map<K, V> &v) { return entries(v); }
template <class K, class V> std::string say(const std::unordered_map<K, V> &v) { return entries(v); }
template <class K, class V> std::string say(const std::pair<K, V> &v) { return "{" + say(v.first) + ", " + say(v.second) + "}"; }
template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};
template <class T> std::string say(const std::optional<T> &v) {
    if (!v) return "nullopt";
    return IsOptional<T>::value ? "{" + say(*v) + "}" : say(*v);
}
template <class T> std::string say(const std::unique_ptr<T> &v) { return say(v.get()); }
template <class T> std::string say(const std::shared_ptr<T> &v) { return say(v.get()); }
template <class... T> std::string say(const std::tuple<T...> &v) {
    std::string text = "{";
    std::apply([&](const auto &...one) { ((text += (text.size() > 1 ? ", " : "") + say(one)), ...); }, v);
    return text + "}";
}
template <class... T> std::string say(const std::variant<T...> &v) {
    return std::visit([](const auto &one) { return say(one); }, v);
}
using Dropped = std::unique_ptr<Both<int, int>, void (*)(Both<int, int> *)>;
void nothing() {}
void values() {
"#;

const AFTER: &str = "}\nint main() { values(); }\n";

/// A type and a value of it. What is behind a pointer is no character: that would be text.
fn value(random: &mut Random, depth: usize) -> (String, String) {
    let choice = if depth == 0 { 0 } else { random.below(27) };
    let (scalar, edges) = SCALARS[random.below(SCALARS.len())];
    let of_one = |random: &mut Random, kind: &str, values: &[&str]| {
        let (of, one) = value(random, depth - 1);
        let (kind, value) = (kind.replace('~', &of), random.pick(values));
        (kind.clone(), value.replace('@', &kind).replace('~', &of).replace('$', &one))
    };
    let of_two = |random: &mut Random, kind: &str| {
        let ((a, x), (b, y)) = (value(random, depth - 1), value(random, depth - 1));
        let kind = kind.replace('~', &format!("{a}, {b}"));
        (kind.clone(), format!("{kind}{{{x}, {y}}}"))
    };
    match choice {
        8..=10 => {
            let kind =
                format!("{}<{scalar}>", ["std::vector", "std::list", "std::deque"][choice - 8]);
            let all: Vec<_> = (0..random.below(4)).map(|_| random.pick(edges)).collect();
            (kind.clone(), format!("{kind}{{{}}}", all.join(", ")))
        }
        11 => of_one(random, "std::optional<~>", &["@{}", "@($)"]),
        12 => of_one(random, "std::vector<~>", &["@(2, $)", "@{}"]),
        13 => of_one(random, "std::map<int, ~>", &["@{{1, $}, {-5, ~{}}}", "@{}"]),
        14 => of_one(random, "std::unordered_map<std::string, ~>", &["@{{\"key\", $}}", "@{}"]),
        15 => {
            of_one(random, "std::shared_ptr<Both<~, int>>", &["@{}", "@(new Both<~, int>{$, -1})"])
        }
        16 => of_one(
            random,
            "std::variant<std::monostate, ~>",
            &["@{}", "@(std::in_place_index<1>, $)"],
        ),
        17 => of_one(random, "std::array<~, 1>", &["@{{$}}"]),
        18 => of_two(random, "std::pair<~>"),
        19 => of_two(random, "std::tuple<~>"),
        20 => of_two(random, "Both<~>"),
        22 => of_one(random, "std::forward_list<~>", &["@{}", "@{$}"]),
        23 => of_one(random, "std::multimap<int, ~>", &["@{{1, $}, {1, $}}", "@{}"]),
        24 => of_one(random, "std::optional<std::optional<~>>", &["@{}", "@{std::optional<~>{}}"]),
        25 => of_one(
            random,
            "std::variant<int, std::vector<~>, std::string>",
            &["@{5}", "@{std::vector<~>(1, $)}", "@{\"s\"}"],
        ),
        26 => ("std::bitset<9>".to_owned(), "std::bitset<9>{0b101100011}".to_owned()),
        21 => {
            let kind = random.pick(&[
                "std::tuple<>",
                "std::filesystem::path",
                "std::set<long>",
                "std::vector<bool>",
            ]);
            (kind.to_owned(), format!("{kind}{{}}"))
        }
        _ => (scalar.to_owned(), format!("{scalar}({})", random.pick(edges))),
    }
}

#[tokio::test]
async fn values_of_cpp_are_what_the_program_says() {
    let mut random = Random::seeded();
    let variables = (0..60).map(|index| {
        let name = format!("v{index}");
        let (kind, value) = match index {
            0 => ("std::filesystem::path".to_owned(), "\"/tmp/a b\"".to_owned()),
            1 => ("std::tuple<>".to_owned(), "{}".to_owned()),
            2 => ("Dropped".to_owned(), "Dropped(new Both<int, int>{1, 2}, drop)".to_owned()),
            3 => ("Dropped".to_owned(), "Dropped(nullptr, drop)".to_owned()),
            4 => (
                "std::unique_ptr<Both<int, char>>".to_owned(),
                "std::make_unique<Both<int, char>>(Both<int, char>{1, 'x'})".to_owned(),
            ),
            5 => ("std::initializer_list<std::string>".to_owned(), "{\"a\", \"\"}".to_owned()),
            _ => value(&mut random, index % 4),
        };
        let print = format!("std::cout << \"{name}\\t\" << say({name}) << \"\\n\";");
        Local { line: format!("{kind} {name} = {value};"), name, print }
    });
    let variables = variables.collect();
    let program = Program { before: BEFORE, variables, after: AFTER, nothing: "nothing();" };
    program.check(Language::Cpp, 400).await;
}
