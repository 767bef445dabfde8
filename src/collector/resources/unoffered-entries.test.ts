import { describe, expect, it } from 'vitest';
import { defaultIgnoredResources } from './deletable-resources.ts';
import { type NamedResource, unofferedEntries } from './unoffered-entries.ts';

const served: readonly NamedResource[] = [
  { group: '', resource: 'secrets', singular: 'secret', kind: 'Secret' },
  // The older form of discovery leaves this away.
  { group: '', resource: 'configmaps', singular: '', kind: 'ConfigMap' },
  { group: 'apps', resource: 'replicasets', singular: 'replicaset', kind: 'ReplicaSet' },
  { group: 'example.com', resource: 'secrets', singular: 'secret', kind: 'Secret' },
  { group: 'example.com', resource: 'geese', singular: 'goose', kind: 'Bird' },
  { group: 'other.example.com', resource: 'geese', singular: 'goose', kind: 'Bird' },
];

describe('unofferedEntries', () => {
  it.each([
    { entry: 'secrets', unoffered: [] },
    { entry: 'apps/replicasets', unoffered: [] },
    { entry: 'secret', unoffered: [{ entry: 'secret', meant: ['secrets'] }] },
    { entry: 'configmap', unoffered: [{ entry: 'configmap', meant: ['configmaps'] }] },
    { entry: 'example.com/secret', unoffered: [{ entry: 'example.com/secret', meant: ['example.com/secrets'] }] },
    { entry: 'example.com/bird', unoffered: [{ entry: 'example.com/bird', meant: ['example.com/geese'] }] },
    { entry: 'replicasets', unoffered: [{ entry: 'replicasets', meant: ['apps/replicasets'] }] },
    { entry: 'replicaset', unoffered: [{ entry: 'replicaset', meant: ['apps/replicasets'] }] },
    { entry: 'goose', unoffered: [{ entry: 'goose', meant: ['example.com/geese', 'other.example.com/geese'] }] },
    { entry: 'nothing', unoffered: [{ entry: 'nothing', meant: [] }] },
  ])('COL-014 $entry', ({ entry, unoffered }) => {
    const [resource = '', group = ''] = entry.split('/').toReversed();
    expect(unofferedEntries([{ group, resource }], served, new Set())).toEqual(unoffered);
  });

  it('COL-014 says nothing of Events, which nobody asked for, nor of a group that could not be read', () => {
    const ignored = [...defaultIgnoredResources, { group: 'apps', resource: 'x' }, { group: '', resource: 'y' }];
    const entries = (failed: readonly string[]) =>
      unofferedEntries(ignored, served, new Set(failed)).map(({ entry }) => entry);
    expect(entries([])).toEqual(['apps/x', 'y']);
    expect(entries(['apps/v1beta2'])).toEqual(['y']);
    expect(entries(['v1'])).toEqual(['apps/x']);
  });

  it('COL-014 names a resource once that is served in several versions', () => {
    const twice = [served[0]!, served[0]!];
    expect(unofferedEntries([{ group: '', resource: 'secret' }], twice, new Set())).toEqual([
      { entry: 'secret', meant: ['secrets'] },
    ]);
  });
});
