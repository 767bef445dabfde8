import {
  encodePartialObjectMetadataEnvelope,
  encodeWatchFrame,
} from '../../src/api/codec/metadata/partial-object-metadata.ts';
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../src/api/meta/object-meta.ts';
import type { MonitoredResource } from '../../src/collector/types/event.ts';

/**
 * The cluster of the graph benchmarks: trees of one Deployment, one ReplicaSet and ten Pods, children first, so that every
 * owner is virtual first. Objects are numbered; their uids are random (sfc32), their names carry the number.
 */
export const TREE = 12;
const PODS = 10;

export const resources: readonly MonitoredResource[] = [
  { apiVersion: 'v1', kind: 'Pod', resource: 'pods' },
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', resource: 'replicasets' },
  { apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments' },
];

/** 0: Pod, 1: ReplicaSet, 2: Deployment. */
export function kindOf(object: number): 0 | 1 | 2 {
  const place = object % TREE;
  return place < PODS ? 0 : place === PODS ? 1 : 2;
}

/** The number of the owner, or -1. */
export function ownerOf(object: number): number {
  const place = object % TREE;
  return place < PODS ? object - place + PODS : place === PODS ? object + 1 : -1;
}

/** Four words for each object. */
export function randomUids(objects: number): Uint32Array {
  let [a, b, c, d] = [0x9e3779b9, 0x243f6a88, 0xb7e15162, 1];
  const next = (): number => {
    const t = (a + b + d++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return t >>> 0;
  };
  return Uint32Array.from({ length: objects * 4 }, next);
}

export function uidText(uids: Uint32Array, object: number): string {
  const hex = [0, 1, 2, 3].map((i) => uids[object * 4 + i]!.toString(16).padStart(8, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** As long as those of a real cluster: 30 characters for a Pod. */
const NAME = 'web-frontend-';

export function nameText(object: number): string {
  const tree = Math.floor(object / TREE)
    .toString(16)
    .padStart(8, '0');
  const suffix = (object % TREE).toString(16).padStart(5, 'x');
  return [`${NAME}${tree}bd-${suffix}xx`, `${NAME}${tree}bd`, `${NAME}${tree}`][kindOf(object)]!;
}

function ownerReferenceOf(uids: Uint32Array, object: number): OwnerReference | undefined {
  const owner = ownerOf(object);
  if (owner < 0) return undefined;
  const { apiVersion, kind } = resources[kindOf(owner)]!;
  return {
    apiVersion,
    kind,
    name: nameText(owner),
    uid: uidText(uids, owner),
    controller: true,
    blockOwnerDeletion: true,
  };
}

const LABELS = { app: 'web-frontend', tier: 'frontend', release: 'stable', 'pod-template-hash': '7d5f8bd', track: 'a' };
const ANNOTATIONS = {
  'example.com/restartedAt': '2026-11-21T12:00:00Z',
  'example.com/checksum': 'c0ffee12'.repeat(8),
  'example.com/team': 'storefront',
};

function managedFields(): ManagedFieldsEntry[] {
  const leaf = (names: readonly string[]): Record<string, unknown> =>
    Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
  const spec = [
    'containers',
    'dnsPolicy',
    'enableServiceLinks',
    'restartPolicy',
    'schedulerName',
    'securityContext',
    'serviceAccountName',
    'terminationGracePeriodSeconds',
    'tolerations',
    'topologySpreadConstraints',
  ];
  const condition = leaf(['lastProbeTime', 'lastTransitionTime', 'status', 'type', 'observedGeneration']);
  const conditions = Object.fromEntries(
    ['ContainersReady', 'Initialized', 'Ready', 'PodScheduled', 'PodReadyToStartContainers'].map((type) => [
      `k:{"type":"${type}"}`,
      condition,
    ]),
  );
  const time = '2026-11-21T12:00:00Z';
  const common = { operation: 'Update', apiVersion: 'v1', time, fieldsType: 'FieldsV1' };
  const probe = leaf(['failureThreshold', 'httpGet', 'initialDelaySeconds', 'periodSeconds', 'successThreshold']);
  const container = {
    ...leaf(['image', 'imagePullPolicy', 'name', 'resources', 'terminationMessagePath', 'terminationMessagePolicy']),
    'f:livenessProbe': probe,
    'f:readinessProbe': probe,
  };
  return [
    {
      ...common,
      manager: 'kube-controller-manager',
      fieldsV1: {
        'f:metadata': { 'f:labels': leaf(Object.keys(LABELS)), 'f:annotations': leaf(Object.keys(ANNOTATIONS)) },
        'f:spec': { ...leaf(spec), 'f:containers': { 'k:{"name":"web"}': container } },
      },
    },
    {
      ...common,
      manager: 'kubelet',
      subresource: 'status',
      fieldsV1: { 'f:status': { 'f:conditions': conditions, ...leaf(['hostIP', 'phase', 'podIP', 'podIPs']) } },
    },
  ];
}

const NAMESPACE = 'team-';

/** Two digits; a tree is in one namespace. */
function namespaceNumber(object: number): number {
  return 10 + (Math.floor(object / TREE) % 64);
}

export interface ObjectOptions {
  readonly uids: Uint32Array;
  readonly withManagedFields: boolean;
  readonly resourceVersion: number;
}

function metadataOf(object: number, { uids, withManagedFields, resourceVersion }: ObjectOptions): ObjectMeta {
  const reference = ownerReferenceOf(uids, object);
  return {
    name: nameText(object),
    namespace: `${NAMESPACE}${namespaceNumber(object)}`,
    uid: uidText(uids, object),
    resourceVersion: String(1_000_000 + resourceVersion),
    creationTimestamp: '2026-11-21T12:00:00Z',
    labels: LABELS,
    annotations: ANNOTATIONS,
    ...(reference === undefined ? {} : { ownerReferences: [reference] }),
    ...(withManagedFields ? { managedFields: managedFields() } : {}),
  };
}

/** A watch stream: protobuf frames (4 bytes of length, then a WatchEvent), or the same events as JSON, one a line. */
export type Wire = 'frames' | 'lines';

/** A piece of a watch. */
export interface Chunk {
  readonly bytes: Buffer;
  /** The objects by number. A watch has one resource; here the reader gets the resource of each object. */
  readonly objects: Int32Array;
}

export interface TemplateOptions extends ObjectOptions {
  readonly wire: Wire;
  readonly type: string;
  /** Events of a chunk, a multiple of TREE. */
  readonly size: number;
  /** Each so many-th event shows a deletionTimestamp; none if not given. */
  readonly deletedEvery?: number;
}

/**
 * Pieces of a watch, made from one by writing other uids and other numbers of trees into it: the same cluster at any
 * size, without garbage that would be collected while somebody is timed.
 */
export class WatchTemplate {
  readonly #uids: Uint32Array;
  readonly #bytes: Buffer;
  readonly #size: number;
  /** Pairs: where, and the place in the chunk of the object whose uid stands there. */
  readonly #ownUids: number[] = [];
  readonly #ownerUids: number[] = [];
  readonly #trees: number[] = [];
  readonly #namespaces: number[] = [];

  constructor(options: TemplateOptions) {
    const { size, uids } = options;
    this.#uids = uids;
    this.#size = size;
    const pieces: Buffer[] = [];
    let from = 0;
    for (let object = 0; object < size; object++) {
      const piece = eventBytes(object, options);
      const each = (text: string, list: number[], skip: number): void => {
        for (let at = piece.indexOf(text); at >= 0; at = piece.indexOf(text, at + 1))
          list.push(from + at + skip, object);
      };
      each(uidText(uids, object), this.#ownUids, 0);
      if (ownerOf(object) >= 0) each(uidText(uids, ownerOf(object)), this.#ownerUids, 0);
      each(NAME, this.#trees, NAME.length);
      each(NAMESPACE, this.#namespaces, NAMESPACE.length);
      pieces.push(piece);
      from += piece.length;
    }
    this.#bytes = Buffer.concat(pieces);
  }

  /** A chunk to write into, again and again. */
  chunk(): Chunk {
    return { bytes: Buffer.from(this.#bytes), objects: new Int32Array(this.#size) };
  }

  /** Makes the chunk carry `chunk.objects`; each stands at a place of its kind. */
  write({ bytes, objects }: Chunk): void {
    const uids = this.#uids;
    for (let i = 0; i < this.#ownUids.length; i += 2) {
      writeUid(bytes, this.#ownUids[i]!, uids, objects[this.#ownUids[i + 1]!]!);
    }
    for (let i = 0; i < this.#ownerUids.length; i += 2) {
      writeUid(bytes, this.#ownerUids[i]!, uids, ownerOf(objects[this.#ownerUids[i + 1]!]!));
    }
    for (let i = 0; i < this.#trees.length; i += 2) {
      writeHex(bytes, this.#trees[i]!, Math.floor(objects[this.#trees[i + 1]!]! / TREE));
    }
    for (let i = 0; i < this.#namespaces.length; i += 2) {
      const number = namespaceNumber(objects[this.#namespaces[i + 1]!]!);
      bytes[this.#namespaces[i]!] = HEX[Math.floor(number / 10)]!;
      bytes[this.#namespaces[i]! + 1] = HEX[number % 10]!;
    }
  }
}

function eventBytes(object: number, options: TemplateOptions): Buffer {
  const { wire, type, deletedEvery } = options;
  const metadata = metadataOf(object, options);
  if (deletedEvery !== undefined && object % deletedEvery === 0) metadata.deletionTimestamp = '2026-11-21T12:30:00Z';
  if (wire === 'frames') return Buffer.from(encodeWatchFrame(type, encodePartialObjectMetadataEnvelope(metadata)));
  const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata };
  return Buffer.from(`${JSON.stringify({ type, object: partial })}\n`);
}

const HEX = Buffer.from('0123456789abcdef');

function writeHex(bytes: Uint8Array, at: number, word: number): void {
  for (let i = 0; i < 8; i++) bytes[at + i] = HEX[(word >>> (28 - 4 * i)) & 15]!;
}

function writeUid(bytes: Uint8Array, at: number, uids: Uint32Array, object: number): void {
  let to = at;
  for (let digit = 0; digit < 32; digit++) {
    if (digit === 8 || digit === 12 || digit === 16 || digit === 20) to++;
    bytes[to++] = HEX[(uids[object * 4 + (digit >>> 3)]! >>> (28 - 4 * (digit & 7))) & 15]!;
  }
}
