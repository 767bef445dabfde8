import { hasStatusCause, StatusError } from '../../api/status-error.ts';
import { NoStatusError } from '../../client/codec/status-decoder.ts';
import { TransportError } from '../../client/http/transport.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import type { OutageScope } from '../types/monitor-event.ts';

/** kube-aggregator sends one of these texts as plain text when the server of a group is away, or when it cannot reach that server. */
const AWAY = /^(?:service unavailable\n?$|error trying to reach service: )/;

/**
 * Whether the server itself sent this error: then it was reachable, and it is the same server as before. Otherwise another server may
 * answer next, because a backup may have been restored meanwhile (designs/0011). This is so if there was no answer, if a proxy answered
 * with a page, and for 5xx, because a proxy may also send that for an unreachable server.
 */
export function isAnswer(error: Error): boolean {
  return error instanceof StatusError && (error.code < 500 || hasStatusCause(error, 'ResourceVersionTooLarge'));
}

/** The outage that a failed call about a resource of this apiVersion shows. Undefined: the server answered. */
export function outageOfCall(error: Error, apiVersion: string): OutageScope | undefined {
  return isAnswer(error) ? undefined : scopeOf(error, apiVersion);
}

/**
 * The outage that a failed list or watch shows. The first failure may mean that other servers are away too; a repeated failure does not.
 */
export function outageOfWatch(
  error: Error,
  apiVersion: string,
  before: 'working' | 'inTrouble',
): OutageScope | undefined {
  if (concernsOneKind(error, apiVersion)) return 'beside';
  return before === 'working' ? 'all' : outageOfCall(error, apiVersion);
}

/**
 * Whether a failed list or watch says nothing about other kinds: the server answered it, and the kind may be a custom one. The conversion
 * webhook of a custom kind can fail by itself. If kube-apiserver is away, its own kinds show that.
 */
export function concernsOneKind(error: Error, apiVersion: string): boolean {
  if (error instanceof NoStatusError) return false;
  return error instanceof StatusError && !isServedByKubeApiserver(apiVersion);
}

/** `away`: nobody listened at the server's address. `broken`: no answer, or a proxy's page. A kind that fails by itself looks the same. */
export type Breakage = 'away' | 'broken';

/**
 * How a failed request shows that the server may be away. Undefined: an API server answered it, in whatever way, or the answer concerns the
 * server of one group. So a conversion webhook that is dead, a key that is not found and a kind that went are no breakage.
 */
export function breakageOf(error: Error, apiVersion: string): Breakage | undefined {
  if (error instanceof TransportError) {
    if (error.code === 'aborted') return undefined;
    return error.code === 'refused' || error.code === 'tls' ? 'away' : 'broken';
  }
  if (!(error instanceof NoStatusError) || error.code < 500) return undefined;
  return scopeOf(error, apiVersion) === 'all' ? 'broken' : undefined;
}

/**
 * All servers are affected, except in one case: kube-apiserver answers that it cannot reach the server behind the group. It never answers
 * so about a resource that it serves itself, custom ones included. It answers so as long as that server is away, so its own resources are
 * not affected.
 */
function scopeOf(error: Error, apiVersion: string): OutageScope {
  if (isServedByKubeApiserver(apiVersion) || !(error instanceof NoStatusError)) return 'all';
  return error.code === 503 && error.audited && AWAY.test(error.text) ? 'beside' : 'all';
}
