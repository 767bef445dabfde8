import { storagePreconditionText } from '../deletion/preconditions.ts';
import type { GroupResource } from '../meta/group-version-kind.ts';
import type { ObjectMeta } from '../meta/object-meta.ts';
import type { StatusError } from '../status-error.ts';
import { newConflict } from '../status-error.ts';

/**
 * The 409 of a PUT whose body names another uid than the stored object has (API-174): the client means an object that is
 * gone. The collector relies on it. A PATCH with another uid is refused by `validateObjectMetaUpdate` instead, with 422.
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
