import { hasStatusCause, StatusError } from '../../api/status-error.ts';
import { NoStatusError } from '../../client/codec/status-decoder.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import type { OutageScope } from '../types/monitor-event.ts';

/** kube-aggregator sends one of these as plain text when the server of a group is away, or when it does not reach that server. */
const AWAY = /^(?:service unavailable\n?$|error trying to reach service: )/;

/**
 * Whether the server itself sent this error: it was there then, and is the one it was. No answer, a page of something in between, and 5xx,
 * which also stands for a server that is away, leave open which server answers next: a backup may have been restored meanwhile
 * (designs/0011).
 */
export function isAnswer(error: Error): boolean {
  return error instanceof StatusError && (error.code < 500 || hasStatusCause(error, 'ResourceVersionTooLarge'));
}

/** The outage that a failed call about a resource of this apiVersion shows. Undefined: the server answered. */
export function outageOfCall(error: Error, apiVersion: string): OutageScope | undefined {
  return isAnswer(error) ? undefined : scopeOf(error, apiVersion);
}

/** The same for a failed list or watch. The first failure may stand for more than itself; a repeated one does not. */
export function outageOfWatch(
  error: Error,
  apiVersion: string,
  before: 'working' | 'inTrouble',
): OutageScope | undefined {
  if (concernsOneKind(error, apiVersion)) return 'beside';
  return before === 'working' ? 'all' : outageOfCall(error, apiVersion);
}

/**
 * Whether a failed list or watch says nothing about other kinds: the server answered it, and the kind may be a custom one, whose conversion
 * webhook can fail by itself. The kinds of kube-apiserver show when kube-apiserver is away.
 */
export function concernsOneKind(error: Error, apiVersion: string): boolean {
  if (error instanceof NoStatusError) return false;
  return error instanceof StatusError && !isServedByKubeApiserver(apiVersion);
}

/**
 * All servers, but for one case: kube-apiserver is there, and says itself that it does not reach the server behind the group. It says so of
 * no resource that it has, custom ones included, and says it for as long as that server is away: nothing follows for its own resources.
 */
function scopeOf(error: Error, apiVersion: string): OutageScope {
  if (isServedByKubeApiserver(apiVersion) || !(error instanceof NoStatusError)) return 'all';
  return error.code === 503 && error.audited && AWAY.test(error.text) ? 'beside' : 'all';
}
