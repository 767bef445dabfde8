import { describe, expect, it } from 'vitest';
import { APPLY_ORDER, DELETE_AFTER, type OrderedRoot, type OrderNode, precedence } from './precedence.ts';

/** Everything that a walk over the order visits. */
function linksOf(nodes: ReadonlyMap<string, OrderNode>): number {
  const seen = new Set<OrderNode>();
  const open = [...nodes.values()];
  let links = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    links += node.before.length;
    for (const each of node.before) open.push(each);
  }
  return links;
}

/** ConfigMaps whose kind is counted when it is read: once for each comparison with an annotation. */
function counting() {
  const counter = { comparisons: 0 };
  const root = (namespace: string | undefined, name: string, annotations: Record<string, string>): OrderedRoot => ({
    ref: {
      apiVersion: 'v1',
      get kind() {
        counter.comparisons++;
        return 'ConfigMap';
      },
      resource: 'configmaps',
      ...(namespace === undefined ? {} : { namespace }),
      name,
      uid: `${namespace}/${name}`,
    },
    annotations,
  });
  return { counter, root };
}

const WIDE = 2000;
const wide = <T>(make: (i: number) => T): T[] => Array.from({ length: WIDE }, (_, i) => make(i));

describe('the links of an order', () => {
  it('CAS-054 are few between two places with thousands of objects', () => {
    const { root } = counting();
    const roots = wide((i) => root('shop', `r${i}`, { [APPLY_ORDER]: String(i % 2) }));
    expect(linksOf(precedence(roots))).toBe(WIDE);
  });

  it('CAS-054 are few where thousands wait for the same objects, and each annotation is compared once', () => {
    const { counter, root } = counting();
    const after = { [DELETE_AFTER]: 'configmap/db' };
    const roots = [
      ...wide((i) => root(`n${i}`, 'db', {})),
      ...wide((i) => root(undefined, `cluster-${i}`, after)),
      ...wide((i) => root('n0', `local-${i}`, after)),
    ];
    expect(linksOf(precedence(roots))).toBe(2 * WIDE + WIDE + 1);
    expect(counter.comparisons).toBe(WIDE + 1);
  });

  it('CAS-054 compare only objects of the same namespace, in a request for thousands of namespaces', () => {
    const { counter, root } = counting();
    const after = { [DELETE_AFTER]: 'configmap/db' };
    const roots = wide((i) => [root(`n${i}`, 'db', {}), root(`n${i}`, 'app', after)]).flat();
    expect(linksOf(precedence(roots))).toBe(2 * WIDE);
    expect(counter.comparisons).toBe(WIDE);
  });
});
