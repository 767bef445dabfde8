import type { OwnerReference } from '../../api/meta/object-meta.ts';
import type { Identity, Uid } from './identity.ts';
import type { ObjectColumns } from './object-columns.ts';

/**
 * A resource that a monitor watches. The identity of an observed object takes its apiVersion and kind from here, not from the payload
 * (COL-045). Make one object per monitor and pass the same one with every event: the graph compares the reference first, and the fields
 * after that.
 */
export interface MonitoredResource {
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Plural: `pods`. */
  readonly resource: string;
}

/** The part of an object's metadata that the graph keeps. Everything else is dropped on intake (COL-041). */
export interface ObservedObject {
  readonly uid: Uid;
  readonly name: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  /** The version as the server wrote it. Only decimal numbers below 2^53 are kept; other versions prevent the shortcut of BETTER-9. */
  readonly resourceVersion: string;
  readonly ownerReferences: readonly OwnerReference[];
  /** `deletionTimestamp` is set. */
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
}

/** ADDED or MODIFIED, or an item of a list. The graph itself knows which of them it is (BETTER-7). */
export interface ObservedEvent {
  readonly type: 'observed';
  readonly resource: MonitoredResource;
  readonly object: ObservedObject;
}

/**
 * The same event without objects and strings: the result of the metadata reader, as words and byte ranges. The columns are read during
 * `apply` only; the caller may reuse them afterwards.
 */
interface ObservedColumnsEvent {
  readonly type: 'observedColumns';
  readonly resource: MonitoredResource;
  readonly columns: ObjectColumns;
}

/** DELETED on a watch: final, because a uid is never used again. */
export interface DeletedEvent {
  readonly type: 'deleted';
  readonly resource: MonitoredResource;
  readonly uid: Uid;
  readonly name: string;
  readonly namespace: string;
}

/** The same event as columns. Only the uid, name and namespace are read. */
interface DeletedColumnsEvent {
  readonly type: 'deletedColumns';
  readonly resource: MonitoredResource;
  readonly columns: ObjectColumns;
}

/**
 * No watch showed the deletion of the object, but a live read *proved* that nothing with this uid is at these coordinates (COL-071, rows 5
 * and 7 of COL-090, COL-093). Never sent for a 404 that is not a proof (COL-116). The identity is the one the node had when the read was
 * made.
 */
export interface VirtualDeleteEvent {
  readonly type: 'virtualDelete';
  readonly identity: Identity;
}

/**
 * A list of the resource begins. Until `listFinished` every observed object of it is marked; a list that failed half way
 * is simply begun again. Lists of different resources may overlap, those of one resource may not. Costs one pass over
 * the nodes (about 1 ms per million).
 */
interface ListStartedEvent {
  readonly type: 'listStarted';
  readonly resource: MonitoredResource;
}

/**
 * The list is complete (COL-042, COL-047). A node of this resource that was not in it may be gone, or the list may be older than earlier
 * events, or of another server. A node on which a decision rests stays *unlisted* until a read proves its absence.
 */
export interface ListFinishedEvent {
  readonly type: 'listFinished';
  readonly resource: MonitoredResource;
  /** If more objects than either number are missing, the list is not believed. Absent: a second list has confirmed it. */
  readonly limit?: VanishLimit;
}

/** The limit on objects that one list of a resource may lack: a number, and a share of the known objects (0 to 1). */
export interface VanishLimit {
  readonly objects: number;
  readonly share: number;
}

/**
 * The resource left discovery and its monitor was stopped (BETTER-2). A node stays if an object refers to it: it becomes virtual and is
 * verified again. The other nodes leave the graph. Their own references are forgotten, because a dependent that is not monitored does not
 * block its owner (COL-10B).
 *
 * When only the version of a resource changes, send the event for the old version *after* the monitor of the new one has synced: by then
 * its objects carry the new version (COL-05A) and are not touched.
 */
interface ResourceVanishedEvent {
  readonly type: 'resourceVanished';
  readonly resource: MonitoredResource;
}

/**
 * The server's resourceVersion went backwards (a restored backup), so deleted uids may exist again. Every recorded absence must be proven
 * again, and versions from before do not show any more which of two states of an object is the later one. The caller clears its
 * AbsentOwnerCache and relists everything.
 */
export interface HistoryResetEvent {
  readonly type: 'historyReset';
  /**
   * Set only for the history of a server beside kube-apiserver while the others are not relisted. The versions stay, except for objects
   * that two resources show and of which one resource is behind: it may never reach the version that the other one had shown.
   */
  readonly of?: 'serverBeside';
}

export type GraphEvent =
  | ObservedEvent
  | ObservedColumnsEvent
  | DeletedEvent
  | DeletedColumnsEvent
  | VirtualDeleteEvent
  | ListStartedEvent
  | ListFinishedEvent
  | ResourceVanishedEvent
  | HistoryResetEvent;
