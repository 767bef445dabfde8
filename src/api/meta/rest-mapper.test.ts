import { describe, expect, it } from 'vitest';
import { RestMapper, type RestMapping } from './rest-mapper.ts';

const verbs = ['create', 'delete', 'get', 'list', 'watch'];
const pods: RestMapping = { group: '', version: 'v1', kind: 'Pod', resource: 'pods', namespaced: true, verbs };
const deployments: RestMapping = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  resource: 'deployments',
  namespaced: true,
  verbs,
};
const old: RestMapping = { ...deployments, version: 'v1beta1' };
const legacy: RestMapping = { ...deployments, group: 'extensions', version: 'v1beta1' };

describe('RestMapper', () => {
  const mapper = new RestMapper([pods, deployments, old, legacy]);

  it('COL-117 finds a kind in exactly the version asked for', () => {
    expect(mapper.forKind('v1', 'Pod')).toBe(pods);
    expect(mapper.forKind('apps/v1', 'Deployment')).toBe(deployments);
    expect(mapper.forKind('apps/v1beta1', 'Deployment')).toBe(old);
  });

  it('COL-118 what is not served, or no version at all, has no mapping', () => {
    expect(mapper.forKind('apps/v2', 'Deployment')).toBeUndefined();
    expect(mapper.forKind('v1', 'Deployment')).toBeUndefined();
    expect(mapper.forKind('a/b/c', 'Deployment')).toBeUndefined();
    expect(mapper.forKind('', 'Pod')).toBeUndefined();
    expect(mapper.forKind('apps/v1', 'deployments')).toBeUndefined();
  });

  it('API-001 finds the kind of a path', () => {
    expect(mapper.forResource({ group: '', version: 'v1', resource: 'pods' })).toBe(pods);
    expect(mapper.forResource({ group: 'apps', version: 'v1', resource: 'pods' })).toBeUndefined();
  });

  it('COL-118 lists the versions of a kind within its group, in order', () => {
    expect(mapper.kindsInGroup({ group: 'apps', kind: 'Deployment' })).toEqual([deployments, old]);
    expect(mapper.kindsInGroup({ group: '', kind: 'Deployment' })).toEqual([]);
  });

  it('COL-029 of several resources of one kind the last wins, as in client-go, and all have their path', () => {
    const twin = { ...pods, resource: 'podsagain' };
    const both = new RestMapper([pods, twin]);
    expect(both.forKind('v1', 'Pod')).toBe(twin);
    for (const each of [pods, twin]) expect(both.forResource(each)).toBe(each);
    expect(both.kindsInGroup({ group: '', kind: 'Pod' })).toEqual([pods, twin]);
  });

  it.each(['create', 'create,get,list', 'delete'])(
    'COL-029 one that can be read and deleted from goes before one with %s only, in whatever order',
    (less) => {
      const review = { ...pods, resource: 'podreviews', verbs: less.split(',') };
      const last = { ...review, resource: 'lastreviews' };
      for (const given of [
        [pods, review],
        [review, pods],
        [review, pods, last],
      ]) {
        expect(new RestMapper(given).forKind('v1', 'Pod')).toBe(pods);
      }
      expect(new RestMapper([review, last]).forKind('v1', 'Pod')).toBe(last);
    },
  );

  it('names the kinds that objects of several resources of a version have, each once', () => {
    const twin = { ...pods, resource: 'podsagain' };
    const review = { ...deployments, resource: 'deploymentreviews', verbs: ['create'] };
    const several = new RestMapper([pods, twin, { ...twin, resource: 'podsonce' }, deployments, old, review]);
    expect(mapper.kindsInSeveralResources).toEqual([]);
    expect(several.kindsInSeveralResources).toMatchObject([{ group: '', version: 'v1', kind: 'Pod' }]);
    expect(several.kindsInGroup({ group: 'apps', kind: 'Deployment' })).toEqual([deployments, old]);
  });
});
