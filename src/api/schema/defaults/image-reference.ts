const HOST = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)';
const DOMAIN = `(?:${HOST}(?:\\.${HOST})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)?${COMPONENT}(?:/${COMPONENT})*` +
    '(?::(?<tag>[\\w][\\w.-]{0,127}))?' +
    '(?<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$',
);
/** Longer texts are not image references, and are not matched. */
const MAX_REFERENCE_LENGTH = 4_096;

/**
 * The tag of a container image; `latest` if there is neither a tag nor a digest. Empty for a malformed image reference and for one with
 * only a digest.
 */
export function imageTag(image: string): string {
  const match = image.length > MAX_REFERENCE_LENGTH ? null : REFERENCE.exec(image);
  if (match === null) return '';
  const { tag, digest } = match.groups ?? {};
  return tag ?? (digest === undefined ? 'latest' : '');
}

/** The default pull policy: `Always` for the latest tag, named or implied. */
export function defaultPullPolicy(image: unknown): 'Always' | 'IfNotPresent' {
  return typeof image === 'string' && imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}
