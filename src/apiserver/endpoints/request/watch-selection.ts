import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Selection } from '../../registry/selection.ts';
import { CacheEvent } from '../../storage/cache/cache-event.ts';

/**
 * What a selective watcher sees of a change (API-125): an object that starts to match appears, one that stops matching goes away
 * with its old content under the revision of the change, one that never matched does not exist.
 */
export function selectedEvent(
  event: CacheEvent,
  { selection, resource }: { readonly selection: Selection; readonly resource: ResourceStore },
): CacheEvent | undefined {
  const { type, current, previous } = event;
  const matches = selection.matches(resource.serve(current));
  if (type !== 'MODIFIED' || previous === undefined) return matches ? event : undefined;
  const matched = selection.matches(resource.serve(previous));
  if (matches) return matched ? event : new CacheEvent({ type: 'ADDED', current });
  return matched ? new CacheEvent({ type: 'DELETED', revision: event.revision, previous }) : undefined;
}
