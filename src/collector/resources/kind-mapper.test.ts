import { describe, expect, it } from 'vitest';
import { RestMapper } from '../../api/meta/rest-mapper.ts';
import { KindMapper } from './kind-mapper.ts';

const widgets = (version: string) => ({
  group: 'example.com',
  version,
  kind: 'Widget',
  resource: 'widgets',
  namespaced: true,
  verbs: ['get', 'list', 'delete'],
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

  it('COL-029 reports each unknown kind once', () => {
    const { mapper, told } = setUp();
    for (let i = 0; i < 3; i++) mapper.mapping('example.com/v2', 'Widget');
    expect([told(), mapper.unknown]).toEqual([1, 1]);
    mapper.mapping('example.com/v2', 'Gadget');
    expect([told(), mapper.unknown]).toEqual([2, 2]);
  });

  it('COL-029 reports a kind again that came and went', () => {
    const { mapper, told } = setUp();
    mapper.mapping('example.com/v2', 'Widget');
    mapper.replace(new RestMapper([widgets('v2')]));
    expect([mapper.mapping('example.com/v2', 'Widget')?.apiVersion, mapper.unknown]).toEqual(['example.com/v2', 0]);
    mapper.replace(new RestMapper([widgets('v1')]));
    mapper.mapping('example.com/v2', 'Widget');
    expect(told()).toBe(2);
  });

  it('COL-116 absence from one of several resources of a kind proves nothing, unless it is known which one has the object', () => {
    const spares = { ...widgets('v1'), resource: 'sparewidgets' };
    const mapper = new KindMapper(new RestMapper([widgets('v1'), spares, widgets('v2')]), () => undefined);
    expect(mapper.mapping('example.com/v1', 'Widget')).toMatchObject({ alsoElsewhere: true });
    for (const resource of ['widgets', 'sparewidgets']) {
      const mapping = { apiVersion: 'example.com/v1', resource, namespaced: true };
      expect(mapper.mapping('example.com/v1', 'Widget', resource)).toEqual(mapping);
    }
    expect(mapper.mapping('example.com/v2', 'Widget')).not.toHaveProperty('alsoElsewhere');
    // References to objects of the removed resource still name only the kind.
    mapper.replace(new RestMapper([spares]));
    expect(mapper.mapping('example.com/v1', 'Widget')).toMatchObject({ resource: 'sparewidgets', alsoElsewhere: true });
    expect([mapper.mapping('example.com/v1', 'Widget', 'widgets'), mapper.unknown]).toEqual([undefined, 0]);
  });

  it('COL-116 a resource that can only be created from has no objects that a kind could have elsewhere', () => {
    const reviews = { ...widgets('v1'), resource: 'widgetreviews', verbs: ['create'] };
    const mapper = new KindMapper(new RestMapper([widgets('v1'), reviews]), () => undefined);
    expect(mapper.mapping('example.com/v1', 'Widget')).toEqual({
      apiVersion: 'example.com/v1',
      resource: 'widgets',
      namespaced: true,
    });
  });

  it('BETTER-12 an object that was seen in a resource is looked for in that one, in another version too', () => {
    const spares = { ...widgets('v2'), resource: 'sparewidgets' };
    const mapper = new KindMapper(new RestMapper([widgets('v2'), spares]), () => undefined, 'otherVersion');
    expect(mapper.mapping('example.com/v1', 'Widget')).toBeUndefined();
    const mapping = { apiVersion: 'example.com/v2', resource: 'sparewidgets', namespaced: true };
    expect(mapper.mapping('example.com/v1', 'Widget', 'sparewidgets')).toEqual(mapping);
  });

  it('remembers a bounded number of kinds that several resources had, and all that several have', () => {
    const twice = (group: string) =>
      ['widgets', 'sparewidgets'].map((resource) => ({ ...widgets('v1'), group, resource }));
    const mapper = new KindMapper(new RestMapper(twice('first')), () => undefined);
    const groups = Array.from({ length: 1500 }, (_, i) => `group-${i}`);
    mapper.replace(new RestMapper([...groups.flatMap(twice), { ...widgets('v1'), group: 'first' }]));
    const spread = ['first', ...groups].filter((group) => mapper.mapping(`${group}/v1`, 'Widget')?.alsoElsewhere);
    expect(spread).toEqual(groups);
  });

  it('remembers a bounded number of them', () => {
    const { mapper, told } = setUp();
    for (let i = 0; i < 5000; i++) mapper.mapping('example.com/v1', `Kind${i}`);
    expect([told(), mapper.unknown]).toEqual([1000, 1000]);
  });
});
