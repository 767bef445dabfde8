import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { TOKEN_SECRET_TYPE } from '../../api/meta/token-secret.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import type { ObjectReference } from '../documents/object-reference.ts';
import {
  isEvent,
  isFinishedJob,
  isMadeForNamespace,
  isMirrorPod,
  isRebuiltByController,
  isServiceAddress,
} from './rebuilt-by-controller.ts';
import { recordedDefinitions } from './recorded-definitions.ts';
import { type RestoreContext, restoreNotes } from './restore-body.ts';
import { restoreWaves } from './restore-order.ts';
import { coordinatesOfObject, type LiveObject, type ServedKind, type UndoFacts } from './undo-facts.ts';
import { accountCoordinates, type DecidedActions, fateOfOwner, volumeCoordinates } from './undo-owners.ts';
import {
  type ConflictPolicy,
  type ManagedPolicy,
  type UndoAction,
  type UndoObject,
  type UndoPlan,
  type UndoReason,
  undoReasons,
} from '../documents/undo-plan.ts';

export interface UndoOptions {
  /** The name of the record. */
  readonly id: string;
  readonly managed: ManagedPolicy;
  readonly onConflict: ConflictPolicy;
}

/** A plan with the facts that its execution needs. */
export interface PlannedUndo {
  readonly plan: UndoPlan;
  readonly facts: UndoFacts;
  readonly decided: DecidedActions;
  readonly named: NamedObjects;
}

/** Recorded uids of the accounts and volumes that are created, by kind, namespace and name, because others name them so. */
type NamedObjects = ReadonlyMap<string, string>;

/** Decides for every recorded object whether it is created, and in which order. Pure: equal facts give equal plans. */
export function planUndo(given: UndoFacts, options: UndoOptions): PlannedUndo {
  const facts = withRecordedDefinitions(given);
  const decided = new Map<string, { body: KubeObject; action: UndoAction }>();
  const verdicts: Verdict[] = [];
  const byUid = new Map(facts.objects.map(({ body }) => [body.metadata?.uid ?? '', body]));
  for (const object of facts.objects) {
    const verdict = verdictOf(object, { facts, options, byUid });
    verdicts.push(verdict);
    decided.set(object.body.metadata?.uid ?? '', { body: object.body, action: verdict.action });
  }
  const created = facts.objects.flatMap(({ body }, index) => (verdicts[index]!.action === 'create' ? [body] : []));
  const named = namedObjects(created);
  const waves = restoreWaves(created);
  let next = 0;
  const objects = facts.objects.map(({ body }, index): UndoObject => {
    const { action, reason, served } = verdicts[index]!;
    const plain = { ref: referenceTo(body, served), action, reason, message: undoReasons[reason] };
    if (action !== 'create') return plain;
    const notes = notesOn(body, { served: served!, facts, decided, named, options });
    return { ...plain, wave: waves[next++]!, ...(notes.length === 0 ? {} : { notes }) };
  });
  const summary = { create: 0, present: 0, leave: 0, conflict: 0, impossible: 0 };
  for (const { action } of objects) summary[action]++;
  return {
    plan: { apiVersion: DOCUMENT_API_VERSION, kind: 'UndoPlan', ...options, objects, summary },
    facts,
    decided,
    named,
  };
}

/** The context for building the body of a recorded object. `uidNow` returns the new uid of a restored owner. */
export function restoreContextOf(
  body: KubeObject,
  { facts, decided, named, plan }: PlannedUndo,
  served: ServedKind,
  uidNow: (recordedUid: string) => string | undefined,
): RestoreContext {
  return contextOf(body, { served, facts, decided, named, options: plan }, uidNow);
}

interface Verdict {
  readonly action: UndoAction;
  readonly reason: UndoReason;
  readonly served: ServedKind | undefined;
}

interface Deciding {
  readonly facts: UndoFacts;
  readonly options: UndoOptions;
  readonly byUid: ReadonlyMap<string, KubeObject>;
}

function verdictOf({ body, dataOmitted }: RecordedObject, deciding: Deciding): Verdict {
  const { facts, options } = deciding;
  const { apiVersion, kind, metadata } = body;
  if (!apiVersion || !kind || !metadata?.name || !metadata.uid) {
    return { action: 'impossible', reason: 'invalidRecord', served: undefined };
  }
  const served = facts.served(apiVersion, kind);
  const verdict = (action: UndoAction, reason: UndoReason): Verdict => ({ action, reason, served });
  if (served === undefined) return verdict('impossible', 'kindNotServed');
  const live = facts.live.get(coordinatesOfObject(body));
  if (live !== undefined) return verdict(...verdictOfTaken(body, live, deciding));
  if (isEvent(body)) return verdict('leave', 'pastEvent');
  if (isMirrorPod(body)) return verdict('leave', 'mirrorPod');
  // With any policy: the Service that comes back takes the address itself.
  if (isServiceAddress(body)) return verdict('leave', 'rebuiltByController');
  if (options.managed === 'rebuild') {
    if (isRebuiltByController(body) && controllerComesBack(body, deciding))
      return verdict('leave', 'rebuiltByController');
    if (isFinishedJob(body)) return verdict('leave', 'finishedJob');
  }
  if (dataOmitted === true && body['type'] !== TOKEN_SECRET_TYPE) return verdict('impossible', 'dataNotRecorded');
  return verdict('create', 'recorded');
}

