import { append } from '../../base/collections/append.ts';
import type { FieldError } from '../field-error.ts';
import { fieldInvalid, fieldInvalidAsShown, shown } from '../field-error.ts';
import { formatGroupVersionKind, parseGroupVersion } from '../meta/group-version-kind.ts';
import type { ObjectMeta, OwnerReference } from '../meta/object-meta.ts';

/** Maximum number of reported extra controllers. Each finding contains the whole list, so thousands would exhaust the heap. */
const MOST_CONTROLLERS_TOLD = 10;

/**
 * Checks owner references on every write (API-067, API-068). The paths have no index. The existence of an owner is not checked, because
 * that is the collector's task (API-069).
 */
export function validateOwnerReferences(references: readonly OwnerReference[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller: OwnerReference | undefined;
  let list: string | undefined;
  let told = 0;
  for (const reference of references ?? []) {
    append(errors, validateOwnerReference(reference, path));
    if (reference.controller !== true) continue;
    if (controller === undefined) {
      controller = reference;
      continue;
    }
    if (told === MOST_CONTROLLERS_TOLD) continue;
    told += 1;
    list ??= shown((references ?? []).map(canonical));
    const found = `${controller.kind ?? ''}/${controller.name ?? ''} and ${reference.kind ?? ''}/${reference.name ?? ''}`;
    errors.push(
      fieldInvalidAsShown(
        path,
        list,
        `Only one reference can have Controller set to true. Found "true" in references for ${found}`,
      ),
    );
  }
  return errors;
}

function validateOwnerReference(reference: OwnerReference, path: string): FieldError[] {
  // Requests are not typed yet, so any of the four may be missing.
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference as Partial<OwnerReference>;
  const gv = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
  const errors: FieldError[] = [];
  if (gv.version === '') errors.push(fieldInvalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
  if (kind === '') errors.push(fieldInvalid(`${path}.kind`, kind, 'must not be empty'));
  if (name === '') errors.push(fieldInvalid(`${path}.name`, name, 'must not be empty'));
  if (uid === '') errors.push(fieldInvalid(`${path}.uid`, uid, 'must not be empty'));
  if (gv.group === '' && gv.version === 'v1' && kind === 'Event') {
    const gvk = formatGroupVersionKind({ ...gv, kind });
    errors.push(fieldInvalid(path, canonical(reference), `${gvk} is disallowed from being an owner`));
  }
  return errors;
}

/** The reference in the API server's form: known fields in order, the four required ones always present. */
function canonical(reference: OwnerReference): OwnerReference {
  const {
    apiVersion = '',
    kind = '',
    name = '',
    uid = '',
    controller,
    blockOwnerDeletion,
  } = reference as Partial<OwnerReference>;
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  };
}

/**
 * Removes duplicates of equal references, in place, and warns about them (API-070). References that share only the uid stay. The second
 * pass, after mutating admission, has another text.
 */
export function dedupOwnerReferences(
  meta: ObjectMeta,
  options: { readonly afterMutatingAdmission?: boolean } = {},
): { warning?: string } {
  const seen = new Set<string>();
  const duplicates: string[] = [];
  const kept = (meta.ownerReferences ?? []).filter((reference) => {
    const identity = JSON.stringify(canonical(reference));
    if (seen.has(identity)) {
      duplicates.push(reference.uid ?? '');
      return false;
    }
    seen.add(identity);
    return true;
  });
  if (duplicates.length === 0) return {};
  meta.ownerReferences = kept;
  const when = options.afterMutatingAdmission === true ? ' after mutating admission happens' : '';
  return {
    warning: `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  };
}
