import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { CascadeRecord } from '../documents/cascade-record.ts';
import type { RecordedObject } from '../record/recorded-object.ts';
import type { ObjectRight } from './object-rights.ts';

/** The right over everything: needed for the record of a kind that no server serves any more. */
const EVERYTHING = { group: '*', resource: '*' } as const;

/** The rights to read a record without its bodies: `get` of every kind in every namespace that it names. */
export function readRightsOf({ plan, roots }: CascadeRecord): ObjectRight[] {
  const refs = plan === undefined ? roots : plan.objects.map(({ ref }) => ref);
  return refs.map(({ apiVersion, resource, namespace }) => {
    const group = parseGroupVersion(apiVersion)?.group;
    return { verb: 'get', ...(group === undefined || resource === '' ? EVERYTHING : { group, resource }), namespace };
  });
}

/** The rights to do something with the bodies of a record. */
export function objectRightsOf(
  objects: readonly RecordedObject[],
  verb: 'get' | 'create',
  { resources }: DiscoveryResult,
): ObjectRight[] {
  const byKind = new Map(resources.map((each) => [`${each.group}/${each.kind}`, each]));
  return objects.map(({ body: { apiVersion = '', kind = '', metadata } }) => {
    const group = parseGroupVersion(apiVersion)?.group ?? '*';
    const served = byKind.get(`${group}/${kind}`);
    const what = served === undefined ? EVERYTHING : { group, resource: served.resource };
    return { verb, ...what, namespace: metadata?.namespace };
  });
}
