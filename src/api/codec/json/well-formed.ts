/** An escape that can leave half of a pair behind. */
const SURROGATE_ESCAPE = /\\(?:u|U0000)[dD][89a-fA-F]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * The value with half a surrogate pair in a text or key replaced by U+FFFD, as Go's decoder does: the rest of the server, and
 * every other encoding, knows texts only that have a UTF-8 form. `text` is what it was parsed from, itself well-formed UTF-8; so only an escape can be the cause, and
 * nearly no text has one.
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
