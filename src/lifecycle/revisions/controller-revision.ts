import { type Int64, stringifyExactJson } from '../../base/json/exact-json.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { deepEqual } from '../../base/collections/deep-equal.ts';
import { controllerReference, isTerminating, type OwnerKind } from '../ownership/controller-reference.ts';
import type { PodTemplate } from '../pods/pod-control.ts';

/** An earlier template, which identifies its pods and can be restored. */
export interface ControllerRevision extends KubeObject {
  /** A patch that restores the template. */
  data?: { readonly spec?: { readonly template?: PodTemplate & { readonly $patch?: string } } };
  revision?: Int64;
}

/** The label with the revision of a pod. */
export const REVISION_LABEL = 'controller-revision-hash';
const HASH_LABEL = 'controller.kubernetes.io/hash';
/** Letters without vowels and similar digits, so that no words occur (apimachinery `rand.SafeEncodeString`). */
const SAFE = 'bcdfghjklmnpqrstvwxz2456789';

/** The template of a revision. */
export function templateOf({ data }: ControllerRevision): PodTemplate {
  const { $patch: _, ...template } = data?.spec?.template ?? {};
  return template;
}

/** True if two templates create the same pods; empty fields count as absent. */
export function equalTemplates(a: PodTemplate | undefined, b: PodTemplate | undefined): boolean {
  return deepEqual(withoutEmpty(a ?? {}), withoutEmpty(b ?? {}));
}

/** The lowest revision first, then the oldest, then by name. */
export function byRevisionNumber(a: ControllerRevision, b: ControllerRevision): number {
  return (
    Number(a.revision ?? 0) - Number(b.revision ?? 0) ||
    compareText(a.metadata?.creationTimestamp ?? '', b.metadata?.creationTimestamp ?? '') ||
    compareText(a.metadata?.name ?? '', b.metadata?.name ?? '')
  );
}

interface RevisionOwner {
  readonly kind: OwnerKind;
  readonly object: KubeObject;
  readonly template: PodTemplate;
  readonly collisionCount: number | undefined;
  /** The label of the hash, which differs between DaemonSets and StatefulSets. */
  readonly hashLabel?: string;
}

export type RevisionDecision =
  | { readonly verdict: 'current'; readonly revision: ControllerRevision; readonly reason: 'template unchanged' }
  /** An earlier template is current again, so its number is raised. */
  | { readonly verdict: 'raise'; readonly revision: ControllerRevision; readonly reason: 'template came back' }
  | { readonly verdict: 'create'; readonly revision: ControllerRevision; readonly reason: 'template is new' };

/** Finds the revision of the owner's current template (LIFE-600). `revisions` are claimed and sorted. Pure. */
export function decideRevision(owner: RevisionOwner, revisions: readonly ControllerRevision[]): RevisionDecision {
  const next = Math.max(0, ...revisions.map(({ revision = 0 }) => Number(revision))) + 1;
  const equal = revisions.findLast((each) => equalTemplates(templateOf(each), owner.template));
  if (equal === undefined) {
    return { verdict: 'create', revision: newRevision(owner, next), reason: 'template is new' };
  }
  if (equal === revisions.at(-1)) return { verdict: 'current', revision: equal, reason: 'template unchanged' };
  return { verdict: 'raise', revision: { ...equal, revision: next }, reason: 'template came back' };
}

function newRevision(
  { kind, object, template, collisionCount, hashLabel = HASH_LABEL }: RevisionOwner,
  revision: number,
): ControllerRevision {
  const hash = templateHash(template, collisionCount);
  const { name = '', namespace = '', annotations } = object.metadata ?? {};
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ownerReferences: [controllerReference(kind, object)],
    },
    data: { spec: { template: { ...template, $patch: 'replace' } } },
    revision,
  };
}

/** Unused revisions beyond the limit, lowest first (LIFE-601). A negative limit keeps all. Pure. */
export function surplusRevisions(
  revisions: readonly ControllerRevision[],
  { live, limit }: { readonly live: ReadonlySet<string>; readonly limit: number },
): ControllerRevision[] {
  if (limit < 0) return [];
  const idle = revisions
    .filter((each) => !live.has(each.metadata?.name ?? '') && !isTerminating(each))
    .toSorted(byRevisionNumber);
  return idle.slice(0, Math.max(0, idle.length - limit));
}

/** FNV-1a of the template and the number of collisions, in letters that are valid in a name. */
export function templateHash(template: PodTemplate, collisionCount: number | undefined): string {
  const text = stringifyExactJson([sorted(withoutEmpty(template)), collisionCount ?? 0]);
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return [...String(hash)].map((digit) => SAFE[digit.charCodeAt(0) % SAFE.length]).join('');
}

function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([field, inner]) => [field, withoutEmpty(inner)] as const)
      .filter(([, inner]) => inner !== null && inner !== undefined && !isEmpty(inner)),
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([field, inner]) => [field, sorted(inner)]));
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value as object).length === 0;
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
