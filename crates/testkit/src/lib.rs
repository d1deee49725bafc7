//! Test support: a hermetic environment and an MCP client process.
