//! Exceptions by type: how each adapter is told of one.

use serde_json::{Value, json};

/// A breakpoint on a function of a runtime that stands for an exception filter which the adapter lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RaisingFunction {
    pub(crate) name: &'static str,
    pub(crate) condition: Option<String>,
    /// How a stop by it is described.
    pub(crate) description: &'static str,
}

/// How a stop by a panic is described.
pub(crate) const PANIC: &str = "Rust panic";
/// How a stop by a C++ exception of a named type is described.
pub(crate) const THROW: &str = "C++ throw";

/// How a stop where a test of Go fails is described.
pub(crate) const TEST_FAILURE: &str = "test failure";

/// Where the name of the type stands that C++ throws: `std::type_info` is the second argument.
pub(crate) const THROWN_TYPE: &str = "*(const char**)($arg2 + 8)";

/// The arguments of `setExceptionBreakpoints` for debugpy, which passes over filters when it has options.
pub(super) fn for_debugpy(filters: &[&str], types: &[&str]) -> Value {
    if types.is_empty() {
        return json!({"filters": filters});
    }
    let option = |names: Option<Vec<String>>, mode: &str| {
        let mut path = vec![json!({"names": ["Python Exceptions"]})];
        path.extend(names.map(|names| json!({"names": names})));
        json!({"path": path, "breakMode": mode})
    };
    let modes = filters.iter().map(|filter| match *filter {
        "raised" => "always",
        "uncaught" => "unhandled",
        other => other,
    });
    let mut options: Vec<Value> = modes.map(|mode| option(None, mode)).collect();
    let types = types.iter().map(|name| python_class(name)).collect();
    options.push(option(Some(types), "always"));
    let none: [&str; 0] = [];
    json!({"filters": none, "exceptionOptions": options})
}

/// The same for js-debug: types are a condition of its filter for all.
pub(super) fn for_js_debug(filters: &[&str], types: &[&str]) -> Value {
    if types.is_empty() {
        return json!({"filters": filters});
    }
    let filters: Vec<_> = filters.iter().filter(|filter| **filter != "all").collect();
    let all: Vec<_> = types.iter().map(|name| javascript_class(name)).collect();
    let option = json!({"filterId": "all", "condition": all.join(" || ")});
    json!({"filters": filters, "filterOptions": [option]})
}

/// The function of C++'s runtime that throws, for some types.
pub(super) fn throwing(types: &[&str]) -> Option<RaisingFunction> {
    let is_type = |name: &&str| format!("(int)strcmp({THROWN_TYPE}, \"{}\") == 0", mangled(name));
    let condition = types.iter().map(is_type).collect::<Vec<_>>().join(" || ");
    let function =
        RaisingFunction { name: "__cxa_throw", condition: Some(condition), description: THROW };
    (!types.is_empty()).then_some(function)
}

/// Whether a name is one of a type rather than of a filter: `ValueError`, `app.Error`, `std::exception`.
pub(crate) fn is_type_name(name: &str) -> bool {
    let is_name = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|c| c.is_alphanumeric() || c == '_')
    };
    let plain = name.replace("::", ".");
    plain.split('.').all(is_name)
        && (plain.contains('.') || name.starts_with(|first: char| first.is_uppercase()))
}

/// An expression for a class that says of another whether it has a name or comes from one that has: pydevd
/// evaluates what it is given, and knows by name only what it can import itself. A module that imports a class
/// gives it another name.
fn python_class(name: &str) -> String {
    let (module, last) = name.rsplit_once('.').unwrap_or(("", name));
    format!(
        "type('ByName', (type,), {{'__subclasscheck__': lambda own, other: any('{name}' in \
         (one.__name__, one.__module__ + '.' + one.__qualname__) or one is getattr(\
         __import__('sys').modules.get('{module}'), '{last}', None) for one in other.__mro__)}})\
         ('{name}', (), {{}})"
    )
}

/// A condition that is true for an error of a class or one that comes from it.
fn javascript_class(name: &str) -> String {
    format!(
        "((e) => {{ if (e && e.name === '{name}') return true; for (let p = e; p != null; p = \
         Object.getPrototypeOf(p)) {{ if (p.constructor && p.constructor.name === '{name}') return \
         true; }} return false; }})(error)"
    )
}

/// The name of a class in `std::type_info`, as the Itanium ABI mangles it.
fn mangled(name: &str) -> String {
    let parts: Vec<&str> = name.split("::").collect();
    let long = |part: &&str| format!("{}{part}", part.len());
    match parts.as_slice() {
        [name] => long(name),
        ["std", name] => format!("St{}", long(name)),
        ["std", rest @ ..] => format!("NSt{}E", rest.iter().map(long).collect::<String>()),
        all => format!("N{}E", all.iter().map(long).collect::<String>()),
    }
}

/// The one of some types that a mangled name stands for.
pub(crate) fn demangled<'a>(types: &[&'a str], said: &str) -> Option<&'a str> {
    types.iter().find(|name| said.contains(&format!("\"{}\"", mangled(name)))).copied()
}

#[cfg(test)]
mod tests {
    use super::{is_type_name, mangled};

    #[test]
    fn types_are_told_from_filters() {
        for name in ["ValueError", "app.errors.Bad", "std::runtime_error", "socket.timeout"] {
            assert!(is_type_name(name), "{name}");
        }
        for name in ["raised", "uncaught", "cpp_throw", "", "A'B", "A B", "a..b", "1x.y", "A()"] {
            assert!(!is_type_name(name), "{name}");
        }
    }

    #[test]
    fn names_are_mangled_as_compilers_do() {
        for (name, said) in [
            ("AppError", "8AppError"),
            ("std::runtime_error", "St13runtime_error"),
            ("std::filesystem::filesystem_error", "NSt10filesystem16filesystem_errorE"),
            ("ns::AppError", "N2ns8AppErrorE"),
        ] {
            assert_eq!(mangled(name), said);
        }
    }
}
