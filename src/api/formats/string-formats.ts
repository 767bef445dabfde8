/**
 * String formats of schemas (API-460; kube-openapi `pkg/validation/strfmt`, apiextensions `pkg/apiserver/validation/formats.go`). A schema
 * may have other formats, which have no effect.
 */
type Check = (text: string) => boolean;

const UUID = (version: string, variant: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i');

const anyUuid = UUID('[0-9a-f]', '[0-9a-f]');
const uuid3 = UUID('3', '[0-9a-f]');
const uuid4 = UUID('4', '[89ab]');
const uuid5 = UUID('5', '[89ab]');
const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$/u;
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SHORT_NAME = new RegExp(`^${LABEL}$`);
const LONG_NAME = new RegExp(`^${LABEL}(\\.${LABEL})*$`);
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const RGB_PART = '(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
const RGB_COLOR = new RegExp(`^rgb\\(\\s*${RGB_PART}\\s*,\\s*${RGB_PART}\\s*,\\s*${RGB_PART}\\s*\\)$`);
const TIME_OF_DAY = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/;
const ADDRESS = /^[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+$/;

/** Checks by format name without dashes. */
const CHECKS: Readonly<Record<string, Check>> = {
  bsonobjectid: (text) => /^[0-9a-fA-F]{24}$/.test(text),
  uri: isRequestUri,
  email: (text) => ADDRESS.test(/^[^<>]*<([^<>]+)>\s*$/.exec(text)?.[1] ?? text.trim()),
  hostname: (text) =>
    HOSTNAME.test(text) &&
    Buffer.byteLength(text) <= 255 &&
    text.split('.').every((part) => Buffer.byteLength(part) <= 63),
  ipv4: (text) => text.includes('.') && isIpAddress(text, 'sloppy'),
  ipv6: (text) => text.includes(':') && isIpAddress(text, 'strict'),
  cidr: isCidr,
  mac: isMac,
  uuid: (text) => anyUuid.test(text),
  uuid3: (text) => uuid3.test(text),
  uuid4: (text) => uuid4.test(text),
  uuid5: (text) => uuid5.test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  rgbcolor: (text) => RGB_COLOR.test(text),
  byte: (text) => BASE64.test(text),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (text) => Buffer.byteLength(text) <= 63 && SHORT_NAME.test(text),
  k8slongname: (text) => Buffer.byteLength(text) <= 253 && LONG_NAME.test(text),
};

/** The check of a format; undefined for an unknown format. Dashes in the name are ignored. */
export function stringFormat(name: string): Check | undefined {
  const normal = name.replaceAll('-', '');
  return Object.hasOwn(CHECKS, normal) ? CHECKS[normal] : undefined;
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day <= days;
}

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t');
  if (date === undefined || time === undefined || !isDate(date)) return false;
  const match = TIME_OF_DAY.exec(time);
  return match !== null && match[1]! <= '23' && match[2]! <= '59' && match[3]! <= '59';
}

const GO_DURATION = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;
/** The expression starts at the first digit of a number, so that long texts take linear time. */
const NUMBER_WITH_UNIT = /(?<!\d)\d+(?!\d)\s*([A-Za-z\u00b5]+)/g;
const UNITS = ['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk'];
const UNIT_WORDS = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];

/** A duration in Go's form, or numbers with units in words: `22 ns`, `3 days`. */
function isDuration(text: string): boolean {
  if (GO_DURATION.test(text)) return true;
  return [...text.matchAll(NUMBER_WITH_UNIT)].some(([, word = '']) => {
    const unit = word.toLowerCase();
    return UNITS.includes(unit) || UNIT_WORDS.some((start) => unit.startsWith(start));
  });
}

/** Go's `url.ParseRequestURI`: an absolute path, or anything with a scheme. */
function isRequestUri(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (text === '' || /[\u0000-\u001f\u007f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return false;
  if (text.startsWith('/')) return true;
  const match = /^[a-zA-Z][a-zA-Z0-9+.-]*:(?:\/\/([^/?#]*))?/.exec(text);
  if (match === null) return false;
  const authority = match[1] ?? '';
  return !/[\s<>"{}|\\^`]/.test(authority) && /^(?:[^@]*@)?(?:\[[^\]]*\]|[^:]*)(?::\d*)?$/.test(authority);
}

/** `sloppy` allows leading zeros in octets, as old Go versions did. */
function isIpAddress(text: string, octets: 'sloppy' | 'strict'): boolean {
  if (!text.includes(':')) return isIpv4(text, octets);
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  let count = 0;
  for (const [side, half] of groups.entries()) {
    for (const [index, group] of half.entries()) {
      const last = side === groups.length - 1 && index === half.length - 1;
      if (last && group.includes('.')) {
        if (!isIpv4(group, octets)) return false;
        count += 2;
      } else if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
        count++;
      } else {
        return false;
      }
    }
  }
  return halves.length === 2 ? count < 8 : count === 8;
}

function isIpv4(text: string, octets: 'sloppy' | 'strict'): boolean {
  const parts = text.split('.');
  return (
    parts.length === 4 &&
    parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255 && (octets === 'sloppy' || !/^0\d/.test(part)))
  );
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  return isIpAddress(address, 'sloppy') && /^\d{1,3}$/.test(bits) && Number(bits) <= (address.includes(':') ? 128 : 32);
}

/** Six, eight or twenty bytes. */
function isMac(text: string): boolean {
  const bytes = /^[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2})*$/.test(text)
    ? (text.length + 1) / 3
    : /^[0-9a-fA-F]{4}(?:\.[0-9a-fA-F]{4})+$/.test(text)
      ? ((text.length + 1) / 5) * 2
      : 0;
  return bytes === 6 || bytes === 8 || bytes === 20;
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + (index + 1) * (digit === 'X' ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]+/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = [...digits].reduce((total, digit, index) => total + (index % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return sum % 10 === 0;
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, '');
  if (!CREDIT_CARD.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
