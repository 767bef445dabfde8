import { describe, expect, it } from 'vitest';
import { CelBudget } from '../cel-budget.ts';
import { createCelEnvironment } from '../environment/cel-environment.ts';
import { CelCompileError, CelEvaluationError } from '../cel-error.ts';
import { celTypes } from '../cel-type.ts';
import {
  authorizerType,
  authorizerValue,
  type CelAuthorizationAttributes,
  type CelAuthorizer,
  resourceCheckType,
  resourceCheckValue,
} from './authorizer.ts';

const environment = createCelEnvironment({ variables: { any: celTypes.dyn } });

function evaluate(expression: string): unknown {
  return environment.compile(expression).evaluate({ any: {} }, { budget: new CelBudget() });
}

/** The results of a table of expressions; errors by their message. */
function outcome(expression: string): unknown {
  try {
    return evaluate(expression);
  } catch (error) {
    if (error instanceof CelEvaluationError || error instanceof CelCompileError) return error;
    throw error;
  }
}

function table(rows: readonly (readonly [string, unknown])[]): void {
  it.each(rows)('%s', (expression, expected) => {
    const found = outcome(expression);
    if (expected instanceof Error) expect((found as Error).message).toContain(expected.message);
    else expect(found).toEqual(expected);
  });
}

const fails = (message: string): Error => new Error(message);

describe('strings', () => {
  table([
    ['"hello".charAt(1) + "hello".charAt(5)', 'e'],
    ['"hello".charAt(6)', fails('index out of range: 6')],
    ['"😀b".charAt(1)', 'b'],
    ['"hello mellow".indexOf("ello")', 1],
    ['"hello mellow".indexOf("ello", 2)', 7],
    ['"hello".indexOf("") + "hello".indexOf("", 9)', 5],
    ['"hello".indexOf("l", -1)', fails('index out of range: -1')],
    ['"hello".indexOf("l", 5)', -1],
    ['"hello mellow".lastIndexOf("ello")', 7],
    ['"hello mellow".lastIndexOf("ello", 6)', 1],
    ['"hello".lastIndexOf("")', 5],
    ['"😀😀b".indexOf("b")', 2],
    ['"TacoCät".lowerAscii() + "TacoCät".upperAscii()', 'tacocätTACOCäT'],
    ['"hello hello".replace("he", "we")', 'wello wello'],
    ['"hello hello".replace("he", "we", 1)', 'wello hello'],
    ['"hello".replace("l", "", 0)', 'hello'],
    ['"abc".replace("", "-")', '-a-b-c-'],
    ['"abc".replace("", "-", 2)', '-a-bc'],
    ['"a b c".split(" ")', ['a', 'b', 'c']],
    ['"a b c".split(" ", 2)', ['a', 'b c']],
    ['"a b c".split(" ", 0)', []],
    ['"a b".split("", -1)', ['a', ' ', 'b']],
    ['"tacocat".substring(4) + "tacocat".substring(0, 4)', 'cattaco'],
    ['"tacocat".substring(8)', fails('index out of range: 8')],
    ['"tacocat".substring(3, 1)', fails('invalid substring range. start: 3, end: 1')],
    ['"  \\ttrim\\n ".trim()', 'trim'],
    ['"\\u0085\\u2003x\\ufeff\\u3000".trim()', 'x\ufeff'],
    ['" ".trim() + "".trim()', ''],
    ['["a", "b"].join() + ["a", "b"].join("-")', 'aba-b'],
    ['strings.quote("a\\"b\\n")', '"a\\"b\\n"'],
    ['"abc".contains("b") && "abc".startsWith("a") && "abc".endsWith("c") && "abc".matches("^a.c$")', true],
    ['"x".matches(any.x)', fails('no such key: x')],
    [`["${'a'.repeat(1000)}", "b"].join("x").size()`, 1002],
  ]);
});

