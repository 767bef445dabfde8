import type { Clock } from '../base/time/clock.ts';
import type { HttpHandler } from '../base/http-message.ts';
import { inProcessTransport } from '../client/http/in-process-transport.ts';
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
  { clock, userAgent, interceptors, username = 'system:kube-controller-manager' }: InProcessClientOptions,
): RestClient {
  const transport = inProcessTransport(handler, { peer: { commonName: username, organizations: MASTERS } });
  return new RestClient({ transport, clock, interceptors, userAgent });
}
