import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { APPLY_ORDER, DELETE_AFTER, type OrderedRoot } from './precedence.ts';
import { wavesOf } from './waves.ts';

function root(
  name: string,
  annotations: Record<string, string> = {},
  more: Partial<OrderedRoot['ref']> = {},
): OrderedRoot {
  const { namespace, ...ref } = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    resource: 'configmaps',
    namespace: 'shop',
    name,
    uid: name,
    ...more,
  };
  return { ref: { ...ref, ...(namespace === '' ? {} : { namespace }) }, annotations };
}
const after = (...names: string[]): Record<string, string> => ({ [DELETE_AFTER]: names.join(', ') });
const wavesAs = (...roots: OrderedRoot[]): Record<string, number> => {
  const found = wavesOf(roots);
  if ('circle' in found) throw new Error('circle');
  return Object.fromEntries(found.waves);
};

describe('waves', () => {
  it('CAS-054 puts everything into one wave when nothing says an order', () => {
    expect(wavesAs(root('a'), root('b'))).toEqual({ a: 1, b: 1 });
  });

  it('CAS-054 lets what was applied last go first, whatever gaps there are', () => {
    const at = (name: string, place: string): OrderedRoot => root(name, { [APPLY_ORDER]: place });
    expect(wavesAs(at('a', '1'), at('b', '5'), at('c', '5'), at('d', '9'), root('e'), at('f', 'last'))).toEqual({
      d: 1,
      b: 2,
      c: 2,
      a: 3,
      e: 1,
      f: 1,
    });
  });

  it.each(['ConfigMap/db', 'configmap/db', 'configmaps/db'])(
    'CAS-054 holds an object back until %s is gone',
    (name) => {
      expect(wavesAs(root('volume', after(name)), root('db'))).toEqual({ db: 1, volume: 2 });
    },
  );

  it('CAS-054 takes a group, several names, and objects of no namespace', () => {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments' };
    const cluster = root('node', after('deployments.apps/web', 'configmap/db'), { namespace: '' });
    expect(wavesAs(cluster, root('web', after('configmap/db'), deployment), root('db'))).toEqual({
      db: 1,
      web: 2,
      node: 3,
    });
  });

  it('CAS-054 does not take an object of another namespace, kind or request', () => {
    const elsewhere = root('db', {}, { namespace: 'other' });
    expect(wavesAs(root('a', after('configmap/db', 'secret/a', 'configmap/nobody', 'db')), elsewhere)).toEqual({
      a: 1,
      db: 1,
    });
  });

  it('CAS-054 names the circle in which objects wait for each other', () => {
    const found = wavesOf([
      root('x', after('configmap/a')),
      root('a', after('configmap/b')),
      root('b', after('configmap/a')),
    ]);
    expect('circle' in found && found.circle.map(({ name }) => name)).toEqual(['a', 'b', 'a']);
    const alone = wavesOf([root('a', after('configmap/a'))]);
    expect('circle' in alone && alone.circle.map(({ name }) => name)).toEqual(['a', 'a']);
  });

  it('CAS-054 puts an object behind any number of others', () => {
    const database = root('database', { [APPLY_ORDER]: '2' });
    const found = wavesOf([root('last', { [APPLY_ORDER]: '1' }), ...Array.from({ length: 600_000 }, () => database)]);
    expect('waves' in found && found.waves.get('last')).toBe(2);
  });

  it('CAS-054 puts each object behind everything it waits for, in a chain of any length too', () => {
    const long = Array.from({ length: 3000 }, (_, i) => root(`r${i}`, i === 0 ? {} : after(`configmap/r${i - 1}`)));
    expect(wavesAs(...long)['r2999']).toBe(3000);
    const edges = fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 20 });
    fc.assert(
      fc.property(edges, (pairs) => {
        // Each dependency points from a higher to a lower number, so there is no circle.
        const wanted = pairs.filter(([a, b]) => a > b);
        const roots = Array.from({ length: 10 }, (_, i) =>
          root(`r${i}`, after(...wanted.filter(([a]) => a === i).map(([, b]) => `configmap/r${b}`))),
        );
        const waves = wavesAs(...roots);
        for (const [a, b] of wanted) expect(waves[`r${a}`]).toBeGreaterThan(waves[`r${b}`]!);
      }),
    );
  });
});