it.each([
  ['texts', 'any.trim()', `a${' '.repeat(200_000)}b`],
  ['whole numbers', 'int(any)', '9'.repeat(200_000)],
  ['positive numbers', 'uint(any)', '9'.repeat(200_000)],
  ['fractions', 'double(any)', `${'9'.repeat(200_000)}x`],
  ['durations', 'duration(any)', `${'9'.repeat(200_000)}s`],
  ['versions', 'isSemver(any)', `${'9'.repeat(200_000)}.0.0`],
])('API-471 long %s take linear time', (_what, expression, any) => {
  const program = environment.compile(expression);
  const start = performance.now();
  program.run({ any }, 1_000_000);
  expect(performance.now() - start).toBeLessThan(2000);
});

describe('format', () => {
  table([
    ['"%s has %d%%".format(["a", 3])', 'a has 3%'],
    ['"%s %s %s %s".format([true, 1.5, null, [1, "a"]])', 'true 1.5 null [1, "a"]'],
    ['"%s".format([{"b": 1.0, "a": "x"}])', '{"a":"x", "b":1.000000}'],
    ['"%s %s".format([duration("90m"), timestamp("2026-01-02T03:04:05.5Z")])', '5400s 2026-01-02T03:04:05.5Z'],
    ['"%.2f %f".format([3.14159, 2.0])', '3.14 2.000000'],
    ['"%.1f %f %.0e".format([-1234567.89, 999.0, 0.00012])', '-1,234,567.9 999.000000 1×10⁻⁰⁴'],
    ['["a", {"b": [1, "c"]}].map(x, x)', fails("expected type 'string' but found 'map(string, list(dyn))'")],
    ['"%.1e".format([12345.6])', '1.2×10⁰⁴'],
    ['"%b %b %o".format([5, true, 8])', '101 1 10'],
    ['"%x %X %x".format([255, 255, "hi"])', 'ff FF 6869'],
    ['"%d".format(["a"])', fails('decimal clause can only be used on integers')],
    ['"%s".format([])', fails('index 0 out of range')],
    ['"%y".format([1])', fails('unrecognized formatting clause "y"')],
  ]);
});

describe('conversions', () => {
  table([
    ['[int("42"), int(3.9), int(-3.9), int(7u)]', [42, 3, -3, 7]],
    ['int(1e20)', fails('integer overflow')],
    ['int(duration("1s")) + int(timestamp("1970-01-01T00:00:02Z"))', 1_000_000_002],
    ['uint(-1)', fails('unsigned integer overflow')],
    ['[double("1.5"), double(2), double("1e3")]', [1.5, 2, 1000]],
    ['double("0x1")', fails("type conversion error from 'string' to 'double'")],
    [
      '[string(1), string(1.0), string(true), string(1e21), string(1234567.0), string(b"ab")]',
      ['1', '1', 'true', '1e+21', '1.234567e+06', 'ab'],
    ],
    ['string(b"\\xff")', fails('invalid UTF-8 in bytes')],
    ['bool("true") && !bool("f")', true],
    ['bool("yes")', fails("type conversion error from 'string' to 'bool'")],
    ['string(duration("1h30m0.5s")) + string(timestamp(0))', '5400.5s1970-01-01T00:00:00Z'],
    ['timestamp("2026-02-30T00:00:00Z")', fails('invalid timestamp argument')],
    ['timestamp(253402300800)', fails('invalid timestamp argument')],
    ['timestamp(253402300799 + 1)', fails('timestamp overflow')],
    ['bytes("é") == b"\\xc3\\xa9"', true],
  ]);
});

