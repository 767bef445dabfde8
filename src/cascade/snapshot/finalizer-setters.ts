import { ownsFinalizer } from '../../api/meta/finalizer-owner.ts';
import type { ObjectMeta } from '../../api/meta/object-meta.ts';

/** The manager that set a finalizer, from managedFields; empty if they show none. */
interface FinalizerSetter {
  readonly setBy?: string;
  /** RFC 3339 time of the manager's last write. */
  readonly since?: string;
}

export function setterOf({ managedFields = [] }: ObjectMeta, finalizer: string): FinalizerSetter {
  for (const { manager, time, fieldsV1 } of managedFields) {
    if (manager === undefined || !ownsFinalizer(fieldsV1, finalizer)) continue;
    return { setBy: manager, ...(time === undefined ? {} : { since: time }) };
  }
  return {};
}
