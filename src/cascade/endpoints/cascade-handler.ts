import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import type { Random } from '../../base/random/random.ts';
import type { CascadeEndpoints, CascadeEndpointsOptions, Requester } from './cascade-endpoints.ts';

export interface CascadeHandlerOptions extends Omit<CascadeEndpointsOptions, 'records'> {
  /** Undefined: this server keeps no records. */
  readonly records?: { readonly folder: string; readonly random: Random } | undefined;
}

/** Answers requests below CASCADE_PATH (CAS-081). The endpoints, and what they import, are loaded with the first request. */
export function cascadeHandler(
  options: CascadeHandlerOptions,
): (request: HttpRequest, user: Requester) => Promise<HttpResponse> {
  let endpoints: Promise<CascadeEndpoints> | undefined;
  return async (request, user) => (await (endpoints ??= load(options))).handle(request, user);
}

async function load({ records, ...options }: CascadeHandlerOptions): Promise<CascadeEndpoints> {
  const { CascadeEndpoints: Endpoints } = await import('./cascade-endpoints.ts');
  const { RecordStore } = await import('../record/record-store.ts');
  const kept = records && new RecordStore({ ...records, clock: options.clock });
  return new Endpoints({ ...options, ...(kept === undefined ? {} : { records: kept }) });
}
