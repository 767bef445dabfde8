import type { KubeObject } from '../../../api/meta/object-meta.ts';
import type { Strategy } from '../strategy.ts';

interface ServiceAccount extends KubeObject {
  secrets?: { name?: string }[];
}

/** Its secrets are in its own namespace, so only their names count (registry core/serviceaccount `cleanSecretReferences`). */
export const serviceAccountStrategy: Strategy = { prepareForCreate: namesOnly, prepareForUpdate: namesOnly };

function namesOnly(account: ServiceAccount): void {
  if (account.secrets === undefined) return;
  account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}
