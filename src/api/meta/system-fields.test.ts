import { describe, expect, it } from 'vitest';
import type { ObjectMeta } from './object-meta.ts';
import { withStoredSystemFields, withoutSystemFields } from './system-fields.ts';

describe('withoutSystemFields', () => {
  it('API-060 wipes what the server sets', () => {
    const sent: ObjectMeta = {
      name: 'n',
      uid: 'u',
      creationTimestamp: 't',
      deletionTimestamp: 't',
      deletionGracePeriodSeconds: 3,
      selfLink: '/x',
      labels: { a: 'b' },
      generation: 7,
    };
    expect(withoutSystemFields(sent)).toEqual({ name: 'n', labels: { a: 'b' }, generation: 7 });
    expect(sent.uid).toBe('u');
  });
});

describe('withStoredSystemFields', () => {
  const stored: ObjectMeta = {
    name: 'n',
    uid: 'u',
    generation: 4,
    creationTimestamp: 'created',
    deletionTimestamp: 'deleted',
    deletionGracePeriodSeconds: 0,
  };

  it('API-073 leaving them out restores them', () => {
    expect(withStoredSystemFields({ name: 'n' }, stored)).toEqual(stored);
  });

  it('API-073 a patch cannot undelete or change when the object was created', () => {
    const sent = { name: 'n', creationTimestamp: 'x', deletionTimestamp: null, deletionGracePeriodSeconds: null };
    expect(withStoredSystemFields(sent, stored)).toEqual(stored);
  });

  it('API-074 the generation sent is ignored, also where nothing is stored', () => {
    expect(withStoredSystemFields({ generation: 9 }, stored).generation).toBe(4);
    expect(withStoredSystemFields({ generation: 9 }, { name: 'n' })).toEqual({});
  });

  it('API-174 a uid and a grace period that were sent stay, to be judged', () => {
    const sent = { uid: 'v', deletionGracePeriodSeconds: 5 };
    expect(withStoredSystemFields(sent, stored)).toMatchObject(sent);
  });
});
