import { createHash } from 'node:crypto';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { CascadePlan, Outcome, PlanRoot } from '../documents/cascade-plan.ts';

/** Number of digits that people see. */
const SHORT = 12;

/** The state of one object on which a plan rests (CAS-016). */
export interface DigestedObject {
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  readonly references: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly outcome: Outcome;
}

/** SHA-256 over roots, policies, and every touched object: equal cluster states and requests have equal digests. */
export function digestOf(
  roots: readonly PlanRoot[],
  assumeFinalizers: CascadePlan['assumeFinalizers'],
  objects: readonly DigestedObject[],
): string {
  const hash = createHash('sha256');
  const line = (...fields: readonly unknown[]): void => void hash.update(`${JSON.stringify(fields)}\n`);
  line('kubegc.io/v1alpha1', assumeFinalizers);
  for (const { ref, policy } of roots.toSorted((a, b) => (a.ref.uid < b.ref.uid ? -1 : 1))) line(ref.uid, policy);
  for (const { uid, resourceVersion, references, finalizers, outcome } of objects.toSorted((a, b) =>
    a.uid < b.uid ? -1 : 1,
  )) {
    const owners = references.map(({ uid: owner, controller, blockOwnerDeletion }) => [
      owner,
      controller === true,
      blockOwnerDeletion === true,
    ]);
    line(uid, resourceVersion ?? '', owners, finalizers.toSorted(), outcome);
  }
  return hash.digest('hex');
}

/** The first digits, which suffice for a person and a command line. */
export function shortDigest(digest: string): string {
  return digest.slice(0, SHORT);
}

/** True if a typed text names the digest: at least its first twelve digits. */
export function namesDigest(typed: string, digest: string): boolean {
  return typed.length >= SHORT && digest.startsWith(typed.toLowerCase());
}
