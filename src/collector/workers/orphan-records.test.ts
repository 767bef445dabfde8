import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { silentLogger } from '../../base/logs/logger.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { TransportError } from '../../client/http/transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import type { Target } from '../decide/target.ts';
import { OrphanedOwners } from '../caches/orphaned-owners.ts';
import { OrphanRecords } from './orphan-records.ts';

const owner = { kind: 'ConfigMap', namespace: 'ns', name: 'a', uid: 'uid-a' };
const component = 'garbage-collector-controller';
const event = {
  metadata: { name: 'orphaned-uid-a', namespace: 'ns' },
  involvedObject: { apiVersion: 'v1', ...owner },
  reason: 'DependentsOrphaned',
  source: { component },
  reportingComponent: component,
  lastTimestamp: '1970-01-01T00:00:00Z',
};

/** A server whose list of Events has no end; each page takes so long. */
function setUp(pageMs: number) {
  const clock = new FakeClock(0);
  const asked: string[] = [];
  const warnings: unknown[] = [];
  const handler = ({ target }: HttpRequest) => {
    asked.push(target);
    clock.advance(pageMs);
    const body = { kind: 'EventList', apiVersion: 'v1', metadata: { continue: 'more' }, items: [event] };
    return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) });
  };
  const orphanedOwners = new OrphanedOwners();
  const records = new OrphanRecords({
    client: new RestClient({ transport: inProcessTransport(handler), clock, userAgent: 'test' }),
    clock,
    logger: { ...silentLogger, warn: (message, fields) => void warnings.push([message, fields]) },
    orphanedOwners,
    component,
    keptIn: 'events',
  });
  return { clock, asked, warnings, orphanedOwners, records };
}

describe('OrphanRecords', () => {
  it.each([
    ['100,000 records', 1, 200, 'there are more than 100000'],
    ['10 s', 1000, 10, 'there are more than 5000'],
  ])('LIFE-561 reads no more than %s when a term begins, and says so', async (_what, pageMs, pages, error) => {
    const { clock, asked, warnings, orphanedOwners, records } = setUp(pageMs);
    await records.load(new AbortController().signal);
    expect(asked).toHaveLength(pages);
    expect(orphanedOwners.has(owner, clock.now())).toBe(true);
    expect(warnings).toEqual([[expect.stringContaining('could not all be read'), { error }]]);
  });

  it.each([
    ['answers again after two attempts', 2, 3, true],
    ['is away for longer than 10 s', Infinity, 20, false],
  ])('LIFE-561 reads again while the server refuses connections: it %s', async (_what, failures, attempts, known) => {
    const clock = new FakeClock(0);
    let asked = 0;
    const warnings: unknown[] = [];
    const orphanedOwners = new OrphanedOwners();
    const records = new OrphanRecords({
      client: new RestClient({
        transport: {
          send: () => {
            if (++asked <= failures) return Promise.reject(new TransportError('refused', 'connection refused'));
            const body = { kind: 'EventList', apiVersion: 'v1', metadata: {}, items: [event] };
            return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) });
          },
        } as never,
        clock,
        userAgent: 'test',
      }),
      clock,
      logger: { ...silentLogger, warn: (message) => void warnings.push(message) },
      orphanedOwners,
      component,
      keptIn: 'events',
    });
    const done = records.load(new AbortController().signal);
    for (let waited = 0; waited < 12_000; waited += 500) await clock.advanceAsync(500);
    await done;
    expect(asked).toBe(attempts);
    expect(orphanedOwners.has(owner, clock.now())).toBe(known);
    expect(warnings).toHaveLength(known ? 0 : 1);
  });
});

interface StoredEvent {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly lastTimestamp: string;
}

const respond = (status: number, body: object): HttpResponse => ({
  status,
  headers: {},
  body: Buffer.from(JSON.stringify(body)),
});
const failure = (code: number, reason: string): HttpResponse =>
  respond(code, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message: reason });
const target = (uid: string): Target => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespace: 'ns',
  name: uid,
  uid,
});

/** A server that keeps Events. */
class EventServer {
  readonly clock = new FakeClock(0);
  readonly events = new Map<string, StoredEvent>();
  /** POST, GET, LIST and PATCH. */
  readonly asked: string[] = [];
  readonly warnings: string[] = [];
  readonly orphanedOwners = new OrphanedOwners();
  readonly stop = new AbortController();
  readonly records: OrphanRecords;
  /** Runs before the server answers a request; if it returns an answer, the client gets that one. */
  before: (verb: string) => HttpResponse | undefined | Promise<HttpResponse | undefined> = () => undefined;
  #version = 0;

