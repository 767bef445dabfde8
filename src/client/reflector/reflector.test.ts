import { describe, expect, it } from 'vitest';
import {
  newExpired,
  newForbidden,
  newInvalid,
  newTooLargeResourceVersion,
  newTooManyRequests,
} from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { seededRandom } from '../../base/random/random.ts';
import { inProcessTransport } from '../http/in-process-transport.ts';
import type { TransportError } from '../http/transport.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';
import type { EnumerationGaps, ReflectorSink } from './reflector-sink.ts';
import { RestClient } from '../rest/rest-client.ts';
import {
  type Answer,
  answerJson,
  answerStream,
  bookmark,
  event,
  list,
  object,
  PushStream,
  ScriptedServer,
} from '../rest/scripted-server.fixture.ts';
import { frame, partialMetadata, partialMetadataEnvelope, partialMetadataList } from '../codec/wire-format.fixture.ts';

const things = { group: 'example.com', version: 'v1', resource: 'things' };
const base = '/apis/example.com/v1/things';
const WATCH = `GET ${base}?watch=true&allowWatchBookmarks=true`;

/** Records its calls; throws on demand. */
class RecordingSink implements ReflectorSink {
  readonly log: string[] = [];
  readonly errors: Error[] = [];
  readonly cuts: string[] = [];
  failOn: string | undefined;
  gate: Promise<void> | undefined;

  #object(verb: string, bytes: Uint8Array, start: number, end: number): void {
    const text = Buffer.from(bytes.subarray(start, end)).toString('utf8');
    const name = text.startsWith('{')
      ? (JSON.parse(text) as { metadata: { name: string } }).metadata.name
      : `protobuf:${text.length}`;
    if (name === this.failOn) throw new Error(`can not read ${name}`);
    this.log.push(`${verb} ${name}`);
  }

  replaceBegin = (): void => void this.log.push('begin');
  replaceEnd = (rv: string, gaps: EnumerationGaps): void =>
    void this.log.push(gaps === 'proven' ? `end ${rv}` : `end ${rv} gaps unproven`);
  replaceAbort = (): void => void this.log.push('abort');
  added = (bytes: Uint8Array, start: number, end: number): void => this.#object('added', bytes, start, end);
  modified = (bytes: Uint8Array, start: number, end: number): void => this.#object('modified', bytes, start, end);
  deleted = (bytes: Uint8Array, start: number, end: number): void => this.#object('deleted', bytes, start, end);
  bookmark = (rv: string): void => void this.log.push(`bookmark ${rv}`);
  synced = (): void => void this.log.push('synced');
  ready = (): Promise<void> | undefined => this.gate;
  cut = ({ code }: TransportError): void => void this.cuts.push(code);
  failed = (error: Error): void => {
    this.errors.push(error);
    this.log.push(`failed ${error.name}`);
  };

  /** The calls that were recorded since the last read. */
  get news(): string[] {
    return this.log.splice(0);
  }
}

function setUp(answers: Answer[], options: Partial<ReflectorOptions> = {}) {
  const clock = new FakeClock();
  const server = new ScriptedServer(...answers);
  const sink = new RecordingSink();
  const client = new RestClient({ transport: inProcessTransport(server.handler), clock, userAgent: 'test' });
  const reflector = new Reflector({
    client,
    clock,
    random: seededRandom(1),
    gvr: things,
    representation: 'object',
    sink,
    ...options,
  });
  const controller = new AbortController();
  const stopped = reflector.run(controller.signal);
  const stop = async (): Promise<void> => {
    controller.abort();
    await clock.settle();
    await stopped;
    expect(clock.pendingTimers).toBe(0);
  };
  return { clock, server, sink, reflector, stop };
}

const initialEnd = { initialEventsEnd: true };

