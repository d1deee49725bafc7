// Drives termbridge with @modelcontextprotocol/client 2.x.
//
// An argument chooses how the protocol version is found: `legacy` (the library's default, the
// initialize handshake), `auto` (server/discover first), or a version such as `2026-07-28` that the
// server must speak.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { clientName, main, server, serverCommand } from "./steps.mjs";

const requested = process.argv[2] ?? "legacy";
const mode = requested === "legacy" || requested === "auto" ? requested : { pin: requested };

await main("@modelcontextprotocol/client", async () => {
  const client = new Client(
    { name: clientName, version: "1.0.0" },
    { versionNegotiation: { mode } },
  );
  const transport = server
    ? new StreamableHTTPClientTransport(server.url, server.options)
    : new StdioClientTransport(serverCommand);
  await client.connect(transport);
  return {
    listTools: () => client.listTools(),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    protocol: () => client.getNegotiatedProtocolVersion(),
    close: () => client.close(),
  };
});
