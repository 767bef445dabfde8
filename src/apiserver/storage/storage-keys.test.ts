import { describe, expect, it } from 'vitest';
import { listPrefix, objectKey, resourcePrefix } from './storage-keys.ts';

const pods = { group: '', resource: 'pods', namespaced: true };
const deployments = { group: 'apps', resource: 'deployments', namespaced: true };
const nodes = { group: '', resource: 'nodes', namespaced: false };

describe('storage keys', () => {
  it.each([
    [pods, 'default', 'web-0', '/registry/core/pods/default/web-0'],
    [deployments, 'shop', 'cart', '/registry/apps/deployments/shop/cart'],
    [nodes, undefined, 'node-1', '/registry/core/nodes/node-1'],
    [nodes, 'ignored', 'node-1', '/registry/core/nodes/node-1'],
  ])('objectKey(%j, %j, %j) is %s', (info, namespace, name, key) => {
    expect(objectKey(info, namespace, name)).toBe(key);
    expect(key.startsWith(listPrefix(info, namespace))).toBe(true);
    expect(listPrefix(info, namespace).startsWith(resourcePrefix(info))).toBe(true);
  });

  it('API-092 keys sort by namespace, then name', () => {
    const keys = [
      ['a', 'z'],
      ['b', 'a'],
      ['b', 'b'],
      ['b-c', 'a'],
    ].map(([namespace, name]) => objectKey(pods, namespace, name ?? ''));
    expect(keys.slice(0, 3)).toEqual(keys.slice(0, 3).toSorted());
    // A namespace that begins another one: "-" sorts before "/", as it does in kube-apiserver's keys.
    expect(keys.toSorted()[1]).toBe('/registry/core/pods/b-c/a');
  });

  it('all namespaces of a resource have one prefix, which no other resource shares', () => {
    expect(listPrefix(pods, '')).toBe('/registry/core/pods/');
    expect(objectKey({ ...pods, resource: 'podtemplates' }, 'a', 'b').startsWith(resourcePrefix(pods))).toBe(false);
  });
});
