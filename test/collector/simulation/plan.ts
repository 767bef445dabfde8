import type { LieStep } from './lies/lie-plan.ts';

/**
 * One history as data: what clients do, what the network and the processes do, and in which order. Everything else (uids, jitter of
 * retries, latencies) follows from `seed`, so that running a plan twice gives the same trace byte for byte.
 */
export interface Plan {
  readonly seed: number;
  /** Names out of {@link KINDS}: what the server serves from the start. */
  readonly kinds: readonly string[];
  readonly collectors: readonly CollectorPlan[];
  /** Latency of each request of a collector, fake milliseconds. */
  readonly latency: LatencyPlan;
  /**
   * The answers of `/version` to the processes of collectors, in the order in which they start; the last one goes to all that start later.
   * The server reports no version unless given.
   */
  readonly versions?: readonly VersionPlan[] | undefined;
  readonly steps: readonly Step[];
  /** The state that is judged once everything rests: as it is; after one more read of discovery; after everything was deleted. */
  readonly end: 'rest' | 'resync' | 'empty';
}

/** A history in which something went wrong once, shrunk: a file of `test/collector/histories`. */
export interface KeptHistory {
  /** The rules it violated, and how. */
  readonly title: string;
  readonly plan: Plan;
}

export interface CollectorPlan {
  /** `standby`: decides nothing until a step makes it lead. */
  readonly role: 'always' | 'standby';
  readonly workers: number;
  readonly encoding: 'json' | 'protobuf';
  /** It trusts its watches when it orphans, as Kubernetes does (COL-127), instead of looking once more. */
  readonly barrier?: 'off';
  /** Where it keeps which owners were orphaned; in memory unless given. */
  readonly records?: 'events';
  /** So many absences are remembered, and no more (COL-132). */
  readonly absences?: number;
  /** So many calls are under way at once, and no more. */
  readonly calls?: number;
  /** The server does not know watch lists: it lists, and then watches. */
  readonly intake?: 'list';
}

export interface VersionPlan {
  readonly says: VersionName;
  /** So many questions are answered with 503 before that. */
  readonly refusals?: number;
}

/** `nothing`: a document without a version. */
export const VERSIONS = ['1.36', '1.20', '1.19', 'nothing', 'forbidden'] as const;
export type VersionName = (typeof VERSIONS)[number];

export interface LatencyPlan {
  /** One in so many requests is slow; 0: none. */
  readonly oneIn: number;
  readonly maxMs: number;
  /** Delay of the events of a watch, at most; none unless given. */
  readonly lagMs?: number;
}

/** `Secret/default/a`, `ClusterRole//a`. */
export type PlaceText = string;

export interface OwnerPlan {
  /** Refers to what was created last at this place; to nothing if nothing ever was. */
  readonly at: PlaceText;
  /** To the one so many before that. */
  readonly before?: number;
  readonly block?: true;
  /** A wrong name. */
  readonly named?: string;
  /** As if it were of this kind. */
  readonly as?: string;
}

export type Policy = 'Background' | 'Foreground' | 'Orphan' | 'none';

/** Steps of clients; each is one request, or a read and a write that names the version read. */
export type ClientStep =
  | {
      readonly do: 'create';
      readonly at: PlaceText;
      readonly owners?: readonly OwnerPlan[];
      readonly finalizers?: readonly FinalizerName[];
    }
  | { readonly do: 'delete'; readonly at: PlaceText; readonly policy: Policy }
  /** A DELETE of the whole collection. */
  | { readonly do: 'deleteAll'; readonly kind: string; readonly namespace: string; readonly policy: Policy }
  | { readonly do: 'refer'; readonly at: PlaceText; readonly owners: readonly OwnerPlan[] }
  /** Something that the collector does not care about. */
  | { readonly do: 'label'; readonly at: PlaceText; readonly value: string }
  | { readonly do: 'hold' | 'release'; readonly at: PlaceText }
  /** All finalizers, whoever set them. */
  | { readonly do: 'strip'; readonly at: PlaceText }
  /** A CustomResourceDefinition is created or deleted. */
  | { readonly do: 'define' | 'undefine'; readonly kind: string };

/** `hold` is somebody's who gives it up in the end. */
export type FinalizerName = 'hold' | 'foregroundDeletion' | 'orphan';

