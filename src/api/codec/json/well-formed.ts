/** An escape that can produce an unpaired surrogate. */
const SURROGATE_ESCAPE = /\\(?:u|U0000)[dD][89a-fA-F]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * The value with each unpaired surrogate in a string or key replaced by U+FFFD, as Go's decoder does, because the rest of the server and
 * every other encoding handle only strings that UTF-8 can represent. `text` is the source of the value and well-formed UTF-8, so only an
 * escape can be the cause, and almost no text has one.
 */
export function wellFormedValue(value: unknown, text: string): unknown {
  return SURROGATE_ESCAPE.test(text) ? wellFormed(value) : value;
}

function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(LONE_SURROGATE, '\ufffd');
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.replace(LONE_SURROGATE, '\ufffd'), wellFormed(member)]),
  );
}
