import type { OwnerReference } from '../../../api/meta/object-meta.ts';
import type { GraphEvent, MonitoredResource, ObservedObject, ListFinishedEvent } from '../../types/event.ts';
import { compareIdentities, type Identity, type Uid } from '../../types/identity.ts';

/** The expected knowledge about one uid. */
interface NaiveNode {
  identity: Identity;
  state: 'virtual' | 'observed';
  refs: readonly OwnerReference[];
  beingDeleted: boolean;
  deletingDependents: boolean;
  finalizers: readonly string[];
  version: string | undefined;
  seen: boolean;
  /** The resource that showed it last has not shown this version yet. */
  behind: boolean;
  /** The plural of the resource that showed it last; empty for virtual nodes. */
  resource: string;
}

const FG = 'foregroundDeletion';
const ORPHAN = 'orphan';

/**
 * A second implementation of the graph, with maps of objects and without links: dependents are recomputed from all references on each
 * query. Effects are a set of text lines.
 */
export class NaiveGraph {
  readonly nodes = new Map<Uid, NaiveNode>();
  /** Identities of uids that are gone but that a reference still names. */
  readonly gone = new Map<Uid, Identity>();
  effects = new Set<string>();

  apply(event: GraphEvent): Set<string> {
    this.effects = new Set();
    switch (event.type) {
      case 'observed':
        this.#observe(event.resource, event.object);
        break;
      case 'deleted':
        this.#delete({ ...kindOf(event.resource), name: event.name, namespace: event.namespace, uid: event.uid });
        break;
      case 'virtualDelete':
        this.#virtualDelete(event.identity);
        break;
      case 'listStarted':
        for (const node of this.#ofResource(event.resource)) node.seen = false;
        break;
      case 'listFinished': {
        const missing = this.#ofResource(event.resource).filter(({ seen }) => !seen);
        if (this.#isHeld(event, missing.length)) break;
        const unproven = missing.filter((node) => this.#needsProof(node));
        for (const node of missing) if (!unproven.includes(node)) this.#remove(node.identity);
        for (const { identity } of unproven) this.#queue(identity.uid);
        break;
      }
      case 'resourceVanished':
        this.#lose(this.#ofResource(event.resource));
        break;
      case 'historyReset':
        for (const node of this.nodes.values()) {
          if (event.of === undefined || node.behind) Object.assign(node, { version: undefined, behind: false });
        }
        for (const [uid, identity] of this.gone) this.#question(uid, identity);
        break;
      default:
        throw new Error(`no ${event.type} in this model`);
    }
    this.#sweep();
    return this.effects;
  }

  dependents(uid: Uid): NaiveNode[] {
    return [...this.nodes.values()].filter(({ refs }) => refs.some((ref) => ref.uid === uid));
  }

  #observe(resource: MonitoredResource, object: ObservedObject): void {
    const { uid, name, namespace, ownerReferences, deleting, finalizers } = object;
    const identity = { ...kindOf(resource), name, namespace, uid };
    const known = this.nodes.get(uid);
    if (known?.state === 'virtual') this.#meet(identity, known.identity);
    else if (this.gone.has(uid)) this.#meet(identity, this.gone.get(uid)!);
    const before = known?.state === 'observed' ? known : undefined;
    const handedOver = before !== undefined && !isOf(resource, before);
    const mayBeBehind = handedOver || before?.behind === true;
    if (mayBeBehind && Number(object.resourceVersion) < Number(before.version)) {
      this.nodes.set(uid, { ...before, identity, seen: true, behind: true, resource: resource.resource });
      return;
    }
    const node: NaiveNode = {
      identity,
      state: 'observed',
      refs: ownerReferences,
      beingDeleted: deleting && (before?.beingDeleted ?? false),
      deletingDependents: deleting && (before?.deletingDependents ?? false),
      finalizers,
      version: object.resourceVersion,
      seen: true,
      behind: false,
      resource: resource.resource,
    };
    this.gone.delete(uid);
    this.#unblocked(before?.refs ?? [], ownerReferences);
    const existed = new Set([...this.nodes.keys(), uid]);
    this.nodes.set(uid, node);
    this.#link(node, before?.refs ?? [], existed);
    const changedUnseen =
      (before?.seen === false || handedOver) &&
      (before.version !== object.resourceVersion || object.resourceVersion === 'opaque');
    if (changedUnseen && this.#isDoubtful(node)) this.#queue(uid);
    if (!deleting && before?.beingDeleted === true) this.#queue(uid);
    const started = deleting && this.#start(node, before);
    if (!changedUnseen || started || !waits(node)) return;
    for (const dependent of this.dependents(uid)) this.#queue(dependent.identity.uid);
  }

  /** A decision that was made while nobody watched may have been about other references (COL-053). */
  #isDoubtful(node: NaiveNode): boolean {
    return node.refs.some((ref) => {
      const owner = this.nodes.get(ref.uid);
      if (owner === undefined || owner.state !== 'observed' || !sameWords(owner.identity, ref)) return true;
      return waits(owner);
    });
  }

  /** The transitions of COL-060...COL-063. Returns whether one started. */
  #start(node: NaiveNode, before: NaiveNode | undefined): boolean {
    const { uid } = node.identity;
    const { finalizers } = node;
    node.beingDeleted = true;
    const starts = (finalizer: string): boolean =>
      finalizers.includes(finalizer) &&
      (before === undefined || !before.beingDeleted || !before.finalizers.includes(finalizer));
    if (starts(FG) && (!starts(ORPHAN) || !(before?.beingDeleted ?? false))) node.deletingDependents = true;
    if (starts(ORPHAN)) this.effects.add(`orphan ${uid}`);
    else if (starts(FG)) {
      for (const dependent of this.dependents(uid)) this.#queue(dependent.identity.uid);
      this.#queue(uid);
    }
    return starts(ORPHAN) || starts(FG);
  }

  /** The object of a virtual node appeared: forgets its absence, and queues dependents that do not match (COL-073, BETTER-14). */
  #meet(identity: Identity, recorded: Identity): void {
    this.effects.add(`alive ${identity.uid}`);
    if (compareIdentities(identity, recorded) === 0) return;
    for (const dependent of this.dependents(identity.uid)) {
      if (!fit(dependent, identity).mismatches) continue;
      if (identity.namespace !== '' && identity.namespace !== dependent.identity.namespace) {
        this.effects.add(`report ${dependent.identity.uid} ${identity.uid}`);
      }
      this.#queue(dependent.identity.uid);
    }
  }

