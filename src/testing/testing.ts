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
export type { Answered, ClusterClient, CreatedOrUpdated, KindQuery, WatchOptions } from './cluster-client.ts';
export type { WatchEvent } from './object-watch.ts';
export type { ApplyOptions, FieldValidation, PatchOptions, UpdateOptions, WriteOptions } from './write-options.ts';
export type { DeleteOptions, PropagationPolicy } from '../client/delete-options.ts';
export type { Informer, InformerHandler } from '../client/informer.ts';
export type { PatchType, RestClient } from '../client/rest-client.ts';
export { type ControllerName, controllerNames } from './controllers.ts';
export type { FaultAnswer, FaultMatch, FaultRequest, FaultRule, OtherVerb, RequestMethod, Verb } from './fault-rule.ts';
export type { Faults } from './faults.ts';
export { type KubegcMatchers, kubegcMatchers } from './matchers.ts';
export { type ObjectRef, type Subject, UnknownKindError } from './object-ref.ts';
export type { SeedObject, SeedOwner } from './seed-object.ts';
export { type ObjectSource, type ObjectSources, SeedError } from './seed-objects.ts';
export { NotSettledError, type SettleOptions, type Settled } from './settle.ts';
export type { TestClock } from './test-clock.ts';
export type { TestTimer } from './test-timers.ts';
export { Trace, type TracedObject, type TraceEntry, type TraceKind, type TraceSubject } from './trace.ts';
export { StatusError } from '../api/status-error.ts';
export type { ApiObject, ApiObjectMeta, ApiOwnerReference } from '../api/meta/api-object.ts';
export type { KubeObject, ObjectMeta, OwnerReference } from '../api/meta/object-meta.ts';
