import { ownsFinalizer } from '../../../api/meta/finalizer-owner.ts';

/** The parts of an entry of `metadata.managedFields` that are read. */
interface ManagedFieldsEntry {
  readonly manager?: unknown;
  readonly operation?: unknown;
  readonly time?: unknown;
  readonly fieldsV1?: unknown;
}

/** A finalizer, and the manager that owns it. */
interface SetFinalizer {
  readonly finalizer: string;
  /** The manager that owns the finalizer, with its operation and time; undefined if no manager does. */
  readonly setBy: string | undefined;
}

/** Finds the manager of each finalizer in `metadata.managedFields`. Ignores an entry of another shape. */
export function finalizerSetters(finalizers: unknown, managedFields: unknown): readonly SetFinalizer[] {
  const names = Array.isArray(finalizers) ? finalizers.filter((name) => typeof name === 'string') : [];
  const entries: readonly ManagedFieldsEntry[] = Array.isArray(managedFields) ? managedFields.filter(isObject) : [];
  return names.map((finalizer) => {
    const owner = entries.find(({ fieldsV1 }) => ownsFinalizer(fieldsV1, finalizer));
    return { finalizer, setBy: owner === undefined ? undefined : describe(owner) };
  });
}

function describe({ manager, operation, time }: ManagedFieldsEntry): string {
  const at = typeof time === 'string' ? ` at ${time}` : '';
  return `${typeof manager === 'string' ? manager : 'a manager without a name'} (${String(operation)}${at})`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
