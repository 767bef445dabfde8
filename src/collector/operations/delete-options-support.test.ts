import { describe, expect, it } from 'vitest';
import { builtinResources } from '../../api/kinds/builtin-resources.ts';
import { apiVersionOf } from '../../api/meta/group-version-kind.ts';
import { DeleteOptionsSupport } from './delete-options-support.ts';
import { setUp, statusWith } from './operation.fixture.ts';

const versionAnswer = (minor: string) => ({ status: 200, body: { major: '1', minor } });
const unavailable = statusWith(503, 'ServiceUnavailable');

/** Where the options are sent after a server gave these answers one after the other, and how often the server was asked. */
async function learned(script: Parameters<typeof setUp>[0], ms = 0): Promise<{ place: string; asked: number }> {
  const { context, clock, sent, stop } = setUp(script);
  const support = new DeleteOptionsSupport();
  const logger = { debug: () => undefined } as never;
  const learning = support.learn(context.client, { clock, logger, signal: stop.signal });
  await clock.advanceAsync(ms);
  stop.abort();
  await learning;
  return { place: support.placeOf({ apiVersion: 'v1' }), asked: sent.length };
}

describe('the place of options of a DELETE', () => {
  it('COL-150 is the query only at kube-apiserver 1.20 or later', () => {
    const support = new DeleteOptionsSupport();
    const places = [undefined, { major: 1, minor: 19 }, { major: 1, minor: 20 }, { major: 2, minor: 0 }].map(
      (version) => {
        support.note(version);
        return support.placeOf({ apiVersion: 'apps/v1' });
      },
    );
    expect(places).toEqual(['body', 'body', 'query', 'query']);
  });

  it('COL-150 is the body for custom resources, and for whatever an extension server may serve', () => {
    const support = new DeleteOptionsSupport();
    support.note({ major: 1, minor: 36 });
    const others = [
      'example.com/v1',
      'metrics.k8s.io/v1beta1',
      'snapshot.storage.k8s.io/v1',
      'apps/v2',
      'apps/v1beta1',
    ];
    for (const apiVersion of others) expect(support.placeOf({ apiVersion }), apiVersion).toBe('body');
  });

  it('COL-150 is the query for whatever can be deleted of what kube-apiserver serves itself', () => {
    const support = new DeleteOptionsSupport();
    support.note({ major: 1, minor: 20 });
    for (const resource of builtinResources().filter(({ verbs }) => verbs.includes('delete'))) {
      const apiVersion = apiVersionOf(resource);
      expect(support.placeOf({ apiVersion }), apiVersion).toBe('query');
    }
  });

  it('is learned from the server, once', async () => {
    expect(await learned([versionAnswer('36')], 300_000)).toEqual({ place: 'query', asked: 1 });
    expect(await learned([versionAnswer('16+')], 300_000)).toEqual({ place: 'body', asked: 1 });
  });

  it('is asked for again, every half minute, while nobody answers', async () => {
    expect(await learned([unavailable, unavailable, versionAnswer('36')], 59_000)).toEqual({ place: 'body', asked: 2 });
    expect(await learned([unavailable, unavailable, versionAnswer('36')], 61_000)).toEqual({
      place: 'query',
      asked: 3,
    });
  });

  it('stays in the body where the version of the server is unknown', async () => {
    expect(await learned([statusWith(403, 'Forbidden')], 300_000)).toEqual({ place: 'body', asked: 1 });
    expect(await learned([{ status: 200, body: {} }], 300_000)).toEqual({ place: 'body', asked: 1 });
  });
});
