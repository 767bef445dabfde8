import { describe, expect, it } from 'vitest';
import { detect } from '../inventory/image-inventory.ts';
import { ImageRecords } from '../inventory/image-records.ts';
import type { RuntimeContainer, RuntimeImage } from '../inventory/runtime.ts';
import { parseProtectPattern } from '../patterns/protect-pattern.ts';
import { type StaleTagFacts, staleTags } from './stale-tags.ts';

const OLD = 0n;
const NOW = 1000n;

function image(id: string, tags: readonly string[], more: Partial<RuntimeImage> = {}): RuntimeImage {
  return { id, runtimeHandler: '', tags, digests: [], size: 1n, pinned: false, ...more };
}

function user(imageId: string, reference: string): RuntimeContainer {
  return {
    id: `c-${reference}`,
    sandboxId: 's',
    name: 'app',
    attempt: 0,
    podUid: 'p',
    podName: 'web-0',
    podNamespace: 'default',
    imageId,
    reference,
    runtimeHandler: '',
    state: 'running',
    createdAt: 0n,
    annotations: {},
  };
}

function stale(
  images: readonly RuntimeImage[],
  users: readonly RuntimeContainer[],
  facts: Partial<StaleTagFacts> & { readonly volumes?: ReadonlyMap<string, readonly string[]> } = {},
): string[] {
  const { volumes = new Map(), ...more } = facts;
  const inventory = detect(ImageRecords.empty, { images, containers: users, volumes, at: NOW, now: NOW });
  const writtenAt = new Map(images.flatMap(({ tags }) => tags.map((tag) => [tag, OLD] as const)));
  return staleTags({
    inventory,
    podImages: new Set(),
    protect: [],
    labels: new Map(),
    sandboxImage: undefined,
    writtenAt,
    now: NOW,
    minimumAge: 100n,
    ...more,
  }).map(({ tag }) => tag);
}

describe('stale tags', () => {
  const app = image('sha256:a', ['reg.example/app:1', 'reg.example/app:2', 'reg.example/other:9']);

  it('NODE-226 lets the tags go that no container was started by, and keeps the image by the tag that one was', () => {
    expect(stale([app], [user('sha256:a', 'reg.example/app:1')])).toEqual(['reg.example/app:2', 'reg.example/other:9']);
    expect(stale([app], [user('sha256:a', 'reg.example/app:1'), user('sha256:a', 'reg.example/app:2')])).toEqual([
      'reg.example/other:9',
    ]);
  });

  it('NODE-226 names what stays, digests too', () => {
    const withDigest = { ...app, digests: ['reg.example/app@sha256:d'] };
    const inventory = detect(ImageRecords.empty, {
      images: [withDigest],
      containers: [user('sha256:a', 'reg.example/app:1')],
      volumes: new Map(),
      at: NOW,
      now: NOW,
    });
    const writtenAt = new Map(app.tags.map((tag) => [tag, OLD]));
    const facts = {
      podImages: new Set<string>(),
      protect: [],
      labels: new Map(),
      sandboxImage: undefined,
      writtenAt,
      now: NOW,
    };
    expect(staleTags({ inventory, ...facts, minimumAge: 0n })[0]).toEqual({
      tag: 'reg.example/app:2',
      imageId: 'sha256:a',
      stays: ['reg.example/app:1', 'reg.example/app@sha256:d'],
    });
  });

  it('NODE-226 keeps every tag when the reference of one container is unknown', () => {
    expect(stale([app], [user('sha256:a', 'reg.example/app:1'), user('sha256:a', '')])).toEqual([]);
  });

  it('NODE-226 keeps every tag when the image is used by a digest, by a volume, or not at all', () => {
    expect(stale([app], [user('sha256:a', 'reg.example/app@sha256:d')])).toEqual([]);
    const mounts = new Map([['c-reg.example/base:1', ['sha256:a']]]);
    const base = image('sha256:b', ['reg.example/base:1']);
    expect(stale([app, base], [user('sha256:b', 'reg.example/base:1')], { volumes: mounts })).toEqual([]);
    expect(stale([app], [])).toEqual([]);
  });

  it('NODE-226 keeps a tag that a pod names, that the protect list has, or that is younger than the minimum age', () => {
    const users = [user('sha256:a', 'reg.example/app:1')];
    expect(stale([app], users, { podImages: new Set(['reg.example/app:2']) })).toEqual(['reg.example/other:9']);
    expect(stale([app], users, { protect: [parseProtectPattern('reg.example/other:*')] })).toEqual([
      'reg.example/app:2',
    ]);
    const writtenAt = new Map([
      ['reg.example/app:2', NOW - 99n],
      ['reg.example/other:9', NOW - 100n],
    ]);
    expect(stale([app], users, { writtenAt })).toEqual(['reg.example/other:9']);
  });

  it('NODE-212, 226 keeps every tag of an image whose labels a protect list selects, or cannot be read', () => {
    const users = [user('sha256:a', 'reg.example/app:1')];
    const protect = [parseProtectPattern('label:tier=db')];
    const labelled = (tier: string) => ({ protect, labels: new Map([['sha256:a', { tier }]]) });
    expect(stale([app], users, labelled('web'))).toHaveLength(2);
    expect(stale([app], users, labelled('db'))).toEqual([]);
    expect(stale([app], users, { protect })).toEqual([]);
  });

  it('NODE-226 keeps every tag of a pinned image, and the tag of the image of sandboxes', () => {
    const users = [user('sha256:a', 'reg.example/app:1')];
    expect(stale([{ ...app, pinned: true }], users)).toEqual([]);
    expect(stale([app], users, { sandboxImage: 'reg.example/app:2' })).toEqual(['reg.example/other:9']);
  });

  it('NODE-226 knows a reference of Docker by its short name', () => {
    const busybox = image('sha256:b', ['docker.io/library/busybox:latest', 'docker.io/team/busybox:1']);
    expect(stale([busybox], [user('sha256:b', 'busybox')])).toEqual(['docker.io/team/busybox:1']);
  });
});
