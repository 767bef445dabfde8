import { describe, expect, it } from 'vitest';
import { MetadataReader } from '../../src/api/codec/metadata/metadata-reader.ts';
import { StatusError } from '../../src/api/status-error.ts';
import { seededRandom } from '../../src/base/random/random.ts';
import { FakeClock } from '../../src/base/time/fake-clock.ts';
import { listDecoder } from '../../src/client/codec/list-decoder.ts';
import { discover } from '../../src/client/discovery/discovery.ts';
import { serverVersion } from '../../src/client/discovery/server-version.ts';
import { Reflector } from '../../src/client/reflector/reflector.ts';
import type { ReflectorSink } from '../../src/client/reflector/reflector-sink.ts';
import { listMetadata } from '../../src/collector/operations/list-metadata.ts';
import { listVersion } from '../../src/collector/operations/list-version.ts';
import { readMetadata } from '../../src/collector/operations/read-metadata.ts';
import { bytesOf, clientOf, type RecordedAnswer, recordedAnswers, responseOf } from './recorded-answers.ts';

const answers = recordedAnswers();
const named = (name: string): RecordedAnswer => {
  const found = answers.find((each) => each.name === name);
  if (found === undefined) throw new Error(`nothing is recorded as ${name}`);
  return found;
};
const signal = new AbortController().signal;
const configMaps = { gvr: { group: '', version: 'v1', resource: 'configmaps' }, namespace: 'default' };
const widgets = { gvr: { group: 'example.com', version: 'v1', resource: 'widgets' }, namespace: 'default' };

interface Seen {
  readonly name: string;
  readonly owners: number;
  readonly deleting: boolean;
}

const reader = new MetadataReader();

/** The fields that the collector's graph takes from an object. */
function seenIn(bytes: Uint8Array, start: number, end: number): Seen {
  reader.read(bytes, start, end);
  const name = Buffer.from(reader.bytes.subarray(reader.nameStart, reader.nameEnd)).toString();
  return { name, owners: reader.ownerCount, deleting: reader.deleting };
}

/** The objects of a list, as a reflector decodes it. */
function objectsIn(answer: RecordedAnswer): {
  readonly seen: Seen[];
  readonly resourceVersion: string;
  readonly more: boolean;
} {
  const seen: Seen[] = [];
  const decoder = listDecoder(answer.contentType, (bytes, start, end) => void seen.push(seenIn(bytes, start, end)));
  decoder.push(bytesOf(answer));
  const meta = decoder.end();
  return { seen, resourceVersion: meta.resourceVersion, more: meta.continue !== '' };
}

const WHAT = { configmaps: ['dependent', 'owner'], widgets: ['one', 'two'] } as const;
const ENCODINGS = ['json', 'protobuf', 'metadata json', 'metadata protobuf'] as const;

describe.each(['configmaps', 'widgets'] as const)('COL-040 recorded lists of %s', (kind) => {
  it.each(ENCODINGS)('in %s are decoded, whole, in pages and empty', (encoding) => {
    const whole = objectsIn(named(`list of ${kind}, ${encoding}`));
    expect(whole.seen.map(({ name }) => name)).toEqual(WHAT[kind]);
    expect(whole.seen.map(({ owners }) => owners)).toEqual(kind === 'configmaps' ? [1, 0] : [1, 1]);
    expect(whole.seen.map(({ deleting }) => deleting)).toEqual(kind === 'configmaps' ? [true, false] : [false, false]);
    const page = objectsIn(named(`first page of ${kind}, ${encoding}`));
    expect([page.seen.length, page.more, page.resourceVersion]).toEqual([1, true, whole.resourceVersion]);
    const none = objectsIn(named(`empty list of ${kind}, ${encoding}`));
    expect([none.seen, none.more, none.resourceVersion !== '']).toEqual([[], false, true]);
  });

  it.each(['json', 'metadata json'] as const)('in %s are decoded whole by the calls of workers', async (encoding) => {
    for (const [name, count] of [
      [`empty list of ${kind}, ${encoding}`, 0],
      [`list of ${kind}, ${encoding}`, 2],
    ] as const) {
      const client = clientOf(async () => responseOf(named(name)));
      const names: unknown[] = [];
      const ref = kind === 'configmaps' ? configMaps : widgets;
      const visit = ({ name: each }: { readonly name?: string }): void => void names.push(each);
      expect(await listMetadata({ client, signal }, ref, { visit, accept: () => true })).toEqual({ end: 'complete' });
      expect(names).toEqual(count === 0 ? [] : WHAT[kind]);
      expect(await listVersion({ client, signal }, ref)).toBeGreaterThan(0);
    }
  });
});

