import { describe, expect, it } from 'vitest';
import { MAX_OBJECT_MEMBERS } from '../codec/json/body-values.ts';
import { boundElements, listElementOf } from './list-element.ts';
import type { ListSchema } from './schema.ts';

describe('API-222 the element of a list of type map', () => {
  const field = (name: string) => (name === 'proto' ? { type: {}, default: 'TCP' } : { type: {} });
  const list = {
    relationship: 'associative',
    keys: ['port', 'proto'],
    element: () => ({ map: { relationship: 'granular', field } }),
  } as unknown as ListSchema;

  it.each([
    ['with all keys', { port: 1, proto: 'UDP' }, 'k:{"port":1,"proto":"UDP"}'],
    ['with the default of an absent key', { port: 1 }, 'k:{"port":1,"proto":"TCP"}'],
    ['with a key that is null, in spite of its default', { port: 1, proto: null }, 'k:{"port":1,"proto":null}'],
    ['with nothing but null', { port: null }, 'k:{"port":null,"proto":"TCP"}'],
  ])('is named %s', (_what, value, want) => {
    expect(listElementOf(list, value)).toBe(want);
  });
});

describe('API-007 the elements of a list of type set or map', () => {
  const list = (length: number): number[] => Array.from({ length }, (_, at) => at);
  const most = MAX_OBJECT_MEMBERS;

  it.each([
    ['as many as one object may have members', list(most), []],
    ['fewer than before, though too many', list(most + 1), list(most + 2)],
    ['as many as before', list(most + 1), list(most + 1)],
  ])('may be %s', (_what, next, previous) => {
    expect(() => boundElements(next, previous)).not.toThrow();
  });

  it('may not become too many, nor more', () => {
    const refused = 'Request entity too large: limit is 10000 elements in one list of type set or map';
    expect(() => boundElements(list(most + 1))).toThrow(refused);
    expect(() => boundElements(list(most + 2), list(most + 1))).toThrow(refused);
  });
});
