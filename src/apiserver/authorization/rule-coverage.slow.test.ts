import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AuthorizationAttributes } from './authorizer.ts';
import { compactString, policyRules, type PolicyRule, ruleAllows } from './policy-rule.ts';
import { aggregated, escalationText, missingRights } from './rule-coverage.ts';

const rule = (parts: Partial<PolicyRule>): PolicyRule => ({
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...parts,
});

const user = { username: 'ann', groups: ['dev', 'system:authenticated'] };

const asked = (parts: Partial<AuthorizationAttributes>): AuthorizationAttributes => ({
  user,
  verb: 'get',
  isResource: true,
  path: '',
  group: '',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: '',
  ...parts,
});

describe('ruleAllows', () => {
  const pods = rule({ verbs: ['get'], apiGroups: [''], resources: ['pods'] });
  const url = (...nonResourceURLs: string[]) => rule({ verbs: ['get'], nonResourceURLs });
  const path = (text: string) => asked({ isResource: false, resource: '', path: text });
  it.each<[string, PolicyRule, AuthorizationAttributes, boolean]>([
    ['all parts match', pods, asked({}), true],
    ['another verb', pods, asked({ verb: 'list' }), false],
    ['any verb', { ...pods, verbs: ['*'] }, asked({ verb: 'impersonate' }), true],
    ['another group', pods, asked({ group: 'apps' }), false],
    ['any group', { ...pods, apiGroups: ['*'] }, asked({ group: 'apps' }), true],
    ['another resource', pods, asked({ resource: 'secrets' }), false],
    ['a resource is not its subresource', pods, asked({ subresource: 'log' }), false],
    ['r/sub', { ...pods, resources: ['pods/log'] }, asked({ subresource: 'log' }), true],
    ['r/sub is not r', { ...pods, resources: ['pods/log'] }, asked({}), false],
    ['*/sub', { ...pods, resources: ['*/scale'] }, asked({ resource: 'x', subresource: 'scale' }), true],
    ['*/sub is not another one', { ...pods, resources: ['*/scale'] }, asked({ subresource: 'status' }), false],
    ['*/sub is no resource', { ...pods, resources: ['*/scale'] }, asked({}), false],
    ['* has subresources', { ...pods, resources: ['*'] }, asked({ subresource: 'log' }), true],
    ['a name', { ...pods, resourceNames: ['x'] }, asked({ name: 'x' }), true],
    ['another name', { ...pods, resourceNames: ['x'] }, asked({ name: 'y' }), false],
    ['no name where one is needed', { ...pods, resourceNames: ['x'] }, asked({}), false],
    ['a path', url('/metrics'), path('/metrics'), true],
    ['a path is no prefix', url('/metrics'), path('/metrics/slis'), false],
    ['a prefix', url('/healthz/*'), path('/healthz/ping'), true],
    ['a prefix is not what is before it', url('/healthz/*'), path('/healthz'), false],
    ['any path', url('*'), path('/x'), true],
    ['a star within is a character', url('/a*b'), path('/axb'), false],
    ['rules for paths allow no resources', url('*'), asked({}), false],
    ['rules for resources allow no paths', rule({ ...pods, resources: ['*'] }), path('/api'), false],
  ])('API-375 %s', (_, one, attributes, expected) => {
    expect(ruleAllows(one, attributes)).toBe(expected);
  });

  it('API-375 reads what is stored, and grants nothing by nonsense', () => {
    expect(policyRules(null)).toEqual([]);
    expect(policyRules([null, 7, { verbs: ['get', 1], resources: 'pods' }])).toEqual([rule({ verbs: ['get'] })]);
  });
});

/** Words that overlap in every relevant way. */
const some = (words: readonly string[]) => fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 3 });
const rules = fc.array(
  fc.oneof(
    fc
      .record({
        verbs: some(['get', 'list', '*']),
        apiGroups: some(['', 'apps', '*']),
        resources: some(['pods', 'pods/log', 'secrets', '*/log', '*']),
        resourceNames: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
      })
      .map(rule),
    fc.record({ verbs: some(['get', '*']), nonResourceURLs: some(['/a', '/a/b', '/a/*', '*']) }).map(rule),
  ),
  { maxLength: 4 },
);

const requests: readonly AuthorizationAttributes[] = [
  ...['get', 'list', 'other'].flatMap((verb) =>
    ['', 'apps', 'other'].flatMap((group) =>
      ['pods', 'secrets', 'other'].flatMap((resource) =>
        ['', 'log', 'other'].flatMap((subresource) =>
          ['', 'a', 'other'].map((name) => asked({ verb, group, resource, subresource, name })),
        ),
      ),
    ),
  ),
  ...['get', 'other'].flatMap((verb) =>
    ['/a', '/a/b', '/a/c', '/other'].map((path) => asked({ verb, path, isResource: false, resource: '' })),
  ),
];

describe('missingRights', () => {
  it('API-375 nothing is missing only if whatever the wanted rules allow, the held ones allow too', () => {
    fc.assert(
      fc.property(rules, rules, (held, wanted) => {
        const allows = (list: readonly PolicyRule[], request: AuthorizationAttributes) =>
          list.some((one) => ruleAllows(one, request));
        if (missingRights(held, wanted).length > 0) return;
        for (const request of requests) expect(!allows(wanted, request) || allows(held, request)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('API-375 one always has what one has, and cluster-admin has everything', () => {
    const everything = [
      rule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }),
      rule({ verbs: ['*'], nonResourceURLs: ['*'] }),
    ];
    fc.assert(
      fc.property(rules, (some) => {
        expect(missingRights(some, some)).toEqual([]);
        expect(missingRights(everything, some)).toEqual([]);
        expect(missingRights(some, []).length).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('API-375 a right to all names is more than one to some', () => {
    const one = rule({ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] });
    const all = { ...one, resourceNames: [] };
    expect(missingRights([one], [all])).toHaveLength(1);
    expect(missingRights([all], [one])).toHaveLength(0);
  });
});

describe('the text of a refused escalation', () => {
  it('API-375 lists what is missing, joined by target and sorted', () => {
    const wanted = [
      rule({ verbs: ['list', 'get'], apiGroups: [''], resources: ['secrets', 'pods'] }),
      rule({ verbs: ['get'], nonResourceURLs: ['/metrics'] }),
      rule({ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] }),
    ];
    expect(escalationText(user, missingRights([], wanted), [])).toBe(
      [
        'user "ann" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["list" "get"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["list" "get"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
      ].join('\n'),
    );
    expect(compactString(rule({}))).toBe('{}');
  });

  it('reports the rights that could not be read', () => {
    expect(escalationText(user, [rule({ verbs: ['get'] })], ['x', 'y', 'x'])).toMatch(
      /; resolution errors: \[\[x, y\]\]$/,
    );
    expect(aggregated(['x', 'x'])).toBe('x');
  });
});