/** Runs a reflector whose requests get these answers, one after the other; later ones hang. */
async function reflect(encodings: 'metadata' | 'object', ...recorded: readonly RecordedAnswer[]): Promise<string[]> {
  const clock = new FakeClock();
  const log: string[] = [];
  const note =
    (verb: string) =>
    (bytes: Uint8Array, start: number, end: number): void =>
      void log.push(`${verb} ${seenIn(bytes, start, end).name}`);
  const sink: ReflectorSink = {
    replaceBegin: () => void log.push('begin'),
    replaceEnd: () => void log.push('end'),
    replaceAbort: () => void log.push('abort'),
    added: note('added'),
    modified: note('modified'),
    deleted: note('deleted'),
    bookmark: () => {},
    synced: () => void log.push('synced'),
    failed: (error) => void log.push(`failed ${error.message}`),
  };
  const left = [...recorded];
  const client = clientOf((request) => {
    const next = left.shift();
    if (next !== undefined) return Promise.resolve(responseOf(next));
    return new Promise((_, reject) => request.signal?.addEventListener('abort', () => reject(new Error('aborted'))));
  }, clock);
  const { gvr } = configMaps;
  const reflector = new Reflector({ client, clock, random: seededRandom(1), gvr, representation: encodings, sink });
  const controller = new AbortController();
  const done = reflector.run(controller.signal);
  await clock.settle();
  controller.abort();
  await clock.settle();
  await done;
  return log;
}

describe.each(['configmaps', 'widgets'] as const)('COL-040 recorded watch lists of %s', (kind) => {
  it.each(['json', 'metadata json', 'metadata protobuf'] as const)('in %s fill a reflector', async (encoding) => {
    const representation = encoding === 'json' ? 'object' : 'metadata';
    const log = await reflect(representation, named(`watch list of ${kind}, ${encoding}`));
    expect(log.slice(0, 5).sort()).toEqual(
      ['begin', 'end', 'synced', ...WHAT[kind].map((name) => `added ${name}`)].sort(),
    );
    expect(log.slice(3, 5)).toEqual(['end', 'synced']);
    expect(log.slice(5)).toEqual(['added late', 'modified late', 'deleted late']);
    const none = await reflect(representation, named(`watch list of no ${kind}, ${encoding}`));
    expect(none).toEqual(['begin', 'end', 'synced']);
  });

  it.each(['json', 'metadata json', 'metadata protobuf'] as const)(
    'in %s are followed by another one when the version is gone',
    async (encoding) => {
      const log = await reflect(
        encoding === 'json' ? 'object' : 'metadata',
        named(`watch list of no ${kind}, ${encoding}`),
        named(`watch of ${kind} from a version that is gone, ${encoding}`),
      );
      expect(log).toEqual(['begin', 'end', 'synced']);
    },
  );
});

describe('COL-116 recorded refusals', () => {
  const refusals = answers.filter(({ status }) => status >= 400);

  it.each(refusals.map((each) => [each.name, each] as const))(
    '%s is an error with its status',
    async (_name, answer) => {
      const client = clientOf(async () => responseOf({ ...answer, ...(answer.retryAfter && { retryAfter: '0' }) }));
      const error: unknown = await client
        .request({ method: 'GET', path: '/x', timeoutMs: 10 })
        .catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(StatusError);
      const { code, reason, message } = (error as StatusError).status;
      expect(code).toBe(answer.status);
      expect(message).not.toBe('');
      if (!answer.contentType.startsWith('text/plain')) {
        expect(reason).toBe(REASONS[answer.status]);
      }
    },
  );

  it.each(['configmaps', 'widgets'] as const)(
    'prove that one of %s is absent by a 404 with its name only',
    async (kind) => {
      const ref = kind === 'configmaps' ? configMaps : widgets;
      for (const answer of refusals) {
        const { group, version, resource } = ref.gvr;
        const target = {
          apiVersion: group === '' ? version : `${group}/${version}`,
          resource,
          namespace: 'default',
          name: 'nobody',
        };
        const client = clientOf(async () => responseOf({ ...answer, ...(answer.retryAfter && { retryAfter: '0' }) }));
        const read = await readMetadata({ client, signal, onPathNotFound: () => {} }, target as never);
        expect([answer.name, read.state]).toEqual([
          answer.name,
          answer.name.startsWith('get of none') && answer.status === 404 ? 'absent' : 'error',
        ]);
      }
    },
  );
});

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  504: 'Timeout',
};

describe('COL-010 recorded discovery', () => {
  const documents: Readonly<Record<string, string>> = {
    '/api/v1': 'resources of v1',
    '/apis/example.com/v1': 'resources of example.com/v1',
    '/apis/apiextensions.k8s.io/v1': 'resources of apiextensions.k8s.io/v1',
  };

  it.each(['aggregated', 'legacy'] as const)('in its %s form names the resources', async (form) => {
    const client = clientOf(async ({ target }) => {
      const root = target === '/api' ? 'core' : target === '/apis' ? 'groups' : undefined;
      if (root !== undefined) return responseOf(named(form === 'aggregated' ? `${root}, aggregated` : root));
      return responseOf(named(documents[target] ?? 'path that is not there, json'));
    });
    const { resources } = await discover(client);
    const known = resources.map(({ group, resource }) => `${resource}.${group}`);
    expect(known).toEqual(expect.arrayContaining(['configmaps.', 'secrets.']));
    if (form === 'aggregated') expect(known).toEqual(expect.arrayContaining(['widgets.example.com']));
  });

  it('has the version', async () => {
    expect(await serverVersion(clientOf(async () => responseOf(named('version'))))).toEqual({ major: 1, minor: 36 });
  });
});
