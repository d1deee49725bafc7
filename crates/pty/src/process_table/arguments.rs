//! What a process was started with, as `sysctl` gives it on macOS (`KERN_PROCARGS2`).
//!
//! ```text
//! argc (a native int)  executable\0  \0…  argv[0]\0 … argv[argc-1]\0  variable\0 … variable\0  \0  …
//! ```
//!
//! Behind the executable there are as many NULs as alignment asks for. The environment ends with an empty
//! string or with the bytes; of programs that the system protects it is left out. Pure: bytes in, lists out.

/// The arguments with `argv[0]`, and the environment.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Arguments<'a> {
    pub(super) arguments: Vec<&'a [u8]>,
    /// Empty where the kernel hides it.
    pub(super) environment: Vec<&'a [u8]>,
}

impl<'a> Arguments<'a> {
    /// `None` if the bytes are cut before the arguments end.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (count, rest) = bytes.split_first_chunk()?;
        let count = usize::try_from(i32::from_ne_bytes(*count)).ok()?;
        let executable = rest.iter().position(|&byte| byte == 0)?;
        let rest = &rest[executable..];
        let padding = rest.iter().take_while(|&&byte| byte == 0).count();
        let mut strings = rest[padding..].split(|&byte| byte == 0);
        // A count that is not to be trusted allocates nothing.
        let arguments: Vec<&[u8]> = strings.by_ref().take(count).collect();
        let environment = strings.take_while(|variable| !variable.is_empty()).collect();
        (arguments.len() == count).then_some(Self { arguments, environment })
    }

    /// Whether a text is among them; not known if it is not and the environment may be hidden.
    pub(super) fn contain(&self, text: &[u8]) -> Option<bool> {
        let has = |each: &&[u8]| each.windows(text.len().max(1)).any(|window| window == text);
        match self.arguments.iter().chain(&self.environment).any(has) {
            false if self.environment.is_empty() => None,
            found => Some(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(count: i32, rest: &[u8]) -> Vec<u8> {
        [&count.to_ne_bytes()[..], rest].concat()
    }

    #[test]
    fn arguments_and_environment_are_told_apart() {
        let bytes = block(3, b"/bin/zsh\0\0\0\0-zsh\0\0-i\0HOME=/u\0MARK=1\0\0ptr_munge=\0");
        let read = Arguments::read(&bytes).expect("whole");
        assert_eq!(read.arguments, [&b"-zsh"[..], b"", b"-i"]);
        assert_eq!(read.environment, [&b"HOME=/u"[..], b"MARK=1"]);
    }

    #[test]
    fn a_hidden_environment_leaves_open_what_is_not_among_the_arguments() {
        let bytes = block(2, b"/bin/bash\0\0bash\0--rcfile=/tmp/x\0");
        let hidden = Arguments::read(&bytes).expect("whole");
        assert!(hidden.environment.is_empty());
        assert_eq!(hidden.contain(b"/tmp/x"), Some(true));
        assert_eq!(hidden.contain(b"/tmp/y"), None);
        let bytes = block(1, b"/bin/bash\0bash\0A=1\0");
        let shown = Arguments::read(&bytes).expect("whole");
        assert_eq!((shown.contain(b"A=1"), shown.contain(b"/tmp/y")), (Some(true), Some(false)));
    }

    #[test]
    fn cut_bytes_and_absurd_counts_are_nothing() {
        let bytes = block(2, b"/bin/a\0a\0b\0");
        for end in 0..12 {
            assert_eq!(Arguments::read(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Arguments::read(&block(i32::MAX, b"/bin/a\0a\0")), None);
        assert_eq!(Arguments::read(&block(-1, b"/bin/a\0a\0")), None);
    }
}
