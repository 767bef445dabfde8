import { describe, expect, it } from 'vitest';
import { checkUidPrecondition } from './uid-precondition.ts';

const gr = { group: 'apps', resource: 'deployments' };

describe('checkUidPrecondition', () => {
  it('API-174 an absent or equal uid holds', () => {
    expect(checkUidPrecondition({}, { uid: 'u' }, gr)).toBeUndefined();
    expect(checkUidPrecondition({ uid: '' }, { uid: 'u' }, gr)).toBeUndefined();
    expect(checkUidPrecondition({ uid: 'u' }, { uid: 'u' }, gr)).toBeUndefined();
  });

  it('API-174 another uid is a conflict', () => {
    const error = checkUidPrecondition({ uid: 'v' }, { name: 'n', uid: 'u' }, gr);
    expect(error?.code).toBe(409);
    expect(error?.reason).toBe('Conflict');
    expect(error?.message).toBe(
      'Operation cannot be fulfilled on deployments.apps "n": Precondition failed: UID in precondition: v, UID in object meta: u',
    );
  });
});
