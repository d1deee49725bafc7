// Values of many shapes, and what the program itself says of them: `name=value` for each.
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <forward_list>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

struct Point { int x; int y; };
struct User { std::string name; unsigned age; std::vector<std::string> tags; Point at; };
enum Color { Red, Green = 7 };
enum class Mode : uint8_t { Off, On };
struct Base { virtual ~Base() = default; int id = 1; };
struct Derived : Base { std::string label = "derived"; };
struct Node { int value; Node *next; };
struct Bits { unsigned a : 3; int b : 5; bool c : 1; unsigned char d : 4; };
struct alignas(32) Wide { long a; };
union Either { int i; char c[4]; };
union Words { long l; int a[2]; short few[3]; int table[2][1]; };
struct Packet { int kind; union { char text[8]; int nums[2]; Point at; } u; };
struct Header { int kind; union { char tag[3]; long id; }; };
union Views { struct { float x, y; }; struct { int r, g; }; };
struct Flexible { int n; char data[]; };
struct FlexibleInts { int n; int data[]; };

// How each is written.
template <class T> std::string say(const std::vector<T> &);
template <class T> std::string say(const std::optional<T> &);
template <class K, class V> std::string say(const std::map<K, V> &);
template <class K, class V> std::string say(const std::pair<K, V> &);
template <class T> std::string say(T *);
std::string say(bool value) { return value ? "true" : "false"; }
std::string say(char value) { return std::string("'") + value + "'"; }
std::string say(uint8_t value) { return std::to_string(int(value)); }
std::string say(int8_t value) { return std::to_string(int(value)); }
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> std::string say(T value) {
    std::ostringstream out;
    out << value;
    return out.str();
}
std::string say(const std::string &text) {
    std::string all = "\"";
    for (char c : text) {
        all += c == '"' ? "\\\"" : c == '\n' ? "\\n" : c == '\\' ? "\\\\" : c == 0 ? "\\0" : c == '\xe9' ? "\\xE9" : std::string(1, c);
    }
    return all + "\"";
}
// All of it is ASCII, but for one character.
template <class C> std::string say_wide(std::basic_string_view<C> text) {
    std::string all;
    for (C c : text) all += c == C(0x1F600) ? std::string("\U0001F600") : std::string(1, char(c));
    return say(all);
}
std::string say(const wchar_t *text) { return say_wide(std::wstring_view(text)); }
std::string say(const char8_t *text) { return say(std::string(reinterpret_cast<const char *>(text))); }
std::string say(const char16_t *text) { return say_wide(std::u16string_view(text)); }
std::string say(const char32_t *text) { return say_wide(std::u32string_view(text)); }
std::string say(const std::wstring &text) { return say(text.c_str()); }
// An array of characters, of which the zeros at its end say nothing.
template <size_t N> std::string say_chars(const char (&text)[N]) {
    size_t end = N;
    while (end && !text[end - 1]) end--;
    return say(std::string(text, end));
}
std::string say(std::string_view text) { return say(std::string(text)); }
std::string say(const char *text) { return text ? say(std::string(text)) : "nullptr"; }
std::string say(Color color) { return color == Green ? "Green" : "Red"; }
std::string say(Mode mode) { return mode == Mode::On ? "On" : "Off"; }
std::string say(const Point &p) { return "{x: " + say(p.x) + ", y: " + say(p.y) + "}"; }
std::string say(const User &u) {
    return "{name: " + say(u.name) + ", age: " + say(u.age) + ", tags: " + say(u.tags) + ", at: " + say(u.at) + "}";
}
std::string say(const Derived &d) { return "{<Base>: {id: " + say(d.id) + "}, label: " + say(d.label) + "}"; }
std::string say(const Node &n) { return "{value: " + say(n.value) + ", next: " + say(n.next) + "}"; }
std::string say(const Bits &b) {
    return "{a: " + say(unsigned(b.a)) + ", b: " + say(int(b.b)) + ", c: " + say(bool(b.c)) + ", d: " + say(uint8_t(b.d)) + "}";
}
std::string say(const Wide &w) { return "{a: " + say(w.a) + "}"; }
std::string say(const Either &e) { return "{i: " + say(e.i) + ", c: " + say_chars(e.c) + "}"; }
template <class T, size_t N> std::string say_array(const T (&all)[N]) {
    std::string text = "[";
    for (auto &one : all) text += (text.size() > 1 ? ", " : "") + say(one);
    return text + "]";
}
std::string say(const Words &w) {
    std::string table = "[" + say_array(w.table[0]) + ", " + say_array(w.table[1]) + "]";
    return "{l: " + say(w.l) + ", a: " + say_array(w.a) + ", few: " + say_array(w.few) + ", table: " + table + "}";
}
std::string say(const Packet &p) {
    return "{kind: " + say(p.kind) + ", u: {text: " + say_chars(p.u.text) + ", nums: " + say_array(p.u.nums) + ", at: " + say(p.u.at) + "}}";
}
std::string say(const Views &v) {
    return "{{x: " + say(v.x) + ", y: " + say(v.y) + "}, {r: " + say(v.r) + ", g: " + say(v.g) + "}}";
}
std::string say(const Header &h) { return "{kind: " + say(h.kind) + ", {tag: " + say_chars(h.tag) + ", id: " + say(h.id) + "}}"; }
template <class T> std::string say(T *value) { return value ? "&" + say(*value) : "nullptr"; }
template <class C> std::string each(const C &all, const char *open, const char *close) {
    std::string text = open;
    for (auto &one : all) text += (text.size() > 1 ? ", " : "") + say(one);
    return text + close;
}
template <class C> std::string entries(const C &all) {
    std::string text = "{";
    for (auto &[key, value] : all) text += (text.size() > 1 ? ", " : "") + say(key) + ": " + say(value);
    return text + "}";
}
template <class T> std::string say(const std::vector<T> &all) { return each(all, "[", "]"); }
std::string say(const std::vector<bool> &all) {
    std::string text = "[";
    for (bool one : all) text += (text.size() > 1 ? ", " : "") + say(one);
    return text + "]";
}
template <class T, size_t N> std::string say(const std::array<T, N> &all) { return each(all, "[", "]"); }
template <class T> std::string say(const std::list<T> &all) { return each(all, "[", "]"); }
template <class T> std::string say(const std::forward_list<T> &all) { return each(all, "[", "]"); }
template <class T> std::string say(const std::deque<T> &all) { return each(all, "[", "]"); }
template <class T> std::string say(const std::set<T> &all) { return each(all, "{", "}"); }
template <class T> std::string say(const std::unordered_set<T> &all) { return each(all, "{", "}"); }
template <class K, class V> std::string say(const std::map<K, V> &all) { return entries(all); }
template <class K, class V> std::string say(const std::multimap<K, V> &all) { return entries(all); }
template <class K, class V> std::string say(const std::unordered_map<K, V> &all) { return entries(all); }
template <class K, class V> std::string say(const std::pair<K, V> &all) { return "{" + say(all.first) + ", " + say(all.second) + "}"; }
template <class T> std::string say(const std::optional<T> &value) { return value ? say(*value) : "nullopt"; }
template <class T> std::string say(const std::optional<std::optional<T>> &value) { return value ? "{" + say(*value) + "}" : "nullopt"; }
template <class... T> std::string say(const std::variant<T...> &value) {
    return std::visit([](auto &held) { return say(held); }, value);
}
template <class... T> std::string say(const std::tuple<T...> &all) {
    std::string text = "{";
    std::apply([&](auto &...one) { ((text += (text.size() > 1 ? ", " : "") + say(one)), ...); }, all);
    return text + "}";
}
template <class T> std::string say(const std::unique_ptr<T> &value) { return say(value.get()); }
template <class T> std::string say(const std::shared_ptr<T> &value) { return say(value.get()); }
template <class T> std::string say(const std::atomic<T> &value) { return say(value.load()); }
template <size_t N> std::string say(const std::bitset<N> &value) { return value.to_string(); }

