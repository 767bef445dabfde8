import { describe, expect, it } from 'vitest';
import { type Rule, ruleMatches, type RuleSubject } from './rule.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };
const subject = (change: Partial<RuleSubject> = {}): RuleSubject => ({
  operation: 'CREATE',
  resource: pods,
  subresource: '',
  namespace: 'default',
  name: 'a',
  ...change,
});
const rule = (change: Rule = {}): Rule => ({
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*/*'],
  ...change,
});

describe('API-350 a rule', () => {
  it.each<[string, Rule, Partial<RuleSubject>, boolean]>([
    ['operation', { operations: ['CREATE'] }, {}, true],
    ['operation of several', { operations: ['UPDATE', 'CREATE'] }, {}, true],
    ['other operation', { operations: ['UPDATE', 'DELETE'] }, {}, false],
    ['group', { apiGroups: [''] }, {}, true],
    ['other group', { apiGroups: ['apps'] }, {}, false],
    ['version', { apiVersions: ['v1beta1', 'v1'] }, {}, true],
    ['other version', { apiVersions: ['v2'] }, {}, false],
    ['resource', { resources: ['pods'] }, {}, true],
    ['resource is not its subresource', { resources: ['pods'] }, { subresource: 'status' }, false],
    ['subresource', { resources: ['pods/status'] }, { subresource: 'status' }, true],
    ['subresource is not the resource', { resources: ['pods/status'] }, {}, false],
    ['* is no subresource', { resources: ['*'] }, { subresource: 'status' }, false],
    ['* is a resource', { resources: ['*'] }, {}, true],
    ['r/* is the resource as well', { resources: ['pods/*'] }, {}, true],
    ['r/* is every subresource', { resources: ['pods/*'] }, { subresource: 'status' }, true],
    ['r/* is no other resource', { resources: ['services/*'] }, {}, false],
    ['*/s is a subresource of any', { resources: ['*/scale'] }, { subresource: 'scale' }, true],
    ['*/s is no other subresource', { resources: ['*/scale'] }, { subresource: 'status' }, false],
    ['*/* is everything', { resources: ['*/*'] }, { subresource: 'status' }, true],
    ['nothing named', { resources: [] }, {}, false],
    ['scope *', { scope: '*' }, {}, true],
    ['scope Namespaced', { scope: 'Namespaced' }, {}, true],
    ['scope Namespaced of a cluster-scoped object', { scope: 'Namespaced' }, { namespace: '' }, false],
    ['scope Cluster', { scope: 'Cluster' }, { namespace: '' }, true],
    ['scope Cluster of a namespaced object', { scope: 'Cluster' }, {}, false],
    [
      'a Namespace is cluster-scoped',
      { scope: 'Cluster' },
      { resource: { group: '', version: 'v1', resource: 'namespaces' }, namespace: 'a' },
      true,
    ],
    [
      'a Namespace is not namespaced',
      { scope: 'Namespaced' },
      { resource: { group: '', version: 'v1', resource: 'namespaces' }, namespace: 'a' },
      false,
    ],
    ['name', { resourceNames: ['a', 'b'] }, {}, true],
    ['other name', { resourceNames: ['b'] }, {}, false],
    ['any name', { resourceNames: [] }, {}, true],
  ])('%s', (_name, change, request, matches) => {
    expect(ruleMatches(rule(change), subject(request))).toBe(matches);
  });
});