describe('times', () => {
  table([
    ['timestamp("2026-03-01T12:34:56.789+02:00").getHours()', 10],
    ['timestamp("2026-03-01T12:34:56Z").getHours("+05:30")', 18],
    ['timestamp("2026-01-15T12:00:00Z").getHours("America/New_York")', 7],
    ['timestamp("2026-01-15T12:00:00Z").getHours("Nowhere/City")', fails('unknown time zone Nowhere/City')],
    ['timestamp("2026-03-01T00:00:00Z").getMonth()', 2],
    ['timestamp("2026-03-01T00:00:00Z").getDate() * 10 + timestamp("2026-03-01T00:00:00Z").getDayOfMonth()', 10],
    ['timestamp("2026-03-01T00:00:00Z").getDayOfWeek()', 0],
    ['timestamp("2026-03-01T00:00:00Z").getDayOfYear()', 59],
    ['timestamp("2026-03-01T00:00:00.250Z").getMilliseconds()', 250],
    ['timestamp("2026-03-01T00:00:00Z").getFullYear()', 2026],
    ['duration("90m").getHours() + duration("90m").getMinutes() + duration("90m").getSeconds()', 5491],
    ['timestamp("2026-01-01T00:00:00Z") + duration("24h") == timestamp("2026-01-02T00:00:00Z")', true],
    ['timestamp("2026-01-02T00:00:00Z") - timestamp("2026-01-01T00:00:00Z") == duration("24h")', true],
    ['duration("1h") - duration("30m") > duration("29m")', true],
    ['duration("-1.5h") < duration("0")', true],
    ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', fails('timestamp overflow')],
  ]);
});

describe('lists', () => {
  table([
    ['[1, 2, 2].isSorted() && !["b", "a"].isSorted() && [].isSorted()', true],
    ['[1, 2].sum() + [].sum()', 3],
    ['[1.5, 2.5].sum()', 4],
    ['[duration("1m"), duration("30s")].sum() == duration("90s")', true],
    ['[3, 1, 2].min() * 10 + [3, 1, 2].max()', 13],
    ['["b", "a"].min()', 'a'],
    ['[].min() == 1', fails('min called on empty list')],
    ['[1, 2, 1].indexOf(1) * 10 + [1, 2, 1].lastIndexOf(1)', 2],
    ['["a"].indexOf("b")', -1],
    ['[1, 2, 3, 4].slice(1, 3)', [2, 3]],
    ['[1].slice(0, 2)', fails('cannot slice(0, 2), list is length 1')],
    ['[[1, [2]], [3]].flatten()', fails("expected type 'int' but found 'list(int)'")],
    ['[[1, 2], [3]].flatten()', [1, 2, 3]],
    ['[[[1]], [[2]]].flatten(2)', [1, 2]],
    ['[1].flatten(-1)', fails('level must be non-negative')],
    ['lists.range(3)', [0, 1, 2]],
    ['[1, 2, 3].reverse()', [3, 2, 1]],
    ['[1, 2, 1, 2].distinct()', [1, 2]],
    ['["c", "a"].sort() + [3, 1].sort().map(x, string(x))', ['a', 'c', '1', '3']],
    ['[{"n": 2}, {"n": 1}].sortBy(x, x.n).map(x, x.n)', [1, 2]],
    ['sets.contains([1, 2], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])', true],
  ]);
});

describe('regular expressions', () => {
  table([
    ['"abc 123".find("[0-9]+")', '123'],
    ['"abc".find("[0-9]+")', ''],
    ['"123 abc 456".findAll("[0-9]+")', ['123', '456']],
    ['"123 abc 456".findAll("[0-9]+", 1)', ['123']],
    ['"abc".findAll("x*")', ['', '', '', '']],
    ['"aab".findAll("a*")', ['aa', '']],
    ['"abc".findAll("b", 0)', []],
    ['"a".find("(" + "a")', fails('Illegal regex: error parsing regexp: missing closing ): `(a`')],
    ['"a".matches("(" + "a")', fails('error parsing regexp: missing closing ): `(a`')],
  ]);
});

describe('urls', () => {
  const url = 'https://user:pw@example.com:8080/a%20b/c?x=1&x=2&y=a+b#frag';
  table([
    [`url("${url}").getScheme()`, 'https'],
    [`url("${url}").getHost()`, 'example.com:8080'],
    [`url("${url}").getHostname()`, 'example.com'],
    [`url("${url}").getPort()`, '8080'],
    [`url("${url}").getEscapedPath()`, '/a%20b/c'],
    [`url("${url}").getQuery()`, { x: ['1', '2'], y: ['a b'] }],
    ['url("https://[::1]:80/").getHostname() + url("https://[::1]:80/").getPort()', '::180'],
    ['url("/path with").getEscapedPath()', '/path%20with'],
    ['url("/path").getHost()', ''],
    ['isURL("https://example.com") && isURL("/a") && isURL("mailto:x")', true],
    [
      'isURL("a b") || isURL("") || isURL("../a") || isURL("https://a:b/") || isURL("https://a b/") || isURL("/%zz")',
      false,
    ],
    ['url("https://a") == url("https://a") && url("https://a") != url("https://b")', true],
    ['url("../a")', fails('URL parse error during conversion from string: parse "../a": invalid URI for request')],
  ]);
});

