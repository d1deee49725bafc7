// Values of many shapes, and what the program itself says of them: `name=value` for each.
#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <cstdint>
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
    for (char c : text) all += c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
    return all + "\"";
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
    here(); // mark: values
#define SAY(name) std::cout << #name << "=" << say(name) << "\n";
    SAY(i) SAY(u) SAY(big) SAY(byte) SAY(small) SAY(c) SAY(flag) SAY(d) SAY(f) SAY(s) SAY(empty) SAY(view) SAY(cs) SAY(none_cs)
    SAY(v) SAY(none) SAY(bits) SAY(words) SAY(maybes) SAY(arr) SAY(some) SAY(nothing) SAY(text) SAY(no_user) SAY(m) SAY(many)
    SAY(wides) SAY(mm) SAY(st) SAY(um) SAY(um2) SAY(us) SAY(li) SAY(fl) SAY(dq) SAY(pr) SAY(tp) SAY(va) SAY(vs) SAY(up) SAY(nup)
    SAY(sp) SAY(nsp) SAY(p) SAY(user) SAY(ptr) SAY(null) SAY(points) SAY(col) SAY(mode) SAY(derived) SAY(second) SAY(first)
    SAY(bs) SAY(at) SAY(packed)
    std::cout << "huge=-1267650600228229401496703205376\n";
    return million.size() + long_text.size() + loop.value + (broken ? 0 : 1) + int(huge >> 100) + packed.a > 0 ? 0 : 1;
}
