import { describe, expect, it } from 'vitest';
import { ResetScopes } from './reset-scopes.ts';

const offered = (group: string, resource: string) => ({
  group,
  version: 'v1',
  resource,
  kind: resource,
  namespaced: true,
  verbs: [],
});
const widgets = offered('example.com', 'widgets');

describe('ResetScopes', () => {
  it('COL-111 COL-002 what kube-apiserver serves has everything listed anew, however often', () => {
    const scopes = new ResetScopes();
    for (const evidence of ['lowerVersion', 'deletionTakenBack', 'deletionTakenBack'] as const) {
      expect(scopes.of(offered('', 'secrets'), evidence, 0)).toBe('server');
      expect(scopes.of(offered('apps', 'deployments'), evidence, 0)).toBe('server');
    }
  });

  it('law 5: a lower version of another server is about its own list', () => {
    const scopes = new ResetScopes();
    expect(scopes.of(widgets, 'lowerVersion', 0)).toBe('asListed');
  });

  it('law 5 COL-055: a deletion that is taken back elsewhere has everything listed once an hour, and its resource each time', () => {
    let now = 0;
    const scopes = new ResetScopes();
    const of = () => scopes.of(widgets, 'deletionTakenBack', now);
    expect([of(), of(), of()]).toEqual(['server', 'resource', 'resource']);
    expect(scopes.of(offered('other.example.com', 'widgets'), 'deletionTakenBack', now)).toBe('server');
    now += 3_599_999;
    expect(of()).toBe('resource');
    now += 1;
    expect([of(), of()]).toEqual(['server', 'resource']);
  });
});
