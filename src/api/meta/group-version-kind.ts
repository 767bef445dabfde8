/** Names of API types and of the paths they are served under (apimachinery `pkg/runtime/schema`). The core group is ''. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** A resource as URLs name it. */
export interface GroupVersionResource extends GroupVersion {
  /** The plural: `deployments`. */
  readonly resource: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** True for the resource of namespaces. */
export function isNamespaces({ group, resource }: GroupResource): boolean {
  return group === '' && resource === 'namespaces';
}

/**
 * Splits `apps/v1` or `v1`. Undefined for more than one slash. Like upstream, the empty text and `/` parse to an empty
 * group version, and `apps/` to one without version; a caller that needs a version must check (API-067).
 */
export function parseGroupVersion(apiVersion: string): GroupVersion | undefined {
  if (apiVersion === '' || apiVersion === '/') return { group: '', version: '' };
  const slash = apiVersion.indexOf('/');
  if (slash < 0) return { group: '', version: apiVersion };
  if (apiVersion.indexOf('/', slash + 1) >= 0) return undefined;
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** `apps/v1`, or `v1` for the core group: the value of `apiVersion`. */
export function apiVersionOf(gv: GroupVersion): string {
  return gv.group === '' ? gv.version : `${gv.group}/${gv.version}`;
}

/** A resource in messages: `deployments.apps`, `pods` (API-042). */
export function formatGroupResource(gr: GroupResource): string {
  return gr.group === '' ? gr.resource : `${gr.resource}.${gr.group}`;
}

/** A kind in messages: `Deployment.apps`, `Pod` (API-042). */
export function formatGroupKind(gk: GroupKind): string {
  return gk.group === '' ? gk.kind : `${gk.kind}.${gk.group}`;
}

/** A full kind in messages: `apps/v1, Kind=Deployment`, `/v1, Kind=Event` (API-067, API-223). */
export function formatGroupVersionKind(gvk: GroupVersionKind): string {
  return `${gvk.group}/${gvk.version}, Kind=${gvk.kind}`;
}
