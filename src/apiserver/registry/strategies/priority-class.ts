import { decideDelete } from '../../../api/deletion/before-delete.ts';
import { newForbidden } from '../../../api/status-error.ts';
import type { Strategy } from '../strategy.ts';

/** The prefix of the bootstrap classes (API-512). No other class may have it. */
const SYSTEM = 'system-';

/** The cluster's own pods use these classes, which cannot be deleted (registry scheduling/priorityclass `REST.Delete`). */
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
