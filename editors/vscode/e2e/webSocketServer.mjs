// As much of a WebSocket server (RFC 6455) as a scenario needs: text frames in one piece, up to 64 KiB.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** Listens; `onMessage(message, peer)` gets every message of every peer, and `peer.send(message)` answers. */
export async function listenWebSocket(onMessage) {
  const sockets = new Set();
  const server = createServer();
  server.on('upgrade', (request, socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + MAGIC).digest('base64');
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const peer = {
      origin: request.headers.origin,
      send: (message) => socket.write(frame(JSON.stringify(message))),
      close: () => socket.destroy(),
    };
    let bytes = Buffer.alloc(0);
    socket.on('data', (more) => {
      bytes = Buffer.concat([bytes, more]);
      for (let read = unframe(bytes); read !== undefined; read = unframe(bytes)) {
        bytes = bytes.subarray(read.length);
        if (read.opcode === 1) {
          onMessage(JSON.parse(read.payload.toString('utf8')), peer);
        }
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `ws://127.0.0.1:${server.address().port}/`,
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function frame(text) {
  const payload = Buffer.from(text);
  const header = payload.length < 126 ? Buffer.from([0x81, payload.length]) : Buffer.from([0x81, 126, payload.length >> 8, payload.length & 255]);
  return Buffer.concat([header, payload]);
}

/** The first whole frame of a client, which masks what it sends. */
function unframe(bytes) {
  if (bytes.length < 2) {
    return undefined;
  }
  const short = bytes[1] & 0x7f;
  const start = short === 126 ? 4 : 2;
  const size = short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < start + 4 + size) {
    return undefined;
  }
  const mask = bytes.subarray(start, start + 4);
  const payload = Buffer.from(bytes.subarray(start + 4, start + 4 + size)).map((byte, index) => byte ^ mask[index % 4]);
  return { opcode: bytes[0] & 0x0f, payload, length: start + 4 + size };
}
