/** An owner with one dependent; `finalizers` on the dependent. Owner references name no uid: the cluster fills it in. */
export const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', namespace: 'default' };
export const dependent = { apiVersion: 'v1', kind: 'Secret', name: 'dependent', namespace: 'default' };

export function tree(finalizers: readonly string[] = []): string {
  return `
apiVersion: v1
kind: ConfigMap
metadata: { name: owner, namespace: default }
---
apiVersion: v1
kind: Secret
metadata:
  name: dependent
  namespace: default
  finalizers: [${finalizers.join(', ')}]
  ownerReferences: [{ apiVersion: v1, kind: ConfigMap, name: owner, controller: true, blockOwnerDeletion: true }]
`;
}
