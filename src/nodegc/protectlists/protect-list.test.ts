import { describe, expect, it } from 'vitest';
import type { RuntimeImage } from '../inventory/runtime.ts';
import { readProtectList } from './protect-list.ts';

const metadata = { namespace: 'kube-system', name: 'base' };
const image = (tag: string): RuntimeImage => ({
  id: 'sha256:1',
  runtimeHandler: '',
  tags: [tag],
  digests: [],
  size: 1n,
  pinned: false,
});
const texts = (data: Record<string, string>, labels: Record<string, string> = {}): string[] =>
  readProtectList({ metadata, data }, labels).patterns.map(({ text }) => text);

describe('protect lists in ConfigMaps', () => {
  it('NODE-212 reads a pattern from each line, and passes over comments and empty lines', () => {
    const images = 'reg.example:5000/base/*  # needed on air-gapped nodes\n\n# all of busybox\nbusybox\n';
    expect(texts({ images })).toEqual(['reg.example:5000/base/*', 'busybox']);
    const [pattern] = readProtectList({ metadata, data: { images } }, {}).patterns;
    expect([pattern!.matches(image('reg.example:5000/base/app:1')), pattern!.source]).toEqual([
      true,
      'ConfigMap kube-system/base',
    ]);
  });

  it('NODE-212 holds for the nodes that its selector selects, and for all without one', () => {
    const data = { images: 'busybox', nodeSelector: 'zone in (edge),!gpu' };
    expect(texts(data, { zone: 'edge' })).toEqual(['busybox']);
    expect(texts(data, { zone: 'edge', gpu: 'yes' })).toEqual([]);
    expect(texts({ images: 'busybox' }, { zone: 'edge' })).toEqual(['busybox']);
  });

  it('NODE-212 keeps more rather than less: for a selector that cannot be read, and for a node that the cluster does not have', () => {
    const data = { images: 'busybox', nodeSelector: 'zone in (' };
    expect(texts(data)).toEqual(['busybox']);
    expect(readProtectList({ metadata, data }, {}).fault).toContain(
      'ConfigMap kube-system/base has a nodeSelector that cannot be read: ',
    );
    const unknownNode = readProtectList(
      { metadata, data: { images: 'busybox', nodeSelector: 'zone=edge' } },
      undefined,
    );
    expect(unknownNode.patterns.map(({ text }) => text)).toEqual(['busybox']);
    expect(readProtectList({ metadata, data: { image: 'x' } }, {})).toEqual({
      patterns: [],
      fault: 'ConfigMap kube-system/base has no key "images"',
    });
  });

  it('NODE-212 reads selectors of labels, and protects every image by one that cannot be read', () => {
    const { patterns, fault } = readProtectList(
      { metadata, data: { images: 'label:app=web # ours\nlabel:a in (' } },
      {},
    );
    const [web, broken] = patterns;
    expect([
      web!.text,
      web!.byLabels,
      web!.matches(image('x:1'), { app: 'web' }),
      web!.matches(image('x:1'), {}),
    ]).toEqual(['label:app=web', true, true, false]);
    expect(broken!.matches(image('x:1'), {})).toBe(true);
    expect(fault).toMatch(/^ConfigMap kube-system\/base has "label:a in \(", which cannot be read: /);
  });
});
