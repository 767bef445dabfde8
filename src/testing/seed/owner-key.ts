/** The fields that an owner reference without a uid shares with its owner. The namespace is undefined where the object names none. */
export function ownerKey(
  { apiVersion = '', kind }: { readonly apiVersion?: string; readonly kind?: string },
  name: string,
  namespace: string | undefined,
): string {
  // Without the version: an owner may be referred to in another one than it was created in.
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return `${group}/${kind}/${namespace ?? ''}/${name}`;
}
