import type { GroupVersionKind } from '../../../api/meta/group-version-kind.ts';
import type { AdmissionAttributes } from '../chain/attributes.ts';
import type { VersionedObjects } from './admission-review.ts';

/** Object and old object of a request in the version of a kind. Objects that already have it are not copied. */
export async function versionedObjects(
  { object, oldObject, interfaces }: AdmissionAttributes,
  kind: GroupVersionKind,
): Promise<VersionedObjects> {
  return {
    ...(object === undefined ? {} : { object: await interfaces.convert(object, kind) }),
    ...(oldObject === undefined ? {} : { oldObject: await interfaces.convert(oldObject, kind) }),
  };
}