describe('quantities', () => {
  table([
    ['isQuantity("1.5Gi") && !isQuantity("1.5x")', true],
    ['quantity("1Gi").isGreaterThan(quantity("1000Mi")) && quantity("1").isLessThan(quantity("2"))', true],
    ['quantity("1000m") == quantity("1")', true],
    ['[quantity("1").compareTo(quantity("1")), quantity("-5").sign(), quantity("0").sign()]', [0, -1, 0]],
    ['quantity("50k").asInteger() + (quantity("1.5").isInteger() ? 1 : 0)', 50_000],
    ['quantity("1.5").asInteger()', fails('cannot convert value to integer')],
    ['quantity("1.5").asApproximateFloat()', 1.5],
    ['quantity("50k").add(quantity("20k")).sub(10).asInteger()', 69_990],
    ['quantity("1.5x")', fails('quantities must match the regular expression')],
  ]);
});

describe('addresses', () => {
  table([
    [
      'isIP("1.2.3.4") && isIP("::1") && !isIP("1.2.3") && !isIP("1.2.3.04") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0")',
      true,
    ],
    ['[ip("1.2.3.4").family(), ip("::1").family()]', [4, 6]],
    ['ip.isCanonical("2001:db8::1") && !ip.isCanonical("2001:DB8::0:1")', true],
    [
      'ip("127.0.0.1").isLoopback() && ip("0.0.0.0").isUnspecified() && ip("fe80::1").isLinkLocalUnicast() && ip("224.0.0.1").isLinkLocalMulticast()',
      true,
    ],
    ['ip("192.168.0.1").isGlobalUnicast() && !ip("255.255.255.255").isGlobalUnicast()', true],
    ['ip("::1") == ip("0:0::1") && string(ip("2001:DB8:0:0:1::")) == "2001:db8:0:0:1::"', true],
    ['ip("::ffff:1.2.3.4").family()', fails('IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed')],
    ['cidr("192.168.0.0/24").containsIP("192.168.0.9") && !cidr("192.168.0.0/24").containsIP(ip("192.168.1.9"))', true],
    [
      'cidr("192.168.0.0/16").containsCIDR("192.168.1.0/24") && !cidr("192.168.1.0/24").containsCIDR(cidr("192.168.0.0/16"))',
      true,
    ],
    ['string(cidr("192.168.1.5/24").masked()) + string(cidr("::1/64").prefixLength())', '192.168.1.0/2464'],
    ['cidr("10.0.0.5/8").ip() == ip("10.0.0.5")', true],
    ['isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0/33") && !isCIDR("10.0.0.0") && !isCIDR("10.0.0.0/08")', true],
    ['cidr("10.0.0.0").prefixLength()', fails('network address parse error during conversion from string')],
  ]);
});

describe('formats', () => {
  table([
    ['format.dns1123Label().validate("my-label").hasValue()', false],
    [
      'format.dns1123Label().validate("My_Label").value()[0].startsWith("a lowercase RFC 1123 label must consist of")',
      true,
    ],
    [
      'format.dns1123LabelPrefix().validate("my-").hasValue() || format.dns1123Subdomain().validate("a.b").hasValue()',
      false,
    ],
    ['format.qualifiedName().validate("a/b").hasValue() || format.labelValue().validate("x").hasValue()', false],
    ['format.uuid().validate("x").value()', ['does not match the UUID format']],
    ['format.byte().validate("aGVsbG8=").hasValue() || format.date().validate("2021-01-01").hasValue()', false],
    ['format.datetime().validate("x").value()', ['invalid datetime']],
    ['format.uri().validate("../x").value()', ['parse "../x": invalid URI for request']],
    ['format.named("dns1035Label").value().validate("1a").hasValue()', true],
    ['format.named("nope").hasValue()', false],
    ['format.named("uuid").value() == format.uuid()', true],
  ]);
});

