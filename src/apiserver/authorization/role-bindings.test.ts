import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Binding, bindingOf, describeBinding, RoleBindings } from './role-bindings.ts';

const ref = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
const subject = (kind: string, name: string, namespace = '') => ({ kind, name, namespace });
const binding = (name: string, namespace: string, ...subjects: Binding['subjects']): Binding => ({
  name,
  namespace,
  roleRef: ref,
  subjects,
});

const names = (bindings: RoleBindings, username: string, groups: readonly string[], namespace: string) =>
  [...bindings.of({ username, groups }, namespace)].map((bound) => bound.binding.name);

describe('RoleBindings', () => {
  it.each<[string, Binding, string, readonly string[], readonly string[]]>([
    ['a user', binding('b', 'a', subject('User', 'ann')), 'ann', [], ['b']],
    ['another user', binding('b', 'a', subject('User', 'bob')), 'ann', [], []],
    ['a group', binding('b', 'a', subject('Group', 'dev')), 'ann', ['dev'], ['b']],
    ['a group is no user', binding('b', 'a', subject('Group', 'ann')), 'ann', [], []],
    ['an account', binding('b', 'a', subject('ServiceAccount', 's', 'x')), 'system:serviceaccount:x:s', [], ['b']],
    ['an account of here', binding('b', 'a', subject('ServiceAccount', 's')), 'system:serviceaccount:a:s', [], ['b']],
    [
      'an account as a user',
      binding('b', 'a', subject('User', 'system:serviceaccount:a:s')),
      'system:serviceaccount:a:s',
      [],
      ['b'],
    ],
    ['an account of nowhere', binding('b', '', subject('ServiceAccount', 's')), 'system:serviceaccount::s', [], []],
    ['an unknown kind', binding('b', 'a', subject('Robot', 'ann')), 'ann', [], []],
  ])('API-375 binds %s', (_, one, username, groups, expected) => {
    const bindings = new RoleBindings();
    bindings.add(one);
    expect(names(bindings, username, groups, one.namespace)).toEqual(expected);
    expect(names(bindings, username, groups, 'elsewhere')).toEqual([]);
    bindings.remove(one);
    expect(names(bindings, username, groups, one.namespace)).toEqual([]);
  });

  it('API-375 answers, after any changes, as a search of all bindings does', () => {
    const subjects = fc.array(
      fc.record({
        kind: fc.constantFrom('User', 'Group', 'ServiceAccount'),
        name: fc.constantFrom('x', 'y'),
        namespace: fc.constantFrom('', 'a', 'b'),
      }),
      { maxLength: 4 },
    );
    const change = fc.record({
      name: fc.constantFrom('1', '2', '3'),
      namespace: fc.constantFrom('', 'a', 'b'),
      subjects,
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const bindings = new RoleBindings();
        const model = new Map<string, Binding>();
        for (const { name, namespace, subjects: wanted } of changes) {
          const key = `${namespace}/${name}`;
          const previous = model.get(key);
          if (previous !== undefined) bindings.remove(previous);
          if (wanted.length === 0) {
            model.delete(key);
            continue;
          }
          const next = binding(name, namespace, ...wanted);
          model.set(key, next);
          bindings.add(next);
        }
        for (const username of ['x', 'system:serviceaccount:a:x']) {
          for (const namespace of ['', 'a', 'b']) {
            const expected = [...model.values()].filter(
              (one) =>
                one.namespace === namespace &&
                one.subjects.some(
                  (each) =>
                    (each.kind === 'User' && each.name === username) ||
                    (each.kind === 'Group' && each.name === 'y') ||
                    (each.kind === 'ServiceAccount' &&
                      (each.namespace || namespace) !== '' &&
                      `system:serviceaccount:${each.namespace || namespace}:${each.name}` === username),
                ),
            );
            const found = new Set(names(bindings, username, ['y'], namespace));
            expect([...found].toSorted()).toEqual(expected.map(({ name }) => name).toSorted());
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('describes what allowed something', () => {
    const group = subject('Group', 'dev');
    expect(
      describeBinding({
        binding: { ...binding('b', '', group), roleRef: { ...ref, kind: 'ClusterRole' } },
        subject: group,
      }),
    ).toBe('ClusterRoleBinding "b" of ClusterRole "r" to Group "dev"');
    const account = subject('ServiceAccount', 's');
    expect(describeBinding({ binding: binding('b', 'a', account), subject: account })).toBe(
      'RoleBinding "b/a" of Role "r" to ServiceAccount "s/a"',
    );
  });

  it('reads a stored binding, whatever it holds', () => {
    expect(bindingOf({ metadata: { name: 'b' }, roleRef: 'x', subjects: [null, { kind: 'User', name: 7 }] })).toEqual({
      namespace: '',
      name: 'b',
      roleRef: { apiGroup: '', kind: '', name: '' },
      subjects: [subject('', ''), subject('User', '')],
    });
  });
});
