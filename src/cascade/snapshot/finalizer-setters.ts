import { ownsFinalizer } from '../../api/meta/finalizer-owner.ts';
import type { ObjectMeta } from '../../api/meta/object-meta.ts';

/** The manager that set a finalizer, from managedFields. */
export interface FinalizerSetter {
  readonly manager: string;
  /** RFC 3339 time of the manager's last write. */
  readonly time?: string;
}

/** The manager that owns a finalizer; undefined if managedFields show none. */
export function setterOf({ managedFields = [] }: ObjectMeta, finalizer: string): FinalizerSetter | undefined {
  for (const { manager, time, fieldsV1 } of managedFields) {
    if (manager === undefined || !ownsFinalizer(fieldsV1, finalizer)) continue;
    return time === undefined ? { manager } : { manager, time };
  }
  return undefined;
}
