import { describe, expect, it } from 'vitest';
import { StatusError } from '../../api/status-error.ts';
import { listVersion } from './list-version.ts';
import { setUp, statusWith } from './operation.fixture.ts';

const secrets = { gvr: { group: '', version: 'v1', resource: 'secrets' } };
const listAt = (resourceVersion: string) => ({
  status: 200,
  body: { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion }, items: [] },
});

describe('listVersion', () => {
  it('COL-111 COL-002 asks for the most recent state, not that of a cache, and for no more than one object', async () => {
    const { context, sent } = setUp([listAt('900')]);
    expect(await listVersion(context, secrets)).toBe(900);
    expect(sent).toEqual(['GET limit=1']);
  });

  it('is no number where the server counts otherwise', async () => {
    expect(await listVersion(setUp([listAt('9.a')]).context, secrets)).toBeNaN();
    expect(await listVersion(setUp([listAt('')]).context, secrets)).toBeNaN();
  });

  it('throws what the server says', async () => {
    const { context } = setUp([statusWith(403, 'Forbidden')]);
    await expect(listVersion(context, secrets)).rejects.toThrow(StatusError);
  });
});
