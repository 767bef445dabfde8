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

function recorder(options: { readonly fails?: boolean } = {}) {
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
    onFailure: (error, objects) => failures.push(`${objects}: ${error.message}`),
  });
  return { clock, written, failures, recording };
}

describe('a recorder beside a cluster', () => {
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

  it('CAS-066 says which objects are lost when a record cannot be written', async () => {
    const { failures, recording } = recorder({ fails: true });
    recording.deleted(object('a'));
    await recording.close();
    expect(failures).toEqual(['1: no space left on the device']);
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
