// Drives termbridge with @modelcontextprotocol/sdk 1.x, which speaks protocol versions up to 2025-11-25.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { clientName, main, server, serverCommand } from "./steps.mjs";

await main("@modelcontextprotocol/sdk", async () => {
  const transport = server
    ? new StreamableHTTPClientTransport(server.url, server.options)
    : new StdioClientTransport(serverCommand);
  let protocol;
  // The library tells the negotiated version to a transport that asks for it, and to nobody else.
  const told = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    protocol = version;
    told?.(version);
  };
  const client = new Client({ name: clientName, version: "1.0.0" });
  await client.connect(transport);
  return {
    listTools: () => client.listTools(),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    protocol: () => protocol,
    close: () => client.close(),
  };
});
