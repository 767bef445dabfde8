/** A URL in the parts of Go's `net/url`. */
export interface GoUrl {
  readonly scheme: string;
  /** Includes the port. */
  readonly host: string;
  /** The path as written, unless it contains characters that must be escaped. */
  readonly escapedPath: string;
  readonly query: string;
}

/** The reason why a text is not a URL, in Go's words: `invalid URI for request`. */
export class GoUrlError extends Error {
  constructor(url: string, problem: string) {
    super(`parse ${JSON.stringify(url)}: ${problem}`);
    this.name = 'GoUrlError';
  }
}

/** `request` accepts only the URLs that a request may have: a whole URL or an absolute path, without a fragment. */
export type UrlForm = 'request' | 'any';

/** Throws {@link GoUrlError}. */
export function parseGoUrl(text: string, form: UrlForm): GoUrl {
  const fail = (problem: string): never => {
    throw new GoUrlError(text, problem);
  };
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f]/.test(text)) fail('net/url: invalid control character in URL');
  if (text === '' && form === 'request') fail('empty url');
  const [whole = '', fragment] = form === 'any' ? splitOnce(text, '#') : [text];
  if (fragment !== undefined) unescape(fragment, fail);
  if (whole.startsWith(':')) fail('missing protocol scheme');
  const match = /^([A-Za-z][A-Za-z\d+.-]*):/.exec(whole);
  const scheme = match?.[1]?.toLowerCase() ?? '';
  const [rest = '', query = ''] = splitOnce(whole.slice(match?.[0].length ?? 0), '?');
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { scheme, host: '', escapedPath: '', query };
    if (form === 'request') fail('invalid URI for request');
    if (/^[^/]*:/.test(rest)) fail('first path segment in URL cannot contain colon');
  }
  if ((scheme === '' && (form === 'request' || rest.startsWith('///'))) || !rest.startsWith('//')) {
    return { scheme, host: '', escapedPath: escapePath(rest, fail), query };
  }
  const end = rest.indexOf('/', 2);
  const authority = end === -1 ? rest.slice(2) : rest.slice(2, end);
  const path = end === -1 ? '' : rest.slice(end);
  return { scheme, host: hostOf(authority, fail), escapedPath: escapePath(path, fail), query };
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

type Fail = (problem: string) => never;

function unescape(text: string, fail: Fail): void {
  const wrong = /%(?![\da-fA-F]{2})/.exec(text);
  if (wrong !== null) fail(`invalid URL escape ${JSON.stringify(text.slice(wrong.index, wrong.index + 3))}`);
}

function hostOf(authority: string, fail: Fail): string {
  const at = authority.lastIndexOf('@');
  if (at !== -1 && !/^[\w\-.~!$&'()*+,;=:%@]*$/.test(authority.slice(0, at))) fail('net/url: invalid userinfo');
  const host = authority.slice(at + 1);
  if (host.startsWith('[')) {
    const close = host.lastIndexOf(']');
    if (close === -1) fail("missing ']' in host");
    checkPort(host.slice(close + 1), fail);
    return host;
  }
  const colon = host.lastIndexOf(':');
  if (colon !== -1) checkPort(host.slice(colon), fail);
  const wrong = /[\s"<>\\^`{|}]/.exec(host);
  if (wrong !== null) fail(`invalid character ${JSON.stringify(wrong[0])} in host name`);
  unescape(host, fail);
  return host;
}

function checkPort(text: string, fail: Fail): void {
  if (!/^(?::\d*)?$/.test(text)) fail(`invalid port ${JSON.stringify(text)} after host`);
}

/** Escapes only the characters of a path that must be escaped. */
function escapePath(path: string, fail: Fail): string {
  unescape(path, fail);
  if (/^[\w\-.~!$&'()*+,;=:@/[\]%]*$/.test(path)) return path;
  const plain = Buffer.from(
    path.replace(/%([\da-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
  );
  let escaped = '';
  for (const byte of plain) {
    const character = String.fromCharCode(byte);
    escaped += /[\w\-.~$&+,/:;=@]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}

/** The host without the port, and without the brackets of an IPv6 address. */
export function hostnameOf({ host }: GoUrl): string {
  const name = host.replace(/:\d*$/, (port, index: number) =>
    host.slice(0, index).includes(':') && !host.startsWith('[') ? port : '',
  );
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}

export function portOf({ host }: GoUrl): string {
  return /:(\d*)$/.exec(host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : host)?.[1] ?? '';
}

/** Values by key, in order. Malformed pairs are left out. */
export function queryOf({ query }: GoUrl): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const [key = '', value = ''] = splitOnce(pair, '=').map((part) => decode(part ?? ''));
    if (key === undefined || value === undefined) continue;
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return values;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
