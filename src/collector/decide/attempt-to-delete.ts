import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../api/meta/object-meta.ts';
import { assert } from '../../base/errors/assert.ts';
import type {
  Action,
  DeleteAction,
  KnownReferences,
  NoteAbsentOwnerAction,
  PropagationPolicy,
  RemoveReferencesAction,
} from './actions.ts';
import { believesGraph, classifyOwner, type OwnerClass } from './classify-owner.ts';
import type { Facts, NodeFacts } from './facts.ts';
import type { LiveObject } from './live-object.ts';
import { lookAt } from './look-at.ts';
import { ownerLookup, type OwnerLookup } from './owner-lookup.ts';
import { processDeletingDependents } from './process-deleting-dependents.ts';
import type { Reason } from '../types/reasons.ts';
import type { Step, Verdict } from './step.ts';
import { unblockReferences } from './unblock-references.ts';
import { targetOf, type KindMapping, type Target } from './target.ts';

/**
 * The decision about one object, by the table of COL-090. It returns a need if facts are missing. The caller calls it again with the
 * answers added and with the current node, until it returns a verdict. It asks at most once for the object and once for each owner, unless
 * the object gets other coordinates meanwhile.
 *
 * Guarantees (proved by enumeration): no delete unless every owner is proven absent or waiting (COL-002); nothing that is
 * not proven leads to a write (COL-156); every write names the uid, and every delete the resourceVersion its decision rests on.
 */
export function attemptToDelete(facts: Facts): Step {
  const { node } = facts;
  // Rows 1 to 4, which the graph alone decides.
  if (node === undefined) return forget('goneFromGraph');
  if (facts.queuedAs === 'virtual' && node.state === 'observed') return forget('virtualEntryOutdated');
  if (!node.unlisted) {
    if (node.beingDeleted && !node.deletingDependents) return forget('alreadyTerminating');
    if (node.endAccepted) return forget('endNotShownYet');
  }
  const { mapping } = node;
  if (mapping === undefined) return requeue('kindUnknown');
  if (mapping.namespaced && node.identity.namespace === '') return forget('namespaceUnknown');

  const target = targetOf(node.identity, mapping);
  const { latest } = facts;
  if (latest.state === 'unasked' && mayStandForItself(facts, node)) {
    return decideWith(facts, { node, mapping, target, live: undefined });
  }
  const look = lookAt(latest, target, mapping);
  if (look === 'unread') return { need: 'latest', target, ...versionToRead(facts, node) };
  if (look === 'unreadable') return requeue('objectUnreadable');
  // A watch that still shows the object counts more than one answer (COL-116). The object is read again until both agree.
  if ('gone' in look && node.shown) return requeue('absentButShown');
  if ('gone' in look) return { verdict: 'forget', reason: look.gone, actions: [virtualDelete(node)] };
  return decideWith(facts, { node, mapping, target, live: look.live });
}

/** The recorded state may replace a GET, because a precondition will verify it (COL-098). */
function mayStandForItself(facts: Facts, node: NodeFacts): boolean {
  if (node.doubted === true || node.unlisted || !believesGraph(facts)) return false;
  return node.state === 'observed' && node.resourceVersion !== undefined;
}

/** After a conflict only the most recent state is used. */
function versionToRead({ shortcut }: Facts, { notOlderThan }: NodeFacts): { readonly notOlderThan?: string } {
  return notOlderThan === undefined || shortcut === 'spent' ? {} : { notOlderThan };
}

interface Case {
  readonly node: NodeFacts;
  readonly mapping: KindMapping;
  readonly target: Target;
  /** Undefined if the graph's record is used instead. */
  readonly live: LiveObject | undefined;
}

/** Rows 8 to 15. */
function decideWith(facts: Facts, { node, mapping, target, live }: Case): Step {
  // A backup of the server was restored (designs/0011); the graph will learn it from the watch.
  if (node.deletingDependents && live?.deleting === false) return done(node, 'notBeingDeleted');
  const graph = node.doubted === true ? 'untrusted' : facts.graph;
  if (node.deletingDependents) return processDeletingDependents({ node, target, live, graph });
  // The graph has not seen the deletion yet; the answer equals that of row 2 (COL-095).
  if (live?.deleting === true) return done(node, 'alreadyTerminating');
  if (facts.owners.length === 0) return done(node, 'noOwners');

  const clusterScoped = !mapping.namespaced;
  const believeGraph = believesGraph(facts);
  const classes = facts.owners.map((owner) => classifyOwner(owner, { clusterScoped, believeGraph }));
  // The absences for the key (COL-131). For a virtual node only the namespace of a live read counts (COL-11A), which is that of the target.
  const noted = notedAbsences(facts, target.namespace);
  if (classes.includes('outOfReach')) return forget('namespacedOwnerOfClusterScoped', noted);
  if (classes.includes('unmapped')) return requeue('ownerKindUnknown', noted);
  if (classes.includes('unreadable')) return requeue('ownerUnreadable', noted);
  if (classes.includes('unread')) return { need: 'owners', lookups: lookups(facts, classes, target.namespace) };

  const has = (wanted: OwnerClass): boolean => classes.includes(wanted);
  if (has('solid')) {
    if (!has('dangling') && !has('waiting')) return done(node, 'solidOwner', noted);
    // P1 does not name a version, so the references must be read directly before it (row 12).
    if (live === undefined) return { need: 'latest', target };
    const { identity } = node;
    return done(node, 'solidOwnerReferencesRemoved', [
      ...noted,
      { action: 'removeReferences', target, identity, ...referencesToRemove(facts, classes, live) },
    ]);
  }
  // Any other owner decides, as if these references did not exist (LIFE-560).
  if (facts.owners.every(({ orphaned }, i) => orphaned === true && classes[i] === 'dangling')) {
    if (live === undefined) return { need: 'latest', target };
    const owners = [...new Set(facts.owners.map(({ reference }) => reference.uid))];
    const { identity } = node;
    return done(node, 'orphanedReferencesReleased', [
      ...noted,
      { action: 'removeReferences', target, identity, owners, known: referencesOf(live), only: live.resourceVersion },
    ]);
  }
  const deletion = (policy: PropagationPolicy): DeleteAction => ({
    action: 'delete',
    target,
    identity: node.identity,
    policy,
    preconditions: { uid: target.uid, resourceVersion: live?.resourceVersion ?? recordedVersion(node) },
    classified: facts.owners.map(({ reference }) => reference),
    basis: live === undefined ? 'graph' : 'live',
  });
  if (has('waiting') && node.dependents !== 'none') {
    if (node.dependents === 'some') return done(node, 'ownerWaitsHasDependents', [...noted, deletion('Foreground')]);
    if (live === undefined) return { need: 'latest', target };
    return done(node, 'ownerWaitsCycle', [...noted, ...openCycle(deletion('Foreground'), live)]);
  }
  return done(node, has('waiting') ? 'ownerWaits' : 'ownersAbsent', [...noted, deletion(ownPolicy(node, live))]);
}