  /** Queues each owner that a reference has stopped blocking (COL-054). */
  #unblocked(before: readonly OwnerReference[], now: readonly OwnerReference[]): void {
    for (const { uid, blockOwnerDeletion } of before) {
      if (blockOwnerDeletion !== true || !this.nodes.has(uid)) continue;
      if (now.some((ref) => ref.uid === uid && ref.blockOwnerDeletion === true)) continue;
      this.#queue(uid);
    }
  }

  /**
   * Makes virtual nodes for unknown owners, and queues the dependent once if a new reference is invalid or its owner is gone (COL-070,
   * COL-078, BETTER-5, BETTER-15).
   */
  #link(node: NaiveNode, before: readonly OwnerReference[], existed: ReadonlySet<Uid>): void {
    const { uid, namespace } = node.identity;
    let questioned = false;
    const created = new Set<Uid>();
    for (const ref of node.refs) {
      const coordinates = { apiVersion: ref.apiVersion, kind: ref.kind, name: ref.name, uid: ref.uid };
      const unknown = !existed.has(ref.uid) && !this.gone.has(ref.uid) && !created.has(ref.uid);
      if (unknown) {
        created.add(ref.uid);
        this.#addVirtual({ ...coordinates, namespace });
        continue;
      }
      const same = (other: OwnerReference): boolean => other.uid === ref.uid && sameWords(other, ref);
      if (questioned || before.some(same)) continue;
      const owner = this.nodes.get(ref.uid);
      if (owner === undefined) {
        questioned = true;
        continue;
      }
      const otherNamespace = owner.identity.namespace !== namespace;
      if (otherNamespace && owner.identity.namespace !== '') {
        questioned = true;
        if (owner.state === 'observed') this.effects.add(`report ${uid} ${ref.uid}`);
      } else if (!sameWords(owner.identity, ref)) questioned = true;
      else if (otherNamespace && owner.state === 'virtual') questioned = true;
    }
    // A reference that the node lost, or old coordinates of a reference, may have kept the node from being processed (COL-113).
    const lost = before.some((ref) => !node.refs.some((other) => other.uid === ref.uid && sameWords(other, ref)));
    const needsALook = (ref: OwnerReference): boolean => {
      const owner = this.nodes.get(ref.uid);
      if (owner === undefined) return this.gone.has(ref.uid);
      return waits(owner) || !sameWords(owner.identity, ref);
    };
    if (lost && node.refs.some(needsALook)) questioned = true;
    if (questioned) this.#queue(uid);
  }

  #addVirtual(identity: Identity): void {
    this.nodes.set(identity.uid, virtualNode(identity));
    this.#queue(identity.uid);
  }

  #delete(identity: Identity): void {
    const node = this.nodes.get(identity.uid);
    if (node === undefined) return;
    if (node.state === 'virtual') this.#meet(identity, node.identity);
    this.#remove(identity);
  }

  /** Removes the node, and queues its dependents and the owners that wait (COL-057). */
  #remove(identity: Identity): void {
    const { uid } = identity;
    const node = this.nodes.get(uid)!;
    this.nodes.delete(uid);
    this.#releaseOwners(node);
    const dependents = this.dependents(uid);
    if (dependents.length === 0) return;
    this.gone.set(uid, identity);
    this.#note(identity);
    for (const dependent of dependents) this.#queue(dependent.identity.uid);
  }

  #releaseOwners(node: NaiveNode): void {
    for (const { uid } of node.refs) {
      if (uid !== node.identity.uid && this.nodes.get(uid)?.deletingDependents === true) this.#queue(uid);
    }
  }

  /** Removes an absent node, unless it is observed or dependents name it by other coordinates (COL-075, COL-077). */
  #virtualDelete(identity: Identity): void {
    const { uid } = identity;
    const node = this.nodes.get(uid);
    if (node === undefined) return;
    const recorded = compareIdentities(node.identity, identity) === 0;
    if (node.state === 'observed' && recorded) return this.#remove(identity);
    const dependents = this.dependents(uid);
    const mismatching = dependents.filter((dependent) => fit(dependent, identity).mismatches);
    if (node.state === 'virtual' && mismatching.length === 0) return this.#remove(identity);
    const matching = dependents.filter((dependent) => fit(dependent, identity).matches);
    if (matching.length > 0) this.#note(identity);
    for (const dependent of matching) this.#queue(dependent.identity.uid);
    if (node.state === 'observed' || !recorded) return;
    const others = mismatching.flatMap((dependent) => alternatives(dependent, identity)).sort(compareIdentities);
    const next = others.find((other) => compareIdentities(other, identity) > 0) ?? others[0];
    if (next === undefined) return;
    node.identity = next;
    this.effects.add(`later ? ${uid}`);
  }

  /** All nodes drop their owners first, then those with dependents are queued to be read (BETTER-2). */
  #lose(lost: readonly NaiveNode[]): void {
    for (const node of lost) Object.assign(node, { ...virtualNode(node.identity), state: 'observed', refs: node.refs });
    for (const node of lost) this.#releaseOwners(node);
    for (const node of lost) node.refs = [];
    for (const { identity } of lost) {
      this.nodes.delete(identity.uid);
      if (this.dependents(identity.uid).length > 0) this.#question(identity.uid, identity);
    }
  }

  #question(uid: Uid, identity: Identity): void {
    this.gone.delete(uid);
    this.effects.add(`alive ${uid}`);
    this.#addVirtual(identity);
  }

  #ofResource(of: MonitoredResource): NaiveNode[] {
    return [...this.nodes.values()].filter(
      ({ state, identity, resource }) =>
        state === 'observed' &&
        identity.apiVersion === of.apiVersion &&
        identity.kind === of.kind &&
        resource === of.resource,
    );
  }

  /** Removes entries that are kept only for references, once there are none. */
  #sweep(): void {
    for (const [uid, { state }] of this.nodes) {
      if (state === 'virtual' && this.dependents(uid).length === 0) this.nodes.delete(uid);
    }
    for (const uid of this.gone.keys()) if (this.dependents(uid).length === 0) this.gone.delete(uid);
  }

  #isHeld({ resource, limit }: ListFinishedEvent, missing: number): boolean {
    const known = this.#ofResource(resource).length;
    const holds = missing > 0 && limit !== undefined && missing >= limit.objects && missing >= limit.share * known;
    if (holds) this.effects.add(`held ${resource.resource} ${missing} of ${known}`);
    return holds;
  }

  #needsProof({ identity, refs }: NaiveNode): boolean {
    if (this.dependents(identity.uid).length > 0) return true;
    return refs.some(({ uid }) => {
      const owner = this.nodes.get(uid);
      return owner?.beingDeleted === true && [FG, ORPHAN].some((finalizer) => owner.finalizers.includes(finalizer));
    });
  }

  #queue(uid: Uid): void {
    this.effects.add(`${this.nodes.get(uid)?.state === 'virtual' ? '? ' : ''}${uid}`);
  }

  #note({ apiVersion, kind, namespace, name, uid }: Identity): void {
    this.effects.add(`absent ${[apiVersion, kind, namespace, name, uid].join(' ')}`);
  }
}

