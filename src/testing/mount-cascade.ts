import type { ApiServer } from '../apiserver/api-server.ts';
import { clientOfUser } from '../assembly/in-process-client.ts';
import type { Clock } from '../base/time/clock.ts';
import { CASCADE_PATH } from '../cascade/endpoints/cascade-path.ts';
import type { CascadeEndpoints, WarmGraph } from '../cascade/endpoints/cascade-endpoints.ts';
import { USER_AGENT } from './actors/actor.ts';

/** Serves the cascade documents from the cluster (CAS-081), except records, which a test cluster does not keep. */
export function mountCascade(
  server: ApiServer,
  { clock, collector }: { readonly clock: Clock; readonly collector: WarmGraph | undefined },
): void {
  let endpoints: Promise<CascadeEndpoints> | undefined;
  const load = async (): Promise<CascadeEndpoints> => {
    const { CascadeEndpoints: Endpoints } = await import('../cascade/endpoints/cascade-endpoints.ts');
    return new Endpoints({
      clientOf: (user) => clientOfUser(server.handler, user, { clock, userAgent: USER_AGENT }),
      clock,
      warmGraph: () => collector,
    });
  };
  server.mount(CASCADE_PATH, async (request, user) => (await (endpoints ??= load())).handle(request, user));
}
