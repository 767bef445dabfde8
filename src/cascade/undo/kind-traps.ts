import type { KubeObject } from '../../api/meta/object-meta.ts';
import { accountOf, ACCOUNT_UID, TOKEN_SECRET_TYPE } from '../../api/meta/token-secret.ts';
import { groupKind, isFinishedJob } from './rebuilt-by-controller.ts';

/** The facts about other objects that a trap needs. */
export interface TrapContext {
  /** The current uid of the ServiceAccount of that name in the object's namespace. */
  readonly serviceAccountUid: (name: string) => string | undefined;
  /** True if the PersistentVolume of that name exists, or is being restored, and no other claim has it. */
  readonly volumeComesBack: (name: string) => boolean;
}

type Note = (sentence: string) => void;
type Trap = (body: KubeObject, note: Note, context: TrapContext) => KubeObject;
type Fields = Record<string, unknown>;

const CONTROLLER_UID = ['controller-uid', 'batch.kubernetes.io/controller-uid'];
/** The volume binder sets these annotations. With them a claim counts as bound, and as lost while its volume names another uid. */
const BINDER = ['pv.kubernetes.io/bind-completed', 'pv.kubernetes.io/bound-by-controller'];

const spec = (body: KubeObject): Fields => (body['spec'] ?? {}) as Fields;

function omit<T extends object>(object: T, names: readonly string[]): T {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))) as T;
}

function withoutAnnotations(body: KubeObject, names: readonly string[]): KubeObject {
  const annotations = body.metadata?.annotations;
  return annotations === undefined
    ? body
    : { ...body, metadata: { ...body.metadata, annotations: omit(annotations, names) } };
}

/** The Job controller derives the selector and its labels from the new uid. */
const job: Trap = (body, note) => {
  let next = spec(body);
  if (next['manualSelector'] !== true) {
    const template = (next['template'] ?? {}) as { metadata?: { labels?: Record<string, string> } };
    const labels = omit(template.metadata?.labels ?? {}, CONTROLLER_UID);
    next = { ...omit(next, ['selector']), template: { ...template, metadata: { ...template.metadata, labels } } };
  }
  if (isFinishedJob(body)) {
    next = { ...next, suspend: true };
    note('the Job had finished; it is restored suspended, so that it does not run again');
  }
  const labels = omit(body.metadata?.labels ?? {}, CONTROLLER_UID);
  return { ...body, metadata: { ...body.metadata, labels }, spec: next };
};

/** The scheduler chooses a node, and admission computes the priority. */
const pod: Trap = (body) => ({ ...body, spec: omit(spec(body), ['nodeName', 'priority', 'ephemeralContainers']) });

const claim: Trap = (body, note, { volumeComesBack }) => {
  const unbound = withoutAnnotations(body, BINDER);
  const volume = spec(body)['volumeName'];
  if (typeof volume !== 'string' || volume === '' || volumeComesBack(volume)) return unbound;
  note(`volume ${volume} is gone and its data with it; the claim gets a new volume`);
  return { ...unbound, spec: omit(spec(body), ['volumeName']) };
};

/** Reserves the volume for the claim by name; the claim's uid is written once it exists. */
const volume: Trap = (body) => {
  const { claimRef } = spec(body) as { claimRef?: Fields };
  if (claimRef === undefined) return body;
  const unbound = withoutAnnotations(body, BINDER);
  return { ...unbound, spec: { ...spec(body), claimRef: omit(claimRef, ['uid', 'resourceVersion']) } };
};

/** The token contains the uid of the old account, so it is invalid, and the token controller issues a new one. */
const secret: Trap = (body, note, { serviceAccountUid }) => {
  if (body['type'] !== TOKEN_SECRET_TYPE) return body;
  const account = accountOf(body);
  const uid = serviceAccountUid(account);
  const next = withoutAnnotations(omit(body, ['data', 'stringData']), [ACCOUNT_UID]);
  note(`the token of serviceaccount ${account} is signed anew; copies of the old one are not valid`);
  if (uid === undefined) return next;
  return {
    ...next,
    metadata: { ...next.metadata, annotations: { ...next.metadata?.annotations, [ACCOUNT_UID]: uid } },
  };
};

/** The server and the namespace controller manage `spec.finalizers` of a namespace. */
const namespace: Trap = (body) => ({ ...body, spec: omit(spec(body), ['finalizers']) });

const traps: Readonly<Record<string, Trap>> = {
  'batch/Job': job,
  '/Pod': pod,
  '/PersistentVolumeClaim': claim,
  '/PersistentVolume': volume,
  '/Secret': secret,
  '/Namespace': namespace,
};

/** False if {@link pastKindTraps} leaves such a body as it is. */
export const hasTrap = (body: KubeObject): boolean => traps[groupKind(body.apiVersion, body.kind)] !== undefined;

/** The body without fields that its kind would refuse or misinterpret on creation (CAS-064). */
export function pastKindTraps(body: KubeObject, context: TrapContext, note: Note): KubeObject {
  const trap = traps[groupKind(body.apiVersion, body.kind)];
  return trap === undefined ? body : trap(body, note, context);
}

/** Fields that are first tried as recorded, and dropped if the server says that the value is taken. */
export function withoutAddresses(body: KubeObject): { readonly body: KubeObject; readonly note: string } | undefined {
  if (groupKind(body.apiVersion, body.kind) !== '/Service') return undefined;
  const { clusterIP, ports = [] } = spec(body) as { clusterIP?: string; ports?: Fields[] };
  const keepsAddress = clusterIP === undefined || clusterIP === '' || clusterIP === 'None';
  const free = omit(
    spec(body),
    keepsAddress ? ['healthCheckNodePort'] : ['clusterIP', 'clusterIPs', 'healthCheckNodePort'],
  );
  const nodePorts = ports.flatMap(({ nodePort }) => (typeof nodePort === 'number' ? [nodePort] : []));
  const taken = [...(keepsAddress ? [] : [`cluster IP ${clusterIP}`]), ...nodePorts.map((port) => `node port ${port}`)];
  if (taken.length === 0) return undefined;
  return {
    body: { ...body, spec: { ...free, ports: ports.map((port) => omit(port, ['nodePort'])) } },
    note: `the Service gets new addresses, because one of its own is taken (${taken.join(', ')})`,
  };
}
