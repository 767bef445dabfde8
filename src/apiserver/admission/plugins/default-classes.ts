import type { KubeObject } from '../../../api/meta/object-meta.ts';
import { LiveTable } from '../../storage/cache/live-table.ts';
import { resourcePrefix } from '../../storage/storage-keys.ts';
import type { TableEnvironment } from './table-environment.ts';

interface Class {
  readonly name: string;
  readonly isDefault: boolean;
  readonly created: string;
}

/** Finds the class that an annotation marks as default. The newest of several wins. */
export class DefaultClasses {
  readonly #classes: LiveTable<Class>;

  constructor(
    environment: TableEnvironment,
    of: { readonly group: string; readonly resource: string; readonly annotations: readonly string[] },
  ) {
    this.#classes = new LiveTable({
      ...environment,
      prefix: resourcePrefix(of),
      read: ({ metadata = {} }: KubeObject) => ({
        name: metadata.name ?? '',
        isDefault: of.annotations.some((key) => metadata.annotations?.[key] === 'true'),
        created: metadata.creationTimestamp ?? '',
      }),
    });
  }

  start(): Promise<void> {
    return this.#classes.start();
  }

  stop(): void {
    this.#classes.stop();
  }

  get default(): string | undefined {
    const classes = [...this.#classes.entries()].map(([, row]) => row).filter(({ isDefault }) => isDefault);
    return classes.toSorted(newestFirst)[0]?.name;
  }
}

function newestFirst(a: Class, b: Class): number {
  if (a.created !== b.created) return a.created > b.created ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
