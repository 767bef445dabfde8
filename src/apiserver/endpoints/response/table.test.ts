import { describe, expect, it } from 'vitest';
import { findResource } from '../../../api/kinds/builtin-resources.ts';
import { StatusError } from '../../../api/status-error.ts';
import { parseIncludeObject } from './include-object.ts';
import { tableConvertor, tableOf, WatchTables } from './table.ts';

const NOW = Date.UTC(2026, 0, 1, 12);
const info = (group: string, resource: string) => {
  const found = findResource(group, 'v1', resource);
  if (found === undefined) throw new Error(resource);
  return found;
};
const configMaps = tableConvertor(info('', 'configmaps'));
const cm = (name: string, resourceVersion: string) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'ns', resourceVersion, creationTimestamp: '2026-01-01T11:00:00Z' },
  data: { k: 'v' },
});

describe('tableOf', () => {
  it('API-430 API-432 a list: its metadata, all columns, a row for each object with its metadata', () => {
    const table = tableOf(configMaps, [cm('a', '5'), cm('b', '7')], {
      includeObject: 'Metadata',
      now: NOW,
      list: { resourceVersion: '9', continue: 'token', remainingItemCount: 3 },
    });
    expect(table).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9', continue: 'token', remainingItemCount: 3 },
      columnDefinitions: [
        { name: 'Name', type: 'string', format: 'name', description: expect.any(String), priority: 0 },
        { name: 'Data', type: 'string', format: '', description: expect.any(String), priority: 0 },
        { name: 'Age', type: 'string', format: '', description: expect.any(String), priority: 0 },
      ],
      rows: [
        {
          cells: ['a', 1, '60m'],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: cm('a', '5').metadata },
        },
        {
          cells: ['b', 1, '60m'],
          object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: cm('b', '7').metadata },
        },
      ],
    });
  });

  it('API-432 a single object lends the table its resourceVersion', () => {
    const table = tableOf(configMaps, [cm('a', '5')], { includeObject: 'None', now: NOW });
    expect(table.metadata).toEqual({ resourceVersion: '5' });
    expect(table.rows).toEqual([{ cells: ['a', 1, '60m'] }]);
  });

  it('API-430 the full object, and metadata of the version asked for', () => {
    const object = cm('a', '5');
    expect(tableOf(configMaps, [object], { includeObject: 'Object', now: NOW }).rows[0]?.object).toBe(object);
    const beta = tableOf(configMaps, [object], { includeObject: 'Metadata', version: 'v1beta1', now: NOW });
    expect(beta.apiVersion).toBe('meta.k8s.io/v1beta1');
    expect(beta.rows[0]?.object).toMatchObject({ apiVersion: 'meta.k8s.io/v1beta1' });
  });

  it('API-430 an empty list has columns and no rows', () => {
    const table = tableOf(configMaps, [], {
      includeObject: 'Metadata',
      now: NOW,
      list: { resourceVersion: '1', continue: '' },
    });
    expect(table.metadata).toEqual({ resourceVersion: '1' });
    expect(table.rows).toEqual([]);
    expect(table.columnDefinitions).toHaveLength(3);
  });

  it('API-431 wide columns are sent always', () => {
    const { columns } = tableConvertor(info('', 'pods'));
    expect(columns.filter(({ priority }) => priority === 1).map(({ name }) => name)).toEqual([
      'IP',
      'Node',
      'Nominated Node',
      'Readiness Gates',
    ]);
    expect(columns[0]).not.toHaveProperty('cell');
  });

  it.each([
    ['Succeeded', [{ type: 'Completed', status: 'True', reason: 'Succeeded', message: expect.any(String) }]],
    ['Failed', [{ type: 'Completed', status: 'True', reason: 'Failed', message: expect.any(String) }]],
    ['Running', undefined],
  ])('API-437 the row of a pod that is %s', (phase, conditions) => {
    const row = tableConvertor(info('', 'pods')).row({ metadata: { name: 'p' }, status: { phase } }, NOW);
    expect(row.conditions).toEqual(conditions);
    expect(row.cells).toHaveLength(9);
  });

  it('API-437 only pods are completed', () => {
    const claims = tableConvertor(info('', 'persistentvolumes'));
    expect(claims.row({ status: { phase: 'Failed' } }, NOW)).not.toHaveProperty('conditions');
  });

  it('API-435 a custom resource shows its age, or what its definition says', () => {
    const { typeName: _, ...widgets } = { ...info('apps', 'deployments'), group: 'example.com', kind: 'Widget' };
    expect(tableConvertor(widgets).columns.map(({ name }) => name)).toEqual(['Name', 'Age']);
    const own = tableConvertor(widgets, [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }]);
    expect(own.row({ metadata: { name: 'w' }, spec: { size: 3 } }, NOW)).toEqual({ cells: ['w', 3] });
  });

  it('API-430 the kind of a subresource has its own columns', () => {
    const scale = tableConvertor({ group: 'autoscaling', version: 'v1', kind: 'Scale' });
    expect(scale.columns.map(({ name }) => name)).toEqual(['Name', 'Desired', 'Available', 'Age']);
  });
});

describe('WatchTables', () => {
  it('API-430 only the first event carries the column definitions', () => {
    const tables = new WatchTables(configMaps, { includeObject: 'Metadata' });
    const first = tables.next(cm('a', '5'), NOW);
    expect(first.columnDefinitions).toHaveLength(3);
    expect(first.metadata).toEqual({ resourceVersion: '5' });
    const second = tables.next(cm('b', '6'), NOW);
    expect(second.columnDefinitions).toBeNull();
    expect(second.rows).toHaveLength(1);
    expect(second.metadata).toEqual({ resourceVersion: '6' });
  });

  it('API-430 the bookmark that ends the initial events keeps its annotation even if no objects are wanted', () => {
    const tables = new WatchTables(configMaps, { includeObject: 'None' });
    const metadata = { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } };
    expect(tables.next({ kind: 'ConfigMap', apiVersion: 'v1', metadata }, NOW).rows[0]?.object).toMatchObject({
      kind: 'PartialObjectMetadata',
      metadata,
    });
    expect(tables.next(cm('a', '10'), NOW).rows[0]).not.toHaveProperty('object');
  });
});

describe('parseIncludeObject', () => {
  it.each([
    [null, 'Metadata'],
    [undefined, 'Metadata'],
    ['', 'Metadata'],
    ['Metadata', 'Metadata'],
    ['Object', 'Object'],
    ['None', 'None'],
  ])('API-430 %j is %s', (value, want) => {
    expect(parseIncludeObject(value)).toBe(want);
  });

  it('API-430 another value is 400', () => {
    let thrown: unknown;
    try {
      parseIncludeObject('object');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(StatusError);
    expect((thrown as StatusError).code).toBe(400);
    expect((thrown as StatusError).message).toBe(
      `Unable to convert to Table as requested: includeObject: Invalid value: "object": must be 'Metadata', 'Object', 'None', or empty`,
    );
  });
});
