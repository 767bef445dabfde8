import type { Authorizer } from '../../authorization/authorizer.ts';
import type { MatchConditions } from '../webhook/match-conditions.ts';

/** Match conditions that load the expression engine with the first condition. */
export function lazyMatchConditions(authorizer: Authorizer): MatchConditions {
  let loading: Promise<MatchConditions> | undefined;
  const load = async (): Promise<MatchConditions> => {
    const { CelMatchConditions } = await import('./cel-match-conditions.ts');
    return new CelMatchConditions(authorizer);
  };
  return {
    async evaluate(conditions, subject) {
      loading ??= load();
      return (await loading).evaluate(conditions, subject);
    },
  };
}
