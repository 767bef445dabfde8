import { DNS1123_LABEL, isDns1123Subdomain, longerThan, SUBDOMAIN_MAX } from './names.ts';

/**
 * Forms of values other than object names (apimachinery `pkg/util/validation`). Every check returns messages, none for a valid value. The
 * texts are part of the protocol.
 */

const MAX_PORT_NAME = 15;
const MAX_KEY = 253;
const PERCENT = /^[0-9]+%$/;
const HEADER_NAME = /^[-A-Za-z0-9]+$/;
const PRINTABLE_WITHOUT_EQUALS = /^[ -<>-~]*$/;
const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
const WILDCARD = new RegExp(`^\\*\\.${DNS1123_LABEL}(\\.${DNS1123_LABEL})*$`);
const LABEL_WITH_UNDERSCORE = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const SUBDOMAIN_WITH_UNDERSCORE = new RegExp(`^${LABEL_WITH_UNDERSCORE}(\\.${LABEL_WITH_UNDERSCORE})*$`);

/** The name of a port, at most 15 bytes: `http`, `web-1`. */
export function isPortName(text: string): string[] {
  const messages = longerThan(text, MAX_PORT_NAME);
  if (!/^[-a-z0-9]+$/.test(text)) {
    messages.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(text)) messages.push('must contain at least one letter (a-z)');
  if (text.includes('--')) messages.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) messages.push('must not begin or end with a hyphen');
  return messages;
}

/** `25%`. */
export function isPercent(text: string): string[] {
  if (PERCENT.test(text)) return [];
  return [
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
  ];
}

export function isHttpHeaderName(text: string): string[] {
  if (HEADER_NAME.test(text)) return [];
  return [
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
  ];
}

/** The name of an environment variable; since 1.34 nearly any text is valid. */
export function isEnvironmentName(text: string): string[] {
  const messages = text === '' ? ['environment variable name must be non-empty'] : [];
  if (!PRINTABLE_WITHOUT_EQUALS.test(text)) {
    messages.push("a valid environment variable name must consist only of printable ASCII characters other than '='");
  }
  return messages;
}

/** Key of a ConfigMap or Secret, at most 253 bytes. */
export function isConfigKey(text: string): string[] {
  const messages = longerThan(text, MAX_KEY);
  if (!CONFIG_KEY.test(text)) {
    messages.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (text === '.' || text === '..') messages.push(`must not be '${text}'`);
  else if (text.startsWith('..')) messages.push("must not start with '..'");
  return messages;
}

/** `*.example.com`. */
export function isWildcardSubdomain(text: string): string[] {
  const messages = longerThan(text, SUBDOMAIN_MAX);
  if (!WILDCARD.test(text)) {
    messages.push(
      `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.${DNS1123_LABEL}(\\.${DNS1123_LABEL})*')`,
    );
  }
  return messages;
}

/** Search domain of a resolver: a subdomain whose labels may have underscores. */
export function isSearchDomain(text: string): string[] {
  const messages = longerThan(text, SUBDOMAIN_MAX);
  if (!SUBDOMAIN_WITH_UNDERSCORE.test(text)) {
    messages.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${LABEL_WITH_UNDERSCORE}(\\.${LABEL_WITH_UNDERSCORE})*')`,
    );
  }
  return messages;
}

/** `example.com/name`. The messages name the wrong part. */
export function domainPrefixProblems(text: string): { readonly value: string; readonly message: string }[] {
  const slash = text.indexOf('/');
  const [host, path] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (slash === -1 || host === '' || path === '') {
    return [{ value: text, message: 'must be a domain-prefixed path (such as "acme.io/foo")' }];
  }
  const problems = isDns1123Subdomain(host).map((message) => ({ value: host, message }));
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)) {
    const message = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
    problems.push({ value: path, message });
  }
  return problems;
}
