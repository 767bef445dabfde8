const MIN_ABSENT_MS = 600_000;

export type SourceSpec =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'exec'; readonly path: string }
  | { readonly kind: 'object'; readonly resource: string; readonly version: string; readonly group: string }
  | { readonly kind: 'lease'; readonly absentAfterMs: number };

/**
 * Parses `file:PATH`, `http://…`, `https://…`, `exec:PATH`, `object:machines.v1beta1.cluster.x-k8s.io` or `lease`. Throws an Error that
 * lists these forms. `absentAfterMs` is only for `lease`, at least ten minutes.
 */
export function parseSource(text: string, absentAfterMs = MIN_ABSENT_MS): SourceSpec {
  if (/^https?:\/\/./.test(text)) return { kind: 'http', url: text };
  const [, kind = '', rest = ''] = /^(file|exec|object):(.+)$/s.exec(text) ?? [];
  if (kind === 'file' || kind === 'exec') return { kind, path: rest };
  if (kind === 'object') {
    const [resource = '', version = '', ...group] = rest.split('.');
    if (resource !== '' && /^v\d/.test(version) && group.length > 0) {
      return { kind, resource, version, group: group.join('.') };
    }
  }
  if (text === 'lease') {
    if (absentAfterMs < MIN_ABSENT_MS)
      throw new Error('a node must be silent for at least 10 minutes before it counts as gone');
    return { kind: 'lease', absentAfterMs };
  }
  throw new Error('the source must be file:PATH, http(s)://URL, exec:PATH, object:RESOURCE.VERSION.GROUP or lease');
}