int own_global = 1;
void here() {}

int main() {
    int i = -3;
    unsigned u = 4;
    int64_t big = -1LL << 40;
    uint8_t byte = 200;
    int8_t small = -5;
    char c = 'x';
    bool flag = true;
    double d = 1.5;
    float f = 0.1f;
    std::string s = "hi \"there\"\n", empty;
    std::string_view view = s;
    const char *cs = "text";
    const char *none_cs = nullptr;
    std::vector<int> v{1, 2, 3}, none;
    std::vector<bool> bits{true, false, true};
    std::vector<std::string> words{"a", "b"};
    std::vector<std::optional<int>> maybes{1, std::nullopt};
    std::array<int, 3> arr{4, 5, 6};
    std::optional<int> some = 5, nothing;
    std::optional<std::string> text = "t";
    std::optional<User> no_user;
    std::map<std::string, int> m{{"k", 1}, {"l", 2}};
    std::map<int, int> many;
    for (int n = 0; n < 20; n++) many[n * 7 % 20] = n;
    std::map<int, Wide> wides{{1, {2}}, {3, {4}}};
    std::multimap<int, int> mm{{1, 2}, {1, 3}};
    std::set<int> st{3, 1, 2};
    std::unordered_map<int, std::string> um{{1, "one"}};
    std::unordered_map<std::string, int> um2{{"x", 1}, {"y", 2}, {"z", 3}};
    std::unordered_set<int> us{5};
    std::list<int> li{1, 2};
    std::forward_list<int> fl{1, 2};
    std::deque<int> dq;
    for (int n = 0; n < 140; n++) dq.push_back(n);
    for (int n = 0; n < 130; n++) dq.pop_front();
    std::pair<int, std::string> pr{1, "p"};
    std::tuple<int, char, double, std::string> tp{1, 'c', 2.5, "last"};
    std::variant<int, std::string> va = 3, vs = std::string("v");
    std::unique_ptr<Point> up = std::make_unique<Point>(Point{1, 2}), nup;
    std::shared_ptr<User> sp = std::make_shared<User>(User{"shared", 1, {}, {0, 0}}), nsp;
    Point p{1, -2};
    User user{"ann", 30, {"x", "y"}, {3, 4}};
    User *ptr = &user, *null = nullptr;
    std::vector<Point> points{p, p};
    Color col = Green;
    Mode mode = Mode::On;
    Derived derived;
    Node second{2, nullptr}, first{1, &second};
    std::bitset<4> bs(5);
    Bits packed{5, -3, true, 9};
    __int128 huge = -(static_cast<__int128>(1) << 100);
    std::atomic<int> at{9};
    std::vector<int> million(1000000, 7);
    std::string long_text(100000, 'y');
    Node loop{1, nullptr};
    loop.next = &loop;
    User *broken = reinterpret_cast<User *>(16);
    Either either{0x41424344}, *to_either = &either;
    std::vector<Either> eithers{either};
    Words in_words{};
    in_words.a[0] = 3;
    in_words.a[1] = 4;
    Packet packet{1, {"hey"}};
    Header header{1, {"ab"}};
    Views views{{1.5f, 2.5f}};
    auto *flexible = static_cast<Flexible *>(std::calloc(1, 16));
    flexible->n = 3;
    std::strcpy(flexible->data, "flx");
    auto *flexible_ints = static_cast<FlexibleInts *>(std::calloc(1, 16));
    char chars[6] = {'a', 0, 'b'}, full[4] = {'a', 'b', 'c', 'd'}, zeros[3] = {};
    wchar_t wide_chars[8] = L"wide";
    const char *latin = "caf\xe9", *backslash = "caf\\xe9";
    std::string latin_string = latin, backslash_string = backslash, with_zero("a\0b", 3);
    const wchar_t *wide = L"wide \U0001F600";
    const char8_t *utf8 = u8"h\u00e9";
    const char16_t *utf16 = u"hi";
    const char32_t *utf32 = U"hi \U0001F600";
    std::wstring wide_string = L"wide \U0001F600";
    wchar_t no_character = static_cast<wchar_t>(-1);
    std::atomic<bool> atomic_bool{true};
    std::atomic<double> atomic_double{2.5};
    std::atomic<Point *> atomic_pointer{&p};
    std::atomic<Point> atomic_point{p};
    std::atomic<Color> atomic_color{Green};
    std::optional<std::optional<int>> inner_empty = std::optional<int>{}, outer_empty, both = std::optional<int>{5};
    std::map<int, int> broken_map{{1, 2}, {3, 4}};
    reinterpret_cast<size_t *>(&broken_map)[5] = 9;
    std::vector<int> broken_vector{1, 2};
    auto *ends = reinterpret_cast<uintptr_t *>(&broken_vector);
    auto end = ends[1];
    ends[1] = ends[2] = ends[0] + (1ull << 40);
    short num_s = -16;
    unsigned short num_us = 16;
    int num_i = -32;
    unsigned int num_u = 32;
    long num_l = -64;
    unsigned long num_ul = 64;
    long long num_ll = -65;
    unsigned long long num_ull = 65;
    int64_t num_fixed = -10;
    short &ref_s = num_s, *to_s = &num_s;
    unsigned short &ref_us = num_us, *to_us = &num_us;
    int &ref_i = num_i, *to_i = &num_i, **to_to_i = &to_i, &&moved_i = 5, *no_i = nullptr;
    const unsigned int &ref_u = num_u, *to_u = &num_u;
    long &ref_l = num_l, *const to_l = &num_l;
    unsigned long &ref_ul = num_ul, *to_ul = &num_ul;
    long long &ref_ll = num_ll, *to_ll = &num_ll;
    unsigned long long &ref_ull = num_ull, *to_ull = &num_ull;
    int64_t &ref_fixed = num_fixed, *to_fixed = &num_fixed, *no_fixed = nullptr;
    size_t num_size = 9, &ref_size = num_size, *to_size = &num_size;
    here(); // mark: values
#define SAY(name) std::cout << #name << "=" << say(name) << "\n";
    SAY(i) SAY(u) SAY(big) SAY(byte) SAY(small) SAY(c) SAY(flag) SAY(d) SAY(f) SAY(s) SAY(empty) SAY(view) SAY(cs) SAY(none_cs)
    SAY(v) SAY(none) SAY(bits) SAY(words) SAY(maybes) SAY(arr) SAY(some) SAY(nothing) SAY(text) SAY(no_user) SAY(m) SAY(many)
    SAY(wides) SAY(mm) SAY(st) SAY(um) SAY(um2) SAY(us) SAY(li) SAY(fl) SAY(dq) SAY(pr) SAY(tp) SAY(va) SAY(vs) SAY(up) SAY(nup)
    SAY(sp) SAY(nsp) SAY(p) SAY(user) SAY(ptr) SAY(null) SAY(points) SAY(col) SAY(mode) SAY(derived) SAY(second) SAY(first)
    SAY(bs) SAY(at) SAY(packed)
    SAY(either) SAY(to_either) SAY(eithers) SAY(in_words) SAY(packet) SAY(header) SAY(views)
    SAY(latin) SAY(backslash) SAY(latin_string) SAY(backslash_string) SAY(with_zero) SAY(wide) SAY(utf8) SAY(utf16) SAY(utf32)
    SAY(wide_string) SAY(atomic_bool) SAY(atomic_double) SAY(atomic_pointer) SAY(atomic_point) SAY(atomic_color)
    SAY(inner_empty) SAY(outer_empty) SAY(both)
    SAY(num_s) SAY(ref_s) SAY(to_s) SAY(num_us) SAY(ref_us) SAY(to_us) SAY(num_i) SAY(ref_i) SAY(to_i) SAY(to_to_i) SAY(moved_i)
    SAY(no_i) SAY(num_u) SAY(ref_u) SAY(to_u) SAY(num_l) SAY(ref_l) SAY(to_l) SAY(num_ul) SAY(ref_ul) SAY(to_ul) SAY(num_ll)
    SAY(ref_ll) SAY(to_ll) SAY(num_ull) SAY(ref_ull) SAY(to_ull) SAY(num_fixed) SAY(ref_fixed) SAY(to_fixed) SAY(no_fixed)
    SAY(num_size) SAY(ref_size) SAY(to_size)
    std::cout << "chars=" << say_chars(chars) << "\nfull=" << say_chars(full) << "\nzeros=" << say_chars(zeros) << "\n";
    std::cout << "wide_chars=" << say(static_cast<const wchar_t *>(wide_chars)) << "\n";
    std::cout << "flexible=&{n: 3, data: \"flx\"}\n";
    std::cout << "flexible_ints=&{n: 0, data: [… of unknown length]}\n";
    std::cout << "no_character='\\xffffffff'\n";
    std::cout << "broken_map={1: 2, 3: 4, <not readable: a tree that ends early>}\n";
    reinterpret_cast<size_t *>(&broken_map)[5] = 2;
    ends[1] = ends[2] = end;
    std::free(flexible);
    std::free(flexible_ints);
    std::cout << "huge=-1267650600228229401496703205376\n";
    return million.size() + long_text.size() + loop.value + (broken ? 0 : 1) + int(huge >> 100) + packed.a + (no_character ? 1 : 0) > 0 ? 0 : 1;
}
