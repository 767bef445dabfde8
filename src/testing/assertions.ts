import { AssertionError } from 'node:assert';
import { checkCluster, checkCollected, checkFinalizer, checkOwnedBy, type Finding } from './check.ts';
import type { TestCluster } from './cluster.ts';
import type { Subject } from './client/object-ref.ts';

/** The matchers as functions, for node:test and any runner that uses exceptions. All settle the cluster first. */

export async function assertCollected(cluster: TestCluster, subject: Subject): Promise<void> {
  checkCluster(cluster, 'assertCollected(cluster, object)');
  demand(await checkCollected(cluster, subject), true, assertCollected);
}

/** Settles the cluster; throws an AssertionError if the object is gone. */
export async function assertNotCollected(cluster: TestCluster, subject: Subject): Promise<void> {
  checkCluster(cluster, 'assertNotCollected(cluster, object)');
  demand(await checkCollected(cluster, subject), false, assertNotCollected);
}

/** Settles the cluster; throws an AssertionError unless a reference of the object means the owner. */
export async function assertOwnedBy(cluster: TestCluster, subject: Subject, owner: Subject): Promise<void> {
  checkCluster(cluster, 'assertOwnedBy(cluster, object, owner)');
  demand(await checkOwnedBy(cluster, subject, owner), true, assertOwnedBy);
}

/** Settles the cluster; throws an AssertionError if a reference of the object means the owner. */
export async function assertNotOwnedBy(cluster: TestCluster, subject: Subject, owner: Subject): Promise<void> {
  checkCluster(cluster, 'assertNotOwnedBy(cluster, object, owner)');
  demand(await checkOwnedBy(cluster, subject, owner), false, assertNotOwnedBy);
}

/** Settles the cluster; throws an AssertionError unless the object has the finalizer. */
export async function assertHasFinalizer(cluster: TestCluster, subject: Subject, finalizer: string): Promise<void> {
  checkCluster(cluster, 'assertHasFinalizer(cluster, object, name)');
  demand(await checkFinalizer(cluster, subject, finalizer), true, assertHasFinalizer);
}

/** Settles the cluster; throws an AssertionError if the object has the finalizer, or was never there. */
export async function assertHasNoFinalizer(cluster: TestCluster, subject: Subject, finalizer: string): Promise<void> {
  checkCluster(cluster, 'assertHasNoFinalizer(cluster, object, name)');
  demand(await checkFinalizer(cluster, subject, finalizer), false, assertHasNoFinalizer);
}

function demand({ pass, message }: Finding, expected: boolean, stackStartFn: (...values: never[]) => unknown): void {
  if (pass === expected) return;
  throw new AssertionError({ message, actual: pass, expected, operator: stackStartFn.name, stackStartFn });
}
