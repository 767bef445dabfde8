import type { ObjectMeta } from '../../api/meta/object-meta.ts';

/** The manager that set a finalizer, as far as managedFields show it. */
export interface FinalizerSetter {
  readonly manager: string;
  /** RFC 3339; when the manager wrote last. */
  readonly time?: string;
}

/** The manager that owns a finalizer, by managedFields; undefined when none does. */
export function setterOf({ managedFields = [] }: ObjectMeta, finalizer: string): FinalizerSetter | undefined {
  for (const { manager, time, fieldsV1 } of managedFields) {
    const metadata = fieldsV1?.['f:metadata'] as Record<string, unknown> | undefined;
    const finalizers = metadata?.['f:finalizers'] as Record<string, unknown> | undefined;
    if (manager === undefined || finalizers?.[`v:${JSON.stringify(finalizer)}`] === undefined) continue;
    return time === undefined ? { manager } : { manager, time };
  }
  return undefined;
}
