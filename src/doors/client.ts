/** The module behind `kubegc/client`: talk to any Kubernetes API server. */
import { loadClientConfig } from '../client/kubeconfig/client-config.ts';
import { connect } from '../client/http/connect.ts';
import { Informer, type InformerOptions } from '../client/reflector/informer.ts';
import { RestClient } from '../client/rest/rest-client.ts';
import type { ApiWarning } from '../client/rest/warning-header.ts';
import { systemKubeconfigIo } from '../cli/process/system-kubeconfig-io.ts';
import type { ApiObject } from '../api/meta/api-object.ts';
import type { KubeObject } from '../api/meta/object-meta.ts';
import { systemClock } from '../base/time/clock.ts';
import { systemRandom } from '../base/random/random.ts';

/** Selects the cluster of {@link connectToCluster}. */
export interface ConnectOptions {
  /** A kubeconfig file; otherwise the files of KUBECONFIG, `~/.kube/config`, or the pod that this runs in. */
  readonly kubeconfig?: string | undefined;
  /** A context in it; default: its current one. */
  readonly context?: string | undefined;
  /** The URL of another server than the context's. */
  readonly server?: string | undefined;
  /** The name of the program in the server's logs and metrics: `my-operator/1.0`. */
  readonly userAgent?: string | undefined;
  /** Default timeout of requests in milliseconds; default: none. */
  readonly timeoutMs?: number | undefined;
  /** Called with each warning that the server sends, such as that a version is deprecated. */
  readonly onWarning?: ((warning: ApiWarning) => void) | undefined;
}

/**
 * A client for the cluster that kubectl would use. The first request connects. Rejects with an Error that describes the problem of the
 * kubeconfig. Close the client at the end, because its connections keep the process alive.
 */
export async function connectToCluster(options: ConnectOptions = {}): Promise<RestClient> {
  const { kubeconfig: path, context, server, userAgent = 'kubegc', timeoutMs, onWarning } = options;
  const config = await loadClientConfig({
    io: systemKubeconfigIo,
    clock: systemClock,
    ...(path === undefined ? {} : { path }),
    ...(context === undefined ? {} : { context }),
    ...(server === undefined ? {} : { server }),
  });
  return new RestClient({
    transport: connect({ ...config, clock: systemClock }),
    clock: systemClock,
    userAgent,
    ...(timeoutMs === undefined ? {} : { defaultTimeoutMs: timeoutMs }),
    ...(onWarning === undefined ? {} : { onWarning }),
  });
}

/** A cache of one resource on the clock of this machine. Nothing happens before its `run(signal)` is called. */
export function createInformer<T extends ApiObject = KubeObject>(
  options: Omit<InformerOptions<T>, 'clock' | 'random'>,
): Informer<T> {
  return new Informer<T>({ ...options, clock: systemClock, random: systemRandom });
}

export { Informer, type InformerHandler, type InformerOptions, keyOf } from '../client/reflector/informer.ts';
export {
  type CallOptions,
  type PatchType,
  RestClient,
  type RestRequest,
  RestResponse,
  type RestStream,
  type RetryPolicy,
} from '../client/rest/rest-client.ts';
export type { DeleteOptions, PropagationPolicy } from '../client/rest/delete-options.ts';
export type { QueryValue, ResourceRef } from '../client/rest/resource-path.ts';
export type { ApiWarning } from '../client/rest/warning-header.ts';
export { TransportError } from '../client/http/transport.ts';
export { KubeconfigError } from '../client/kubeconfig/kubeconfig.ts';
export type { GroupVersionResource } from '../api/meta/group-version-kind.ts';
export type { ApiObject, ApiObjectMeta, ApiOwnerReference } from '../api/meta/api-object.ts';
export type { KubeObject, ObjectMeta, OwnerReference } from '../api/meta/object-meta.ts';
export {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  StatusError,
} from '../api/status-error.ts';
export { type Logger, silentLogger } from '../base/logs/logger.ts';
