import type { ScalarTag, Scalar } from 'yaml';

import { type Int64, integerValue, stringifyExactJson } from '../../../base/json/exact-json.ts';

/**
 * The types of plain scalars: YAML 1.1 as Go's `sigs.k8s.io/yaml` reads it (API-028). Unlike in YAML 1.1 itself, sexagesimal numbers
 * (`10:30`) and timestamps are strings, and `0o17` and `0b101` are numbers.
 */
const TRUE = /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const FALSE = /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const NULL = /^(?:~|null|Null|NULL)?$/;
const INTEGER =
  /^[-+]?(?:0[xX]_*[0-9a-fA-F][0-9a-fA-F_]*|0[oO]_*[0-7][0-7_]*|0[bB]_*[01][01_]*|0[0-7_]*|[1-9][0-9_]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/;
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

function readInteger(text: string): Int64 {
  const digits = text.replaceAll('_', '');
  const negative = digits.startsWith('-');
  const magnitude = digits.replace(/^[-+]/, '');
  // A leading zero means octal, but `BigInt` would read the digits as decimal.
  const octal = /^0[0-7]+$/.test(magnitude);
  // Longer than any integer of 64 bits in any base; a conversion of millions of digits to a bigint takes long.
  if (magnitude.length > 66) return (octal ? Number.parseInt(magnitude, 8) : Number(magnitude)) * (negative ? -1 : 1);
  const value = octal ? BigInt(`0o${magnitude}`) : BigInt(magnitude.toLowerCase());
  return integerValue(negative ? -value : value);
}

function readFloat(text: string): number {
  return Number(text.replaceAll('_', '').replace(/^\+/, ''));
}

function printNumber({ value }: Scalar): string {
  return stringifyExactJson(value);
}

/** The types in the order in which they are tried. A scalar that matches none is a string. */
export const GO_YAML_SCALARS: readonly ScalarTag[] = [
  {
    identify: (value) => value === null || value === undefined,
    default: true,
    tag: 'tag:yaml.org,2002:null',
    test: NULL,
    resolve: () => null,
    stringify: () => 'null',
  },
  {
    identify: (value) => typeof value === 'boolean',
    default: true,
    tag: 'tag:yaml.org,2002:bool',
    test: new RegExp(`${TRUE.source}|${FALSE.source}`),
    resolve: (text) => TRUE.test(text),
    stringify: ({ value }) => (value === true ? 'true' : 'false'),
  },
  {
    identify: (value) => typeof value === 'bigint' || Number.isInteger(value),
    default: true,
    tag: 'tag:yaml.org,2002:int',
    test: INTEGER,
    resolve: readInteger,
    stringify: printNumber,
  },
  {
    identify: (value) => typeof value === 'number',
    default: true,
    tag: 'tag:yaml.org,2002:float',
    test: FLOAT,
    resolve: readFloat,
    stringify: printNumber,
  },
  {
    identify: () => false,
    default: true,
    tag: 'tag:yaml.org,2002:float',
    test: NOT_FINITE,
    // JSON has neither NaN nor infinity, so the converter refuses them in Go's words.
    resolve: (text) => (/n$/i.test(text) ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity),
    stringify: printNumber,
  },
];