describe('a watch list', () => {
  it('API-560 enumerates, syncs at the bookmark, and goes on in the same stream', async () => {
    const stream = new PushStream();
    const { clock, server, sink, reflector, stop } = setUp([answerStream(stream)]);
    await clock.settle();
    expect(sink.news).toEqual(['begin']);
    stream.push(event('ADDED', object({ name: 'a', rv: 3 })) + event('ADDED', object({ name: 'b', rv: 2 })));
    await clock.settle();
    expect([sink.news, reflector.hasSynced]).toEqual([['added a', 'added b'], false]);
    stream.push(bookmark(5, initialEnd) + event('MODIFIED', object({ name: 'a', rv: 6 })));
    await clock.settle();
    expect([sink.news, reflector.hasSynced]).toEqual([['end 5', 'synced', 'modified a'], true]);
    stream.push(event('DELETED', object({ name: 'b', rv: 7 })) + bookmark(9));
    await clock.settle();
    expect(sink.news).toEqual(['deleted b', 'bookmark 9']);
    expect(server.lines).toEqual([`${WATCH}&resourceVersionMatch=NotOlderThan&sendInitialEvents=true`]);
    await stop();
    expect(sink.news).toEqual([]);
    expect(stream.returned).toBe(true);
  });

  it('asks for a random end between 5 and 10 minutes', async () => {
    const seconds = new Set<number>();
    for (let seed = 0; seed < 20; seed++) {
      const { clock, server, stop } = setUp([], { random: seededRandom(seed) });
      await clock.settle();
      seconds.add(Number(/timeoutSeconds=(\d+)/.exec(server.requests[0]!.target)?.[1]));
      await stop();
    }
    expect(Math.min(...seconds)).toBeGreaterThanOrEqual(300);
    expect(Math.max(...seconds)).toBeLessThan(600);
    expect(seconds.size).toBeGreaterThan(10);
  });

  it('asks a server in the same process for two days', async () => {
    const server = new ScriptedServer();
    const transport = inProcessTransport(server.handler);
    const client = new RestClient({ transport, clock: new FakeClock(), userAgent: 'test', watches: 'lasting' });
    const { clock, stop } = setUp([], { client: client.as('a').through() });
    await clock.settle();
    expect(server.requests[0]!.target).toContain('timeoutSeconds=172800');
    await stop();
  });

  it('takes changes among the initial events', async () => {
    const stream = new PushStream();
    const { clock, sink, stop } = setUp([answerStream(stream)]);
    stream.push(
      event('ADDED', object({ name: 'a', rv: 3 })) +
        event('DELETED', object({ name: 'a', rv: 6 })) +
        bookmark(6, initialEnd),
    );
    await clock.settle();
    expect(sink.news).toEqual(['begin', 'added a', 'deleted a', 'end 6', 'synced']);
    await stop();
  });

  it('resumes where the server ended the stream, at the newest version delivered', async () => {
    const [first, second, third] = [new PushStream(), new PushStream(), new PushStream()];
    const { clock, server, sink, stop } = setUp([answerStream(first), answerStream(second), answerStream(third)]);
    first
      .push(bookmark(5, initialEnd))
      .push(event('ADDED', object({ name: 'a', rv: 6 })) + event('ADDED', object({ name: 'b', rv: 8 })))
      .end();
    second.push(bookmark(20)).end();
    await clock.settle();
    expect(sink.news).toEqual(['begin', 'end 5', 'synced', 'added a', 'added b', 'bookmark 20']);
    expect(server.lines.slice(1)).toEqual([`${WATCH}&resourceVersion=8`, `${WATCH}&resourceVersion=20`]);
    await stop();
  });

  it.each([
    [
      'API-131 is refused with 422',
      answerJson(newInvalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', []).status, 422),
    ],
    ['is refused with 400', answerJson({ kind: 'Status', apiVersion: 'v1', reason: 'BadRequest', code: 400 }, 400)],
  ])('that %s becomes list and watch at once, for good', async (_, refusal) => {
    const stream = new PushStream();
    const { clock, server, sink, stop } = setUp([
      refusal,
      answerJson(list(5, [object({ name: 'a', rv: 3 })])),
      answerStream(stream),
    ]);
    await clock.settle();
    expect(server.lines.slice(1)).toEqual([`GET ${base}?limit=500&resourceVersion=0`, `${WATCH}&resourceVersion=5`]);
    expect(sink.news).toEqual(['begin', 'abort', 'begin', 'added a', 'end 5 gaps unproven', 'synced']);
    stream.push(event('ERROR', newExpired('too old').status));
    await clock.advanceAsync(2000);
    expect(server.lines.at(-1)).toBe(`GET ${base}?limit=500`);
    await stop();
  });

  it.each([
    ['after some events', [event('ADDED', object({ name: 'a', rv: 3 }))], ['added a']],
    ['from the start', [], []],
  ])('whose initial events never end (silence %s) becomes list and watch', async (_, events, seen) => {
    const stream = new PushStream();
    const { clock, server, sink, stop } = setUp([answerStream(stream), answerJson(list(5, []))]);
    for (const text of events) stream.push(text);
    await clock.advanceAsync(9_999);
    expect(server.lines).toHaveLength(1);
    await clock.advanceAsync(1);
    expect(server.lines[1]).toBe(`GET ${base}?limit=500&resourceVersion=0`);
    expect(sink.news).toEqual(['begin', ...seen, 'abort', 'begin', 'end 5 gaps unproven', 'synced']);
    expect(stream.returned).toBe(true);
    await stop();
  });

  it('that keeps sending is never taken for silent', async () => {
    const stream = new PushStream();
    const { clock, server, stop } = setUp([answerStream(stream)]);
    for (let i = 0; i < 20; i++) {
      stream.push(event('ADDED', object({ name: `n${i}`, rv: i + 1 })));
      await clock.advanceAsync(9_000);
    }
    expect(server.lines).toHaveLength(1);
    await stop();
  });

  it.each([
    ['ends it when its time is over', 0],
    ['never ends it', 30],
  ])(
    'that keeps sending and has no end of its initial events becomes list and watch: a server that %s',
    async (_, late) => {
      const [stream, watch] = [new PushStream(), new PushStream()];
      const listed = answerJson(list(90, [object({ name: 'a', rv: 3 })]));
      const { clock, server, sink, stop } = setUp([answerStream(stream), listed, answerStream(watch)]);
      await clock.settle();
      const seconds = Number(/timeoutSeconds=(\d+)/.exec(server.requests[0]!.target)?.[1]);
      for (let passed = 0; passed < seconds + late; passed += 9) {
        stream.push(event('MODIFIED', object({ name: 'a', rv: passed + 1 })));
        await clock.advanceAsync(9_000);
      }
      stream.end();
      await clock.advanceAsync(5000);
      expect(server.lines.slice(1)).toEqual([`GET ${base}?limit=500&resourceVersion=0`, `${WATCH}&resourceVersion=90`]);
      expect(sink.log.slice(-5)).toEqual(['abort', 'begin', 'added a', 'end 90 gaps unproven', 'synced']);
      await stop();
    },
  );
});

describe('list and watch', () => {
  const listAndWatch = { watchList: 'refused' } as const;

  it('API-097 follows continue tokens without a version and delivers page by page', async () => {
    const pages = [
      answerJson(list(5, [object({ name: 'a', rv: 1 })], 'token/1')),
      answerJson(list(5, [object({ name: 'b', rv: 2 })], 'token2')),
      answerJson(list(5, [])),
    ];
    const { clock, server, sink, stop } = setUp(pages, {
      ...listAndWatch,
      pageSize: 1,
      namespace: 'ns',
      labelSelector: 'a=b',
    });
    await clock.settle();
    const path = '/apis/example.com/v1/namespaces/ns/things?labelSelector=a%3Db';
    expect(server.lines.slice(0, 3)).toEqual([
      `GET ${path}&limit=1&resourceVersion=0`,
      `GET ${path}&limit=1&continue=token%2F1`,
      `GET ${path}&limit=1&continue=token2`,
    ]);
    expect(sink.news).toEqual(['begin', 'added a', 'added b', 'end 5 gaps unproven', 'synced']);
    expect(server.lines[3]).toContain('&resourceVersion=5');
    await stop();
  });

  it('starts over without pages when a token expired', async () => {
    const { clock, server, sink, stop } = setUp(
      [
        answerJson(newExpired('old').status, 410),
        answerJson(list(5, [object({ name: 'a', rv: 1 })], 't')),
        answerJson(newExpired('token').status, 410),
        answerJson(list(6, [object({ name: 'a', rv: 1 })])),
      ],
      listAndWatch,
    );
    await clock.advanceAsync(2000);
    expect(server.lines.slice(1, 4)).toEqual([
      `GET ${base}?limit=500`,
      `GET ${base}?limit=500&continue=t`,
      `GET ${base}`,
    ]);
    expect(sink.news).toEqual(['begin', 'abort', 'begin', 'added a', 'abort', 'begin', 'added a', 'end 6', 'synced']);
    await stop();
  });

  it('COL-047 enumerates the most recent state after 410 in a watch, and leaves the difference to the sink', async () => {
    const stream = new PushStream().push(
      event('ADDED', object({ name: 'b', rv: 6 })) + event('ERROR', newExpired('too old').status),
    );
    const { clock, server, sink, stop } = setUp(
      [
        answerJson(list(5, [object({ name: 'a', rv: 1 })])),
        answerStream(stream),
        answerJson(list(9, [object({ name: 'b', rv: 6 })])),
        answerStream(new PushStream()),
      ],
      listAndWatch,
    );
    await clock.advanceAsync(2000);
    expect(sink.news).toEqual([
      'begin',
      'added a',
      'end 5 gaps unproven',
      'synced',
      'added b',
      'begin',
      'added b',
      'end 9',
    ]);
    expect(server.lines.slice(2)).toEqual([`GET ${base}?limit=500`, `${WATCH}&resourceVersion=9`]);
    await stop();
  });

  it('API-560 takes the most recent state when a version is too large', async () => {
    const { clock, server, sink, stop } = setUp(
      [answerJson(newTooLargeResourceVersion(5, 3).status, 504), answerJson(list(3, []))],
      listAndWatch,
    );
    await clock.advanceAsync(5000);
    expect(server.lines[1]).toBe(`GET ${base}?limit=500`);
    expect(sink.news).toEqual(['begin', 'abort', 'failed StatusError', 'begin', 'end 3', 'synced']);
    await stop();
  });

  it('gives up a list from which nothing comes, not one that is slow', async () => {
    const stuck = new PushStream();
    const { clock, server, sink, stop } = setUp([answerStream(stuck), answerJson(list(5, []))], listAndWatch);
    stuck.push('{"metadata":{"resourceVersion":"5"},"items":[');
    for (let i = 0; i < 5; i++) {
      await clock.advanceAsync(59_000);
      stuck.push(`${i === 0 ? '' : ','}${JSON.stringify(object({ name: `n${i}`, rv: 1 }))}`);
    }
    await clock.advanceAsync(59_999);
    expect(server.lines).toHaveLength(1);
    await clock.advanceAsync(2000);
    expect(sink.news).toEqual([
      'begin',
      'added n0',
      'added n1',
      'added n2',
      'added n3',
      'added n4',
      'abort',
      'failed TransportError',
      'begin',
      'end 5 gaps unproven',
      'synced',
    ]);
    await stop();
  });

  it('concludes nothing from a list that is cut off', async () => {
    const body = Buffer.from(JSON.stringify(list(5, [object({ name: 'a', rv: 1 }), object({ name: 'b', rv: 1 })])));
    const { clock, sink, stop } = setUp(
      [{ status: 200, headers: {}, body: body.subarray(0, -20) }, answerJson(list(6, []))],
      listAndWatch,
    );
    await clock.advanceAsync(2000);
    expect(sink.news).toEqual(['begin', 'added a', 'abort', 'failed DecodeError', 'begin', 'end 6', 'synced']);
    await stop();
  });

  it.each([
    ['without a version', answerJson({ metadata: {}, items: [] })],
    ['that is a page of text', { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from('<html>') }],
  ])('concludes nothing from a list %s', async (_, answer) => {
    const { clock, sink, stop } = setUp([answer], listAndWatch);
    await clock.settle();
    expect(sink.news).toEqual(['begin', 'abort', 'failed DecodeError']);
    await stop();
  });
});

describe('a watch', () => {
  const synced = (): Answer => answerJson(list(5, []));
  const listAndWatch = { watchList: 'refused' } as const;

  it('that is quiet is not cut, and ends half a minute after its time when the connection is half open', async () => {
    const { clock, server, sink, stop } = setUp([synced(), answerStream(new PushStream())], listAndWatch);
    await clock.settle();
    const seconds = Number(/timeoutSeconds=(\d+)/.exec(server.requests[1]!.target)?.[1]);
    await clock.advanceAsync(seconds * 1000 + 29_999);
    expect(server.lines).toHaveLength(2);
    await clock.advanceAsync(1);
    expect(server.lines[2]).toBe(`${WATCH}&resourceVersion=5`);
    expect(sink.errors).toEqual([]);
    await stop();
  });

  it('COL-048 whose answer does not even begin is given up after a minute, reported, and tried again from the same place', async () => {
    const { clock, server, sink, stop } = setUp([synced(), () => new Promise(() => {})], listAndWatch);
    await clock.advanceAsync(59_999);
    expect([server.lines.length, sink.errors]).toEqual([2, []]);
    await clock.advanceAsync(1);
    expect(sink.errors.map(({ message }) => message)).toEqual(['request timed out after 60000 ms']);
    await clock.advanceAsync(2000);
    expect(server.lines[2]).toBe(server.lines[1]);
    await stop();
  });

  it('that breaks after having been of use is resumed at once and not reported', async () => {
    const stream = new PushStream().push(event('ADDED', object({ name: 'a', rv: 6 }))).fail();
    const { clock, server, sink, stop } = setUp([synced(), answerStream(stream)], listAndWatch);
    await clock.settle();
    expect([server.lines[2], sink.errors]).toEqual([`${WATCH}&resourceVersion=6`, []]);
    await stop();
  });

  it('that breaks after having been of use is reported as cut', async () => {
    const stream = new PushStream().push(event('ADDED', object({ name: 'a', rv: 6 }))).fail();
    const { clock, sink, stop } = setUp([synced(), answerStream(stream)], listAndWatch);
    await clock.settle();
    expect(sink.cuts).toEqual(['reset']);
    await stop();
  });

  it('COL-116 is opened anew where it was, unless it began later', async () => {
    const first = new PushStream().push(event('ADDED', object({ name: 'a', rv: 6 })));
    const second = new PushStream();
    const { clock, server, sink, reflector, stop } = setUp(
      [synced(), answerStream(first), answerStream(second)],
      listAndWatch,
    );
    await clock.settle();
    const began = clock.monotonic();
    reflector.reopen(began - 1);
    await clock.settle();
    expect(server.lines).toHaveLength(2);
    await clock.advanceAsync(100);
    reflector.reopen(began);
    await clock.settle();
    expect(server.lines.slice(1)).toEqual([`${WATCH}&resourceVersion=5`, `${WATCH}&resourceVersion=6`]);
    expect([first.returned, sink.errors, sink.cuts]).toEqual([true, [], []]);
    reflector.reopen(began);
    await clock.settle();
    expect(server.lines).toHaveLength(3);
    await stop();
  });

  it('COL-116 is not opened anew while it waits, nor while objects are enumerated', async () => {
    const { clock, server, reflector, stop } = setUp([answerStream(new PushStream()), () => new Promise(() => {})]);
    await clock.settle();
    reflector.reopen(clock.monotonic());
    await clock.settle();
    expect(server.lines).toHaveLength(1);
    await stop();
  });

  it('that always ends at once is retried slower and slower, never in a circle', async () => {
    const ended = (): Answer => answerStream(new PushStream().end());
    const { clock, server, stop } = setUp([synced(), ...Array.from({ length: 100 }, ended)], listAndWatch);
    await clock.advanceAsync(60_000);
    expect(server.lines.length).toBeLessThan(10);
    expect(server.lines.length).toBeGreaterThan(4);
    await stop();
  });

  it('is resumed from a bookmark that came together with an older event', async () => {
    const stream = new PushStream().push(event('ADDED', object({ name: 'a', rv: 6 })) + bookmark(9)).end();
    const { clock, server, stop } = setUp([synced(), answerStream(stream)], listAndWatch);
    await clock.settle();
    expect(server.lines[2]).toBe(`${WATCH}&resourceVersion=9`);
    await stop();
  });

  it('is resumed from the last whole event when the stream breaks inside one', async () => {
    const whole = event('ADDED', object({ name: 'a', rv: 6 }));
    const stream = new PushStream().push(whole + event('ADDED', object({ name: 'b', rv: 7 })).slice(0, 40)).end();
    const { clock, server, sink, stop } = setUp([synced(), answerStream(stream)], listAndWatch);
    await clock.settle();
    expect([sink.news.at(-1), server.lines[2]]).toEqual(['added a', `${WATCH}&resourceVersion=6`]);
    await stop();
  });

  it('with an event that is no JSON is reported and followed by a new list', async () => {
    const stream = new PushStream().push(`${event('ADDED', object({ name: 'a', rv: 6 }))}{"type":\n`);
    const { clock, server, sink, stop } = setUp(
      [synced(), answerStream(stream), answerJson(list(9, []))],
      listAndWatch,
    );
    await clock.advanceAsync(2000);
    expect(sink.news.slice(3)).toEqual(['added a', 'failed DecodeError', 'begin', 'end 9']);
    expect(server.lines[2]).toBe(`GET ${base}?limit=500`);
    await stop();
  });

  it('with an object that the sink can not read is reported and followed by a new list', async () => {
    const stream = new PushStream().push(event('ADDED', object({ name: 'poison', rv: 6 })));
    const { clock, sink, stop } = setUp([synced(), answerStream(stream), answerJson(list(9, []))], listAndWatch);
    sink.failOn = 'poison';
    await clock.advanceAsync(2000);
    expect(sink.news.slice(3)).toEqual(['failed DecodeError', 'begin', 'end 9']);
    expect(sink.errors[0]?.message).toContain('can not read poison');
    await stop();
  });

  it('with an object without a version is reported and followed by a new list', async () => {
    const stream = new PushStream().push(event('ADDED', { metadata: { name: 'a' } }));
    const { clock, sink, stop } = setUp([synced(), answerStream(stream), answerJson(list(9, []))], listAndWatch);
    await clock.advanceAsync(2000);
    expect(sink.news.slice(3)).toEqual(['added a', 'failed DecodeError', 'begin', 'end 9']);
    await stop();
  });

  it('waits for a sink that is busy, and does not take that for silence', async () => {
    const stream = new PushStream();
    const { clock, server, sink, stop } = setUp([answerStream(stream)]);
    let open = (): void => {};
    sink.gate = new Promise((resolve) => {
      open = resolve;
    });
    stream.push(event('ADDED', object({ name: 'a', rv: 6 }))).push(event('ADDED', object({ name: 'b', rv: 7 })));
    await clock.advanceAsync(200_000);
    expect([sink.news, server.lines.length]).toEqual([['begin', 'added a'], 1]);
    sink.gate = undefined;
    open();
    await clock.settle();
    expect(sink.news).toEqual(['added b']);
    await stop();
  });
});

describe('failures', () => {
  it('COL-048 are reported and retried between 800 ms and 60 s apart, for ever', async () => {
    const forbidden = (): Answer =>
      answerJson(newForbidden({ group: 'example.com', resource: 'things' }, '', 'no').status, 403);
    const answers = Array.from({ length: 60 }, forbidden);
    const { clock, server, sink, stop } = setUp([...answers, answerJson(list(5, []))], { watchList: 'refused' });
    const times: number[] = [];
    for (let seen = 0; seen < 60;) {
      await clock.advanceAsync(100);
      for (; seen < server.lines.length; seen++) times.push(clock.monotonic());
    }
    const gaps = times.slice(1).map((t, i) => t - times[i]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(800);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(60_100);
    expect(gaps[0]).toBeLessThanOrEqual(1700);
    expect(gaps.at(-1)).toBeGreaterThanOrEqual(30_000);
    await clock.advanceAsync(61_000);
    expect(sink.errors).toHaveLength(60);
    expect(sink.log.at(-1)).toBe('synced');
    await stop();
  });

  it('COL-048 a 429 is not retried before the server allows', async () => {
    const { clock, server, stop } = setUp([answerJson(newTooManyRequests('cache not initialised', 45).status, 429)]);
    await clock.advanceAsync(44_999);
    expect(server.lines).toHaveLength(1);
    await clock.advanceAsync(1);
    expect(server.lines).toHaveLength(2);
    await stop();
  });

  it('COL-048 a page of maintenance that asks for an hour is asked again after a minute', async () => {
    const page = { status: 503, headers: { 'retry-after': '3600' }, body: Buffer.from('<html>') };
    const { clock, server, stop } = setUp([page, answerStream(new PushStream().push(bookmark(5, initialEnd)))]);
    await clock.advanceAsync(59_999);
    expect(server.lines).toHaveLength(1);
    await clock.advanceAsync(1);
    expect(server.lines).toHaveLength(2);
    await stop();
  });

  const missing = (): Answer => answerJson({ kind: 'Status', reason: 'NotFound', code: 404 }, 404);

  it.each([
    { pauses: 'anew', first: 1, from: 800, to: 1600 },
    { pauses: 'asBefore', first: 1, from: 12_800, to: 25_600 },
  ] as const)('COL-048 who is woken tries again now; the pause after that is $pauses', async ({ pauses, from, to }) => {
    const { clock, server, reflector, stop } = setUp(Array.from({ length: 10 }, missing));
    for (let tries = 1; tries <= 4; tries++) {
      await clock.settle();
      expect([server.lines.length, reflector.pausing]).toEqual([tries, true]);
      if (tries < 4) await clock.advanceAsync(clock.nextTimerInMs ?? 0);
    }
    reflector.wake(pauses);
    await clock.settle();
    expect([server.lines.length, reflector.pausing]).toEqual([5, true]);
    expect(clock.nextTimerInMs).toBeGreaterThanOrEqual(from);
    expect(clock.nextTimerInMs).toBeLessThanOrEqual(to);
    await stop();
  });

  it('COL-048 who is not pausing is not woken, now or later', async () => {
    const { clock, server, reflector, stop } = setUp([missing(), missing()]);
    await clock.settle();
    for (let i = 0; i < 100; i++) reflector.wake('asBefore');
    await clock.settle();
    expect([server.lines.length, reflector.pausing]).toEqual([2, true]);
    await clock.advanceAsync(clock.nextTimerInMs ?? 0);
    expect([server.lines.length, reflector.pausing]).toEqual([3, false]);
    reflector.wake('anew');
    await clock.settle();
    expect([server.lines.length, reflector.pausing]).toEqual([3, false]);
    await stop();
  });

  it('COL-048 who is woken does not try again before the server allows', async () => {
    const tooMany = (): Answer => answerJson(newTooManyRequests('busy', 5).status, 429);
    const { clock, server, reflector, stop } = setUp(Array.from({ length: 4 }, tooMany));
    for (let i = 0; i < 3; i++) await clock.advanceAsync(5000);
    expect([server.lines.length, reflector.pausing]).toEqual([4, false]);
    reflector.wake('anew');
    await clock.advanceAsync(4999);
    expect([server.lines.length, reflector.pausing]).toEqual([4, false]);
    await clock.advanceAsync(1);
    expect(server.lines.length).toBe(5);
    await stop();
  });

  it('COL-048 a watch that works for a while each time goes on within two seconds, however often its version expires', async () => {
    const rounds = 12;
    const streams = Array.from({ length: rounds }, () => new PushStream());
    const expired = answerJson(newExpired('too old').status, 410);
    const { clock, server, stop } = setUp(streams.flatMap((stream) => [answerStream(stream), expired]));
    for (let round = 0; round < rounds; round++) {
      expect(server.lines.length).toBe(1 + 2 * round);
      streams[round]!.push(bookmark(5 + round, initialEnd));
      await clock.advanceAsync(1500);
      streams[round]!.end();
      await clock.advanceAsync(2000);
    }
    await stop();
  });

  it('a refused connection while following is retried from the same place', async () => {
    const { clock, server, sink, stop } = setUp(
      [answerJson(list(5, [])), new Error('ECONNREFUSED'), answerStream(new PushStream())],
      { watchList: 'refused' },
    );
    await clock.advanceAsync(2000);
    expect(server.lines.slice(1)).toEqual([`${WATCH}&resourceVersion=5`, `${WATCH}&resourceVersion=5`]);
    expect(sink.news.slice(3)).toEqual(['failed TransportError']);
    await stop();
  });

  it('stopping while it waits, lists or follows ends it at once', async () => {
    const waiting = setUp([new Error('x')]);
    await waiting.clock.settle();
    await waiting.stop();
    const listing = setUp([answerStream(new PushStream().push('{'))], { watchList: 'refused' });
    await listing.clock.settle();
    await listing.stop();
    expect(listing.sink.news).toEqual(['begin', 'abort']);
  });
});

describe('metadata only', () => {
  const metadata = { representation: 'metadata' } as const;
  const PROTOBUF = 'application/vnd.kubernetes.protobuf';
  const accepts = (server: ScriptedServer) => server.requests.map((r) => r.headers['accept']);

  it('COL-040 asks with the exact headers of Kubernetes and takes protobuf', async () => {
    const body = partialMetadataList({ resourceVersion: '5', items: [{ name: 'a', resourceVersion: '1' }] });
    const stream = new PushStream();
    const { clock, server, sink, stop } = setUp(
      [
        { status: 200, headers: { 'content-type': PROTOBUF }, body },
        answerStream(stream, `${PROTOBUF};stream=watch`),
        answerStream(new PushStream()),
      ],
      { ...metadata, watchList: 'refused' },
    );
    const added = partialMetadataEnvelope({ name: 'b', resourceVersion: '6' });
    stream.push(frame('ADDED', added).subarray(0, 7)).push(frame('ADDED', added).subarray(7)).end();
    await clock.settle();
    expect(sink.news).toEqual([
      'begin',
      `added protobuf:${partialMetadata({ name: 'a', resourceVersion: '1' }).length}`,
      'end 5 gaps unproven',
      'synced',
      `added protobuf:${added.length}`,
    ]);
    expect(server.lines[2]).toBe(`${WATCH}&resourceVersion=6`);
    expect(accepts(server).slice(0, 2)).toEqual([
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    ]);
    await stop();
  });

  it.each([
    ['as long', 'MODIFIED', 6000],
    ['shorter', 'MODIFIED', 5900],
    ['longer', 'MODIFIED', 6100],
    ['of another type', 'DELETED', 6000],
  ] as const)(
    'resumes behind an event that spanned chunks when the next one, %s, breaks off: it comes after all',
    async (_, type, length) => {
      const body = partialMetadataList({ resourceVersion: '100', items: [] });
      const [broken, resumed] = [new PushStream(), new PushStream()];
      const { clock, server, sink, stop } = setUp(
        [
          { status: 200, headers: { 'content-type': PROTOBUF }, body },
          answerStream(broken, `${PROTOBUF};stream=watch`),
          answerStream(resumed, `${PROTOBUF};stream=watch`),
        ],
        { ...metadata, watchList: 'refused' },
      );
      const padded = (resourceVersion: string, size: number): Uint8Array =>
        partialMetadataEnvelope({ name: 'a', resourceVersion, annotations: { padding: 'x'.repeat(size) } });
      const [first, second] = [padded('101', 6000), padded('102', length)];
      const [one, two] = [frame('MODIFIED', first), frame(type, second)];
      broken
        .push(one.subarray(0, 2000))
        .push(Buffer.concat([one.subarray(2000), two.subarray(0, two.length * 0.75)]))
        .fail();
      resumed.push(two).end();
      await clock.advanceAsync(2000);
      expect(server.lines.slice(1)).toEqual([100, 101, 102].map((rv) => `${WATCH}&resourceVersion=${rv}`));
      expect(sink.news).toEqual([
        'begin',
        'end 100 gaps unproven',
        'synced',
        `modified protobuf:${first.length}`,
        `${type.toLowerCase()} protobuf:${second.length}`,
      ]);
      await stop();
    },
  );

  it('API-129 syncs at a protobuf bookmark', async () => {
    const end = partialMetadataEnvelope({
      name: '',
      resourceVersion: '9',
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
    const stream = new PushStream().push(frame('BOOKMARK', end));
    const { clock, sink, stop } = setUp([answerStream(stream, `${PROTOBUF};stream=watch`)], metadata);
    await clock.settle();
    expect(sink.news).toEqual(['begin', 'end 9', 'synced']);
    await stop();
  });

  it.each([406, 415])('BETTER-18 falls back to JSON after %i, at once and for good', async (code) => {
    const reason = code === 406 ? 'NotAcceptable' : 'UnsupportedMediaType';
    const refusal = answerJson({ kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, code }, code);
    const { clock, server, sink, stop } = setUp(
      [refusal, answerStream(new PushStream().push(bookmark(5, initialEnd)).end())],
      metadata,
    );
    await clock.settle();
    expect(sink.news).toEqual(['begin', 'abort', 'begin', 'end 5', 'synced']);
    const json = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
    expect(accepts(server).slice(1)).toEqual([json, json]);
    await stop();
  });

  it('COL-040 takes whole objects from a server that ignores the wish', async () => {
    const { clock, sink, stop } = setUp([answerJson(list(5, [object({ name: 'a', rv: 1, spec: { big: true } })]))], {
      ...metadata,
      watchList: 'refused',
    });
    await clock.settle();
    expect(sink.news).toEqual(['begin', 'added a', 'end 5 gaps unproven', 'synced']);
    await stop();
  });
});
