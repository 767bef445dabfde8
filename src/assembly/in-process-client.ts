import { CONTROLLER_MANAGER, type UserInfo } from '../apiserver/authentication/user-info.ts';
import type { Clock } from '../base/time/clock.ts';
import type { HttpHandler } from '../base/http-message.ts';
import { inProcessTransport } from '../client/http/in-process-transport.ts';
import { impersonationHeaders } from '../client/kubeconfig/impersonation-headers.ts';
import type { Interceptor } from '../client/rest/interceptor.ts';
import { RestClient } from '../client/rest/rest-client.ts';

/** The group that may do everything. */
export const MASTERS: readonly string[] = ['system:masters'];

export interface InProcessClientOptions {
  readonly clock: Clock;
  readonly userAgent: string;
  readonly interceptors: readonly Interceptor[];
  /** Default: `system:kube-controller-manager`. */
  readonly username?: string | undefined;
}

/** A client of the API server in this process. It may do everything, like that of kube-controller-manager. */
export function inProcessClient(
  handler: HttpHandler,
  { clock, userAgent, interceptors, username = CONTROLLER_MANAGER }: InProcessClientOptions,
): RestClient {
  const transport = inProcessTransport(handler, { peer: { commonName: username, organizations: MASTERS } });
  return new RestClient({ transport, clock, interceptors, userAgent, watches: 'lasting' });
}

/**
 * A client of the API server in this process for the requests of a user: the server authorizes, admits and audits each request as one of
 * the user. The client sends them as an administrator who impersonates the user.
 */
export function clientOfUser(
  handler: HttpHandler,
  { username, uid, groups, extra = {} }: UserInfo,
  { clock, userAgent }: Pick<InProcessClientOptions, 'clock' | 'userAgent'>,
): RestClient {
  // The API server refuses to impersonate administrators fully, and an administrator has no rights to lose.
  if (groups.some((group) => MASTERS.includes(group)))
    return inProcessClient(handler, { clock, userAgent, interceptors: [], username });
  const impersonated = { user: username, groups, extra: new Map(Object.entries(extra)) };
  const headers = impersonationHeaders({ ...impersonated, ...(uid === undefined ? {} : { uid }) });
  const interceptors: readonly Interceptor[] = [
    (request, next) => next({ ...request, headers: { ...request.headers, ...headers } }),
  ];
  return inProcessClient(handler, { clock, userAgent, interceptors });
}
