import { storagePreconditionText } from '../deletion/preconditions.ts';
import type { GroupResource } from '../meta/group-version-kind.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import type { StatusError } from '../status-error.ts';
import { newConflict } from '../status-error.ts';

/**
 * The 409 of a PUT whose body has another uid than the stored object (API-174), because the client means an object that is gone. The
 * collector relies on this 409. `validateObjectMetaUpdate` refuses a PATCH with another uid with 422 instead.
 */
export function checkUidPrecondition(
  next: ObjectMeta,
  previous: ObjectMeta,
  gr: GroupResource,
): StatusError | undefined {
  const wanted = next.uid ?? '';
  const found = previous.uid ?? '';
  if (wanted === '' || wanted === found) return undefined;
  return newConflict(gr, previous.name ?? '', storagePreconditionText({ field: 'uid', wanted, found }));
}
