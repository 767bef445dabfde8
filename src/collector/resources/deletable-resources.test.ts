import { describe, expect, it } from 'vitest';
import {
  defaultIgnoredResources,
  deletableResources,
  type OfferedResource,
  planMonitors,
  resourceKey,
} from './deletable-resources.ts';

const resource = (group: string, name: string, more: Partial<OfferedResource> = {}): OfferedResource => ({
  group,
  version: 'v1',
  resource: name,
  kind: name,
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'watch'],
  ...more,
});

describe('deletableResources', () => {
  it.each([
    { name: 'COL-012 all three verbs', offered: resource('', 'pods'), monitored: true },
    { name: 'COL-012 no delete', offered: resource('', 'pods', { verbs: ['list', 'watch'] }), monitored: false },
    { name: 'COL-012 no list', offered: resource('', 'pods', { verbs: ['delete', 'watch'] }), monitored: false },
    { name: 'COL-012 no watch', offered: resource('', 'pods', { verbs: ['delete', 'list'] }), monitored: false },
    { name: 'COL-011 subresource', offered: resource('', 'pods/status'), monitored: false },
    {
      name: 'COL-013 unparsable group version',
      offered: resource('foo', 'pods', { version: '/whatever' }),
      monitored: false,
    },
    { name: 'COL-014 ignored', offered: resource('', 'events'), monitored: false },
    {
      name: 'COL-014 ignored in any version',
      offered: resource('events.k8s.io', 'events', { version: 'v9' }),
      monitored: false,
    },
    { name: 'COL-014 same name, other group', offered: resource('example.com', 'events'), monitored: true },
  ])('$name', ({ offered, monitored }) => {
    expect(deletableResources([offered], defaultIgnoredResources)).toHaveLength(monitored ? 1 : 0);
  });
});

describe('planMonitors', () => {
  const pods = resource('', 'pods');
  const jobs = resource('batch', 'jobs');
  const current = (synced: boolean) => new Map([[resourceKey(jobs), { resource: jobs, synced }]]);

  it('COL-021 starts what is new, stops what is gone, leaves the rest', () => {
    expect(planMonitors(current(true), [pods], new Set())).toEqual({ added: [pods], removed: [resourceKey(jobs)] });
    expect(planMonitors(current(true), [jobs], new Set())).toEqual({ added: [], removed: [] });
  });

  it('COL-019 keeps synced monitors of a group that could not be read, and drops those that never synced', () => {
    expect(planMonitors(current(true), [pods], new Set(['batch/v1'])).removed).toEqual([]);
    expect(planMonitors(current(false), [pods], new Set(['batch/v1'])).removed).toEqual([resourceKey(jobs)]);
  });
});
