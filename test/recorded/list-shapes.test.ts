import { describe, expect, it } from 'vitest';
import { MetadataJsonError } from '../../src/api/codec/metadata/metadata-json.ts';
import { ProtobufError } from '../../src/api/codec/protobuf/protobuf-wire.ts';
import { MetadataReader } from '../../src/api/codec/metadata/metadata-reader.ts';
import { StatusError } from '../../src/api/status-error.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { DecodeError } from '../../src/client/codec/decode-error.ts';
import { discover } from '../../src/client/discovery/discovery.ts';
import { TransportError } from '../../src/client/http/transport.ts';
import { Informer } from '../../src/client/reflector/informer.ts';
import { Reflector } from '../../src/client/reflector/reflector.ts';
import { listMetadata } from '../../src/collector/operations/list-metadata.ts';
import { listVersion } from '../../src/collector/operations/list-version.ts';
import { bytesOf, clientOf, recordedAnswers } from './recorded-answers.ts';

interface Body {
  readonly type: string;
  readonly bytes: Buffer;
}

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const gvr = { group: '', version: 'v1', resource: 'configmaps' };
const signal = new AbortController().signal;

/** An empty list as the real server wrote it, whose items are replaced. */
function recordedList(encoding: string, items: unknown): Body {
  const empty = recordedAnswers().find(({ name }) => name === `empty list of configmaps, ${encoding}`)!;
  const { items: _items, ...rest } = JSON.parse(bytesOf(empty).toString()) as Record<string, unknown>;
  return { type: JSON_TYPE, bytes: Buffer.from(JSON.stringify(items === ABSENT ? rest : { ...rest, items })) };
}

const ABSENT = Symbol('absent');
const EMPTY = { null: null, absent: ABSENT, empty: [] } as const;
const UNEXPECTED = {
  'an object': {},
  'an object with members': { a: { metadata: {} } },
  'a text': 'x',
  'a number': 7,
  true: true,
  'a list of null': [null],
  'a list of texts': ['x'],
  'a list of numbers': [1],
  'a list of lists': [[]],
} as const;
const WHOLE = {
  null: 'null',
  'a list': '[]',
  'a text': '"x"',
  'a number': '7',
  nothing: '',
  'a page': '<html></html>',
};

/** Takes a list. Resolves with the number of objects that it saw; rejects with the error that it met. */
type Consumer = (body: Body) => Promise<number>;

const client = ({ type, bytes }: Body) =>
  clientOf(async () => ({ status: 200, headers: { 'content-type': type }, body: bytes }));

/** The outcome of a first list; the watch after it hangs. */
async function enumerated(body: Body, representation: 'metadata' | 'object'): Promise<number> {
  const clock = new FakeClock();
  let seen = 0;
  let ended: 'not yet' | 'synced' | Error = 'not yet';
  const reader = new MetadataReader();
  const once = clientOf(async ({ target, signal: aborted }) => {
    if (!target.includes('watch=')) return { status: 200, headers: { 'content-type': body.type }, body: body.bytes };
    return new Promise((_, reject) => aborted?.addEventListener('abort', () => reject(new Error('aborted'))));
  }, clock);
  const reflector = new Reflector({
    client: once,
    clock,
    random: seededRandom(1),
    gvr,
    representation,
    watchList: 'refused',
    sink: {
      replaceBegin: () => {},
      replaceEnd: () => {},
      replaceAbort: () => {},
      added: (bytes, start, end) => {
        reader.read(bytes, start, end);
        seen++;
      },
      modified: () => {},
      deleted: () => {},
      bookmark: () => {},
      synced: () => {
        if (ended === 'not yet') ended = 'synced';
      },
      failed: (error) => {
        if (ended === 'not yet') ended = error;
      },
    },
  });
  const aborter = new AbortController();
  const done = reflector.run(aborter.signal);
  await clock.settle();
  aborter.abort();
  await clock.settle();
  await done;
  const outcome = ended as 'not yet' | 'synced' | Error;
  if (outcome instanceof Error) throw outcome;
  expect(outcome).toBe('synced');
  return seen;
}

async function informed(body: Body): Promise<number> {
  const clock = new FakeClock();
  let failure: Error | undefined;
  const once = clientOf(async ({ target, signal: aborted }) => {
    if (target.includes('sendInitialEvents')) return { status: 400, headers: {}, body: Buffer.from('no') };
    if (!target.includes('watch=')) return { status: 200, headers: { 'content-type': body.type }, body: body.bytes };
    return new Promise((_, reject) => aborted?.addEventListener('abort', () => reject(new Error('aborted'))));
  }, clock);
  const onFailure = (error: Error): void => void (failure ??= error);
  const informer = new Informer({ client: once, clock, random: seededRandom(1), gvr, onFailure });
  const aborter = new AbortController();
  const done = informer.run(aborter.signal);
  await clock.settle();
  aborter.abort();
  await clock.settle();
  await done;
  if (failure !== undefined) throw failure;
  return informer.list().length;
}

