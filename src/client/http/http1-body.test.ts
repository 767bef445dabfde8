import { describe, expect, it } from 'vitest';
import { Http1Body } from './http1-body.ts';
import { TransportError } from './transport.ts';

function start() {
  const asked: string[] = [];
  const body = new Http1Body({
    pause: () => asked.push('pause'),
    resume: () => asked.push('resume'),
    cancel: () => asked.push('cancel'),
  });
  return { body, asked };
}

const bytes = (n: number): Uint8Array => new Uint8Array(n);
const lengths = async (body: Http1Body): Promise<number[]> => {
  const seen: number[] = [];
  for await (const chunk of body) seen.push(chunk.length);
  return seen;
};

describe('Http1Body', () => {
  it('hands over what came before it is read, and what comes while it is', async () => {
    const { body, asked } = start();
    body.push(bytes(1));
    body.push(bytes(2));
    const reading = lengths(body);
    await Promise.resolve();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    body.push(bytes(3));
    body.complete();
    expect([await reading, asked]).toEqual([[1, 2, 3], []]);
  });

  it('asks its connection to wait while it is far ahead, and to go on, each once', async () => {
    const { body, asked } = start();
    body.push(bytes(128 * 1024));
    expect(asked).toEqual([]);
    body.push(bytes(1));
    expect(asked).toEqual(['pause']);
    await body.next();
    expect(asked).toEqual(['pause', 'resume']);
    await body.next();
    expect(asked).toEqual(['pause', 'resume']);
  });

  it('does not wake a connection that has ended', async () => {
    const { body, asked } = start();
    body.push(bytes(200 * 1024));
    body.complete();
    expect(await lengths(body)).toEqual([200 * 1024]);
    expect(asked).toEqual(['pause']);
  });

  it.each(['waiting', 'later'])('ends with the error, dropping what was not read (reader %s)', async (when) => {
    const { body } = start();
    const error = new TransportError('reset', 'x');
    if (when === 'later') body.push(bytes(1));
    const reading = when === 'waiting' ? body.next() : undefined;
    body.fail(error);
    body.push(bytes(1));
    body.complete();
    await expect(reading ?? body.next()).rejects.toBe(error);
    await expect(body.next()).rejects.toBe(error);
  });

  it('gives the rest up, once, when the reader stops, and then has nothing more', async () => {
    const { body, asked } = start();
    body.push(bytes(1));
    body.push(bytes(2));
    for await (const chunk of body) if (chunk.length === 1) break;
    await body.return();
    body.push(bytes(3));
    body.fail(new TransportError('reset', 'x'));
    expect([await body.next(), asked]).toEqual([{ done: true, value: undefined }, ['cancel']]);
  });

  it('gives nothing up when it had come whole', async () => {
    const { body, asked } = start();
    body.push(bytes(1));
    body.complete();
    expect([await lengths(body), asked]).toEqual([[1], []]);
  });
});
