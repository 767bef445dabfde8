import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ManagedFieldsEntry } from '../meta/object-meta.ts';
import { managersAfterScale, managersAfterScaling, managersOfScale } from './scale-managers.ts';

const REPLICAS = (apiVersion: string) => (apiVersion === 'apps/v1' ? ['f:spec', 'f:replicas'] : undefined);
const IN_SCALE = { 'f:spec': { 'f:replicas': {} } };

const entry = (manager: string, operation: 'Apply' | 'Update', fields: object): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: 'apps/v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: fields as Record<string, unknown>,
});

const withoutTime = ({ time: _time, ...rest }: ManagedFieldsEntry): ManagedFieldsEntry => rest;

const both = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } };
const paused = { 'f:spec': { 'f:paused': {} } };

describe('managers of a Scale', () => {
  it('API-331 are those of the replicas, wherever the object has them', () => {
    const entries = [entry('a', 'Apply', both), entry('b', 'Update', paused), entry('c', 'Update', IN_SCALE)];
    expect(managersOfScale(entries, REPLICAS)).toEqual([
      { ...entry('a', 'Apply', IN_SCALE), apiVersion: 'autoscaling/v1' },
      { ...entry('c', 'Update', IN_SCALE), apiVersion: 'autoscaling/v1' },
    ]);
    const custom = [entry('a', 'Update', { 'f:spec': { 'f:count': { 'f:wanted': {} } } })];
    expect(managersOfScale(custom, () => ['f:spec', 'f:count', 'f:wanted'])).toEqual([
      { ...entry('a', 'Update', IN_SCALE), apiVersion: 'autoscaling/v1' },
    ]);
    expect(managersOfScale(custom, REPLICAS)).toBeUndefined();
    expect(managersOfScale(undefined, REPLICAS)).toBeUndefined();
  });

  it('API-331 go back into the object: who lost the replicas keeps the rest, who is new has nothing else', () => {
    const entries = [entry('a', 'Update', both), entry('b', 'Update', IN_SCALE)];
    const scaler = { ...entry('s', 'Apply', IN_SCALE), apiVersion: 'autoscaling/v1', subresource: 'scale' };
    expect(managersAfterScale({ entries, replicas: REPLICAS, apiVersion: 'apps/v1' }, [scaler])).toEqual([
      { ...withoutTime(entry('s', 'Apply', IN_SCALE)), subresource: 'scale' },
      entry('a', 'Update', paused),
    ]);
  });

  it('API-331 each version has the number where it has it, or nowhere; who speaks one that is gone is forgotten', () => {
    const paths = (apiVersion: string) => {
      if (apiVersion === 'x/v1') return ['f:size'];
      return apiVersion === 'x/v2' ? ['f:spec', 'f:replicas'] : apiVersion === 'x/v3' ? 'nowhere' : undefined;
    };
    const entries = [
      { ...entry('a', 'Update', { 'f:size': {} }), apiVersion: 'x/v1' },
      { ...entry('b', 'Update', both), apiVersion: 'x/v2' },
      { ...entry('c', 'Update', both), apiVersion: 'x/v3' },
      { ...entry('d', 'Update', both), apiVersion: 'x/v0' },
    ];
    const { 0: a, 1: b, 2: c } = entries;
    expect(managersOfScale(entries, paths)?.map(({ manager }) => manager)).toEqual(['a', 'b']);
    const parent = { entries, replicas: paths, apiVersion: 'x/v1' };
    expect(managersAfterScaling(parent, { manager: 'm', replicas: 'same' })).toEqual([a, b, c]);
    expect(managersAfterScaling(parent, { manager: '', replicas: 'changed' })).toEqual([
      { ...withoutTime(entry('unknown', 'Update', { 'f:size': {} })), apiVersion: 'x/v1', subresource: 'scale' },
      { ...b, fieldsV1: paused },
      c,
    ]);
  });

  it("API-217 API-331 an update of what nobody manages is nobody's", () => {
    const entries = [entry('a', 'Apply', paused)];
    const parent = { entries, replicas: REPLICAS, apiVersion: 'apps/v1' };
    expect(managersAfterScaling(parent, { manager: 'm', replicas: 'changed' })).toEqual(entries);
  });

  it('API-331 a Scale that nobody changed changes nobody', () => {
    const anyEntry = fc.record({
      manager: fc.constantFrom('a', 'b', 'c'),
      operation: fc.constantFrom('Apply' as const, 'Update' as const),
      fields: fc.constantFrom(both, paused, IN_SCALE, { 'f:metadata': { 'f:labels': { 'f:replicas': {} } } }),
    });
    const anyEntries = fc.uniqueArray(anyEntry, { selector: ({ manager, operation }) => `${manager} ${operation}` });
    fc.assert(
      fc.property(anyEntries, (all) => {
        const entries = all
          .map(({ manager, operation, fields }) => entry(manager, operation, fields))
          .toSorted((a, b) => (`${a.operation} ${a.manager}` < `${b.operation} ${b.manager}` ? -1 : 1));
        const after = managersAfterScale(
          { entries, replicas: REPLICAS, apiVersion: 'apps/v1' },
          managersOfScale(entries, REPLICAS),
        );
        expect(after ?? []).toEqual(entries);
      }),
    );
  });
});
