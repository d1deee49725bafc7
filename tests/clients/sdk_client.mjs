// Drives termbridge with @modelcontextprotocol/sdk 1.x, which speaks protocol versions up to 2025-11-25.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { clientName, main, serverCommand } from "./steps.mjs";

await main("@modelcontextprotocol/sdk", async () => {
  const transport = new StdioClientTransport(serverCommand);
  let protocol;
  // The library tells the negotiated version to a transport that asks for it, and to nobody else.
  transport.setProtocolVersion = (version) => {
    protocol = version;
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
