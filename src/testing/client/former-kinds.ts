import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';

interface DefinitionSpec {
  readonly group?: string;
  readonly names?: { readonly kind?: string };
}

/** Kinds whose definition was deleted in one cluster. The server deletes their objects first. */
export class FormerKinds {
  readonly #kinds: Set<string>;

  /** Includes the kinds of the cluster from which this one starts. */
  constructor(kinds: readonly string[] = []) {
    this.#kinds = new Set(kinds);
  }

  list(): readonly string[] {
    return [...this.#kinds];
  }

  /** Must be called with every change in the store. */
  note(previous: KubeObject | undefined, next: KubeObject | undefined): void {
    if (next === undefined) {
      const kind = definedKind(previous);
      if (kind !== undefined) this.#kinds.add(kind);
    } else if (this.#kinds.size > 0) {
      // The kind is defined again, possibly by another definition.
      this.#kinds.delete(definedKind(next) ?? '');
    }
  }

  has(apiVersion: string, kind: string): boolean {
    return this.#kinds.has(`${parseGroupVersion(apiVersion)?.group}/${kind}`);
  }
}

function definedKind(object: KubeObject | undefined): string | undefined {
  if (object?.kind !== 'CustomResourceDefinition') return undefined;
  const { group, names } = (object['spec'] ?? {}) as DefinitionSpec;
  return `${group}/${names?.kind}`;
}
