import { describe, expect, it } from 'vitest';
import { ReferenceAnswers } from './reference-answers.ts';

const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u1' };

describe('answers about references', () => {
  it('are asked again where the namespace, or any coordinate of the owner, differs', () => {
    let asked = 0;
    const answers = new ReferenceAnswers((namespace, { apiVersion, kind, name, uid }) => {
      asked++;
      return [namespace, apiVersion, kind, name, uid].join(' ');
    });
    const others = [{ apiVersion: 'v2' }, { kind: 'Secret' }, { name: 'b' }, { uid: 'u2' }];
    for (const other of [{}, ...others]) {
      const changed = { ...reference, ...other };
      for (const namespace of ['ns1', 'ns2', 'ns2']) {
        const { apiVersion, kind, name, uid } = changed;
        expect(answers.of(namespace, changed)).toBe([namespace, apiVersion, kind, name, uid].join(' '));
      }
    }
    expect(asked).toBe(2 * (1 + others.length));
  });
});
