import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { finalizerWarnings } from './finalizer-warnings.ts';

const widget = (...finalizers: string[]): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w', finalizers },
});

describe('finalizerWarnings', () => {
  it('API-071 remarks on odd names that are new, each once and in order', () => {
    const remark = (name: string): string =>
      `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`;
    expect(finalizerWarnings(widget('z', 'a', 'z', 'orphan', 'example.com/x'))).toEqual([remark('a'), remark('z')]);
    expect(finalizerWarnings(widget('z', 'a', 'b'), widget('a', 'z'))).toEqual([remark('b')]);
    expect(finalizerWarnings(widget('a'), widget('a'))).toEqual([]);
  });

  it('API-071 finds those that were there among as many as an object has place for', () => {
    const finalizers = Array.from({ length: 400_000 }, (_, n) => n.toString(36));
    const previous: KubeObject = { ...widget(), metadata: { name: 'w', finalizers } };
    const next: KubeObject = { ...widget(), metadata: { name: 'w', finalizers: [...finalizers].reverse() } };
    expect(finalizerWarnings(next, previous)).toEqual([]);
  });
});
