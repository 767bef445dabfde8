import { describe, expect, it } from 'vitest';
import { DeletionRequests } from './deletion-requests.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const ada = { username: 'ada' };

/** A DELETE of the object with this uid. */
const deletion = (uid: string, more: Partial<Parameters<DeletionRequests['validate']>[0]> = {}) => ({
  info: CONFIG_MAPS,
  oldObject: { metadata: { name: uid, uid } },
  user: ada,
  options: {},
  dryRun: false,
  ...more,
});

describe('CAS-060 the requests of deletions', () => {
  it('are remembered with user and policy until they are taken', () => {
    const requests = new DeletionRequests();
    requests.validate(deletion('a', { options: { propagationPolicy: 'Orphan' } }));
    requests.validate(deletion('b'));
    expect(requests.take('a')).toEqual({ requester: 'ada', policy: 'Orphan' });
    expect(requests.take('b')).toEqual({ requester: 'ada' });
    expect(['a', 'b', 'c'].map((uid) => requests.take(uid))).toEqual([undefined, undefined, undefined]);
  });

  it('are those that began a deletion: no dry run, and no later DELETE of a terminating object', () => {
    const requests = new DeletionRequests();
    requests.validate(deletion('a', { dryRun: true }));
    expect(requests.take('a')).toBeUndefined();
    requests.validate(deletion('a'));
    const terminating = { metadata: { name: 'a', uid: 'a', deletionTimestamp: '2026-11-26T12:00:00Z' } };
    requests.validate(deletion('a', { oldObject: terminating, user: { username: 'system:node:n' } }));
    expect(requests.take('a')).toEqual({ requester: 'ada' });
  });

  it('are not remembered for kinds that change all the time', () => {
    const requests = new DeletionRequests();
    requests.validate(deletion('a', { info: { group: 'coordination.k8s.io', resource: 'leases' } }));
    requests.validate(deletion('b', { info: { group: 'example.com', resource: 'leases' } }));
    expect([requests.take('a'), requests.take('b')]).toEqual([undefined, { requester: 'ada' }]);
  });

  it('are at most 50,000, and the one that came first is forgotten', () => {
    const requests = new DeletionRequests();
    for (let n = 0; n < 50_000; n++) requests.validate(deletion(`u${n}`));
    // The first was deleted anew, as after a refusal behind admission: it is the last now.
    requests.validate(deletion('u0', { user: { username: 'bob' } }));
    requests.validate(deletion('new'));
    expect(requests.take('u1')).toBeUndefined();
    expect(requests.take('u0')).toEqual({ requester: 'bob' });
    expect([requests.take('u2'), requests.take('new')]).toEqual([{ requester: 'ada' }, { requester: 'ada' }]);
  });
});
