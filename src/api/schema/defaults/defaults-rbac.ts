import type { Fields } from '../fields/defaults-fields.ts';
import { ensureObjectAt, objectsAt, setIfZero } from '../fields/defaults-fields.ts';

const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** Role bindings and cluster role bindings. */
export function defaultRoleBinding(binding: Fields): void {
  setIfZero(ensureObjectAt(binding, 'roleRef'), 'apiGroup', RBAC_GROUP);
  for (const subject of objectsAt(binding, 'subjects')) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') setIfZero(subject, 'apiGroup', RBAC_GROUP);
  }
}
