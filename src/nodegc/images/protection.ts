import type { ImageRecord, Inventory } from '../inventory/image-records.ts';
import type { ImageLabels } from '../patterns/image-labels.ts';
import { protectDetail, type ProtectPattern } from '../patterns/protect-pattern.ts';
import { repositoriesOf, repositoryMatcher } from '../patterns/reference-pattern.ts';

/** The rule by which an image stays, however full the disk is (NODE-040 to NODE-048). */
export type ProtectionRule =
  | 'inUse'
  | 'unknownUse'
  | 'pinned'
  | 'sandboxImage'
  | 'podSpec'
  | 'protectList'
  | 'keepNewest'
  | 'outOfScope';

export interface Protection {
  readonly rule: ProtectionRule;
  /** One clause for a person, such as the container or the pattern. */
  readonly detail: string;
}

export interface ProtectionFacts {
  /** The sandbox image, as the runtime reports it or as it is found by name. Undefined: the runtime pins it. */
  readonly sandboxImage?: string | undefined;
  /** References in the specs of pods of this node that are not finished (NODE-142). */
  readonly podImages?: ReadonlySet<string>;
  readonly protect?: readonly ProtectPattern[];
  /** Patterns of the cluster. `unknown` until they are read: until then, no image may be removed (NODE-212). */
  readonly clusterLists?: readonly ProtectPattern[] | 'unknown';
  /** Labels of images, by id. An image without an entry has labels that cannot be read. */
  readonly labels?: ReadonlyMap<string, ImageLabels>;
  readonly keepNewest?: Readonly<Record<string, number>>;
  readonly scope?: 'node' | 'cluster';
  /** A container that did not report its volumes. It may mount any image without a known user (NODE-217). */
  readonly unreadableContainer?: string | undefined;
}

/** Whether a reference means this tag of the runtime. The reference may omit Docker's registry and the tag `latest`. */
export function meansTag(reference: string, tag: string): boolean {
  if (tag === reference || tag === `docker.io/library/${reference}` || tag === `docker.io/${reference}`) return true;
  return !/[:@][^/]*$/.test(reference) && meansTag(`${reference}:latest`, tag);
}

const named = ({ image: { id, tags, digests } }: ImageRecord, reference: string): boolean =>
  id === reference || digests.includes(reference) || tags.some((tag) => meansTag(reference, tag));

/** Keys of the most recently used images of each repository, with the reason why they are kept (NODE-213). */
function keptNewest(inventory: Inventory, keepNewest: Readonly<Record<string, number>>): Map<string, string> {
  const kept = new Map<string, string>();
  for (const [glob, count] of Object.entries(keepNewest)) {
    const matches = repositoryMatcher(glob);
    const byRepository = new Map<string, ImageRecord[]>();
    for (const record of inventory.values()) {
      for (const repository of repositoriesOf(record.image).filter(matches)) {
        byRepository.set(repository, [...(byRepository.get(repository) ?? []), record]);
      }
    }
    for (const [repository, records] of byRepository) {
      for (const { key } of records.toSorted(byUse).toReversed().slice(0, count)) {
        kept.set(key, `one of the ${count} most recently used of ${repository}`);
      }
    }
  }
  return kept;
}

const sign = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Orders the least recently used first, then the first detected, then by id (NODE-062). Never used comes before every use. */
export function byUse(a: ImageRecord, b: ImageRecord): number {
  return (
    sign(a.lastUsed ?? -1n, b.lastUsed ?? -1n) || sign(a.firstDetected, b.firstDetected) || (a.key < b.key ? -1 : 1)
  );
}

/** Finds the protection of each image. An image without an entry may be removed. */
export function protections(inventory: Inventory, facts: ProtectionFacts = {}): Map<string, Protection> {
  const { clusterLists = [], keepNewest = {} } = facts;
  const protect = [...(facts.protect ?? []), ...(clusterLists === 'unknown' ? [] : clusterLists)];
  const kept = keptNewest(inventory, keepNewest);
  const result = new Map<string, Protection>();
  for (const record of inventory.values()) {
    const protection = record.users.length > 0 ? new InUse(record) : protectionOf(record, facts, protect, kept);
    if (protection !== undefined) result.set(record.key, protection);
  }
  return result;
}

/** Finds the first rule that keeps an image nobody uses. */
function protectionOf(
  record: ImageRecord,
  facts: ProtectionFacts,
  protect: readonly ProtectPattern[],
  kept: ReadonlyMap<string, string>,
): Protection | undefined {
  const { sandboxImage, podImages } = facts;
  if (record.image.pinned) return { rule: 'pinned', detail: 'the runtime reports it as pinned' };
  if (sandboxImage !== undefined && named(record, sandboxImage)) {
    return { rule: 'sandboxImage', detail: 'the runtime needs it to start any pod' };
  }
  for (const reference of podImages ?? []) {
    if (named(record, reference)) return { rule: 'podSpec', detail: `a pod of this node names ${reference}` };
  }
  if (protect.length > 0) {
    const labels = facts.labels?.get(record.image.id);
    const pattern = protect.find((each) => each.matches(record.image, labels));
    if (pattern !== undefined) return { rule: 'protectList', detail: protectDetail(pattern, labels) };
  }
  if (facts.clusterLists === 'unknown')
    return { rule: 'protectList', detail: 'the protect lists of the cluster are not known yet' };
  const newest = kept.get(record.key);
  if (newest !== undefined) return { rule: 'keepNewest', detail: newest };
  if (facts.scope === 'cluster' && record.lastUsed === undefined) {
    return { rule: 'outOfScope', detail: 'no pod of this node has used it' };
  }
  if (facts.unreadableContainer !== undefined) {
    return {
      rule: 'unknownUse',
      detail: `container ${facts.unreadableContainer.slice(0, 13)} does not report which images it mounts`,
    };
  }
  return undefined;
}

/** Builds its detail only when it is read: a pass over thousands of images shows none of them. */
class InUse implements Protection {
  readonly rule = 'inUse';
  readonly #record: ImageRecord;

  constructor(record: ImageRecord) {
    this.#record = record;
  }

  get detail(): string {
    return describeUsers(this.#record);
  }
}

function describeUsers({ users }: ImageRecord): string {
  const [first] = users;
  if (first === undefined) return '';
  const pod = first.podName === '' ? '' : ` of pod ${first.podNamespace}/${first.podName}`;
  const more = users.length === 1 ? '' : ` and ${users.length - 1} more`;
  const name = first.name === '' ? first.id.slice(0, 13) : first.name;
  const as = first.reference === '' ? '' : `, started as ${first.reference}`;
  return `${first.state} container ${name}${pod}${more}${as}`;
}

/** The time from which the minimum age of an image counts (NODE-042): its first detection, or its last use (NODE-214). */
export function ageBegins({ firstDetected, lastUsed }: ImageRecord, from: 'detected' | 'used'): bigint {
  return from === 'used' && lastUsed !== undefined && lastUsed > firstDetected ? lastUsed : firstDetected;
}
