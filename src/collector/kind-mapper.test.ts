import { describe, expect, it } from 'vitest';
import { RestMapper } from '../api/meta/rest-mapper.ts';
import { KindMapper } from './kind-mapper.ts';

const widgets = (version: string) => ({
  group: 'example.com',
  version,
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
});

function setUp() {
  let told = 0;
  const mapper = new KindMapper(new RestMapper([widgets('v1')]), () => {
    told++;
  });
  return { mapper, told: () => told };
}

describe('KindMapper', () => {
  it('COL-117 COL-118 maps a kind in exactly the version that is named', () => {
    const { mapper } = setUp();
    const mapping = { apiVersion: 'example.com/v1', resource: 'widgets', namespaced: true };
    expect(mapper.mapping('example.com/v1', 'Widget')).toEqual(mapping);
    for (const apiVersion of ['example.com/v1beta1', 'v1', '', 'a/b/c']) {
      expect(mapper.mapping(apiVersion, 'Widget')).toBeUndefined();
    }
  });

  it('COL-029 tells once of each kind that is not known', () => {
    const { mapper, told } = setUp();
    for (let i = 0; i < 3; i++) mapper.mapping('example.com/v2', 'Widget');
    expect([told(), mapper.unknown]).toEqual([1, 1]);
    mapper.mapping('example.com/v2', 'Gadget');
    expect([told(), mapper.unknown]).toEqual([2, 2]);
  });

  it('COL-029 tells again of a kind that came and went', () => {
    const { mapper, told } = setUp();
    mapper.mapping('example.com/v2', 'Widget');
    mapper.replace(new RestMapper([widgets('v2')]));
    expect([mapper.mapping('example.com/v2', 'Widget')?.apiVersion, mapper.unknown]).toEqual(['example.com/v2', 0]);
    mapper.replace(new RestMapper([widgets('v1')]));
    mapper.mapping('example.com/v2', 'Widget');
    expect(told()).toBe(2);
  });

  it('remembers a bounded number of them', () => {
    const { mapper, told } = setUp();
    for (let i = 0; i < 5000; i++) mapper.mapping('example.com/v1', `Kind${i}`);
    expect([told(), mapper.unknown]).toEqual([1000, 1000]);
  });
});
