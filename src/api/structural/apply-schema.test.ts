import { describe, expect, it } from 'vitest';
import { DEDUCED, memberType, type TypeSchema } from '../apply/schema.ts';
import { applySchema } from './apply-schema.ts';

const schema = applySchema({
  type: 'object',
  properties: {
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        count: { type: 'integer', default: 3 },
        port: { 'x-kubernetes-int-or-string': true },
        free: { 'x-kubernetes-preserve-unknown-fields': true },
        labels: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
        plain: { type: 'array', items: { type: 'string' } },
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'name'],
          items: { type: 'object', properties: { name: { type: 'string' } } },
        },
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
    },
  },
});

function at(...path: string[]): TypeSchema | undefined {
  let type: TypeSchema | undefined = schema;
  for (const name of path) type = type?.map === undefined ? undefined : memberType(type.map, name);
  return type;
}

describe('applySchema', () => {
  it('API-222 values are shared as the definition says', () => {
    expect(at('spec', 'text')).toEqual({ scalar: 'string' });
    expect(at('spec', 'port')).toEqual({ scalar: 'untyped' });
    expect(at('spec', 'free')).toBe(DEDUCED);
    expect(at('spec', 'labels')?.map?.relationship).toBe('atomic');
    expect(at('spec', 'labels', 'a')).toEqual({ scalar: 'string' });
    expect(at('spec', 'plain')?.list).toMatchObject({ relationship: 'atomic', keys: [] });
    expect(at('spec', 'set')?.list).toMatchObject({ relationship: 'associative', keys: [] });
    expect(at('spec', 'map')?.list).toMatchObject({ relationship: 'associative', keys: ['name', 'port'] });
    const element = at('spec', 'map')?.list?.element();
    expect(element?.map?.field('name')).toEqual({ type: { scalar: 'string' } });
    expect(at('spec')?.map?.field('count')).toEqual({ type: { scalar: 'numeric' }, default: 3 });
  });

  it('API-223 what is not declared is not known, unless it may be anything', () => {
    expect(at('other')).toBeUndefined();
    expect(at('spec', 'constructor')).toBeUndefined();
    expect(at('spec', 'template', 'anything')).toBe(DEDUCED);
  });

  it('API-222 metadata is metadata, also of what is embedded', () => {
    for (const path of [[], ['spec', 'template']]) {
      expect(at(...path, 'metadata', 'ownerReferences')?.list).toMatchObject({
        relationship: 'associative',
        keys: ['uid'],
      });
      expect(at(...path, 'kind')).toEqual({ scalar: 'string' });
    }
  });
});
