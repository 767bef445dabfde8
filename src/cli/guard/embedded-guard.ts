import type { Clock } from '../../base/time/clock.ts';
import { Guard } from '../../cascade/guard/guard.ts';
import { DEFAULT_EXEMPT_GROUPS, DEFAULT_EXEMPT_USERS, type GuardRules } from '../../cascade/guard/judge.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { GuardAdmission } from './guard-admission.ts';
import { mayUnprotect } from './unprotect-right.ts';

/**
 * @param connect a client of the server that contains the guard; called with the first request, when the server exists
 * @param settings the budgets, and how the server's own controllers treat finished pods
 */
export function embeddedGuard(
  connect: () => RestClient,
  clock: Clock,
  settings: Pick<GuardRules, 'budgets' | 'ignoreFinishedPods'>,
): GuardAdmission {
  let guard: Guard | undefined;
  return new GuardAdmission(() => {
    if (guard !== undefined) return guard;
    const client = connect();
    guard = new Guard({
      client,
      clock,
      rules: { exemptUsers: DEFAULT_EXEMPT_USERS, exemptGroups: DEFAULT_EXEMPT_GROUPS, ...settings },
      mayUnprotect: (request, signal) => mayUnprotect(client, request, signal),
    });
    return guard;
  });
}
