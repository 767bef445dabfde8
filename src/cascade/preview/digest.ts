import { createHash } from 'node:crypto';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { CascadePlan, Outcome, PlanRoot } from '../documents/cascade-plan.ts';

/** Number of digits that people see. */
const SHORT = 12;
/** Number of lines that the hash takes in one call, because a call costs more than a line. */
const LINES_AT_ONCE = 200;

/** The state of one object on which a plan rests (CAS-016). */
export interface DigestedObject {
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  readonly references: readonly OwnerReference[];
  readonly finalizers: readonly string[];
  readonly outcome: Outcome;
}

/** One object's line of the digest. It begins with the uid, so sorted lines are sorted by uid. */
export function digestLine({ uid, resourceVersion, references, finalizers, outcome }: DigestedObject): string {
  const owners = references.map(({ uid: owner, controller, blockOwnerDeletion }) => [
    owner,
    controller === true,
    blockOwnerDeletion === true,
  ]);
  return JSON.stringify([uid, resourceVersion ?? '', owners, finalizers.toSorted(), outcome]);
}

/**
 * SHA-256 over roots, policies, and every touched object: equal cluster states and requests have equal digests.
 * @param lines one {@link digestLine} for each touched object, in any order
 */
export function digestOf(
  roots: readonly PlanRoot[],
  assumeFinalizers: CascadePlan['assumeFinalizers'],
  lines: readonly string[],
): string {
  const hash = createHash('sha256');
  const line = (text: string): void => void hash.update(`${text}\n`);
  line(JSON.stringify(['kubegc.io/v1alpha1', assumeFinalizers]));
  for (const { ref, policy } of roots.toSorted((a, b) => (a.ref.uid < b.ref.uid ? -1 : 1))) {
    line(JSON.stringify([ref.uid, policy]));
  }
  const sorted = lines.toSorted();
  for (let i = 0; i < sorted.length; i += LINES_AT_ONCE) line(sorted.slice(i, i + LINES_AT_ONCE).join('\n'));
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
