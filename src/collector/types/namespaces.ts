/** The object on which Events about the collector itself are shown. */
export const KUBE_SYSTEM = {
  apiVersion: 'v1',
  kind: 'Namespace',
  namespace: '',
  name: 'kube-system',
  uid: '',
} as const;

export function isNamespace({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return kind === 'Namespace' && apiVersion === 'v1';
}
