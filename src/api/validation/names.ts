import { append } from '../../base/collections/append.ts';
import type { NameRule } from '../kinds/resource-info.ts';

/**
 * Forms of names (API-063, API-066). Every check returns messages, none for a valid name. The texts are part of the protocol (apimachinery
 * `pkg/util/validation` and `pkg/api/validate/content`, which say "characters" and "bytes" respectively: both mean bytes of UTF-8).
 */

export const DNS1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`;
const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED_NAME})?`;

const DNS1123_LABEL_REGEXP = new RegExp(`^${DNS1123_LABEL}$`);
const DNS1123_SUBDOMAIN_REGEXP = new RegExp(`^${DNS1123_SUBDOMAIN}$`);
const DNS1035_LABEL_REGEXP = new RegExp(`^${DNS1035_LABEL}$`);
const QUALIFIED_NAME_REGEXP = new RegExp(`^${QUALIFIED_NAME}$`);
const LABEL_VALUE_REGEXP = new RegExp(`^${LABEL_VALUE}$`);

const LABEL_MAX = 63;
export const SUBDOMAIN_MAX = 253;

/** Bytes of UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

function regexMessage(rule: string, pattern: string, examples: readonly string[]): string {
  return `${rule} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`;
}

function tooLong(max: number, unit: 'characters' | 'bytes'): string {
  return `must be no more than ${max} ${unit}`;
}

/** The message about a text that is too long, in bytes. */
export function longerThan(text: string, max: number): string[] {
  return byteLength(text) > max ? [tooLong(max, 'characters')] : [];
}

/** One part of a host name, at most 63 bytes. */
export function isDns1123Label(text: string): string[] {
  const messages: string[] = [];
  if (byteLength(text) > LABEL_MAX) messages.push(tooLong(LABEL_MAX, 'characters'));
  if (!DNS1123_LABEL_REGEXP.test(text)) {
    messages.push(
      DNS1123_SUBDOMAIN_REGEXP.test(text)
        ? 'must not contain dots'
        : regexMessage(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
            DNS1123_LABEL,
            ['my-name', '123-abc'],
          ),
    );
  }
  return messages;
}

/** Parts joined by dots, at most 253 bytes. */
export function isDns1123Subdomain(text: string): string[] {
  return subdomainMessages(text, 'characters');
}

function subdomainMessages(text: string, unit: 'characters' | 'bytes'): string[] {
  const messages: string[] = [];
  if (byteLength(text) > SUBDOMAIN_MAX) messages.push(tooLong(SUBDOMAIN_MAX, unit));
  if (!DNS1123_SUBDOMAIN_REGEXP.test(text)) {
    messages.push(
      regexMessage(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        DNS1123_SUBDOMAIN,
        ['example.com'],
      ),
    );
  }
  return messages;
}

/** Like {@link isDns1123Label}, but begins with a letter. */
export function isDns1035Label(text: string): string[] {
  const messages: string[] = [];
  if (byteLength(text) > LABEL_MAX) messages.push(tooLong(LABEL_MAX, 'characters'));
  if (!DNS1035_LABEL_REGEXP.test(text)) {
    messages.push(
      regexMessage(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        DNS1035_LABEL,
        ['my-name', 'abc-123'],
      ),
    );
  }
  return messages;
}

const QUALIFIED_NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const QUALIFIED_NAME_EXAMPLES = ['MyName', 'my.name', '123-abc'];

/** Keys of labels and annotations, finalizers: `name` or `prefix/name`. */
export function isQualifiedName(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2) {
    const rule = regexMessage(`a valid label key ${QUALIFIED_NAME_RULE}`, QUALIFIED_NAME, QUALIFIED_NAME_EXAMPLES);
    return [`${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const messages: string[] = [];
  const name = parts[parts.length - 1]!;
  if (parts.length === 2) {
    const prefix = parts[0]!;
    if (prefix === '') messages.push('prefix part must be non-empty');
    else
      append(
        messages,
        subdomainMessages(prefix, 'bytes').map((message) => `prefix part ${message}`),
      );
  }
  if (name === '') messages.push('name part must be non-empty');
  else if (byteLength(name) > LABEL_MAX) messages.push(`name part ${tooLong(LABEL_MAX, 'bytes')}`);
  if (!QUALIFIED_NAME_REGEXP.test(name)) {
    messages.push(regexMessage(`name part ${QUALIFIED_NAME_RULE}`, QUALIFIED_NAME, QUALIFIED_NAME_EXAMPLES));
  }
  return messages;
}

/** Values of labels, at most 63 bytes. An empty value is valid. */
export function isLabelValue(text: string): string[] {
  const messages: string[] = [];
  if (byteLength(text) > LABEL_MAX) messages.push(tooLong(LABEL_MAX, 'bytes'));
  if (!LABEL_VALUE_REGEXP.test(text)) {
    messages.push(
      regexMessage(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        LABEL_VALUE,
        ['MyValue', 'my_value', '12345'],
      ),
    );
  }
  return messages;
}

/** A single path segment, which is the only rule for roles and bindings. */
export function isPathSegmentName(text: string): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return isPathSegmentPrefix(text);
}

function isPathSegmentPrefix(text: string): string[] {
  return ['/', '%'].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
}

/** Removes the dash at the end of a generateName and the character before it, as upstream does, because the server appends more text. */
function maskTrailingDash(text: string): string {
  return text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text;
}

/**
 * Checks a name by the rule of its type (API-063), or with `prefix` a generateName. The name `<plural>.<group>` of a
 * CustomResourceDefinition is checked with its spec.
 */
export function validateName(rule: NameRule, name: string, options: { readonly prefix?: boolean } = {}): string[] {
  const prefix = options.prefix === true;
  if (rule === 'pathSegment') return prefix ? isPathSegmentPrefix(name) : isPathSegmentName(name);
  const text = prefix ? maskTrailingDash(name) : name;
  // Services had to begin with a letter; since 1.36 they are plain labels.
  return rule === 'dnsLabel' || rule === 'service' ? isDns1123Label(text) : isDns1123Subdomain(text);
}
