//! The MCP server: tools over a transport.
