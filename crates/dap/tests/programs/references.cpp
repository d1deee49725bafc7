// References, pointers and maps.
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

struct Holder {
    int& number;
    int one;
    int own() {
        return one; // mark: member
    }
};

static int change(int& a, const int& fixed, double& d, unsigned short& small, int* pointer, bool& flag) {
    int width = 4;
    Holder holder{a, 8};
    std::unordered_map<int, std::string> by_hash{{5, "five"}, {1, "one"}};
    std::map<int, std::vector<int>> by_order{{1, {10}}, {3, {30, 31}}};
    std::printf("%s %zu\n", by_hash[1].c_str(), by_order[1].size());
    std::printf("%d %d %f %d %p %d\n", a, fixed, d, small, (void*)pointer, flag); // mark: change
    return width + holder.own();
}

int main() {
    int a = 1, fixed = 2;
    double d = 1.5;
    unsigned short small = 3;
    bool flag = true;
    change(a, fixed, d, small, &fixed, flag);
    std::printf("now %d %d %g %d %d\n", a, fixed, d, small, flag);
}
