import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import type { ObjectMeta, OwnerReference } from '../meta/object-meta.ts';
import { dedupOwnerReferences, validateOwnerReferences } from './owner-references.ts';

const path = 'metadata.ownerReferences';
const owner: OwnerReference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u-1' };
const texts = (references: readonly OwnerReference[]): string[] =>
  validateOwnerReferences(references, path).map(formatFieldError);

describe('validateOwnerReferences', () => {
  it.each<[string, readonly OwnerReference[]]>([
    ['none', []],
    ['one', [owner]],
    ['the core group', [{ ...owner, apiVersion: 'v1', kind: 'ConfigMap' }]],
    ['an Event of another group or version', [{ ...owner, apiVersion: 'events.k8s.io/v1', kind: 'Event' }]],
    ['one uid twice, with different fields', [owner, { ...owner, name: 'other' }]],
    [
      'one controller among several',
      [
        { ...owner, controller: true },
        { ...owner, uid: 'u-2', controller: false },
      ],
    ],
  ])('API-069 lets %s pass', (_, references) => {
    expect(texts(references)).toEqual([]);
  });

  it.each([
    ['no apiVersion', { apiVersion: '' }, '.apiVersion: Invalid value: "": version must not be empty'],
    ['no version', { apiVersion: 'apps/' }, '.apiVersion: Invalid value: "apps/": version must not be empty'],
    ['two slashes', { apiVersion: 'a/b/c' }, '.apiVersion: Invalid value: "a/b/c": version must not be empty'],
    ['no kind', { kind: '' }, '.kind: Invalid value: "": must not be empty'],
    ['no name', { name: '' }, '.name: Invalid value: "": must not be empty'],
    ['no uid', { uid: '' }, '.uid: Invalid value: "": must not be empty'],
    [
      'an Event',
      { apiVersion: 'v1', kind: 'Event' },
      ': Invalid value: {"apiVersion":"v1","kind":"Event","name":"web","uid":"u-1"}: /v1, Kind=Event is disallowed from being an owner',
    ],
  ])('API-067 COL-235 %s, without an index', (_, change, want) => {
    expect(texts([owner, { ...owner, ...change }])).toEqual([path + want]);
  });

  it('API-067 reports a reference with nothing in it four times', () => {
    expect(texts([{} as OwnerReference])).toEqual([
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ]);
  });

  it('API-068 only one controller', () => {
    const references = [
      { ...owner, controller: true },
      {
        blockOwnerDeletion: true,
        controller: true,
        uid: 'u-2',
        name: 'db',
        kind: 'StatefulSet',
        apiVersion: 'apps/v1',
      },
    ];
    expect(texts(references)).toEqual([
      'metadata.ownerReferences: Invalid value: [{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u-1","controller":true},{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db","uid":"u-2","controller":true,"blockOwnerDeletion":true}]: Only one reference can have Controller set to true. Found "true" in references for ReplicaSet/web and StatefulSet/db',
    ]);
  });

  const controllers = (count: number): OwnerReference[] =>
    Array.from({ length: count }, (_, n) => ({ ...owner, name: `web-${n}`, uid: `u-${n}`, controller: true }));

  it('API-068 names the first controller with each of the others', () => {
    const list = JSON.stringify(controllers(11));
    expect(texts(controllers(11))).toEqual(
      Array.from(
        { length: 10 },
        (_, n) =>
          `metadata.ownerReferences: Invalid value: ${list}: Only one reference can have Controller set to true. Found "true" in references for ReplicaSet/web-0 and ReplicaSet/web-${n + 1}`,
      ),
    );
  });

  it('API-068 of very many it says ten, for each finding holds the whole list', () => {
    const found = texts(controllers(1000));
    expect(found.map((text) => /web-\d+$/.exec(text)?.[0])).toEqual(
      Array.from({ length: 10 }, (_, n) => `web-${n + 1}`),
    );
    expect(validateOwnerReferences([...controllers(1000), { ...owner, uid: '' }], path).at(-1)?.field).toBe(
      `${path}.uid`,
    );
  });
});

describe('dedupOwnerReferences', () => {
  const warning =
    '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u-1, u-2';

  it('API-070 keeps the first of wholly equal references, in place, and warns with their uids', () => {
    const other = { ...owner, uid: 'u-2' };
    const meta: ObjectMeta = { ownerReferences: [owner, other, { ...owner }, { ...other }] };
    expect(dedupOwnerReferences(meta)).toEqual({ warning });
    expect(meta.ownerReferences).toEqual([owner, other]);
  });

  it('API-070 keeps references that share only the uid', () => {
    const references = [owner, { ...owner, blockOwnerDeletion: true }, { ...owner, name: 'x' }];
    const meta: ObjectMeta = { ownerReferences: references };
    expect(dedupOwnerReferences(meta)).toEqual({});
    expect(meta.ownerReferences).toBe(references);
    expect(dedupOwnerReferences({})).toEqual({});
  });

  it('API-070 an unset flag differs from false, the order of fields does not matter', () => {
    const reordered = { uid: 'u-1', name: 'web', kind: 'ReplicaSet', apiVersion: 'apps/v1' };
    expect(dedupOwnerReferences({ ownerReferences: [owner, { ...owner, controller: false }] })).toEqual({});
    expect(dedupOwnerReferences({ ownerReferences: [owner, reordered] }).warning).toContain('u-1');
  });

  it('API-070 words the second pass differently', () => {
    const { warning: second } = dedupOwnerReferences(
      { ownerReferences: [owner, { ...owner }] },
      { afterMutatingAdmission: true },
    );
    expect(second).toMatch(
      /^\.metadata\.ownerReferences contains duplicate entries after mutating admission happens; API/,
    );
  });
});
