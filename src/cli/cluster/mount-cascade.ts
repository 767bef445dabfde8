import type { ApiServer } from '../../apiserver/api-server.ts';
import { clientOfUser } from '../../assembly/in-process-client.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';
import { CASCADE_PATH } from '../../cascade/endpoints/cascade-path.ts';
import type { CascadeEndpoints, WarmGraph } from '../../cascade/endpoints/cascade-endpoints.ts';

export interface MountCascadeOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly userAgent: string;
  /** The collector beside the server, once it runs. */
  readonly collector: () => WarmGraph | undefined;
  /** Folder of the records; undefined where nothing outlives the process. */
  readonly recordDir: string | undefined;
}

/** Serves the cascade documents from the API server (CAS-081). Nothing of cascade is loaded before the first request. */
export function mountCascade(apiServer: ApiServer, options: MountCascadeOptions): void {
  let endpoints: Promise<CascadeEndpoints> | undefined;
  apiServer.mount(CASCADE_PATH, async (request, user) =>
    (await (endpoints ??= load(apiServer, options))).handle(request, user),
  );
}

async function load(
  { handler }: ApiServer,
  { clock, random, userAgent, collector, recordDir }: MountCascadeOptions,
): Promise<CascadeEndpoints> {
  const [{ CascadeEndpoints: Endpoints }, { RecordStore }] = await Promise.all([
    import('../../cascade/endpoints/cascade-endpoints.ts'),
    import('../../cascade/record/record-store.ts'),
  ]);
  return new Endpoints({
    clientOf: (user) => clientOfUser(handler, user, { clock, userAgent }),
    clock,
    warmGraph: collector,
    ...(recordDir === undefined ? {} : { records: new RecordStore({ folder: recordDir, clock, random }) }),
  });
}
