import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN, type KubeObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import { usesClaim } from '../../lifecycle/volume-protection/claim-users.ts';
import type { Finding } from '../documents/explanation.ts';
import { finalizerEvidence } from '../finalizers/finalizer-evidence.ts';
import { isKubernetesFinalizer, knownFinalizer } from '../finalizers/known-finalizers.ts';
import { isTerminating, nameOf, type ObservedObject } from '../observed/observed-object.ts';
import { setterOf } from '../snapshot/finalizer-setters.ts';
import { blockingDependents } from './collector-decision.ts';
import { argumentsOf, patchReference } from './commands.ts';
import type { ExplainCode } from './explain-codes.ts';
import type { ExplainEvidence } from './explain-evidence.ts';
import { chainEnd, waitedFor } from './waited-for.ts';

type Trap = (object: ObservedObject, evidence: ExplainEvidence) => Iterable<Finding>;

/** The known traps that an object is in, each with its evidence and the next safe step (CAS-032). Pure. */
export function findTraps(object: ObservedObject, evidence: ExplainEvidence): Finding[] {
  return traps.flatMap((trap) => [...trap(object, evidence)]);
}

const found = (code: ExplainCode, evidence: string, nextStep: string): Finding => ({ code, evidence, nextStep });

function* referenceTraps(object: ObservedObject, { index }: ExplainEvidence): Generator<Finding> {
  const { ref, metadata } = object;
  const name = nameOf(ref);
  for (const [at, reference] of (metadata.ownerReferences ?? []).entries()) {
    const classified = index.classify(object, reference);
    const evidence = `${name}: ${classified.proof}`;
    const keepOrGo = `If ${name} is to go: kubectl delete ${argumentsOf(ref)}. If it is to stay, remove the reference.`;
    switch (classified.class) {
      case 'unservedVersion': {
        const [served] = index.observation.versionsOf(reference.apiVersion, reference.kind);
        const fix = { at, uid: reference.uid, field: 'apiVersion', value: served?.apiVersion };
        yield found('ownerVersionNotServed', evidence, patchReference(ref, fix));
        break;
      }
      case 'unservedKind':
        yield found(
          'ownerKindGone',
          `${evidence}; the collector never decides about an object with such an owner`,
          `${keepOrGo} If its definition is to come back, install it.`,
        );
        break;
      case 'namespacedOwner':
        yield found('namespacedOwner', `${evidence}; the collector never decides about such an object`, keepOrGo);
        break;
      case 'otherNamespace':
        yield found('crossNamespaceOwner', `${evidence}; the collector takes that owner for absent`, keepOrGo);
        break;
      default:
    }
  }
}

function* waitingTraps(object: ObservedObject, { index }: ExplainEvidence): Generator<Finding> {
  const { ref, metadata } = object;
  if (!isTerminating(metadata) || metadata.finalizers?.includes(FINALIZER_FOREGROUND) !== true) return;
  const own = (metadata.ownerReferences ?? []).findIndex(
    ({ uid, blockOwnerDeletion }) => uid === ref.uid && blockOwnerDeletion === true,
  );
  const unblock = (at: number, uid: string): string =>
    patchReference(ref, { at, uid, field: 'blockOwnerDeletion', value: false });
  if (own >= 0) {
    yield found(
      'blockingSelfReference',
      `${nameOf(ref)} owns itself, and that reference blocks`,
      unblock(own, ref.uid),
    );
  }
  const { cycle } = chainEnd(object, index);
  if (cycle !== undefined && cycle.length > 1 && cycle.includes(object)) {
    const before = cycle[(cycle.indexOf(object) - 1 + cycle.length) % cycle.length]!;
    const at = (metadata.ownerReferences ?? []).findIndex(({ uid }) => uid === before.ref.uid);
    const members = cycle.map((each) => nameOf(each.ref)).join(' → ');
    yield found(
      'blockingCycle',
      `${members} → ${nameOf(cycle[0]!.ref)} wait for each other`,
      unblock(at, before.ref.uid),
    );
  }
  const since = parseTime(metadata.deletionTimestamp ?? '') ?? Infinity;
  const later = blockingDependents(ref.uid, index).filter(
    (each) => (parseTime(each.metadata.creationTimestamp ?? '') ?? 0) > since,
  );
  const [first] = later;
  if (first === undefined) return;
  const manager =
    first.metadata.managedFields?.find(({ operation }) => operation !== undefined)?.manager ?? 'its controller';
  yield found(
    'controllerRecreatesDependents',
    `${later.length} of the dependents that block ${nameOf(ref)} were created after its deletion began, ${nameOf(first.ref)} by ${manager}`,
    `Stop ${manager}, or scale it to none; then kubectl delete ${argumentsOf(first.ref)}.`,
  );
}

