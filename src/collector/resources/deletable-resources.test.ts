import { describe, expect, it } from 'vitest';
import {
  defaultIgnoredResources,
  deletableResources,
  mayShareObjects,
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
  const current = (synced: boolean, failing = false) =>
    new Map([[resourceKey(jobs), { resource: jobs, synced, failing }]]);

  it('COL-021 starts what is new, stops what is gone, leaves the rest', () => {
    expect(planMonitors(current(true), [pods], new Set())).toEqual({ added: [pods], removed: [resourceKey(jobs)] });
    expect(planMonitors(current(true), [jobs], new Set())).toEqual({ added: [], removed: [] });
  });

  it('COL-019 keeps synced monitors of a group that could not be read, and drops those that never synced', () => {
    expect(planMonitors(current(true), [pods], new Set(['batch/v1'])).removed).toEqual([]);
    expect(planMonitors(current(false), [pods], new Set(['batch/v1'])).removed).toEqual([resourceKey(jobs)]);
  });

  it('COL-019 COL-05A starts no other version of one that stays so, unless the one that stays does not work', () => {
    const beta = resource('batch', 'jobs', { version: 'v1beta1' });
    const failed = new Set(['batch/v1']);
    expect(planMonitors(current(true), [pods, beta], failed)).toEqual({ added: [pods], removed: [] });
    expect(planMonitors(current(true, true), [pods, beta], failed)).toEqual({ added: [pods, beta], removed: [] });
    expect(planMonitors(current(false), [beta], failed)).toEqual({ added: [beta], removed: [resourceKey(jobs)] });
    // A resource in another group has separate objects, unless the opposite is known.
    const other = resource('example.com', 'jobs');
    expect(planMonitors(current(true), [other], failed).added).toEqual([other]);
  });
});

describe('mayShareObjects', () => {
  const ingresses = resource('extensions', 'ingresses', { kind: 'Ingress' });
  it.each([
    { name: 'COL-05A two versions', other: resource('extensions', 'ingresses', { version: 'v2' }), shared: true },
    {
      name: 'COL-015 two groups',
      other: resource('networking.k8s.io', 'ingresses', { kind: 'Ingress' }),
      shared: true,
    },
    { name: 'another kind of another group', other: resource('networking.k8s.io', 'ingresses'), shared: false },
    {
      name: 'COL-116 another resource of the kind',
      other: resource('extensions', 'x', { kind: 'Ingress' }),
      shared: false,
    },
  ])('$name: $shared', ({ other, shared }) => {
    expect(mayShareObjects(ingresses, other)).toBe(shared);
    expect(mayShareObjects(other, ingresses)).toBe(shared);
  });
});
