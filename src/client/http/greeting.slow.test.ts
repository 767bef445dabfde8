import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import type { Greeting } from '../../base/http-message.ts';
import { connect } from './connect.ts';
import { caPem, serverCertPem, serverKeyPem } from './tls.fixture.ts';
import { type Transport, TransportError } from './transport.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A server that records the requests of each connection, and names itself `who`. */
class Scene {
  readonly seen: string[][] = [];
  readonly sockets: Socket[] = [];
  readonly greeting: Greeting;
  who = 'one';
  transport!: Transport;

  constructor() {
    this.greeting = {
      greet: async (send) => {
        const { body } = await send({ method: 'GET', target: '/who', headers: {} });
        const who = Buffer.from(body as Uint8Array).toString();
        if (who !== 'one') throw new TransportError('protocol', `met ${who}`);
      },
    };
  }

  async start(protocol: 'http1' | 'http2'): Promise<void> {
    const answer: RequestListener = (request, response) => {
      const { socket } = request;
      const index = this.sockets.findIndex((each) => each.remotePort === socket.remotePort);
      (this.seen[index] ??= []).push(`${request.method} ${request.url}`);
      const text = request.url === '/who' ? this.who : 'answer';
      response.setHeader('content-length', text.length);
      response.end(text);
    };
    const server = (protocol === 'http1'
      ? createHttpServer(answer)
      : createSecureServer({ key: serverKeyPem, cert: serverCertPem }, answer as never)) as unknown as Server;
    server.on('connection', (socket: Socket) => this.sockets.push(socket));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const origin = protocol === 'http1' ? `http://127.0.0.1:${port}` : `https://127.0.0.1:${port}`;
    this.transport = connect({ server: origin, caPem, clock: systemClock, protocol });
    cleanups.push(
      () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          for (const socket of this.sockets) socket.destroy();
        }),
      () => this.transport.close(),
    );
  }

  ask = async (target: string, method = 'GET'): Promise<number> =>
    (await this.transport.send({ method, target, headers: {}, greeting: this.greeting })).status;

  async breakAll(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

describe.each(['http1', 'http2'] as const)('a new connection (%s)', (protocol) => {
  it('COL-116 is asked who is at its other side before anything else goes over it, and once', async () => {
    const scene = new Scene();
    await scene.start(protocol);
    await scene.ask('/a');
    await scene.ask('/b', 'DELETE');
    expect(scene.seen).toEqual([['GET /who', 'GET /a', 'DELETE /b']]);
    await scene.breakAll();
    await scene.ask('/c', 'DELETE');
    expect(scene.seen[1]).toEqual(['GET /who', 'DELETE /c']);
  });

  it('COL-116 is asked first, however many requests begin at once', async () => {
    const scene = new Scene();
    await scene.start(protocol);
    await Promise.all(['/a', '/b', '/c'].map((target) => scene.ask(target)));
    expect(scene.seen.map(([first]) => first)).toEqual(scene.seen.map(() => 'GET /who'));
    expect(
      scene.seen
        .flat()
        .filter((each) => each !== 'GET /who')
        .toSorted(),
    ).toEqual(['GET /a', 'GET /b', 'GET /c']);
  });

  it('COL-116 that leads to somebody else carries nothing else', async () => {
    const scene = new Scene();
    await scene.start(protocol);
    await scene.ask('/a');
    scene.who = 'other';
    await scene.breakAll();
    await expect(scene.ask('/b', 'DELETE')).rejects.toThrow('met other');
    expect(scene.seen.flat()).not.toContain('DELETE /b');
    scene.who = 'one';
    expect(await scene.ask('/c', 'DELETE')).toBe(200);
  });

  it('asks nobody where nobody wants to know', async () => {
    const scene = new Scene();
    await scene.start(protocol);
    await scene.transport.send({ method: 'GET', target: '/a', headers: {} });
    expect(scene.seen).toEqual([['GET /a']]);
  });
});