describe('versions', () => {
  table([
    ['isSemver("1.2.3-rc.1+b5") && !isSemver("v1.2.3") && !isSemver("1.2") && !isSemver("01.2.3")', true],
    ['isSemver("v1.2", true) && isSemver("01.02", true)', true],
    ['semver("1.2.3").isLessThan(semver("1.10.0")) && semver("1.0.0").isGreaterThan(semver("1.0.0-rc.1"))', true],
    ['[semver("1.0.0-1").compareTo(semver("1.0.0-a")), semver("1.0.0-a.b").compareTo(semver("1.0.0-a"))]', [-1, 1]],
    ['semver("v1.2", true) == semver("1.2.0")', true],
    ['semver("1.2.3").major() * 100 + semver("1.2.3").minor() * 10 + semver("1.2.3").patch()', 123],
    ['semver("1.2")', fails('No Major.Minor.Patch elements found')],
  ]);
});

describe('authorizer', () => {
  const asked: CelAuthorizationAttributes[] = [];
  const admin = (name: string): CelAuthorizer => ({
    authorize(attributes) {
      asked.push(attributes);
      if (attributes.kind === 'path') return { allowed: attributes.path === '/healthz', reason: `asked by ${name}` };
      if (attributes.resource === 'broken') return { allowed: false, reason: '', error: 'out of order' };
      return { allowed: attributes.verb === 'get', reason: `asked by ${name}` };
    },
    forServiceAccount: (namespace, account) => admin(`system:serviceaccount:${namespace}:${account}`),
  });
  const authorizing = createCelEnvironment({
    variables: { authorizer: authorizerType, requestResource: resourceCheckType },
  });
  const requested = { group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'ns', name: 'web' };
  const ask = (expression: string): unknown =>
    authorizing
      .compile(expression)
      .evaluate(
        { authorizer: authorizerValue(admin('me')), requestResource: resourceCheckValue(admin('me'), requested) },
        { budget: new CelBudget() },
      );

  it('asks for resources and paths, also for a service account', () => {
    expect(
      ask("authorizer.group('apps').resource('deployments').namespace('ns').name('x').check('get').allowed()"),
    ).toBe(true);
    expect(asked.at(-1)).toMatchObject({
      group: 'apps',
      resource: 'deployments',
      namespace: 'ns',
      name: 'x',
      verb: 'get',
    });
    expect(ask("authorizer.path('/healthz').check('get').allowed()")).toBe(true);
    expect(ask("authorizer.serviceAccount('ns', 'bot').path('/x').check('get').reason()")).toBe(
      'asked by system:serviceaccount:ns:bot',
    );
    expect(ask("requestResource.check('delete').allowed()")).toBe(false);
    expect(asked.at(-1)).toMatchObject({ ...requested, verb: 'delete' });
    expect(
      ask("authorizer.group('').resource('pods').fieldSelector('a=b').labelSelector('c').check('get').errored()"),
    ).toBe(false);
    expect(asked.at(-1)).toMatchObject({ fieldSelector: 'a=b', labelSelector: 'c' });
    expect(ask("authorizer.group('').resource('broken').check('get').error()")).toBe('out of order');
  });

  it('two checks are all that one evaluation can pay for', () => {
    const check = "authorizer.path('/a').check('get').allowed()";
    expect(() => ask(`${check} || ${check} || ${check}`)).toThrow('operation cancelled: actual cost limit exceeded');
  });

  it('an empty value is not evaluated', () => {
    expect(() => ask("authorizer.path(' ').check('get').allowed()")).toThrow('path must not be empty');
    expect(() => ask("authorizer.group('').resource('').check('get').allowed()")).toThrow('resource must not be empty');
  });
});
