import type { ObjectReference } from '../documents/object-reference.ts';

/** `deployments.apps/web -n shop`: an object as an argument of kubectl. */
export function argumentsOf({ apiVersion, resource, kind, name, namespace }: ObjectReference): string {
  const slash = apiVersion.indexOf('/');
  const plural = resource === '' ? kind.toLowerCase() : resource;
  const type = slash < 0 ? plural : `${plural}.${apiVersion.slice(0, slash)}`;
  return `${type}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;
}

/** A JSON patch of one field of one owner reference, with a test that the reference is unchanged. */
export function patchReference(
  ref: ObjectReference,
  {
    at,
    uid,
    field,
    value,
  }: { readonly at: number; readonly uid: string; readonly field: string; readonly value: unknown },
): string {
  const path = `/metadata/ownerReferences/${at}`;
  const patch = [
    { op: 'test', path: `${path}/uid`, value: uid },
    { op: 'replace', path: `${path}/${field}`, value },
  ];
  return `kubectl patch ${argumentsOf(ref)} --type=json -p '${JSON.stringify(patch)}'`;
}
