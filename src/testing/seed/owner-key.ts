/** The fields that an owner reference without a uid shares with its owner. The namespace is undefined if the object names none. */
export function ownerKey(
  { apiVersion = '', kind }: { readonly apiVersion?: string; readonly kind?: string },
  name: string,
  namespace: string | undefined,
): string {
  // The version is left out, because a reference may name another one than the owner's.
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return `${group}/${kind}/${namespace ?? ''}/${name}`;
}