function* writeTraps({ ref }: ObservedObject, { refusedWrites }: ExplainEvidence): Generator<Finding> {
  const refused = refusedWrites.get(ref.uid);
  if (refused === undefined) return;
  const evidence = `${nameOf(ref)}: ${refused.message}`;
  if (/conversion webhook/.test(refused.message)) yield conversionFinding(evidence, ref.resource);
  else if (/failed calling webhook|admission webhook/.test(refused.message)) {
    const webhook = /webhook "([^"]+)"/.exec(refused.message)?.[1] ?? 'it names';
    yield found(
      'admissionWebhookFailing',
      evidence,
      `Bring back the service of webhook ${webhook}. If it is gone for good, delete its configuration: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations shows which has it.`,
    );
  } else if (refused.code === 422) {
    yield found(
      'invalidAgainstSchema',
      evidence,
      `Mend the fields that the message names: kubectl edit ${argumentsOf(ref)}. If the schema is at fault, mend its definition.`,
    );
  }
}

const conversionFinding = (evidence: string, resource: string): Finding =>
  found(
    'conversionWebhookFailing',
    evidence,
    `Bring back the service of the conversion webhook of ${resource}. If all versions have the same fields, set spec.conversion.strategy to None in the definition.`,
  );

function* finalizerTraps({ ref, metadata }: ObservedObject, evidence: ExplainEvidence): Generator<Finding> {
  if (!isTerminating(metadata)) return;
  const full = evidence.bodies.get(ref.uid)?.metadata ?? metadata;
  for (const name of metadata.finalizers ?? []) {
    if (name === FINALIZER_FOREGROUND || name === FINALIZER_ORPHAN || isKubernetesFinalizer(name)) continue;
    if (name === 'customresourcecleanup.apiextensions.k8s.io') continue;
    const { setBy } = setterOf(full, name);
    const { served, evidence: said } = finalizerEvidence(name, setBy, evidence.sightings);
    if (served === 'yes') continue;
    const known = knownFinalizer(name);
    // kubectl is no controller: a person set the finalizer.
    const byController = setBy === undefined || /^kubectl\b/.test(setBy) ? '' : ` (${setBy} set it)`;
    const owner = known?.removedBy ?? `its controller${byController}`;
    const guards = known?.guards ?? 'what that controller has not cleaned up';
    yield found(
      'finalizerWithoutController',
      `${nameOf(ref)} waits for finalizer ${name}: ${said}`,
      `Start ${owner} again: it cleans up and removes the finalizer. Only if it never comes back, remove the finalizer by hand; that leaks ${guards}.`,
    );
  }
}

function* namespaceTraps(object: ObservedObject, evidence: ExplainEvidence): Generator<Finding> {
  const { ref, metadata } = object;
  if (ref.kind !== 'Namespace' || !isTerminating(metadata)) return;
  const { index, bodies } = evidence;
  const { conditions = [] } = (bodies.get(ref.uid)?.['status'] ?? {}) as {
    conditions?: { type?: string; status?: string; message?: string }[];
  };
  const condition = (type: string): string | undefined =>
    conditions.find((each) => each.type === type && each.status === 'True')?.message;
  const discovery = condition('NamespaceDeletionDiscoveryFailure');
  const { unreadGroups, incomplete } = index.observation;
  if (discovery !== undefined || unreadGroups.length > 0) {
    const groups = unreadGroups.length === 0 ? '' : ` (${unreadGroups.join(', ')})`;
    yield found(
      'groupDiscoveryFailing',
      discovery ?? `discovery failed for ${unreadGroups.join(', ')}`,
      `kubectl get apiservices shows which server does not answer${groups}. Bring it back, or delete its APIService if it is gone for good.`,
    );
  }
  for (const { resource, reason } of incomplete) {
    if (/conversion webhook/.test(reason)) yield conversionFinding(`${resource}: ${reason}`, resource);
    else if (evidence.convertedByWebhook.has(resource)) {
      yield conversionFinding(
        `${resource} cannot be listed (${reason}), and a conversion webhook converts it`,
        resource,
      );
    }
  }
  const content = condition('NamespaceContentRemaining') ?? condition('NamespaceFinalizersRemaining');
  const left = waitedFor(object, index);
  const [remaining] = left;
  if (content === undefined && remaining === undefined) return;
  yield found(
    'namespaceContentRemaining',
    content ?? (left.length === 1 ? '1 object is still in it' : `${left.length} objects are still in it`),
    remaining === undefined
      ? `kubectl get all -n ${ref.name} shows what is left; do not remove the finalizer kubernetes: the objects would stay in the store.`
      : `kubectl cascade explain ${argumentsOf(remaining.ref)}`,
  );
}

