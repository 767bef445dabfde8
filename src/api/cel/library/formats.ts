import { stringFormat } from '../../formats/string-formats.ts';
import { isDns1035Label, isLabelValue, isQualifiedName, validateName } from '../../validation/names.ts';
import type { CallCost } from '../call-cost.ts';
import { PATTERN, sizeOf, TRAVERSAL } from '../call-cost.ts';
import { noSuchOverload } from '../cel-error.ts';
import { type CelType, celTypes, listOf, opaqueType, optionalOf } from '../cel-type.ts';
import { asText, CelHostValue, CelOptional, costSize, ValueList } from '../cel-value.ts';
import { type CelFunctions, member, overload } from '../function-declaration.ts';
import { scale } from '../size-estimate.ts';
import { GoUrlError, parseGoUrl } from './go-url.ts';

const { string } = celTypes;

export const formatType: CelType = opaqueType('kubernetes.NamedFormat');

interface NamedFormat {
  /** The problems as texts; none if the value is valid. */
  readonly validate: (text: string) => readonly string[];
  /** The pattern length that cost estimates use, also for a format without a pattern. */
  readonly patternSize: number;
}

class FormatValue extends CelHostValue {
  readonly type = formatType;
  readonly name: string;
  readonly format: NamedFormat;

  constructor(name: string, format: NamedFormat) {
    super();
    this.name = name;
    this.format = format;
  }

  equals(other: CelHostValue): boolean {
    return other instanceof FormatValue && this.name === other.name;
  }
}

/** A format of CRD schemas, which only answers yes or no. */
const byFormat =
  (format: string, problem: string) =>
  (text: string): readonly string[] =>
    stringFormat(format)?.(text) === true ? [] : [problem];

/** A prefix may end in a dash, because more text follows it. */
const asPrefix = (text: string): string => (text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text);

function validateUri(text: string): readonly string[] {
  try {
    parseGoUrl(text, 'request');
    return [];
  } catch (error) {
    if (error instanceof GoUrlError) return [error.message];
    throw error;
  }
}

const FORMATS: Readonly<Record<string, NamedFormat>> = {
  dns1123Label: { validate: (text) => validateName('dnsLabel', text), patternSize: 30 },
  dns1123Subdomain: { validate: (text) => validateName('dnsSubdomain', text), patternSize: 60 },
  dns1035Label: { validate: isDns1035Label, patternSize: 30 },
  qualifiedName: { validate: isQualifiedName, patternSize: 60 },
  dns1123LabelPrefix: { validate: (text) => validateName('dnsLabel', text, { prefix: true }), patternSize: 30 },
  dns1123SubdomainPrefix: { validate: (text) => validateName('dnsSubdomain', text, { prefix: true }), patternSize: 60 },
  dns1035LabelPrefix: { validate: (text) => isDns1035Label(asPrefix(text)), patternSize: 30 },
  labelValue: { validate: isLabelValue, patternSize: 40 },
  uri: { validate: validateUri, patternSize: 1103 },
  uuid: { validate: byFormat('uuid', 'does not match the UUID format'), patternSize: 84 },
  byte: { validate: byFormat('byte', 'invalid base64'), patternSize: 84 },
  date: { validate: byFormat('date', 'invalid date'), patternSize: 150 },
  datetime: { validate: byFormat('datetime', 'invalid datetime'), patternSize: 150 },
};

/** The length that estimates assume for the pattern of an unknown format. */
const MAX_PATTERN = 128;

const validateCost: CallCost = {
  when: 'before',
  actual: ([format = null, text = null]) => {
    const size = format instanceof FormatValue ? format.format.patternSize : MAX_PATTERN;
    return Math.ceil((1 + costSize(text)) * TRAVERSAL) * Math.ceil(size * PATTERN);
  },
  estimate: ([, text]) => scale(scale(sizeOf(text), TRAVERSAL), MAX_PATTERN * PATTERN),
};

/** `kubernetes.format`. */
export const formats: CelFunctions = {
  ...Object.fromEntries(
    Object.entries(FORMATS).map(([name, format]) => [
      `format.${name}`,
      [overload(`format.${name}`, { args: [], result: formatType }, () => new FormatValue(name, format))],
    ]),
  ),
  'format.named': [
    overload('format-named', { args: [string], result: optionalOf(formatType) }, (value = null) => {
      const name = asText(value);
      const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
      return format === undefined ? CelOptional.none : new CelOptional(new FormatValue(name, format));
    }),
  ],
  validate: [
    member(
      'format-validate',
      { args: [formatType, string], result: optionalOf(listOf(string)), cost: validateCost },
      (format = null, value = null) => {
        if (!(format instanceof FormatValue)) throw noSuchOverload();
        const problems = format.format.validate(asText(value));
        return problems.length === 0 ? CelOptional.none : new CelOptional(new ValueList(problems));
      },
    ),
  ],
};
