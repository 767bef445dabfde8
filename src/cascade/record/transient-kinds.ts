/** Kinds that change all the time, and whose writers create them again. */
const TRANSIENT: ReadonlySet<string> = new Set([
  '/events',
  'events.k8s.io/events',
  'coordination.k8s.io/leases',
  '/endpoints',
  'discovery.k8s.io/endpointslices',
]);

/** True for kinds whose deletions nobody takes back. @param resource its plural */
export const isTransient = ({ group, resource }: { readonly group: string; readonly resource: string }): boolean =>
  TRANSIENT.has(`${group}/${resource}`);
