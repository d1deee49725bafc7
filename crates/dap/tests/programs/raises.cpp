// Throws and catches, for stops by the type of an exception. See `subject.c` for the marks.
#include <stdexcept>

namespace app {
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
} // namespace app

template <class E> void attempt(E error) {
    try {
        throw error; // mark: raise
    } catch (...) {
    }
}

int main() {
    attempt(std::logic_error("first"));
    attempt(std::runtime_error("second"));
    attempt(app::Error("third"));
}
