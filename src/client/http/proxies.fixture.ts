import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect as netConnect, createServer, type Server, type Socket } from 'node:net';

/** Proxies between a client and its server. */

export interface Listening {
  readonly port: number;
  /** Also closes connections. */
  close(): void;
}

/** Listens on a free port of this machine. */
export async function listening(server: Server): Promise<Listening> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((listens) => void server.listen(0, '127.0.0.1', listens));
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

const join = (one: Socket, other: Socket): void => {
  one.pipe(other.on('error', () => one.destroy()));
  other.pipe(one);
};

/** A CONNECT proxy with a password. It records the requested addresses. */
export function httpProxy(asked: string[]): Server {
  const server = createHttpServer();
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    asked.push(url);
    if (headers['proxy-authorization'] !== `Basic ${Buffer.from('me:p@ss').toString('base64')}`) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const upstream = netConnect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\nX-Proxy: a\r\n\r\n');
      join(socket, upstream);
    });
  });
  return server;
}

/** A SOCKS proxy (RFC 1928) that answers byte by byte, like a slow network; with a login if there is a password. */
export function socksProxy(asked: string[], password?: string): Server {
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0);
    const need = async (count: number): Promise<Buffer> => {
      while (bytes.length < count) {
        const chunk = (await new Promise((data) => void socket.once('data', data))) as Buffer;
        bytes = Buffer.concat([bytes, chunk]);
      }
      const taken = bytes.subarray(0, count);
      bytes = bytes.subarray(count);
      return taken;
    };
    const serve = async (): Promise<void> => {
      const [, count = 0] = await need(2);
      await need(count);
      socket.write(Buffer.from([5, password === undefined ? 0 : 2]));
      if (password !== undefined) {
        const [, nameLength = 0] = await need(2);
        const name = await need(nameLength);
        const [length = 0] = await need(1);
        const right = `${String(name)}:${String(await need(length))}` === password;
        socket.write(Buffer.from([1, right ? 0 : 1]));
        if (!right) return;
      }
      const [, , , , length = 0] = await need(5);
      const address = await need(length + 2);
      const port = address.readUInt16BE(length);
      asked.push(`${String(address.subarray(0, length))}:${port}`);
      const upstream = netConnect(port, '127.0.0.1', () => {
        for (const byte of [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]) socket.write(Buffer.from([byte]));
        join(socket, upstream);
      });
    };
    void serve();
  });
  return server;
}