  constructor(keptIn: 'memory' | 'events' = 'events') {
    const { clock, orphanedOwners } = this;
    const transport = inProcessTransport((request) => this.#answer(request));
    this.records = new OrphanRecords({
      client: new RestClient({ transport, clock, userAgent: 'test' }),
      clock,
      logger: { ...silentLogger, warn: (message) => void this.warnings.push(message) },
      orphanedOwners,
      component,
      keptIn,
    });
  }

  record(uid: string): Promise<unknown> {
    return this.records.record(target(uid), this.stop.signal);
  }

  reset(): Promise<void> {
    return this.records.reset(this.stop.signal);
  }

  load(): Promise<void> {
    return this.records.load(new AbortController().signal);
  }

  /** The uids among a, b and c that are remembered. */
  get known(): string[] {
    return ['a', 'b', 'c'].filter((uid) => this.orphanedOwners.has(target(uid), this.clock.now()));
  }

  /** As the restore of a backup does. */
  undo(uid: string): void {
    this.events.delete(`orphaned-${uid}`);
  }

  list(): HttpResponse {
    const items = [...this.events.values()];
    return respond(200, { kind: 'EventList', apiVersion: 'v1', metadata: {}, items });
  }

  write(name: string, event: Omit<StoredEvent, 'metadata'>): HttpResponse {
    const version = ++this.#version;
    const uid = this.events.get(name)?.metadata.uid ?? `event-${version}`;
    const metadata = { name, namespace: 'ns', uid, resourceVersion: String(version) };
    const stored = { ...event, metadata };
    this.events.set(name, stored);
    return respond(200, stored);
  }

  async #answer({ method, target: path, body }: HttpRequest): Promise<HttpResponse> {
    const name = /\/events\/([^?]+)$/.exec(path)?.[1];
    const verb = method === 'GET' && name === undefined ? 'LIST' : method;
    this.asked.push(verb);
    const answer = await this.before(verb);
    if (answer !== undefined) return answer;
    if (verb === 'LIST') return this.list();
    const sent = (body === undefined ? {} : JSON.parse(Buffer.from(body).toString())) as StoredEvent;
    const stored = this.events.get(name ?? sent.metadata.name);
    if (method === 'POST') {
      return stored === undefined ? this.write(sent.metadata.name, sent) : failure(409, 'AlreadyExists');
    }
    if (name === undefined || stored === undefined) return failure(404, 'NotFound');
    if (method === 'GET') return respond(200, stored);
    const { uid, resourceVersion } = sent.metadata;
    const isThat = uid === stored.metadata.uid && resourceVersion === stored.metadata.resourceVersion;
    return isThat ? this.write(name, { ...stored, ...sent }) : failure(409, 'Conflict');
  }
}

describe('the Event of an attempt before', () => {
  it('LIFE-561 counts anew if it is older than a minute, at the version that was read', async () => {
    const server = new EventServer();
    await server.record('a');
    server.clock.advance(60_000);
    await server.record('a');
    expect(server.asked.splice(0)).toEqual(['POST', 'POST', 'GET']);
    server.clock.advance(1000);
    await server.record('a');
    expect(server.asked).toEqual(['POST', 'GET', 'PATCH']);
    expect(server.events.get('orphaned-a')).toMatchObject({
      firstTimestamp: '1970-01-01T00:00:00Z',
      lastTimestamp: '1970-01-01T00:01:01Z',
      count: 2,
    });
    expect(server.warnings).toEqual([]);
  });

  it.each<[string, string, (server: EventServer) => void, string[]]>([
    [
      'that somebody else writes meanwhile is good enough',
      'PATCH',
      (server) => {
        const { name } = server.events.get('orphaned-a')!.metadata;
        server.write(name, { ...server.events.get(name), lastTimestamp: '1970-01-01T00:02:00Z' });
      },
      ['POST', 'GET', 'PATCH', 'POST', 'GET'],
    ],
    ['that is gone when it is read is written', 'GET', (server) => server.undo('a'), ['POST', 'GET', 'POST']],
    [
      'that goes before it is written anew is written',
      'PATCH',
      (server) => server.undo('a'),
      ['POST', 'GET', 'PATCH', 'POST'],
    ],
  ])('LIFE-561 %s', async (_what, at, happens, asked) => {
    const server = new EventServer();
    await server.record('a');
    server.clock.advance(120_000);
    server.asked.length = 0;
    server.before = (verb) => {
      if (verb !== at) return undefined;
      server.before = () => undefined;
      happens(server);
      return undefined;
    };
    await server.record('a');
    expect(server.asked).toEqual(asked);
    expect(server.events.get('orphaned-a')?.lastTimestamp).toBe('1970-01-01T00:02:00Z');
    expect(server.warnings).toEqual([]);
  });

  it.each([
    ['409 each time', 'Conflict', 409, 3],
    ['403', 'Forbidden', 403, 1],
  ])('LIFE-561 that cannot be written anew (%s) is told of', async (_what, reason, code, patches) => {
    const server = new EventServer();
    await server.record('a');
    server.clock.advance(120_000);
    server.before = (verb) => (verb === 'PATCH' ? failure(code, reason) : undefined);
    await server.record('a');
    expect(server.asked.filter((verb) => verb === 'PATCH')).toHaveLength(patches);
    expect(server.warnings).toEqual([expect.stringContaining('remembered in memory only')]);
  });

  it('LIFE-561 does not make the record older than it is when it is read', async () => {
    const server = new EventServer();
    await server.record('a');
    server.clock.advance(50 * 60_000);
    server.before = (verb) => (verb === 'PATCH' ? failure(403, 'Forbidden') : undefined);
    await server.record('a');
    await server.load();
    server.clock.advance(59 * 60_000);
    expect(server.known).toEqual(['a']);
  });
});