async function listed(body: Body): Promise<number> {
  let seen = 0;
  const visit = (): void => void seen++;
  const outcome = await listMetadata({ client: client(body), signal }, { gvr }, { visit, accept: () => true });
  if (outcome.end === 'failed') throw outcome.error;
  return seen;
}

const CONSUMERS: Readonly<Record<string, Consumer>> = {
  'a reflector of metadata': (body) => enumerated(body, 'metadata'),
  'a reflector of objects': (body) => enumerated(body, 'object'),
  'an informer': informed,
  'a list of the client': async (body) => (await client(body).list({ gvr })).items.length,
  'the search for late dependents': listed,
};

/** Each error has a name of its own, and says what it met. */
const NAMED = [DecodeError, StatusError, TransportError, MetadataJsonError, ProtobufError];

async function refusal(work: Promise<unknown>): Promise<void> {
  const error: unknown = await work.then(
    (value) => new Error(`taken as ${JSON.stringify(value)}`),
    (caught: unknown) => caught,
  );
  expect(
    NAMED.some((named) => error instanceof named),
    String(error),
  ).toBe(true);
}

describe.each(Object.entries(CONSUMERS))('COL-048 %s', (_consumer, take) => {
  describe.each(['json', 'metadata json'])('of lists in %s', (encoding) => {
    it.each(Object.entries(EMPTY))('takes items that are %s for no object', async (_what, items) => {
      expect(await take(recordedList(encoding, items))).toBe(0);
    });

    it.each(Object.entries(UNEXPECTED))('refuses items that are %s by name', async (_what, items) => {
      await refusal(take(recordedList(encoding, items)));
    });
  });

  it.each(Object.entries(WHOLE))('refuses a body that is %s by name', async (_what, text) => {
    await refusal(take({ type: JSON_TYPE, bytes: Buffer.from(text) }));
  });
});

const BY_BYTES = ['a reflector of metadata', 'a reflector of objects', 'an informer'] as const;

describe.each(['protobuf', 'metadata protobuf'])('COL-048 a list in %s', (encoding) => {
  const whole = bytesOf(recordedAnswers().find(({ name }) => name === `list of configmaps, ${encoding}`)!);
  const empty = bytesOf(recordedAnswers().find(({ name }) => name === `empty list of configmaps, ${encoding}`)!);

  it('without items has no object', async () => {
    expect(await enumerated({ type: PROTOBUF_TYPE, bytes: empty }, 'metadata')).toBe(0);
    expect(await enumerated({ type: PROTOBUF_TYPE, bytes: whole }, 'metadata')).toBe(2);
  });

  it('is refused by name wherever it is cut off', async () => {
    for (let end = 0; end < whole.length; end += 7) {
      await refusal(enumerated({ type: PROTOBUF_TYPE, bytes: whole.subarray(0, end) }, 'metadata'));
    }
  });

  it.each(BY_BYTES)('is refused by name when it is JSON or a page, by %s', async (consumer) => {
    for (const text of Object.values(WHOLE)) {
      await refusal(CONSUMERS[consumer]!({ type: PROTOBUF_TYPE, bytes: Buffer.from(text) }));
    }
  });
});

describe('COL-048 lists of discovery', () => {
  const documents = {
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': { kind: 'APIGroupList', groups: [] },
    '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: [] },
  };
  const discovered = (path: string, member: string, items: unknown) =>
    discover(
      clientOf(async ({ target }) => {
        const document = documents[target as '/api'] as Record<string, unknown> | undefined;
        if (document === undefined) return { status: 404, headers: {}, body: Buffer.from('404 page not found') };
        const { [member]: _member, ...rest } = document;
        const changed = items === ABSENT ? rest : { ...rest, [member]: items };
        const body = Buffer.from(JSON.stringify(target === path ? changed : document));
        return { status: 200, headers: { 'content-type': JSON_TYPE }, body };
      }),
    );

  const LISTS = [
    ['/api', 'versions'],
    ['/apis', 'groups'],
    ['/api/v1', 'resources'],
  ] as const;

  it.each(LISTS)('take null, absent and empty lists alike in %s, member %s', async (path, member) => {
    for (const items of Object.values(EMPTY)) {
      const { resources, failedGroupVersions } = await discovered(path, member, items);
      expect([resources, failedGroupVersions.size]).toEqual([[], 0]);
    }
  });

  it.each(LISTS)('refuse unexpected lists by name in %s, member %s', async (path, member) => {
    for (const [what, items] of Object.entries(UNEXPECTED)) {
      if (member === 'versions' && what === 'a list of texts') continue;
      const outcome = discovered(path, member, items).then(({ failedGroupVersions }) => {
        for (const error of failedGroupVersions.values()) throw error;
        return what;
      });
      await refusal(outcome);
    }
  });
});

it('COL-048 the version of a list without one is no number', async () => {
  const body = {
    type: JSON_TYPE,
    bytes: Buffer.from('{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":null}'),
  };
  expect(await listVersion({ client: client(body), signal }, { gvr })).toBeNaN();
});
