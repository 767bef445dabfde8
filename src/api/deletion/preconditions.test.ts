import { describe, expect, it } from 'vitest';
import { thing } from './fixtures.ts';
import {
  checkDeletePreconditions,
  failedPrecondition,
  impliedPreconditions,
  storagePreconditionText,
} from './preconditions.ts';

const gk = { group: 'apps', kind: 'Thing' };

describe('checkDeletePreconditions', () => {
  it.each([
    [{}],
    [{ preconditions: {} }],
    [{ preconditions: { uid: 'uid-1' } }],
    [{ preconditions: { resourceVersion: '7' } }],
    [{ preconditions: { uid: 'uid-1', resourceVersion: '7' } }],
  ])('API-242 %o holds', (options) => {
    expect(checkDeletePreconditions(thing(), options, gk)).toBeUndefined();
  });

  it('API-242 another uid', () => {
    const error = checkDeletePreconditions(thing(), { preconditions: { uid: 'x', resourceVersion: '1' } }, gk);
    expect(error?.code).toBe(409);
    expect(error?.reason).toBe('Conflict');
    expect(error?.message).toBe(
      'Operation cannot be fulfilled on Thing.apps "n": the UID in the precondition (x) does not match the UID in record (uid-1). The object might have been deleted and then recreated',
    );
    expect(error?.details).toEqual({ name: 'n', group: 'apps', kind: 'Thing' });
  });

  it('API-242 another resourceVersion', () => {
    const error = checkDeletePreconditions(thing(), { preconditions: { resourceVersion: '6' } }, { ...gk, group: '' });
    expect(error?.message).toBe(
      'Operation cannot be fulfilled on Thing "n": the ResourceVersion in the precondition (6) does not match the ResourceVersion in record (7). The object might have been modified',
    );
  });

  it('API-242 an empty uid is a precondition too', () => {
    expect(failedPrecondition(thing(), { preconditions: { uid: '' } })).toMatchObject({ field: 'uid' });
    expect(failedPrecondition({}, { preconditions: { uid: '' } })).toBeUndefined();
  });

  it('API-174, API-301 the wording of the storage layer', () => {
    expect(storagePreconditionText({ field: 'uid', wanted: 'a', found: 'b' })).toBe(
      'Precondition failed: UID in precondition: a, UID in object meta: b',
    );
    expect(storagePreconditionText({ field: 'resourceVersion', wanted: '1', found: '2' })).toBe(
      'Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: 2',
    );
  });
});

describe('impliedPreconditions', () => {
  const namespaces = { group: '', resource: 'namespaces' };
  const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

  it.each([namespaces, definitions])(
    'API-301 API-456 $resource: the uid that was found, beside what was asked',
    (kind) => {
      expect(impliedPreconditions({}, kind, { uid: 'a' })).toEqual({ preconditions: { uid: 'a' } });
      const options = { propagationPolicy: 'Orphan', preconditions: { resourceVersion: '7' } };
      expect(impliedPreconditions(options, kind, { uid: 'a' })).toEqual({
        propagationPolicy: 'Orphan',
        preconditions: { resourceVersion: '7', uid: 'a' },
      });
      expect(options.preconditions).toEqual({ resourceVersion: '7' });
    },
  );

  it('API-242 a uid that was asked for stays', () => {
    const options = { preconditions: { uid: 'b' } };
    expect(impliedPreconditions(options, namespaces, { uid: 'a' })).toBe(options);
  });

  it.each([
    { group: '', resource: 'pods' },
    { group: 'example.com', resource: 'namespaces' },
    { group: '', resource: 'customresourcedefinitions' },
  ])('other kinds imply nothing: $group $resource', (kind) => {
    const options = {};
    expect(impliedPreconditions(options, kind, { uid: 'a' })).toBe(options);
  });
});
