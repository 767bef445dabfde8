import type { KubeObject } from '../../api/meta/object-meta.ts';
import type { Cell } from './cells/printer-column.ts';
import { printerColumnsFor } from './printer-columns.ts';

/** Objects for the printer tests only. */

const NOW = Date.UTC(2026, 0, 1, 12);

export function hoursAgo(hours: number): string {
  return `${new Date(NOW - hours * 3_600_000).toISOString().slice(0, 19)}Z`;
}

/** Metadata of an object that is ten hours old at {@link NOW}. */
export const metadata = { name: 'x', creationTimestamp: hoursAgo(10) };

/** A pod template, and its wide cells. */
export const template = {
  metadata: { labels: { b: '2', a: '1' } },
  spec: {
    containers: [
      { name: 'web', image: 'nginx:1' },
      { name: 'log', image: 'fluentd' },
    ],
    nodeSelector: { disk: 'ssd' },
  },
};
export const wide = { Containers: 'web,log', Images: 'nginx:1,fluentd' };

/** Group, kind, fields of the object, and cells that it must have. */
export type PrintedRow = readonly [string, string, KubeObject, Record<string, Cell>];

/** Cells by column name. */
export function cells(group: string, kind: string, object: KubeObject, version = 'v1'): Record<string, Cell> {
  return Object.fromEntries(
    printerColumnsFor({ group, version, kind }).map(({ name, cell }) => [name, cell({ metadata, ...object }, NOW)]),
  );
}