/** The verdict if an object already has the name. */
function verdictOfTaken(body: KubeObject, live: LiveObject, deciding: Deciding): [UndoAction, UndoReason] {
  const uid = body.metadata?.uid;
  if (live.uid === uid) return live.terminating ? ['conflict', 'stillTerminating'] : ['present', 'neverDeleted'];
  if (live.terminating) return ['conflict', 'stillTerminating'];
  if (live.restoredFromUid === uid) return ['present', 'alreadyRestored'];
  if (isRebuiltFor(body, live, deciding) || isMadeForNamespace(body) || isServiceAddress(body))
    return ['present', 'rebuilt'];
  return ['conflict', 'replaced'];
}

/** True if the restored controller has already created another object of the same name. */
function isRebuiltFor(body: KubeObject, live: LiveObject, { facts, byUid }: Deciding): boolean {
  const before = body.metadata?.ownerReferences?.find(({ controller }) => controller === true);
  const now = live.ownerReferences.find(({ controller }) => controller === true);
  if (before === undefined || now === undefined || before.kind !== now.kind || before.name !== now.name) return false;
  const owner = byUid.get(before.uid);
  if (owner === undefined) return true;
  return facts.live.get(coordinatesOfObject(owner))?.uid === now.uid;
}

/** Follows the chain of controllers upward: the first that is not left out is restored or exists. */
function controllerComesBack(body: KubeObject, { facts, byUid }: Deciding): boolean {
  const seen = new Set<string>();
  let current = body;
  for (;;) {
    const references: NonNullable<NonNullable<KubeObject['metadata']>['ownerReferences']> =
      current.metadata?.ownerReferences ?? [];
    const reference = references.find(({ controller }) => controller === true) ?? references[0];
    if (reference === undefined || seen.has(reference.uid)) return false;
    seen.add(reference.uid);
    const owner = byUid.get(reference.uid);
    if (owner === undefined) {
      const decided: DecidedActions = new Map();
      return fateOfOwner(current, reference, { decided, facts, onConflict: 'skip' }).fate === 'live';
    }
    if (isFinishedJob(owner)) return false;
    if (!isRebuiltByController(owner)) return true;
    current = owner;
  }
}

interface Context {
  readonly served: ServedKind;
  readonly facts: UndoFacts;
  readonly decided: DecidedActions;
  readonly named: NamedObjects;
  readonly options: UndoOptions;
}

function contextOf(
  body: KubeObject,
  { served, facts, decided, named, options }: Context,
  uidNow: (recordedUid: string) => string | undefined,
): RestoreContext {
  const { namespace, name } = body.metadata ?? {};
  const { onConflict } = options;
  return {
    recordId: options.id,
    served,
    finalizerServed: facts.finalizerServed,
    ownerUid: (reference) => {
      const fate = fateOfOwner(body, reference, { decided, facts, onConflict });
      return fate.fate === 'live' ? fate.uid : fate.fate === 'restored' ? uidNow(fate.recordedUid) : undefined;
    },
    serviceAccountUid: (account) => {
      const recordedUid = named.get(nameKey('ServiceAccount', namespace, account));
      return recordedUid === undefined
        ? facts.live.get(accountCoordinates(namespace, account))?.uid
        : uidNow(recordedUid);
    },
    volumeComesBack: (volume) => {
      const live = facts.live.get(volumeCoordinates(volume));
      if (live !== undefined)
        return !live.terminating && (live.claim ?? `${namespace}/${name}`) === `${namespace}/${name}`;
      return named.has(nameKey('PersistentVolume', undefined, volume));
    },
  };
}

function namedObjects(created: readonly KubeObject[]): NamedObjects {
  const named = new Map<string, string>();
  for (const { apiVersion, kind, metadata } of created) {
    if (apiVersion !== 'v1' || (kind !== 'ServiceAccount' && kind !== 'PersistentVolume')) continue;
    const key = nameKey(kind, metadata?.namespace, metadata?.name ?? '');
    if (!named.has(key)) named.set(key, metadata?.uid ?? '');
  }
  return named;
}

const nameKey = (kind: string, namespace: string | undefined, name: string): string =>
  `${kind}/${namespace ?? ''}/${name}`;

function notesOn(body: KubeObject, context: Context): string[] {
  const { facts, decided, options } = context;
  const { onConflict } = options;
  const notes: string[] = [];
  for (const reference of body.metadata?.ownerReferences ?? []) {
    const fate = fateOfOwner(body, reference, { decided, facts, onConflict });
    const owner = `${reference.kind.toLowerCase()}/${reference.name}`;
    if (fate.fate === 'absent')
      notes.push(`restored without its owner ${owner}, which does not exist and is not restored`);
    else if (fate.fate === 'live' && fate.uid !== reference.uid && !isKnownSuccessor(reference.uid, decided)) {
      notes.push(`its owner is now the ${owner} that has the name, with another uid`);
    }
  }
  // A uid that is not known yet is represented by a placeholder.
  const others = restoreNotes(body, () => contextOf(body, context, (recordedUid) => recordedUid));
  return [...notes, ...others];
}

/** True if the owner is in the record and the object with its name is its successor. */
const isKnownSuccessor = (uid: string, decided: DecidedActions): boolean => decided.get(uid)?.action === 'present';

function withRecordedDefinitions(facts: UndoFacts): UndoFacts {
  const recorded = recordedDefinitions(facts.objects.map(({ body }) => body));
  return { ...facts, served: (apiVersion, kind) => facts.served(apiVersion, kind) ?? recorded(apiVersion, kind) };
}

function referenceTo(
  { apiVersion = '', kind = '', metadata }: KubeObject,
  served: ServedKind | undefined,
): ObjectReference {
  const { namespace, name = '', uid = '' } = metadata ?? {};
  const resource = served?.resource ?? '';
  return { apiVersion, kind, resource, ...(namespace === undefined ? {} : { namespace }), name, uid };
}
