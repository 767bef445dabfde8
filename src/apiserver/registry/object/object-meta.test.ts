import { describe, expect, it } from 'vitest';
import type { ObjectMeta } from '../../../api/meta/object-meta.ts';
import { restoreSystemMetadata } from './object-meta.ts';

const created = { uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
const terminating = { ...created, deletionTimestamp: '2026-01-02T00:00:00Z', deletionGracePeriodSeconds: 0 };

function restored(next: ObjectMeta, previous: ObjectMeta): ObjectMeta {
  const object = { metadata: next };
  restoreSystemMetadata(object, { metadata: previous });
  return object.metadata;
}

describe('restoreSystemMetadata', () => {
  it('API-073 puts back what an update leaves out', () => {
    expect(restored({}, terminating)).toEqual(terminating);
    expect(restored({ deletionTimestamp: null, deletionGracePeriodSeconds: null }, terminating)).toEqual(terminating);
  });

  it('API-073 replaces a different creationTimestamp and a different deletionTimestamp', () => {
    const other = '2030-01-01T00:00:00Z';
    expect(restored({ creationTimestamp: other, deletionTimestamp: other }, terminating)).toEqual(terminating);
  });

  it('API-073 leaves a deletion of a living object to be refused', () => {
    const deletion = { deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
    expect(restored({ ...deletion }, created)).toEqual({ ...created, ...deletion });
  });

  it('API-073 null on a living object is nothing', () => {
    expect(restored({ deletionTimestamp: null, deletionGracePeriodSeconds: null }, created)).toEqual(created);
  });

  it('API-073 leaves a different grace period to be refused', () => {
    expect(restored({ deletionGracePeriodSeconds: 77 }, terminating)).toEqual({
      ...terminating,
      deletionGracePeriodSeconds: 77,
    });
  });
});