/** Faults of the collectors' requests; from now on, for the next so many that match. */
export interface FaultStep {
  readonly do: 'fault';
  readonly fault: FaultName;
  readonly on: RequestClass;
  readonly kind?: string;
  readonly times: number;
}

export type RequestClass = 'read' | 'delete' | 'patch' | 'write' | 'intake' | 'discovery' | 'any';

export const FAULTS = [
  /** The connection breaks before the server reads, or before its answer arrives. */
  'requestLost',
  'answerLost',
  /** Nothing comes until the collector gives up; in the second case the server has done what was asked. */
  'silence',
  'answerSwallowed',
  /** The server sees it twice. */
  'twice',
  /** It, or its answer, takes seconds. */
  'requestSlow',
  'answerSlow',
  'conflict',
  'tooManyRequests',
  'internalError',
  'unavailable',
  'badGateway',
  'forbidden',
  'expired',
  'invalid',
  'unsupportedMediaType',
  /** 404, but not of the object: no such path, a Status without a name, a Status about another one. */
  'pathNotFound',
  'namelessNotFound',
  'otherNotFound',
  /** 404 for a write: the named object is another one of the same name, because a proxy in front of the server answers. */
  'sameNameNotFound',
  /** 200, with something that is no object. */
  'emptyObject',
  'noJson',
  /** A write is carried out, and answered by a Status that says so instead of by the object. */
  'successStatus',
] as const;
export type FaultName = (typeof FAULTS)[number];

/** Faults of watches of a kind, or of all. */
export interface StreamStep {
  readonly do: 'stream';
  readonly stream: StreamFaultName;
  readonly kind?: string;
  /** For `hold`. */
  readonly ms?: number;
}

export const STREAM_FAULTS = [
  /** The connection breaks, and what was on its way is lost: the collector has to ask for it again. */
  'cut',
  /** The server ends it as if its time were over. */
  'end',
  /** It breaks, and what was missed is not known any more: 410. */
  'gone',
  /** 410 in the stream itself. */
  'errorEvent',
  /** The next events wait, while other resources go on. */
  'hold',
  /** The next event comes twice. */
  'repeat',
] as const;
export type StreamFaultName = (typeof STREAM_FAULTS)[number];

/** Steps of the processes. `collector` is an index into {@link Plan.collectors}. */
export type ProcessStep =
  /** As by SIGKILL: what it had sent is carried out, nobody waits for it. */
  | { readonly do: 'crash'; readonly collector: number }
  /** As by SIGTERM. */
  | { readonly do: 'stop'; readonly collector: number }
  /** A new process, that knows nothing. */
  | { readonly do: 'start'; readonly collector: number }
  /** It takes the lease; who had it learns of that so much later, and only then stops. */
  | { readonly do: 'lead'; readonly collector: number; readonly overlapMs: number }
  /** It reaches nobody for a while. */
  | { readonly do: 'partition'; readonly collector: number; readonly ms: number };

/** Steps of the server, for all its clients. */
export type ServerStep =
  /** All that is stored is remembered, and what was remembered before no more. */
  | { readonly do: 'backup' }
  /**
   * The server goes away; what is under way gets no answer, and reaches nobody any more. So much later it is back with what was remembered,
   * at the revision of then, or at a much higher one (`bump`: `etcdutl snapshot restore --bump-revision`). Nothing, if nothing was
   * remembered.
   */
  | {
      readonly do: 'restore';
      readonly awayMs: number;
      readonly bump: boolean;
      /** A watch from a version that is still to come is refused with 504; unless given it is answered, and gets nothing until then. */
      readonly watches?: 'refused';
      /** So many of the open watches stay open at the server that was there before, and hear of nothing any more. */
      readonly stay?: 'half' | 'most';
    };

export interface WaitStep {
  readonly do: 'wait';
  readonly ms: number;
}

export type Step = ClientStep | FaultStep | StreamStep | ProcessStep | ServerStep | WaitStep | LieStep;

export interface Place {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export function placeOf(text: PlaceText): Place {
  const [kind = '', namespace = '', name = ''] = text.split('/');
  return { kind, namespace, name };
}

export function placeText({ kind, namespace, name }: Place): PlaceText {
  return `${kind}/${namespace}/${name}`;
}
