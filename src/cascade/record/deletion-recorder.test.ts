import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { DeletionRecorder, rootsOf } from './deletion-recorder.ts';
import type { RecordHeader } from './recorded-object.ts';

const object = (name: string, owner?: KubeObject, kind = 'ConfigMap'): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-${name}`,
    ...(owner === undefined
      ? {}
      : { ownerReferences: [{ apiVersion: 'v1', kind, name: owner.metadata!.name!, uid: owner.metadata!.uid! }] }),
  },
});

/** Lets the writer, which fails at once, report. */
const turns = (): Promise<void> => new Promise((next) => setImmediate(next));

function recorder(options: { fails?: boolean } = {}) {
  const clock = new FakeClock();
  const written: { header: RecordHeader; names: (string | undefined)[] }[] = [];
  const failures: string[] = [];
  const writer = {
    async write(header: RecordHeader, bodies: Iterable<KubeObject> | AsyncIterable<KubeObject>): Promise<string> {
      if (options.fails === true) throw new Error('no space left on the device');
      const names: (string | undefined)[] = [];
      for await (const { metadata } of bodies) names.push(metadata?.name);
      written.push({ header, names });
      return 'id';
    },
    finish: () => Promise.resolve(),
  };
  const recording = new DeletionRecorder({
    writer,
    clock,
    context: { name: 'c', server: 's' },
    resourceOf: () => 'configmaps',
    ignores: ({ kind }) => kind === 'Pod',
    onFailure: (error, bodies, fate) => failures.push(`${bodies.length} ${fate}: ${error.message}`),
  });
  return { clock, written, failures, recording };
}

describe('a recorder beside a cluster', () => {
  it('CAS-060 names whoever deleted the roots, each user once, and not the collector that deleted the rest', async () => {
    const { clock, written, recording } = recorder();
    const root = object('root');
    recording.deleted(root, { requester: 'ada', policy: 'Background' });
    recording.deleted(object('child', root), { requester: 'the collector' });
    recording.deleted(object('other'), { requester: 'ada', policy: 'Background' });
    clock.advance(5000);
    recording.deleted(object('unknown'));
    recording.deleted(object('by bob'), { requester: 'bob', policy: 'Orphan' });
    await recording.close();
    expect(written.map(({ header: { requester, policy } }) => [requester, policy])).toEqual([
      ['ada', 'Background'],
      ['bob, (not known)', 'mixed'],
    ]);
  });

  it('CAS-066 makes one record of what goes together, and another of what goes later', async () => {
    const { clock, written, recording } = recorder();
    const root = object('root');
    recording.deleted(root);
    clock.advance(4000);
    recording.deleted(object('child', root));
    recording.deleted(object('noise', root, 'Pod'));
    clock.advance(5000);
    recording.deleted(object('later'));
    await recording.close();
    expect(written.map(({ names }) => names)).toEqual([['root', 'child'], ['later']]);
    expect(written[0]!.header.roots.map(({ name }) => name)).toEqual(['root']);
    expect(written[0]!.header).toMatchObject({ requester: '(not known)', policy: '(not known)' });
    expect(written[0]!.header.requester).toBe('(not known)');
  });

  it('CAS-066 cuts a cascade that goes on after a minute, and after 10,000 objects', async () => {
    const slow = recorder();
    for (let i = 0; i < 20; i++) {
      slow.recording.deleted(object(`o${i}`));
      slow.clock.advance(4000);
    }
    await slow.recording.close();
    expect(slow.written).toHaveLength(2);
    const many = recorder();
    for (let i = 0; i < 10_001; i++) many.recording.deleted(object(`o${i}`));
    await many.recording.close();
    expect(many.written.map(({ names }) => names.length)).toEqual([10_000, 1]);
  });

  it('CAS-066 says which objects are lost when a record cannot be written before the recorder stops', async () => {
    const { failures, recording } = recorder({ fails: true });
    recording.deleted(object('a'));
    await recording.close();
    expect(failures).toEqual(['1 lost: no space left on the device']);
  });

  it('CAS-066 keeps the objects of a record that cannot be written, and writes them with later ones when there is room', async () => {
    const options = { fails: true };
    const { clock, failures, written, recording } = recorder(options);
    recording.deleted(object('a'));
    clock.advance(5000);
    await turns();
    expect(failures).toEqual(['1 kept: no space left on the device']);
    recording.deleted(object('b'));
    options.fails = false;
    clock.advance(10_000);
    await recording.close();
    expect(written.map(({ names }) => names)).toEqual([['a', 'b']]);
    expect(failures).toHaveLength(1);
  });

  it('CAS-066 keeps at most 50,000 objects for a disk that takes none, and tries again every ten seconds alone', async () => {
    const { clock, failures, recording } = recorder({ fails: true });
    for (let i = 0; i < 10_000; i++) recording.deleted(object(`a${i}`));
    await turns();
    for (let i = 0; i < 45_000; i++) recording.deleted(object(`b${i}`));
    await turns();
    expect(failures).toEqual(['10000 kept: no space left on the device']);
    clock.advance(10_000);
    await turns();
    expect(failures[1]).toBe('55000 lost: no space left on the device');
  });

  it('CAS-066 takes a namespace and a definition for the root of what was in them', () => {
    const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', uid: 'n' } };
    expect(rootsOf([object('a'), namespace])).toEqual([namespace]);
    const definition: KubeObject = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com', uid: 'd' },
      spec: { group: 'example.com', names: { kind: 'Widget' } },
    };
    const widget: KubeObject = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', uid: 'w' } };
    expect(rootsOf([widget, definition])).toEqual([definition]);
  });
});