/**
 * Row 12. P1 removes by uid alone. A wrong reference to a living object may be corrected between the read and the patch, and must then
 * stay, so its removal names a version. References to uids that were deleted, or that wait, have no such danger.
 */
function referencesToRemove(
  { owners }: Facts,
  classes: readonly OwnerClass[],
  live: LiveObject,
): Pick<RemoveReferencesAction, 'owners' | 'known' | 'only'> {
  const uids = new Set(owners.filter((_, i) => classes[i] !== 'solid').map(({ reference }) => reference.uid));
  const mayBeMeant = owners.some(({ uidGone }, i) => classes[i] === 'dangling' && uidGone !== true);
  const only = mayBeMeant ? { only: live.resourceVersion } : {};
  return { owners: [...uids], known: referencesOf(live), ...only };
}

function referencesOf({ resourceVersion, ownerReferences }: LiveObject): KnownReferences {
  return { resourceVersion, references: ownerReferences };
}

/** Row 15. An object that already has a deletion finalizer is deleted with the corresponding policy (COL-24E). */
function ownPolicy(node: NodeFacts, live: LiveObject | undefined): PropagationPolicy {
  const orphan = live?.finalizers.includes(FINALIZER_ORPHAN) ?? node.orphanFinalizer;
  if (orphan) return 'Orphan';
  const foreground = live?.finalizers.includes(FINALIZER_FOREGROUND) ?? node.foregroundFinalizer;
  return foreground ? 'Foreground' : 'Background';
}

/** Row 13. The patch changes the version, so the delete rests on the patched object. */
function openCycle(deletion: DeleteAction, live: LiveObject): Action[] {
  const { target } = deletion;
  const [unblock] = unblockReferences(target, live);
  if (unblock === undefined) return [deletion];
  const preconditions = { uid: target.uid, resourceVersion: 'fromPatch' };
  return [unblock, { ...deletion, preconditions, classified: unblock.all }];
}

function lookups(facts: Facts, classes: readonly OwnerClass[], namespace: string): OwnerLookup[] {
  const found = new Map<string, OwnerLookup>();
  facts.owners.forEach(({ reference, mapping, notOlderThan }, i) => {
    if (classes[i] !== 'unread') return;
    assert(mapping !== undefined, 'an owner to be read has a mapping');
    const lookup = ownerLookup(reference, mapping, namespace);
    found.set(lookup.key, notOlderThan === undefined ? lookup : { ...lookup, notOlderThan });
  });
  return [...found.values()];
}

/** The owners that live reads of this round proved absent (COL-114), for any verdict. */
function notedAbsences(facts: Facts, namespace: string): NoteAbsentOwnerAction[] {
  return facts.owners
    .filter(({ live }) => live === 'absent')
    .map(({ reference: { apiVersion, kind, name, uid }, mapping }) => {
      const place = mapping?.namespaced === true ? namespace : '';
      return { action: 'noteAbsentOwner', identity: { apiVersion, kind, name, uid, namespace: place } };
    });
}

function recordedVersion({ resourceVersion }: NodeFacts): string {
  assert(resourceVersion !== undefined, 'only a node with a version stands for itself');
  return resourceVersion;
}

function virtualDelete({ identity }: NodeFacts): Action {
  return { action: 'emitVirtualDelete', identity };
}

/** A node that is still virtual is processed again until its monitor shows it (COL-092). */
function done(node: NodeFacts, reason: Reason, actions: readonly Action[] = []): Verdict {
  return { verdict: node.state === 'virtual' ? 'requeue' : 'forget', reason, actions };
}

function forget(reason: Reason, actions: readonly Action[] = []): Verdict {
  return { verdict: 'forget', reason, actions };
}

function requeue(reason: Reason, actions: readonly Action[] = []): Verdict {
  return { verdict: 'requeue', reason, actions };
}
