import { describe, expect, it } from 'vitest';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { snapshotOf, uidOf } from '../snapshot/snapshot.fixture.ts';
import { ReferenceAnswers } from './reference-answers.ts';

const text = (namespace: string, { apiVersion, kind, name, uid }: OwnerReference): string =>
  [namespace, apiVersion, kind, name, uid].join(' ');

describe('answers about references', () => {
  it.each([
    ['of an object that exists', uidOf('owner')],
    ['of an object that does not exist', uidOf('gone')],
  ])('%s are asked again where the namespace, or any coordinate of the owner, differs', (_, uid) => {
    const right = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    const references = [{}, { apiVersion: 'v2' }, { kind: 'Secret' }, { name: 'b' }].map((other) => ({
      ...right,
      ...other,
    }));
    const metadata = { name: 'owner', namespace: 'ns1' };
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    const dependents = references.flatMap((reference, n) =>
      ['ns1', 'ns2', 'ns2'].map((namespace, m) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `d${n}-${m}`, namespace, ownerReferences: [reference] },
      })),
    );
    const { graph } = snapshotOf([owner, ...dependents]);
    let asked = 0;
    const answers = new ReferenceAnswers(graph, (namespace, reference) => {
      asked++;
      return text(namespace, reference);
    });
    for (const { metadata: dependent } of dependents) {
      graph.forEachReference(graph.find(uidOf(dependent.name)), (reference, node) => {
        expect(answers.of(dependent.namespace, reference, node)).toBe(
          text(dependent.namespace, dependent.ownerReferences[0]!),
        );
      });
    }
    expect(asked).toBe(2 * references.length);
  });
});
