import { describe, expect, it } from 'vitest';
import type { Node, Taint } from '../pods/pod-object.ts';
import { type InstanceState, inventorySource, parseInventory, stateIn } from './instance-source.ts';
import { decideNode, mayDelete, SHUTDOWN_TAINT } from './node-existence-reconcile.ts';
import { parseSource } from './source-spec.ts';

const node = (ready?: string, taints: Taint[] = [], over: object = {}): Node => ({
  metadata: { name: 'n', ...over },
  spec: { taints, providerID: 'x://n' },
  status: { conditions: ready === undefined ? [] : ([{ type: 'Ready', status: ready }] as never) },
});
const other: Taint = { key: 'k', effect: 'NoSchedule' };
const STATES: InstanceState[] = ['exists', 'shutDown', 'absent', 'unknown'];

describe('a node', () => {
  it.each(STATES)('LIFE-170 that is Ready is never deleted, also when its source says %s', (state) => {
    expect(decideNode(node('True'), state)).toEqual({ verdict: 'nothing', reason: 'ready' });
    expect(decideNode(node('True', [other, SHUTDOWN_TAINT]), state)).toMatchObject({
      verdict: 'setTaints',
      taints: [other],
    });
  });

  it.each(['False', 'Unknown', undefined])(
    'LIFE-171 LIFE-172 LIFE-173 with Ready %s does as its source says',
    (ready) => {
      expect(decideNode(node(ready), 'absent')).toEqual({ verdict: 'delete', reason: 'instanceGone' });
      expect(decideNode(node(ready), 'unknown').verdict).toBe('nothing');
      expect(decideNode(node(ready), 'exists').verdict).toBe('nothing');
      expect(decideNode(node(ready, [other]), 'shutDown')).toMatchObject({ taints: [other, SHUTDOWN_TAINT] });
      expect(decideNode(node(ready, [SHUTDOWN_TAINT]), 'shutDown').verdict).toBe('nothing');
    },
  );

  it('LIFE-171 that is being deleted is left alone', () => {
    expect(decideNode(node('False', [], { deletionTimestamp: '2026-01-01T00:00:00Z' }), 'absent').verdict).toBe(
      'nothing',
    );
  });
});

describe('a node without a provider id', () => {
  const bare = { ...node('False'), spec: {} };
  const ask = async (text: () => string) => {
    const source = inventorySource('inventory', () => Promise.resolve(text()));
    const states = await source.states([bare], new AbortController().signal);
    return decideNode(bare, states.get('n') ?? 'unknown');
  };

  it('LIFE-174 is known to its source by name, and deleted only when the source has no such machine', async () => {
    expect(await ask(() => 'm\nn')).toEqual({ verdict: 'nothing', reason: 'exists' });
    expect(await ask(() => '[{"providerID": "x://n"}]')).toEqual({ verdict: 'delete', reason: 'instanceGone' });
    await expect(
      ask(() => {
        throw new Error('the source is down');
      }),
    ).rejects.toThrow('the source is down');
  });
});

describe('LIFE-176 a pass', () => {
  it.each([
    [1, 1, true],
    [1, 3, true],
    [2, 3, false],
    [10, 100, true],
    [11, 100, false],
    [0, 0, true],
  ])('that would delete %i of %i nodes: %s', (missing, nodes, allowed) => {
    expect(mayDelete(missing, nodes, 0.1)).toBe(allowed);
  });
});

describe('LIFE-175 an inventory', () => {
  it('names machines by name or provider id, one a line or in JSON', () => {
    const lines = parseInventory('# rack 1\nn\nm shutdown\n');
    expect([stateIn(lines, node()), lines.get('m')]).toEqual(['exists', 'shutDown']);
    const json = parseInventory('["m", {"providerID": "x://n", "shutdown": true}]');
    expect(stateIn(json, node())).toBe('shutDown');
    expect(stateIn(parseInventory('m'), node())).toBe('absent');
  });

  it.each(['', '# nothing', '[]', '[{}]', '[1]', 'a b', 'a shutdown c', '[oops'])(
    'LIFE-176 that is %j is an error',
    (text) => {
      expect(() => parseInventory(text)).toThrow();
    },
  );
});

describe('LIFE-175 a source', () => {
  it('is a file, a server, a program, objects, or the leases', () => {
    expect(parseSource('file:/etc/nodes')).toEqual({ kind: 'file', path: '/etc/nodes' });
    expect(parseSource('https://x/nodes')).toEqual({ kind: 'http', url: 'https://x/nodes' });
    expect(parseSource('exec:/bin/nodes')).toEqual({ kind: 'exec', path: '/bin/nodes' });
    expect(parseSource('object:machines.v1beta1.cluster.x-k8s.io')).toEqual({
      kind: 'object',
      resource: 'machines',
      version: 'v1beta1',
      group: 'cluster.x-k8s.io',
    });
    expect(parseSource('lease', 900_000)).toEqual({ kind: 'lease', absentAfterMs: 900_000 });
  });

  it.each(['', 'file:', 'object:machines', 'ftp://x', 'leases'])('is not %j', (text) => {
    expect(() => parseSource(text)).toThrow('the source must be');
  });

  it('does not count a node as gone before ten minutes', () => {
    expect(() => parseSource('lease', 1000)).toThrow('10 minutes');
  });
});
