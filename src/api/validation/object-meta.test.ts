import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../field-error.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import type { ObjectMetaRules } from './object-meta.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts';

const rules: ObjectMetaRules = { namespaced: true, nameRule: 'dnsSubdomain', builtin: true };
const good: ObjectMeta = { name: 'n', namespace: 'ns', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' };
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: '' };

function created(meta: ObjectMeta, overrides: Partial<ObjectMetaRules> = {}): string[] {
  return validateObjectMeta(meta, { ...rules, ...overrides }).map(formatFieldError);
}

describe('validateObjectMeta', () => {
  it('API-060 lets a plain object pass', () => {
    expect(created(good)).toEqual([]);
    expect(created({ name: 'n' }, { namespaced: false })).toEqual([]);
    expect(created({ ...good, generateName: 'n-' })).toEqual([]);
  });

  it.each<[string, ObjectMeta, Partial<ObjectMetaRules>, RegExp]>([
    ['API-062', { namespace: 'ns' }, {}, /^metadata\.name: Required value: name or generateName is required$/],
    ['API-063', { ...good, name: 'A' }, {}, /^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain /],
    [
      'API-063 label',
      { ...good, name: 'a.b' },
      { nameRule: 'dnsLabel' },
      /^metadata\.name: Invalid value: "a\.b": must not contain dots$/,
    ],
    [
      'API-061',
      { ...good, generateName: 'Ab-' },
      {},
      /^metadata\.generateName: Invalid value: "Ab-": a lowercase RFC 1123 subdomain /,
    ],
    ['API-064', { name: 'n' }, {}, /^metadata\.namespace: Required value$/],
    ['API-064 form', { ...good, namespace: 'a.b' }, {}, /^metadata\.namespace: Invalid value: "a\.b": must not /],
    ['API-064 scope', good, { namespaced: false }, /^metadata\.namespace: Forbidden: not allowed on this type$/],
    [
      'API-074',
      { ...good, generation: -1 },
      {},
      /^metadata\.generation: Invalid value: -1: must be greater than or equal to 0$/,
    ],
    ['API-066 labels', { ...good, labels: { '/a': '' } }, {}, /^metadata\.labels: Invalid value: "\/a": prefix part /],
    [
      'API-066 annotations',
      { ...good, annotations: { '/a': '' } },
      {},
      /^metadata\.annotations: Invalid value: "\/a": prefix part /,
    ],
    [
      'API-067',
      { ...good, ownerReferences: [owner] },
      {},
      /^metadata\.ownerReferences\.uid: Invalid value: "": must not be empty$/,
    ],
    [
      'API-071 built-in',
      { ...good, finalizers: ['x'] },
      {},
      /^metadata\.finalizers\[0\]: Invalid value: "x": name is neither a standard finalizer name nor /,
    ],
    [
      'API-078',
      { ...good, managedFields: [{ operation: 'x' }] },
      {},
      /^metadata\.managedFields\[0\]\.operation: Invalid value: "x": must be `Apply` or `Update`$/,
    ],
  ])('%s', (_, meta, overrides, want) => {
    const texts = created(meta, overrides);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(want);
  });

  it('API-071 custom resources may use any qualified name', () => {
    expect(created({ ...good, finalizers: ['x'] }, { builtin: false })).toEqual([]);
  });
});

function updated(
  next: Partial<ObjectMeta>,
  previous: Partial<ObjectMeta> = {},
  overrides: Partial<ObjectMetaRules> = {},
): string[] {
  const errors = validateObjectMetaUpdate({ ...good, ...next }, { ...good, ...previous }, { ...rules, ...overrides });
  return errors.map(formatFieldError);
}

describe('validateObjectMetaUpdate', () => {
  it('API-073 lets ordinary changes pass', () => {
    expect(updated({ labels: { a: 'b' }, finalizers: ['a.io/x'], resourceVersion: '1' })).toEqual([]);
    expect(updated({ deletionTimestamp: null })).toEqual([]);
  });

  it('API-063 does not judge an old name by the rule for new ones', () => {
    expect(updated({ name: 'Old_Name' }, { name: 'Old_Name' })).toEqual([]);
  });

  it.each<[keyof ObjectMeta, Partial<ObjectMeta>, string]>([
    ['name', { name: 'm' }, '"m"'],
    ['namespace', { namespace: 'other' }, '"other"'],
    ['uid', { uid: 'v' }, '"v"'],
    ['deletionTimestamp', { deletionTimestamp: '2026-01-01T00:00:00Z' }, '"2026-01-01T00:00:00Z"'],
    ['deletionGracePeriodSeconds', { deletionGracePeriodSeconds: 5 }, '5'],
  ])('API-073 %s is immutable', (field, change, value) => {
    expect(new Set(updated(change))).toEqual(
      new Set([`metadata.${field}: Invalid value: ${value}: field is immutable`]),
    );
  });

  it('API-073 a grace period cannot be taken away', () => {
    expect(updated({}, { deletionGracePeriodSeconds: 0 })).toContain(
      'metadata.deletionGracePeriodSeconds: Invalid value: null: field is immutable',
    );
  });

  const terminating = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
  const refusal =
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.io/y"}';

  it('API-072 no new finalizer while terminating, said twice', () => {
    const texts = updated(
      { ...terminating, finalizers: ['a.io/x', 'a.io/y'] },
      { ...terminating, finalizers: ['a.io/x'] },
    );
    expect(texts).toEqual([refusal, refusal]);
  });

  it('API-072 removing and reordering is allowed, and adding while it lives', () => {
    const held = ['a.io/x', 'a.io/y'];
    expect(updated({ ...terminating, finalizers: ['a.io/y'] }, { ...terminating, finalizers: held })).toEqual([]);
    expect(updated({ ...terminating, finalizers: ['a.io/y', 'a.io/x'] }, { ...terminating, finalizers: held })).toEqual(
      [],
    );
    expect(updated({ finalizers: held }, { finalizers: [] })).toEqual([]);
  });

  it('API-071 checks known names on update of built-in types', () => {
    expect(updated({ finalizers: ['x'] })).toHaveLength(1);
    expect(updated({ finalizers: ['x'] }, {}, { builtin: false })).toEqual([]);
  });

  it('COL-233 both finalizers of garbage collection are refused on update too', () => {
    expect(updated({ finalizers: ['orphan', 'foregroundDeletion'] })).toEqual([
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });

  it('COL-235 checks owner references on update', () => {
    expect(new Set(updated({ ownerReferences: [owner] }))).toEqual(
      new Set(['metadata.ownerReferences.uid: Invalid value: "": must not be empty']),
    );
  });
});
