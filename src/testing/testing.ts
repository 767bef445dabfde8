/** The module behind `kubegc/testing`. */
export {
  assertCollected,
  assertHasFinalizer,
  assertHasNoFinalizer,
  assertNotCollected,
  assertNotOwnedBy,
  assertOwnedBy,
} from './assertions.ts';
export { type ClusterOptions, startCluster, TestCluster } from './cluster.ts';
export { ClusterSnapshot } from './cluster-snapshot.ts';
export type { Answered, ClusterClient, CreatedOrUpdated, KindQuery, WatchOptions } from './client/cluster-client.ts';
export type { WatchEvent } from './client/object-watch.ts';
export type {
  ApplyOptions,
  FieldValidation,
  PatchOptions,
  UpdateOptions,
  WriteOptions,
} from './client/write-options.ts';
export type { DeleteOptions, PropagationPolicy } from '../client/rest/delete-options.ts';
export type { Informer, InformerHandler } from '../client/reflector/informer.ts';
export type { PatchType, RestClient } from '../client/rest/rest-client.ts';
export { type ControllerName, controllerNames } from './actors/controllers.ts';
export type {
  FaultAnswer,
  FaultMatch,
  FaultRequest,
  FaultRule,
  OtherVerb,
  RequestMethod,
  Verb,
} from './faults/fault-rule.ts';
export type { Faults } from './faults/faults.ts';
export { type KubegcMatchers, kubegcMatchers } from './matchers.ts';
export { type ObjectRef, type Subject, UnknownKindError } from './client/object-ref.ts';
export type { SeedObject, SeedOwner } from './seed/seed-object.ts';
export { type ObjectSource, type ObjectSources, SeedError } from './seed/seed-objects.ts';
export { NotSettledError, type SettleOptions, type Settled } from './settle.ts';
export type { TestClock } from './clock/test-clock.ts';
export type { TestTimer } from './clock/test-timers.ts';
export { Trace, type TracedObject, type TraceEntry, type TraceKind, type TraceSubject } from './trace/trace.ts';
export { StatusError } from '../api/status-error.ts';
export type { ApiObject, ApiObjectMeta, ApiOwnerReference } from '../api/meta/api-object.ts';
export type { KubeObject, ObjectMeta, OwnerReference } from '../api/meta/object-meta.ts';