describe('a record that could not be written because the term ended', () => {
  it('LIFE-561 is no failed write: the first real failure is logged all the same', async () => {
    const server = new EventServer();
    server.before = () => new Promise(() => undefined);
    const done = server.record('a');
    await server.clock.settle();
    server.stop.abort();
    expect([await done, server.warnings, server.known]).toEqual(['termEnded', [], ['a']]);
    server.before = () => failure(403, 'Forbidden');
    const next = await server.records.record(target('a'), new AbortController().signal);
    expect([next, server.warnings]).toEqual(['recorded', [expect.stringContaining('remembered in memory only')]]);
  });
});

describe('when the server went back in time', () => {
  it('LIFE-561 is forgotten what its Events do not name any more', async () => {
    const server = new EventServer();
    await server.record('a');
    await server.record('b');
    server.undo('b');
    await server.reset();
    expect([server.known, server.warnings]).toEqual([['a'], []]);
  });

  it('LIFE-561 what never had an Event stays, and what comes while they are read', async () => {
    const server = new EventServer();
    server.before = () => failure(403, 'Forbidden');
    await server.record('a');
    server.before = () => undefined;
    await server.record('b');
    server.undo('b');
    server.before = async (verb) => {
      if (verb !== 'LIST') return undefined;
      const before = server.list();
      await server.record('c');
      return before;
    };
    await server.reset();
    expect(server.known).toEqual(['a', 'c']);
  });

  it.each<[string, () => HttpResponse]>([
    ['fails', () => failure(500, 'InternalError')],
    ['is cut', () => respond(200, { kind: 'EventList', apiVersion: 'v1', metadata: { continue: 'more' }, items: [] })],
  ])('LIFE-561 a reading that %s forgets nothing, and the next term tells', async (_what, answer) => {
    const server = new EventServer();
    await server.record('a');
    await server.record('b');
    server.undo('b');
    server.before = answer;
    await server.reset();
    expect([server.known, server.warnings]).toEqual([['a', 'b'], [expect.stringContaining('went back in time')]]);
    server.before = () => undefined;
    await server.load();
    expect(server.known).toEqual(['a']);
  });

  it('LIFE-561 the reading ends with the term, and logs nothing; the reading of the next term does', async () => {
    const server = new EventServer();
    await server.record('a');
    server.undo('a');
    server.before = () => new Promise(() => undefined);
    const done = server.reset();
    await server.clock.settle();
    server.stop.abort();
    await done;
    expect([server.known, server.warnings]).toEqual([['a'], []]);
    server.asked.length = 0;
    await server.reset();
    expect(server.asked).toEqual([]);
    server.before = () => undefined;
    await server.load();
    expect([server.known, server.warnings]).toEqual([[], []]);
  });

  it.each([
    ['that of a reset', (server: EventServer) => server.reset()],
    ['that of a new term', (server: EventServer) => server.load()],
  ])('LIFE-561 a reading under way begins anew, %s, and there is no other', async (_what, read) => {
    const server = new EventServer();
    await server.record('a');
    await server.record('b');
    const answers: ((answer: HttpResponse) => void)[] = [];
    server.before = () => new Promise((answer) => answers.push(answer));
    const reading = read(server);
    await server.clock.settle();
    const past = server.list();
    server.undo('b');
    await server.reset();
    answers[0]!(past);
    await server.clock.settle();
    expect([answers.length, server.known]).toEqual([2, ['a', 'b']]);
    answers[1]!(server.list());
    await reading;
    expect([answers.length, server.known, server.warnings]).toEqual([2, ['a'], []]);
  });

  it('LIFE-561 nothing is read and nothing forgotten where memory is all there is', async () => {
    const server = new EventServer('memory');
    await server.record('a');
    await server.reset();
    expect([server.known, server.asked]).toEqual([['a'], []]);
  });
});
