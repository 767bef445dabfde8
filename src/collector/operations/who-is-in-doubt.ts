import { StatusError } from '../../api/status-error.ts';
import { NoStatusError } from '../../client/codec/status-decoder.ts';
import { isServedByKubeApiserver } from '../resources/served-by-kube-apiserver.ts';
import type { InDoubt } from '../types/monitor-event.ts';

/** What kube-aggregator says, as plain text, for a group whose server it knows to be away, or does not reach. */
const AWAY = /^(?:service unavailable\n?$|error trying to reach service: )/;

/**
 * Which servers may be others after a failure that is no answer (`is-answer.ts`), of a call about a resource of this apiVersion
 * (designs/0011). All, but for one case: kube-apiserver is there, and says itself that it does not reach the server behind the group. It
 * says so of no resource that it has, custom ones included, and says it for as long as that server is away: nothing follows for its own.
 */
export function whoIsInDoubt(error: Error, apiVersion: string): InDoubt {
  if (isServedByKubeApiserver(apiVersion) || !(error instanceof NoStatusError)) return 'all';
  return error.code === 503 && error.audited && AWAY.test(error.text) ? 'beside' : 'all';
}

/**
 * Whether a failed list or watch says nothing about other kinds: the server answered it, and the kind may be a custom one, whose conversion
 * webhook can fail by itself. The kinds of kube-apiserver show when kube-apiserver is away.
 */
export function concernsOneKind(error: Error, apiVersion: string): boolean {
  if (error instanceof NoStatusError) return false;
  return error instanceof StatusError && !isServedByKubeApiserver(apiVersion);
}
