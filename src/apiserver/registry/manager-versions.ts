import { compareObjects } from '../../api/apply/compare.ts';
import { equalSets, type FieldSet, isEmptySet, union } from '../../api/apply/fieldset.ts';
import { removeItems } from '../../api/apply/remove-items.ts';
import { comparedFields, partOf, type TrackedPart } from '../../api/apply/tracked-fields.ts';
import { equalJson, isJsonObject } from '../../api/codec/json-value.ts';
import { apiVersionOf, parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../api/meta/object-meta.ts';
import { StatusError } from '../../api/status-error.ts';
import { setManagedFields, typeSchemaOf } from './field-tracking.ts';
import { metadataOf } from './object-meta.ts';
import type { ResourceStore } from './resource-store.ts';

/** Its members are called the same in all versions. */
const METADATA: TrackedPart = { part: 'only', members: ['metadata'] };
const CONTENT: TrackedPart = { part: 'allBut', members: ['metadata'] };

interface Translated {
  readonly original: ManagedFieldsEntry;
  readonly entry: ManagedFieldsEntry;
}

/**
 * Managers of an object that a webhook converts keep what they own in the version they wrote it in, where it may have other names. For a
 * write in one version all of them speak that one: a field of theirs is what changes there when theirs is left out. What a write has
 * left untouched is stored in its own words again (API-222, API-464; upstream converts inside structured-merge-diff).
 *
 * `write` gets the stored object with its managers in the version of `resource`, and makes the next one from it.
 */
export async function acrossVersions(
  resource: ResourceStore,
  previous: KubeObject | undefined,
  write: (previous: KubeObject | undefined) => KubeObject | Promise<KubeObject>,
): Promise<KubeObject> {
  const entries = previous?.metadata?.managedFields;
  if (previous === undefined || entries === undefined || !hasForeignManagers(resource, previous))
    return write(previous);
  const translations = await translate(resource, previous, entries);
  if (translations.length === 0) return write(previous);
  const managedFields = entries.map((entry) => translations.find(({ original }) => original === entry)?.entry ?? entry);
  const next = await write({ ...previous, metadata: { ...previous.metadata, managedFields } });
  setManagedFields(next, restored(next.metadata?.managedFields, translations, apiVersionOf(resource.info)));
  return next;
}

/** Whether {@link acrossVersions} has something to do: hardly ever. */
export function hasForeignManagers(resource: ResourceStore, { metadata }: KubeObject): boolean {
  const own = apiVersionOf(resource.info);
  return (metadata?.managedFields ?? []).some(
    ({ apiVersion = own }) => apiVersion !== own && foreignVersion(resource, apiVersion) !== undefined,
  );
}

/** The managers a client sends back as it has read them stand for those that are there. */
export function adoptManagers(next: KubeObject, stored: KubeObject, previous: KubeObject): void {
  const sent = next.metadata?.managedFields;
  if (sent === undefined || !equalJson(sent, stored.metadata?.managedFields)) return;
  const { managedFields } = previous.metadata ?? {};
  if (managedFields !== undefined) metadataOf(next).managedFields = managedFields;
}

/** At most one an entry, of which an object has a bounded number (API-217); two calls of the webhook each, and one a version. */
async function translate(
  resource: ResourceStore,
  live: KubeObject,
  entries: readonly ManagedFieldsEntry[],
): Promise<readonly Translated[]> {
  const own = apiVersionOf(resource.info);
  const translations: Translated[] = [];
  const converted = new Map<string, KubeObject>();
  for (const original of entries) {
    const apiVersion = original.apiVersion ?? own;
    if (apiVersion === own) continue;
    const other = foreignVersion(resource, apiVersion);
    if (other === undefined) continue;
    try {
      const there = converted.get(apiVersion) ?? (await other.convertFrom(resource, live));
      converted.set(apiVersion, there);
      const fields = (original.fieldsV1 ?? {}) as FieldSet;
      const left = await resource.convertFrom(other, without(there, fields, other));
      translations.push({
        original,
        entry: { ...original, fieldsV1: translatedFields(fields, { live, left, resource }) },
      });
    } catch (error) {
      // An object without these fields may be none for the webhook: then they are known by the names they have.
      if (!(error instanceof StatusError)) throw error;
    }
  }
  return translations;
}

/** Another version of the resource, if fields may have other names there: where a webhook converts. */
function foreignVersion(resource: ResourceStore, apiVersion: string): ResourceStore | undefined {
  const { info, siblings } = resource;
  const gv = parseGroupVersion(apiVersion);
  if (gv === undefined || gv.group !== info.group) return undefined;
  const other = siblings.find(gv.group, gv.version, info.resource);
  return other !== undefined && (other.convertsRemotely || resource.convertsRemotely) ? other : undefined;
}

/** Type and metadata stay: it is still the same object. */
function without(object: KubeObject, fields: FieldSet, { schema }: ResourceStore): KubeObject {
  const { apiVersion, kind, metadata, ...content } = object;
  const left = removeItems(content, partOf(fields, CONTENT), typeSchemaOf(schema));
  return {
    ...(apiVersion === undefined ? {} : { apiVersion }),
    ...(kind === undefined ? {} : { kind }),
    metadata: metadata ?? {},
    ...(isJsonObject(left) ? left : {}),
  };
}

function translatedFields(
  fields: FieldSet,
  { live, left, resource }: { readonly live: KubeObject; readonly left: KubeObject; readonly resource: ResourceStore },
): FieldSet {
  const compared = { type: typeSchemaOf(resource.schema), fields: comparedFields(CONTENT) };
  const { added, modified } = compareObjects(left, live, compared);
  return union(partOf(fields, METADATA), union(added, modified));
}

/** Entries that have lost nothing as they were; what is left of the others is in the version of the write from now on. */
function restored(
  entries: readonly ManagedFieldsEntry[] | undefined,
  translations: readonly Translated[],
  apiVersion: string,
): ManagedFieldsEntry[] | undefined {
  if (entries === undefined) return undefined;
  const result: ManagedFieldsEntry[] = [];
  for (const entry of entries) {
    const translation = translations.find(({ entry: translated }) => sameManager(translated, entry));
    const untouched =
      translation !== undefined &&
      equalSets((entry.fieldsV1 ?? {}) as FieldSet, (translation.entry.fieldsV1 ?? {}) as FieldSet);
    const next = untouched ? translation.original : translation === undefined ? entry : { ...entry, apiVersion };
    const present = result.findIndex((other) => sameManager(other, next));
    const before = result[present];
    if (before === undefined) result.push(next);
    else result[present] = { ...before, fieldsV1: union(before.fieldsV1 as FieldSet, next.fieldsV1 as FieldSet) };
  }
  return result.filter(({ fieldsV1 }) => !isEmptySet((fieldsV1 ?? {}) as FieldSet));
}

function sameManager(a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    (a.subresource ?? '') === (b.subresource ?? '')
  );
}
