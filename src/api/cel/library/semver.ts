import { traversalCost } from '../call-cost.ts';
import { CelEvaluationError, noSuchOverload } from '../cel-error.ts';
import { type CelType, celTypes, opaqueType } from '../cel-type.ts';
import { asText, CelHostValue, type CelValue } from '../cel-value.ts';
import { readDigits } from '../decimal-digits.ts';
import { type CelFunctions, type CelOverload, member, overload } from '../function-declaration.ts';

const { bool, int, string } = celTypes;

export const semverType: CelType = opaqueType('kubernetes.Semver');

interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
}

class SemverValue extends CelHostValue {
  readonly type = semverType;
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }

  equals(other: CelHostValue): boolean {
    return other instanceof SemverValue && compareVersions(this.version, other.version) === 0;
  }
}

const MAX_NUMBER = 2n ** 64n - 1n;

/** Throws CelEvaluationError with the messages of `blang/semver`. */
function parse(text: string): Version {
  const fail = (problem: string): never => {
    throw new CelEvaluationError(problem);
  };
  if (text === '') fail('Version string empty');
  const parts = text.split('.');
  if (parts.length < 3) fail('No Major.Minor.Patch elements found');
  const [major = '', minor = ''] = parts;
  const tail = parts.slice(2).join('.');
  const plus = tail.indexOf('+');
  const build = plus === -1 ? undefined : tail.slice(plus + 1);
  const beforeBuild = plus === -1 ? tail : tail.slice(0, plus);
  const minus = beforeBuild.indexOf('-');
  const prerelease = minus === -1 ? undefined : beforeBuild.slice(minus + 1).split('.');
  const patch = minus === -1 ? beforeBuild : beforeBuild.slice(0, minus);
  const [one, two, three] = (
    [
      ['major', major],
      ['minor', minor],
      ['patch', patch],
    ] as const
  ).map(([name, digits]) => number(name, digits, fail));
  for (const part of prerelease ?? []) {
    if (part === '') fail('Prerelease is empty');
    if (!/^[\dA-Za-z-]+$/.test(part)) fail(`Invalid character(s) found in prerelease ${JSON.stringify(part)}`);
    if (/^0\d+$/.test(part)) fail(`Numeric PreRelease version must not contain leading zeroes ${JSON.stringify(part)}`);
  }
  for (const part of build?.split('.') ?? []) {
    if (part === '') fail('Build meta data is empty');
    if (!/^[\dA-Za-z-]+$/.test(part)) fail(`Invalid character(s) found in build meta data ${JSON.stringify(part)}`);
  }
  return { numbers: [one ?? 0n, two ?? 0n, three ?? 0n], prerelease: prerelease ?? [] };
}

function number(name: 'major' | 'minor' | 'patch', digits: string, fail: (problem: string) => never): bigint {
  const Name = name === 'major' ? 'Major' : name === 'minor' ? 'Minor' : 'Patch';
  if (!/^\d+$/.test(digits)) fail(`Invalid character(s) found in ${name} number ${JSON.stringify(digits)}`);
  if (/^0\d/.test(digits)) fail(`${Name} number must not contain leading zeroes ${JSON.stringify(digits)}`);
  const value = readDigits(digits);
  if (value === undefined || value > MAX_NUMBER)
    return fail(`strconv.ParseUint: parsing ${JSON.stringify(digits)}: value out of range`);
  return value;
}

/** Removes a leading `v` and leading zeros, and adds missing numbers as 0. */
function normalize(text: string): string {
  const [first = '', second, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [first, ...(second === undefined ? [] : [second]), ...(rest.length === 0 ? [] : [rest.join('.')])].map(
    (part) => part.replace(/^0+(?=\d)/, ''),
  );
  if (parts.length >= 3) return parts.join('.');
  const last = parts.at(-1) ?? '';
  if (/[+-]/.test(last)) throw new CelEvaluationError('Short version cannot contain PreRelease/Build meta data');
  return [...parts, ...Array.from({ length: 3 - parts.length }, () => '0')].join('.');
}

function compareVersions(one: Version, other: Version): number {
  for (const [index, value] of one.numbers.entries()) {
    const match = other.numbers[index] ?? 0n;
    if (value !== match) return value < match ? -1 : 1;
  }
  const left = one.prerelease;
  const right = other.prerelease;
  if (left.length === 0 || right.length === 0) return Math.sign(right.length - left.length);
  for (const [index, part] of left.entries()) {
    const match = right[index];
    if (match === undefined) return 1;
    const order = comparePrerelease(part, match);
    if (order !== 0) return order;
  }
  return left.length === right.length ? 0 : -1;
}

/** Numeric identifiers come before alphanumeric ones. */
function comparePrerelease(one: string, other: string): number {
  const numbers = [one, other].map((part) => (/^\d+$/.test(part) ? BigInt(part) : undefined));
  const [left, right] = numbers;
  if (left !== undefined && right !== undefined) return left < right ? -1 : left > right ? 1 : 0;
  if (left !== undefined) return -1;
  if (right !== undefined) return 1;
  return one < other ? -1 : one > other ? 1 : 0;
}

function versionOf(value: CelValue): Version {
  if (value instanceof SemverValue) return value.version;
  throw noSuchOverload();
}

function read(value: CelValue, normalized: CelValue): Version {
  const text = asText(value);
  return parse(normalized === true ? normalize(text) : text);
}

function isVersion(value: CelValue, normalized: CelValue): boolean {
  try {
    read(value, normalized);
    return true;
  } catch (error) {
    if (error instanceof CelEvaluationError) return false;
    throw error;
  }
}

function part(id: string, index: 0 | 1 | 2): CelOverload {
  return member(id, { args: [semverType], result: int }, (value = null) => versionOf(value).numbers[index]);
}

const compared = { args: [semverType, semverType], result: bool };
const parsed = { result: semverType, cost: traversalCost() };
const tested = { result: bool, cost: traversalCost() };

/** `kubernetes.Semver` version 1. */
export const semver: CelFunctions = {
  semver: [
    overload('string_to_semver', { args: [string], ...parsed }, (text = null) => new SemverValue(read(text, false))),
    overload(
      'string_bool_to_semver',
      { args: [string, bool], ...parsed },
      (text = null, normalized = null) => new SemverValue(read(text, normalized)),
    ),
  ],
  isSemver: [
    overload('is_semver_string', { args: [string], ...tested }, (text = null) => isVersion(text, false)),
    overload('is_semver_string_bool', { args: [string, bool], ...tested }, (text = null, normalized = null) =>
      isVersion(text, normalized),
    ),
  ],
  isGreaterThan: [
    member('semver_is_greater_than', compared, (a = null, b = null) => compareVersions(versionOf(a), versionOf(b)) > 0),
  ],
  isLessThan: [
    member('semver_is_less_than', compared, (a = null, b = null) => compareVersions(versionOf(a), versionOf(b)) < 0),
  ],
  compareTo: [
    member('semver_compare_to', { ...compared, result: int }, (a = null, b = null) =>
      BigInt(compareVersions(versionOf(a), versionOf(b))),
    ),
  ],
  major: [part('semver_major', 0)],
  minor: [part('semver_minor', 1)],
  patch: [part('semver_patch', 2)],
};
