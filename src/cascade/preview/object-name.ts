import { parseGroupVersion } from '../../api/meta/group-version-kind.ts';
import type { ObjectReference } from '../documents/object-reference.ts';

/** `pod/web-0`, `deployment.apps/web`: an object in kubectl's form. */
export function objectName({ apiVersion, kind, name }: Pick<ObjectReference, 'apiVersion' | 'kind' | 'name'>): string {
  return `${typeName({ apiVersion, kind })}/${name}`;
}

/** `pod`, `deployment.apps` */
export function typeName({ apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>): string {
  const group = parseGroupVersion(apiVersion)?.group ?? '';
  return group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

/** `deployments.apps`, `pods` */
export function resourceGroup({ apiVersion, resource }: Pick<ObjectReference, 'apiVersion' | 'resource'>): string {
  const group = parseGroupVersion(apiVersion)?.group ?? '';
  return group === '' ? resource : `${resource}.${group}`;
}
