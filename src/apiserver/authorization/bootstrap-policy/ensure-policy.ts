import type { Clock } from '../../../base/time/clock.ts';
import type { Logger } from '../../../base/logs/logger.ts';
import type { Random } from '../../../base/random/random.ts';
import type { BootstrapObject } from '../../bootstrap/bootstrap-objects.ts';
import { stampCreated } from '../../registry/object/object-meta.ts';
import type { KeyValue, Store } from '../../storage/interface.ts';
import { objectKey } from '../../storage/storage-keys.ts';
import { encodeStored, StoredObject } from '../../storage/stored-object.ts';
import { clusterRoleBindings, controllerRoleBindings, namespaceRoleBindings } from './bindings.ts';
import { clusterRolesText } from './cluster-roles.ts';
import { controllerRolesText } from './controller-roles.ts';
import { namespaceRolesText } from './namespace-roles.ts';
import { rolesOf } from './policy-text.ts';
import { reconcilePolicy } from './reconcile-policy.ts';

interface PolicyEnvironment {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Maximum number of retries when another client writes the same object: another server that starts on the same store, or an administrator.
 */
const MAX_ATTEMPTS = 5;

/** Every bootstrap role and binding of kube-apiserver 1.36 (API-513). */
export function bootstrapPolicy(): readonly BootstrapObject[] {
  const controllers = rolesOf(controllerRolesText);
  return [
    ...rolesOf(clusterRolesText),
    ...controllers,
    ...rolesOf(namespaceRolesText),
    ...clusterRoleBindings(),
    ...controllerRoleBindings(controllers),
    ...namespaceRoleBindings(),
  ];
}

/** Creates missing objects of the bootstrap policy and extends incomplete ones. Writes directly to the store, in few commits. */
export async function ensurePolicy(environment: PolicyEnvironment): Promise<void> {
  await Promise.all(bootstrapPolicy().map((entry) => ensure(environment, entry)));
}

async function ensure(environment: PolicyEnvironment, { resource, object: wanted }: BootstrapObject): Promise<void> {
  const { store, clock, random, logger } = environment;
  const key = objectKey(resource, wanted.metadata?.namespace, wanted.metadata?.name ?? '');
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { kv } = await store.get(key);
    const decision = reconcilePolicy(kv === undefined ? undefined : new StoredObject(kv).object(), wanted);
    if (decision.verdict === 'keep') return;
    const { verdict, reason } = decision;
    if (kv !== undefined) logger.info('bootstrap policy', { kind: wanted.kind, key, verdict, reason });
    if (verdict === 'update') {
      if (await succeeded(kv, (there) => store.update(key, encodeStored(decision.object), there.modRevision))) return;
      continue;
    }
    if (verdict === 'replace' && !(await succeeded(kv, (there) => store.delete(key, there.modRevision)))) continue;
    stampCreated(wanted, random.uuid(), clock.now());
    if ((await store.create(key, encodeStored(wanted))).succeeded) return;
  }
  logger.warn('bootstrap policy is not as it should be: others keep writing it', { key });
}

async function succeeded(
  kv: KeyValue | undefined,
  write: (there: KeyValue) => Promise<{ readonly succeeded: boolean }>,
): Promise<boolean> {
  return kv !== undefined && (await write(kv)).succeeded;
}
