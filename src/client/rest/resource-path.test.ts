import { describe, expect, it } from 'vitest';
import { pathOf, queryOf } from './resource-path.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };

describe('pathOf', () => {
  it.each([
    [{ gvr: pods }, '/api/v1/pods'],
    [{ gvr: pods, namespace: 'ns' }, '/api/v1/namespaces/ns/pods'],
    [{ gvr: pods, namespace: 'ns', name: 'p.1' }, '/api/v1/namespaces/ns/pods/p.1'],
    [{ gvr: pods, namespace: 'ns', name: 'p', subresource: 'status' }, '/api/v1/namespaces/ns/pods/p/status'],
    [{ gvr: pods, namespace: 'ns', name: 'p', subresource: 'proxy/a b' }, '/api/v1/namespaces/ns/pods/p/proxy/a%20b'],
    [{ gvr: deployments, name: 'd' }, '/apis/apps/v1/deployments/d'],
    [
      { gvr: { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }, name: 'system:node' },
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
    ],
    [{ gvr: pods, namespace: 'ns', name: 'ü?#' }, '/api/v1/namespaces/ns/pods/%C3%BC%3F%23'],
  ])('%j', (ref, path) => {
    expect(pathOf(ref)).toBe(path);
  });

  it.each([
    ['an empty name, which would address all objects', { gvr: pods, namespace: 'ns', name: '' }, 'may not be empty'],
    ['an empty namespace', { gvr: pods, namespace: '', name: 'p' }, 'may not be empty'],
    ['one dot', { gvr: pods, name: '.' }, "may not be '.'"],
    ['two dots', { gvr: pods, namespace: '..', name: 'p' }, "may not be '..'"],
    ['a slash', { gvr: pods, name: 'a/b' }, "may not contain '/'"],
    ['a percent sign', { gvr: pods, name: 'a%2fb' }, "may not contain '%'"],
    ['a subresource of nothing', { gvr: pods, subresource: 'status' }, 'needs the name'],
  ])('refuses %s', (_, ref, text) => {
    expect(() => pathOf(ref)).toThrow(
      expect.objectContaining({ name: 'StatusError', code: 400, message: expect.stringContaining(text) }),
    );
  });
});

describe('queryOf', () => {
  it('encodes values and leaves out undefined ones', () => {
    expect(queryOf(undefined)).toBe('');
    expect(queryOf({ a: undefined })).toBe('');
    expect(queryOf({ watch: true, limit: 500, labelSelector: 'a in (b,c)', x: undefined, e: '' })).toBe(
      '?watch=true&limit=500&labelSelector=a%20in%20(b%2Cc)&e=',
    );
  });
});