function virtualNode(identity: Identity): NaiveNode {
  return {
    identity,
    state: 'virtual',
    refs: [],
    beingDeleted: false,
    deletingDependents: false,
    finalizers: [],
    version: undefined,
    seen: false,
    behind: false,
    resource: '',
  };
}

/** True if this resource showed it last. */
function isOf({ apiVersion, kind, resource }: MonitoredResource, node: NaiveNode): boolean {
  return kind === node.identity.kind && apiVersion === node.identity.apiVersion && resource === node.resource;
}

function kindOf({ apiVersion, kind }: MonitoredResource) {
  return { apiVersion, kind };
}

type Words = Pick<Identity, 'apiVersion' | 'kind' | 'name'>;

function sameWords(a: Words, b: Words): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind && a.name === b.name;
}

/** Whether the dependent's references match the identity: namespace, name, kind and apiVersion must be equal (COL-074). */
function fit(dependent: NaiveNode, identity: Identity): { matches: boolean; mismatches: boolean } {
  const inReach = identity.namespace === '' || identity.namespace === dependent.identity.namespace;
  const meant = dependent.refs
    .filter(({ uid }) => uid === identity.uid)
    .map((ref) => inReach && sameWords(ref, identity));
  return { matches: meant.includes(true), mismatches: meant.includes(false) };
}

/** The other coordinates at which the dependent's references place the owner (COL-076). */
function alternatives(dependent: NaiveNode, absent: Identity): Identity[] {
  return dependent.refs
    .filter(({ uid }) => uid === absent.uid)
    .map(({ apiVersion, kind, name, uid }) => {
      const shownClusterScoped = absent.namespace === '' && absent.kind === kind && absent.apiVersion === apiVersion;
      return { apiVersion, kind, name, uid, namespace: shownClusterScoped ? '' : dependent.identity.namespace };
    })
    .filter((identity) => {
      const reachable = absent.namespace === '' || absent.namespace === dependent.identity.namespace;
      return !(reachable && sameWords(identity, absent));
    });
}

function waits({ state, beingDeleted, finalizers }: NaiveNode): boolean {
  return state === 'observed' && beingDeleted && finalizers.includes(FG);
}
