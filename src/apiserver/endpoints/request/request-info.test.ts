import { describe, expect, it } from 'vitest';
import { parseRequestInfo, queryBoolean, type ResourceRequestInfo } from './request-info.ts';

function parse(method: string, target: string) {
  const url = new URL(target, 'http://server');
  return parseRequestInfo(method, url.pathname, url.searchParams);
}

const base = { type: 'resource', group: '', version: 'v1', namespace: '', name: '', subresource: '', rest: [] };

describe('request info', () => {
  const cases: readonly [string, string, Partial<ResourceRequestInfo>][] = [
    ['GET', '/api/v1/pods', { verb: 'list', resource: 'pods' }],
    ['GET', '/api/v1/nodes/n1', { verb: 'get', resource: 'nodes', name: 'n1' }],
    ['GET', '/api/v1/namespaces/ns/pods', { verb: 'list', resource: 'pods', namespace: 'ns' }],
    ['POST', '/api/v1/namespaces/ns/pods', { verb: 'create', resource: 'pods', namespace: 'ns' }],
    ['PUT', '/api/v1/namespaces/ns/pods/p', { verb: 'update', resource: 'pods', namespace: 'ns', name: 'p' }],
    [
      'PATCH',
      '/api/v1/namespaces/ns/pods/p/status',
      { verb: 'patch', resource: 'pods', namespace: 'ns', name: 'p', subresource: 'status' },
    ],
    [
      'DELETE',
      '/apis/apps/v1/namespaces/ns/deployments',
      { verb: 'deletecollection', group: 'apps', resource: 'deployments', namespace: 'ns' },
    ],
    [
      'DELETE',
      '/apis/apps/v1/namespaces/ns/deployments/d',
      { verb: 'delete', group: 'apps', resource: 'deployments', namespace: 'ns', name: 'd' },
    ],
    ['GET', '/api/v1/namespaces', { verb: 'list', resource: 'namespaces' }],
    ['GET', '/api/v1/namespaces/x', { verb: 'get', resource: 'namespaces', namespace: 'x', name: 'x' }],
    [
      'PUT',
      '/api/v1/namespaces/x/finalize',
      { verb: 'update', resource: 'namespaces', namespace: 'x', name: 'x', subresource: 'finalize' },
    ],
    [
      'GET',
      '/api/v1/namespaces/x/status',
      { verb: 'get', resource: 'namespaces', namespace: 'x', name: 'x', subresource: 'status' },
    ],
    [
      'GET',
      '/api/v1/namespaces/ns/pods/p/proxy/a/b',
      { verb: 'get', resource: 'pods', namespace: 'ns', name: 'p', subresource: 'proxy', rest: ['a', 'b'] },
    ],
    ['GET', '/api/v1/watch/namespaces/ns/pods', { verb: 'watch', resource: 'pods', namespace: 'ns' }],
    ['GET', '/api/v1/pods/', { verb: 'list', resource: 'pods' }],
    ['HEAD', '/api/v1/nodes/n1', { verb: 'get', resource: 'nodes', name: 'n1' }],
    ['OPTIONS', '/api/v1/nodes', { verb: 'unknown', resource: 'nodes' }],
  ];
  it.each(cases)('API-001 %s %s', (method, target, expected) => {
    const info = parse(method, target);
    const name = expected.name ?? '';
    const path = new URL(target, 'http://server').pathname;
    expect(info).toEqual({ ...base, path, authorizationName: name, ...expected });
  });

  it.each([
    '/',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/healthz',
    '/version',
    '/openapi/v3/api/v1',
  ])('API-001 %s is no resource request', (path) => {
    expect(parse('GET', path)).toEqual({ type: 'nonResource', path, verb: 'get' });
  });

  it.each([
    ['watch=true', 'watch'],
    ['watch=1', 'watch'],
    ['watch=maybe', 'watch'],
    ['watch=', 'watch'],
    ['watch=false', 'list'],
    ['watch=0', 'list'],
    ['watch=False', 'list'],
    ['unknown=1', 'list'],
  ])('API-002 API-016 a list with %s is a %s', (query, verb) => {
    expect(parse('GET', `/api/v1/pods?${query}`)).toMatchObject({ verb });
  });

  it('API-002 watch is ignored on a GET with a name', () => {
    expect(parse('GET', '/api/v1/nodes/n?watch=true')).toMatchObject({ verb: 'get' });
  });

  it('API-002 a list by metadata.name counts as having that name for authorization only', () => {
    const query = `fieldSelector=${encodeURIComponent('metadata.name=x')}`;
    expect(parse('GET', `/api/v1/pods?${query}`)).toMatchObject({ verb: 'list', name: '', authorizationName: 'x' });
    expect(parse('GET', `/api/v1/pods?watch=1&${query}`)).toMatchObject({ verb: 'watch', authorizationName: 'x' });
  });

  it.each([
    ['metadata.name=x,metadata.namespace=y', 'x'],
    ['metadata.namespace=y,metadata.name==x', 'x'],
    ['metadata.name!=x', ''],
    ['metadata.namespace=x', ''],
    ['metadata.name=x,nonsense', ''],
    ['metadata.name=a\\b', ''],
    ['metadata.name=a/b', ''],
    ['metadata.name=..', ''],
    ['metadata.name=', ''],
    ['', ''],
  ])('API-002 for authorization a list with fieldSelector "%s" has the name "%s"', (selector, authorizationName) => {
    const query = `fieldSelector=${encodeURIComponent(selector)}`;
    expect(parse('GET', `/api/v1/pods?${query}`)).toMatchObject({ verb: 'list', authorizationName });
  });

  it.each([
    ['DELETE', 'deletecollection'],
    ['POST', 'create'],
  ])('API-002 a %s of a collection has no name, whatever it selects', (method, verb) => {
    const target = `/api/v1/namespaces/ns/pods?fieldSelector=${encodeURIComponent('metadata.name=x')}`;
    expect(parse(method, target)).toMatchObject({ verb, name: '', authorizationName: '' });
  });

  it('API-003 a watch by the deprecated prefix is allowed by the name in its path, whatever it selects', () => {
    const target = `/api/v1/watch/namespaces/ns/pods/p?fieldSelector=${encodeURIComponent('metadata.name=x')}`;
    expect(parse('GET', target)).toMatchObject({ verb: 'watch', name: 'p', authorizationName: 'p' });
  });

  it('API-063 segments are percent-decoded, and a broken encoding is recognised', () => {
    expect(parse('GET', '/api/v1/nodes/a%20b')).toMatchObject({ name: 'a b' });
    expect(parseRequestInfo('GET', '/api/v1/nodes/%zz', new URLSearchParams())).toBeUndefined();
  });

  it('API-016 a boolean never fails', () => {
    expect(queryBoolean(new URLSearchParams('a=yes'), 'a')).toBe(true);
    expect(queryBoolean(new URLSearchParams(''), 'a')).toBe(false);
  });
});
