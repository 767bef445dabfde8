import { decideDelete } from '../../../api/deletion/before-delete.ts';
import { newForbidden } from '../../../api/status-error.ts';
import type { Strategy } from '../strategy.ts';

/** Those that API-512 makes; no other one may have such a name. */
const SYSTEM = 'system-';

/** Classes that the cluster's own pods use cannot be deleted (registry scheduling/priorityclass `REST.Delete`). */
export const priorityClassStrategy: Strategy = {
  decideDelete(input) {
    const name = input.object.metadata?.name ?? '';
    if (name.startsWith(SYSTEM)) {
      const resource = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };
      throw newForbidden(resource, name, 'this is a system priority class and cannot be deleted');
    }
    return decideDelete(input);
  },
};
