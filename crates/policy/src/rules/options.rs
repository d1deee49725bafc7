//! The options and operands of a command, by the usual conventions.

use crate::walk::Arg;

/// Options as given, in any order and grouping.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    short: Vec<&'a str>,
    /// Without their dashes.
    pub(crate) long: Vec<&'a str>,
    /// Words that are no options.
    pub(crate) operands: Vec<&'a Arg>,
}

impl<'a> Options<'a> {
    /// Reads the arguments after the program.
    pub(crate) fn of(args: &'a [Arg]) -> Self {
        let mut options = Self::default();
        let mut ended = false;
        for arg in args {
            match arg.text.strip_prefix('-') {
                _ if ended => options.operands.push(arg),
                None | Some("") => options.operands.push(arg),
                Some("-") => ended = true,
                Some(rest) => match rest.strip_prefix('-') {
                    Some(long) => options.long.push(long),
                    None => options.short.push(rest),
                },
            }
        }
        options
    }

    /// Whether an option is given, short or long. A long one may be cut short, as GNU allows. The
    /// letters `r` and `R` are one.
    pub(crate) fn has(&self, short: char, long: &str) -> bool {
        let same = |letter: char| {
            letter == short || (short == 'r' && letter == 'R') || (short == 'R' && letter == 'r')
        };
        self.short.iter().any(|letters| letters.contains(same)) || self.has_long(long)
    }

    pub(crate) fn has_long(&self, long: &str) -> bool {
        self.long.iter().any(|given| {
            let given = given.split('=').next().unwrap_or_default();
            !given.is_empty() && long.starts_with(given)
        })
    }

    /// Asks for help or the version only.
    pub(crate) fn only_asks(&self) -> bool {
        self.long.iter().any(|long| matches!(*long, "help" | "version"))
    }
}
