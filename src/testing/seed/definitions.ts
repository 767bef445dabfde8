import type { ResourceInfo } from '../../api/kinds/resource-info.ts';
import { type Condition, findCondition } from '../../api/meta/conditions.ts';
import { displayName } from '../client/object-ref.ts';
import type { SeedObject } from './seed-object.ts';
import { isFound, SeedError } from './seed-objects.ts';
import type { Trace } from '../trace/trace.ts';

const KIND = 'CustomResourceDefinition';

/**
 * The definitions. Other files of a directory are left out, like in envtest. Throws a TypeError if a given object is not a definition,
 * because it would be created before there are namespaces and controllers.
 */
export function definitionsAmong(objects: readonly SeedObject[]): readonly SeedObject[] {
  const other = objects.find((object) => object.kind !== KIND && !isFound(object));
  if (other === undefined) return objects.filter(({ kind }) => kind === KIND);
  const what = displayName({ kind: '', name: '', ...other.metadata, ...other });
  throw new TypeError(`crds takes ${KIND}s, not ${what}; give that to objects`);
}

/**
 * True if each has its names and its kind is served. Throws a SeedError, with the server's message, for one whose names another definition
 * has.
 */
export function areServed(definitions: readonly SeedObject[], served: readonly ResourceInfo[], trace: Trace): boolean {
  return definitions.every(({ metadata, spec }) => {
    const name = metadata?.name ?? '';
    const accepted = findCondition(conditionsOf(trace, name), 'NamesAccepted');
    if (accepted?.status === 'False') {
      throw new SeedError(displayName({ kind: KIND, name }), `its names are not accepted: ${accepted.message}`);
    }
    const { group, names } = spec as { readonly group: string; readonly names: { readonly kind: string } };
    return accepted?.status === 'True' && served.some((row) => row.group === group && row.kind === names.kind);
  });
}

function conditionsOf(trace: Trace, name: string): readonly Condition[] {
  const { after } = trace.about({ kind: KIND, name }).last(1).entries[0] ?? {};
  const { conditions = [] } = (after?.['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions;
}
