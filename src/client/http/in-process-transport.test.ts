import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { TimeoutError } from '../../base/time/abort.ts';
import type { HttpHandler, HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { inProcessTransport } from './in-process-transport.ts';
import { intercept } from '../rest/interceptor.ts';

const get: HttpRequest = { method: 'GET', target: '/x', headers: { accept: 'a' } };

function answering(response: Partial<HttpResponse>, seen: HttpRequest[] = []): HttpHandler {
  return (request) => {
    seen.push(request);
    return Promise.resolve({ status: 200, headers: {}, body: new Uint8Array(), ...response });
  };
}

const never: HttpHandler = () => new Promise(() => {});

describe('inProcessTransport', () => {
  it('hands the very body through and adds headers and peer', async () => {
    const body = Buffer.from('same');
    const seen: HttpRequest[] = [];
    const peer = { commonName: 'admin', organizations: ['system:masters'] };
    const transport = inProcessTransport(answering({ body }, seen), {
      headers: { authorization: 'x', accept: 'y' },
      peer,
    });
    expect((await transport.send(get)).body).toBe(body);
    expect(seen[0]).toEqual({ ...get, headers: { accept: 'a', authorization: 'x' }, peer });
  });

  it('rejects what is aborted, with the kind of abort, even when the handler never answers', async () => {
    const transport = inProcessTransport(never);
    await expect(transport.send({ ...get, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    const controller = new AbortController();
    const sent = transport.send({ ...get, signal: controller.signal });
    controller.abort(new TimeoutError(5));
    await expect(sent).rejects.toMatchObject({ name: 'TransportError', code: 'timeout' });
  });

  it('leaves nothing at a signal that lives on', async () => {
    const controller = new AbortController();
    const transport = inProcessTransport((request) =>
      request.target === '/x' ? answering({})(request) : Promise.reject(new Error('bug')),
    );
    await transport.send({ ...get, signal: controller.signal });
    await expect(transport.send({ ...get, target: '/y', signal: controller.signal })).rejects.toThrow();
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  it('turns a handler that throws into a protocol error', async () => {
    const transport = inProcessTransport(() => Promise.reject(new Error('bug')));
    await expect(transport.send(get)).rejects.toMatchObject({ code: 'protocol', cause: { message: 'bug' } });
  });

  it('ends requests under way, and refuses new ones, when closed', async () => {
    const transport = inProcessTransport(never);
    const sent = transport.send(get);
    await transport.close();
    await expect(sent).rejects.toMatchObject({ code: 'aborted' });
    await expect(transport.send(get)).rejects.toMatchObject({ code: 'aborted' });
  });

  describe('streams', () => {
    function stream() {
      const state = { returned: false };
      const chunks: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]() {
          let n = 0;
          return {
            next: () => (n++ < 2 ? Promise.resolve({ done: false, value: Buffer.from([n]) }) : new Promise(() => {})),
            return: () => {
              state.returned = true;
              return Promise.resolve({ done: true, value: undefined });
            },
          };
        },
      };
      return { state, transport: inProcessTransport(answering({ body: chunks })) };
    }

    it('pass chunk by chunk, and inform the server when the reader stops early', async () => {
      const { state, transport } = stream();
      const { body } = await transport.send(get);
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        expect([...chunk]).toEqual([1]);
        break;
      }
      expect(state.returned).toBe(true);
    });

    it.each([0, 1])('inform the server once that the reader stopped, after %i chunks', async (chunks) => {
      let returns = 0;
      const body: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({
          next: () => Promise.resolve({ done: false, value: Buffer.from('x') }),
          return: () => {
            returns++;
            return Promise.resolve({ done: true, value: undefined });
          },
        }),
      };
      const response = await inProcessTransport(answering({ body })).send(get);
      const reader = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      for (let read = 0; read < chunks; read++) await reader.next();
      await reader.return?.();
      await reader.return?.();
      expect([returns, await reader.next()]).toEqual([1, { done: true, value: undefined }]);
    });

    it.each(['abort', 'close'] as const)('break at %s while waiting for a chunk', async (how) => {
      const { state, transport } = stream();
      const controller = new AbortController();
      const { body } = await transport.send({ ...get, signal: controller.signal });
      const seen: number[] = [];
      const reading = (async () => {
        for await (const chunk of body as AsyncIterable<Uint8Array>) {
          seen.push(chunk[0]!);
          if (seen.length === 2) setImmediate(() => (how === 'abort' ? controller.abort() : void transport.close()));
        }
      })();
      await expect(reading).rejects.toMatchObject({ code: 'aborted' });
      expect(seen).toEqual([1, 2]);
      expect(state.returned).toBe(true);
    });

    it('that fail at the server read as a reset', async () => {
      const body: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('lost')) }),
      };
      const transport = inProcessTransport(answering({ body }));
      const response = await transport.send(get);
      const chunks = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
      await expect(chunks.next()).rejects.toMatchObject({ code: 'reset' });
    });
  });
});

describe('intercept', () => {
  it('passes a request through all of them, the first outermost, and lets each answer itself', async () => {
    const log: string[] = [];
    const transport = intercept(
      inProcessTransport(answering({ status: 201 })),
      async (request, next) => {
        log.push('outer');
        const response = await next({ ...request, target: '/y' });
        log.push(`outer ${response.status}`);
        return response;
      },
      (request, next) => {
        log.push(`inner ${request.target}`);
        return request.method === 'PUT'
          ? Promise.resolve({ status: 418, headers: {}, body: new Uint8Array() })
          : next(request);
      },
    );
    expect((await transport.send(get)).status).toBe(201);
    expect((await transport.send({ ...get, method: 'PUT' })).status).toBe(418);
    expect(log).toEqual(['outer', 'inner /y', 'outer 201', 'outer', 'inner /y', 'outer 418']);
  });
});
