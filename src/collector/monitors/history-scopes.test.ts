import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { HistoryScopes } from './history-scopes.ts';

const offered = (group: string, resource: string) => ({
  group,
  version: 'v1',
  resource,
  kind: resource,
  namespaced: true,
  verbs: [],
});
const widgets = offered('example.com', 'widgets');

describe('HistoryScopes', () => {
  it('COL-111 COL-002 what kube-apiserver serves has everything listed anew, however often', () => {
    const scopes = new HistoryScopes(new FakeClock());
    for (const evidence of ['lowerVersion', 'deletionTakenBack', 'deletionTakenBack'] as const) {
      expect(scopes.of(offered('', 'secrets'), evidence)).toBe('server');
      expect(scopes.of(offered('apps', 'deployments'), evidence)).toBe('server');
    }
  });

  it('law 5: a lower version of another server is about its own list', () => {
    const scopes = new HistoryScopes(new FakeClock());
    expect(scopes.of(widgets, 'lowerVersion')).toBe('asListed');
  });

  it('law 5 COL-055: a deletion that is taken back elsewhere has everything listed once an hour, and its resource each time', async () => {
    const clock = new FakeClock();
    const scopes = new HistoryScopes(clock);
    const of = () => scopes.of(widgets, 'deletionTakenBack');
    expect([of(), of(), of()]).toEqual(['server', 'resource', 'resource']);
    expect(scopes.of(offered('other.example.com', 'widgets'), 'deletionTakenBack')).toBe('server');
    await clock.advanceAsync(3_599_999);
    expect(of()).toBe('resource');
    await clock.advanceAsync(1);
    expect([of(), of()]).toEqual(['server', 'resource']);
  });
});
