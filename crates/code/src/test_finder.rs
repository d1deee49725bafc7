//! The test under a line, and how to run it alone under the debugger.