function* podTraps({ ref, metadata }: ObservedObject, evidence: ExplainEvidence): Generator<Finding> {
  if (ref.kind !== 'Pod' || ref.apiVersion !== 'v1' || !isTerminating(metadata)) return;
  const body = evidence.bodies.get(ref.uid);
  const { nodeName } = (body?.['spec'] ?? {}) as { nodeName?: string };
  const { conditions = [] } = (body?.['status'] ?? {}) as {
    conditions?: { type?: string; status?: string; message?: string; reason?: string }[];
  };
  const disrupted = conditions.find(({ type, status }) => type === 'DisruptionTarget' && status === 'True');
  const request = evidence.index.observation.objects.find(
    (each) =>
      each.ref.kind === 'EvictionRequest' &&
      (each.ref.name === ref.uid || each.ref.name === ref.name) &&
      each.ref.namespace === ref.namespace,
  );
  if (request !== undefined || disrupted?.reason === 'EvictionByEvictionAPI') {
    yield found(
      'evictionRequested',
      request === undefined
        ? `${nameOf(ref)}: ${disrupted?.message ?? 'evicted through the API'}`
        : `${nameOf(request.ref)} asks to evict it`,
      request === undefined
        ? 'Wait for the end of its grace period.'
        : `kubectl get ${argumentsOf(request.ref)} -o yaml shows who handles it.`,
    );
  }
  if (nodeName === undefined || !evidence.nodes.has(nodeName)) return;
  const over = (parseTime(metadata.deletionTimestamp ?? '') ?? Infinity) <= evidence.index.observation.readAt;
  if (!over) return;
  const why = deadNode(nodeName, evidence.nodes.get(nodeName));
  if (why === undefined) return;
  yield found(
    'podOnDeadNode',
    `${nameOf(ref)} waits for the kubelet of node ${nodeName}, but ${why}`,
    `Bring the node back. If it is switched off for good, make sure that it is, and then: kubectl delete ${argumentsOf(ref)} --grace-period=0 --force. On a node that still runs, its containers would go on.`,
  );
}

function deadNode(name: string, node: KubeObject | undefined): string | undefined {
  if (node === undefined) return `node ${name} does not exist`;
  const { conditions = [] } = (node['status'] ?? {}) as { conditions?: { type?: string; status?: string }[] };
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return undefined;
  return ready === undefined ? 'the node has never said that it is ready' : `its condition Ready is ${ready.status}`;
}

function* volumeTraps({ ref, metadata }: ObservedObject, { bodies, pods }: ExplainEvidence): Generator<Finding> {
  if (!isTerminating(metadata) || ref.apiVersion !== 'v1') return;
  const { finalizers = [] } = metadata;
  if (ref.kind === 'PersistentVolumeClaim' && finalizers.includes('kubernetes.io/pvc-protection')) {
    const users = (pods ?? []).filter(
      (pod) =>
        pod.metadata?.namespace === ref.namespace && usesClaim(pod, { metadata: { ...metadata, name: ref.name } }),
    );
    const [first] = users;
    if (first === undefined) return;
    const names = users.slice(0, 3).map((pod) => `pod/${pod.metadata?.name}${isFinished(pod) ? ' (finished)' : ''}`);
    yield found(
      'claimInUse',
      `${users.length === 1 ? '1 pod uses' : `${users.length} pods use`} ${nameOf(ref)}: ${names.join(', ')}${users.length > 3 ? ', …' : ''}`,
      `Delete the workload of its pods, or each of them: kubectl delete pods/${first.metadata?.name} -n ${ref.namespace}`,
    );
  }
  if (ref.kind !== 'PersistentVolume' || !finalizers.includes('kubernetes.io/pv-protection')) return;
  const { claimRef } = (bodies.get(ref.uid)?.['spec'] ?? {}) as { claimRef?: { namespace?: string; name?: string } };
  const { phase } = (bodies.get(ref.uid)?.['status'] ?? {}) as { phase?: string };
  if (claimRef === undefined || phase !== 'Bound') return;
  const claim = `${claimRef.namespace}/${claimRef.name}`;
  yield found(
    'volumeBound',
    `${nameOf(ref)} is bound to the claim ${claim}`,
    `Delete the claim first, if its data may go: kubectl delete persistentvolumeclaims/${claimRef.name} -n ${claimRef.namespace}`,
  );
}

const isFinished = ({ status }: KubeObject & { readonly status?: { readonly phase?: string } }): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

const traps: readonly Trap[] = [
  referenceTraps,
  waitingTraps,
  writeTraps,
  finalizerTraps,
  namespaceTraps,
  podTraps,
  volumeTraps,
];
