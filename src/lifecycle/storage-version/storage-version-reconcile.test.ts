import { describe, expect, it } from 'vitest';
import { decideStorageVersion, type ServerView, type StorageVersion } from './storage-version-reconcile.ts';

const NOW = Date.UTC(2026, 0, 1);
const entry = (apiServerID: string, encodingVersion = 'v1') => ({ apiServerID, encodingVersion });
const object = (...storageVersions: object[]): StorageVersion => ({
  metadata: { name: 'core.pods' },
  status: { storageVersions },
});
const decide = (subject: StorageVersion, views: Record<string, ServerView>) =>
  decideStorageVersion(subject, (server) => views[server] ?? 'alive', NOW);

describe('LIFE-730 a StorageVersion', () => {
  it('keeps the entries of servers that live, and stays when no server has reported yet', () => {
    expect(decide(object(entry('a'), entry('b')), {}).verdict).toBe('nothing');
    expect(decide(object(), {}).verdict).toBe('nothing');
  });

  it('loses no entry before a live read has shown that the lease is gone', () => {
    const decision = decide(object(entry('a'), entry('b')), { b: 'unsure', a: 'gone' });
    expect(decision).toMatchObject({ verdict: 'readLeases', names: ['b'] });
  });

  it('loses the entries of servers that are gone, and has a common version when the others agree', () => {
    const decision = decide(object(entry('a'), entry('b', 'v2'), entry('c')), { b: 'gone' });
    expect(decision).toMatchObject({
      verdict: 'update',
      status: {
        storageVersions: [entry('a'), entry('c')],
        commonEncodingVersion: 'v1',
        conditions: [{ type: 'AllEncodingVersionsEqual', status: 'True', reason: 'CommonEncodingVersionSet' }],
      },
    });
    const divided = decide(object(entry('a'), entry('b'), entry('c', 'v2')), { b: 'gone' });
    expect(divided).toMatchObject({ verdict: 'update', status: { conditions: [{ status: 'False' }] } });
    expect(divided).not.toHaveProperty('status.commonEncodingVersion');
  });

  it('is deleted with its last entry, unless it is being deleted already', () => {
    expect(decide(object(entry('a')), { a: 'gone' }).verdict).toBe('delete');
    const terminating = { ...object(entry('a')), metadata: { name: 'x', deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(decide(terminating, { a: 'gone' }).verdict).toBe('nothing');
  });
});
