import { isNamespaces } from '../../api/meta/group-version-kind.ts';
import { PROTECT } from '../../api/meta/annotations.ts';
import type { ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';
import { makePlan } from '../preview/make-plan.ts';
import type { BodyNeed } from '../simulate/body-need.ts';
import { type SimulationRequest, type SimulationResult, simulate } from '../simulate/simulation.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { resourceName } from '../snapshot/resource-catalogue.ts';
import {
  approvalDigest,
  approves,
  budgetOf,
  exceededLimits,
  type Extent,
  extentOf,
  type GuardBudget,
  NOTHING,
} from './budget.ts';
import { type GuardRequest, subjectOf } from './guard-request.ts';
import { type Loss, lossOf } from './loss.ts';
import { APPROVED_PLAN, type Protection, Protections, unprotects } from './protection.ts';

export interface GuardRules {
  /** Users whose requests are always allowed, because a deletion that was allowed must not stop half-way. */
  readonly exemptUsers: readonly string[];
  readonly exemptGroups: readonly string[];
  readonly budgets: readonly GuardBudget[];
  /** True for a cluster in which a finished pod keeps no claim (`--pvc-protection-ignore-finished-pods`). Default: it does. */
  readonly ignoreFinishedPods?: boolean;
}

/** The collector and the other controllers of Kubernetes, the API server itself, and kubelets, which end pods. */
export const DEFAULT_EXEMPT_USERS: readonly string[] = [
  'system:apiserver',
  'system:kube-controller-manager',
  'system:kube-scheduler',
];
export const DEFAULT_EXEMPT_GROUPS: readonly string[] = ['system:nodes', 'system:serviceaccounts:kube-system'];

/** Why the guard answered as it did. */
export type GuardReason =
  | 'exempt'
  | 'harmless'
  | 'nothingProtected'
  | 'withinBudget'
  | 'planApproved'
  | 'unidentified'
  | 'unprotectForbidden'
  | 'reachesProtected'
  | 'exceedsBudget'
  | 'notSettled';

export interface GuardVerdict {
  readonly verdict: 'allow' | 'deny';
  readonly reason: GuardReason;
  /** Three parts: the refusal; DETAIL: the objects; HINT: the next step. Empty when it is allowed. */
  readonly message: string;
  readonly warnings: readonly string[];
  /** Objects that are deleted, to be counted in the user's hour; empty if the user has no budget. */
  readonly deletes: Extent;
}

/** The facts that are known so far. */
export interface GuardFacts {
  readonly rules: GuardRules;
  /** Whether the user has the verb `unprotect` on the object. */
  readonly mayUnprotect?: boolean;
  readonly snapshot?: Snapshot;
  /** Objects that the user deleted within an hour. */
  readonly spent: Extent;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type GuardStep =
  | { readonly need: 'right' }
  | { readonly need: 'snapshot' }
  | { readonly need: 'bodies'; readonly bodies: readonly BodyNeed[] }
  | GuardVerdict;

/** Maximum number of objects in a message. */
const MOST_NAMED = 10;

const allow = (reason: GuardReason, rest: Partial<GuardVerdict> = {}): GuardVerdict => ({
  verdict: 'allow',
  reason,
  message: '',
  warnings: [],
  deletes: NOTHING,
  ...rest,
});

const deny = (reason: GuardReason, refused: string, detail: readonly string[], hint: string): GuardVerdict => ({
  verdict: 'deny',
  reason,
  message: `${refused}\nDETAIL: ${detail.join('; ')}\nHINT: ${hint}`,
  warnings: [],
  deletes: NOTHING,
});

/**
 * Whether a request is allowed (CAS-070 … CAS-073). Pure: requests facts, then returns allow or deny with a reason. It requests each fact
 * once, and allows nothing while a fact that it could need is missing.
 */
export function judge(request: GuardRequest, facts: GuardFacts): GuardStep {
  const { user } = request;
  const { rules, snapshot, mayUnprotect } = facts;
  if (rules.exemptUsers.includes(user.username) || user.groups.some((group) => rules.exemptGroups.includes(group))) {
    return allow('exempt');
  }
  if (request.operation === 'UPDATE' && unprotects(request.oldObject?.metadata, request.object?.metadata)) {
    if (mayUnprotect === undefined) return { need: 'right' };
    if (!mayUnprotect) return unprotectForbidden(request, ['its annotation is removed or weakened']);
  }
  const loss = lossOf(request);
  if (loss.loss === 'nothing') return allow('harmless');
  if (loss.loss === 'unidentified') {
    return deny(
      'unidentified',
      `${subjectOf(request)} is not deleted`,
      ['the API server did not say which object it is about, so its cascade cannot be predicted'],
      'delete the object by name with a client of this API server.',
    );
  }
  if (snapshot === undefined) return { need: 'snapshot' };
  return judgeLoss(request, loss, { ...facts, snapshot });
}

type KnownFacts = GuardFacts & { readonly snapshot: Snapshot };
type RealLoss = Exclude<Loss, { loss: 'nothing' | 'unidentified' }>;

function judgeLoss(request: GuardRequest, loss: RealLoss, facts: KnownFacts): GuardStep {
  const { snapshot, rules, mayUnprotect } = facts;
  const protections = new Protections(snapshot, newerMetadata(request));
  // The deletion of a terminating object was counted when it was requested.
  const budget = loss.loss === 'finalize' ? undefined : budgetOf(rules.budgets, request.user);
  const warnings = incompleteWarnings(snapshot);
  if (!protections.any && budget === undefined) return allow('nothingProtected', { warnings });
  if (loss.loss === 'references') {
    const lost = lostProtections(request, loss, snapshot, protections);
    if (lost.length > 0) {
      if (mayUnprotect === undefined) return { need: 'right' };
      if (!mayUnprotect) return unprotectForbidden(request, sourcesOf(lost, snapshot));
    }
  }
  const asked = simulationOf(loss, snapshot);
  if (asked === undefined) return allow('harmless');
  const simulated = { ...asked, ignoreFinishedPods: rules.ignoreFinishedPods === true };
  const result = simulate(snapshot, simulated);
  if (result.needs.length > 0) return { need: 'bodies', bodies: result.needs };
  if (result.end === 'bound') return notSettled(request);
  const reached = reachedBy(result, snapshot);
  if (loss.loss === 'finalizeNamespace') for (const uid of contentOf(loss.namespace, snapshot)) reached.add(uid);
  const found = [...reached].map((uid) => ({ uid, by: protections.of(uid) })).filter(({ by }) => by.length > 0);
  if (found.length > 0) return reachesProtected(request, found, snapshot);
  if (budget === undefined) return allow('nothingProtected', { warnings });
  return judgeBudget(request, { budget, simulated, result, warnings, facts });
}

/** The metadata of the request's object is newer than the lists, so it counts. The object of an Eviction is not the pod. */
function newerMetadata({ operation, oldObject }: GuardRequest): ReadonlyMap<string, ObjectMeta> {
  const uid = operation === 'CREATE' ? undefined : oldObject?.metadata?.uid;
  return new Map(uid === undefined ? [] : [[uid, oldObject?.metadata ?? {}]]);
}

function lostProtections(
  { oldObject }: GuardRequest,
  { uid, references }: Extract<Loss, { loss: 'references' }>,
  snapshot: Snapshot,
  before: Protections,
): Protection[] {
  const next = { ...oldObject?.metadata, ownerReferences: [...references] };
  const after = new Set(new Protections(snapshot, new Map([[uid, next]])).of(uid).map((each) => each.uid));
  return before.of(uid).filter((each) => each.uid !== uid && !after.has(each.uid));
}

/** Undefined if there is no such object, so nothing is deleted. */
function simulationOf(loss: RealLoss, snapshot: Snapshot): SimulationRequest | undefined {
  const base = { assumeFinalizers: 'removed' } as const;
  switch (loss.loss) {
    case 'delete':
      if (!isObserved(loss.uid, snapshot)) return { ...base, roots: [], changes: dependentsAlone(loss.uid, snapshot) };
      return { ...base, roots: [{ uid: loss.uid, ...(loss.policy === undefined ? {} : { policy: loss.policy }) }] };
    case 'evict': {
      const pods = snapshot.catalogue.ofGroup('', 'pods');
      const id = pods && snapshot.find(pods, loss.namespace, loss.name);
      return id === undefined ? undefined : { ...base, roots: [{ uid: snapshot.graph.uidAt(id) }] };
    }
    case 'finalizeNamespace':
      return { ...base, roots: [{ uid: loss.uid }] };
    case 'finalize':
      return { ...base, roots: [], changes: [{ change: 'finalize', uid: loss.uid }] };
    case 'references':
      return { ...base, roots: [], changes: [{ change: 'references', uid: loss.uid, references: loss.references }] };
  }
}

function isObserved(uid: string, { graph }: Snapshot): boolean {
  const id = graph.find(uid);
  return id >= 0 && graph.isObserved(id);
}

/** The dependents of an owner that no list shows, marked as changed: the simulation checks them and treats the owner as absent. */
function dependentsAlone(uid: string, snapshot: Snapshot): NonNullable<SimulationRequest['changes']> {
  const { graph } = snapshot;
  const id = graph.find(uid);
  const changes: { change: 'references'; uid: string; references: readonly OwnerReference[] }[] = [];
  if (id < 0) return changes;
  graph.forEachDependent(id, (dependent) => {
    const references = snapshot.metadataOf(dependent).ownerReferences ?? [];
    changes.push({ change: 'references', uid: graph.uidAt(dependent), references });
  });
  return changes;
}

/** Objects that are gone afterwards, and objects that begin to terminate. */
function reachedBy({ server }: SimulationResult, snapshot: Snapshot): Set<string> {
  const reached = new Set(server.removed);
  for (const [uid, { metadata }] of server.written) {
    if (!metadata?.deletionTimestamp) continue;
    const id = snapshot.graph.find(uid);
    if (id < 0 || !snapshot.graph.isBeingDeleted(id)) reached.add(uid);
  }
  return reached;
}

function contentOf(namespace: string, { graph }: Snapshot): string[] {
  const uids: string[] = [];
  graph.forEachNode((id) => {
    if (graph.isObserved(id) && graph.namespaceAt(id) === namespace) uids.push(graph.uidAt(id));
  });
  return uids;
}

function judgeBudget(
  request: GuardRequest,
  {
    budget,
    simulated,
    result,
    warnings,
    facts: { snapshot, spent, now },
  }: {
    readonly budget: GuardBudget;
    readonly simulated: SimulationRequest;
    readonly result: SimulationResult;
    readonly warnings: readonly string[];
    readonly facts: KnownFacts;
  },
): GuardVerdict {
  const plan = makePlan(snapshot, simulated, result);
  const extent = extentOf(plan);
  const exceeded = exceededLimits(budget, extent, spent);
  if (exceeded.length === 0) return allow('withinBudget', { warnings, deletes: extent });
  const refused = `${subjectOf(request)} is not ${verbOf(request)}: the budget is exceeded`;
  if (request.operation !== 'DELETE') {
    const next = 'make fewer objects go within the hour, or ask for a larger budget; only a deletion can be agreed to.';
    return deny('exceedsBudget', refused, exceeded, next);
  }
  const digest = approvalDigest(plan);
  if (approves(request.oldObject?.metadata?.annotations?.[APPROVED_PLAN], digest, now)) {
    return allow('planApproved', { warnings, deletes: extent });
  }
  const approval = `${APPROVED_PLAN}=${digest}.${Math.floor(now / 1000)}`;
  const command = `kubectl annotate --overwrite ${typeAndName(request)} ${approval}`;
  return deny(
    'exceedsBudget',
    refused,
    exceeded,
    `read the plan with kubectl cascade preview, then agree to it and delete within ten minutes: ${command}`,
  );
}

function typeAndName(request: GuardRequest): string {
  const { namespace, name, oldObject } = request;
  const where = namespace === '' || isNamespaces(request) ? '' : ` -n ${namespace}`;
  return `${resourceName(request)}/${name || oldObject?.metadata?.name || ''}${where}`;
}

function unprotectForbidden(request: GuardRequest, why: readonly string[]): GuardVerdict {
  return deny(
    'unprotectForbidden',
    `${subjectOf(request)} stays protected`,
    [...why, `user "${request.user.username}" has no right to unprotect it`],
    `ask for the verb "unprotect" on ${resourceName(request)}, or ask somebody who has it.`,
  );
}

function sourcesOf(protections: readonly Protection[], snapshot: Snapshot): string[] {
  return protections.slice(0, MOST_NAMED).map(({ uid, reason }) => `protected by ${nameOf(uid, snapshot)}: ${reason}`);
}

function nameOf(uid: string, snapshot: Snapshot): string {
  const id = snapshot.graph.find(uid);
  if (id < 0) return `uid ${uid}`;
  const { namespace, name, kind } = snapshot.graph.identityAt(id);
  const resource = snapshot.resourceOf(id);
  return `${resource === undefined ? kind.toLowerCase() : resourceName(resource)} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}

function reachesProtected(
  request: GuardRequest,
  found: readonly { readonly uid: string; readonly by: readonly Protection[] }[],
  snapshot: Snapshot,
): GuardVerdict {
  const detail = found.slice(0, MOST_NAMED).map(({ uid, by }) => {
    const reasons = by.map((each) =>
      each.uid === uid ? each.reason : `${each.reason} (by ${nameOf(each.uid, snapshot)})`,
    );
    return `${nameOf(uid, snapshot)}: ${reasons.join(', ')}`;
  });
  if (found.length > MOST_NAMED) detail.push(`and ${found.length - MOST_NAMED} more`);
  const objects = found.length === 1 ? '1 protected object' : `${found.length} protected objects`;
  return deny(
    'reachesProtected',
    `${subjectOf(request)} is not ${verbOf(request)}: ${objects} would go`,
    detail,
    `keep it, or take the protection off first (needs the verb "unprotect"): ${unprotectCommand(found[0]!.by[0]!.uid, snapshot)}`,
  );
}

function unprotectCommand(uid: string, snapshot: Snapshot): string {
  const id = snapshot.graph.find(uid);
  const resource = id < 0 ? undefined : snapshot.resourceOf(id);
  if (resource === undefined) return `kubectl annotate TYPE/NAME ${PROTECT}-`;
  const { name, namespace } = snapshot.graph.identityAt(id);
  const where = namespace === '' ? '' : ` -n ${namespace}`;
  return `kubectl annotate ${resourceName(resource)}/${name}${where} ${PROTECT}-`;
}

function verbOf({ operation, subresource }: GuardRequest): string {
  if (operation === 'DELETE') return 'deleted';
  return subresource === 'eviction' ? 'evicted' : 'changed';
}

function notSettled(request: GuardRequest): GuardVerdict {
  return deny(
    'notSettled',
    `${subjectOf(request)} is not ${verbOf(request)}`,
    ['its cascade is too large to be predicted'],
    'delete it in smaller parts.',
  );
}

function incompleteWarnings({ incomplete }: Snapshot): string[] {
  if (incomplete.length === 0) return [];
  const names = incomplete.slice(0, 3).map(({ resource }) => resource);
  const more = incomplete.length > 3 ? ` and ${incomplete.length - 3} more` : '';
  return [`kubegc guard could not read ${names.join(', ')}${more}: what is protected there was not considered`];
}
