import type { ResourceInfo } from '../../api/kinds/resource-info.ts';

/** Every key begins with this, as in kube-apiserver's default `--etcd-prefix`. */
export const REGISTRY_ROOT = '/registry/';

type Stored = Pick<ResourceInfo, 'group' | 'resource'>;

/**
 * The prefix of all objects of a resource: `/registry/<group or core>/<resource>/`. Because of the trailing slash it does not match another
 * resource whose name only begins with this name.
 */
export function resourcePrefix(info: Stored): string {
  return `${REGISTRY_ROOT}${info.group === '' ? 'core' : info.group}/${info.resource}/`;
}

/** The prefix of the objects of a namespaced resource in one namespace, or in all namespaces when it is left out. */
export function listPrefix(info: Stored & Pick<ResourceInfo, 'namespaced'>, namespace?: string): string {
  const prefix = resourcePrefix(info);
  return info.namespaced && namespace !== undefined && namespace !== '' ? `${prefix}${namespace}/` : prefix;
}

/** `/registry/<group or core>/<resource>/[<namespace>/]<name>`: keys sort by namespace, then name (API-092). */
export function objectKey(
  info: Stored & Pick<ResourceInfo, 'namespaced'>,
  namespace: string | undefined,
  name: string,
): string {
  return listPrefix(info, namespace) + name;
}
