import { describe, expect, it } from 'vitest';
import { detect } from '../inventory/image-inventory.ts';
import { ImageRecords, type Inventory } from '../inventory/image-records.ts';
import type { RuntimeContainer, RuntimeImage } from '../inventory/runtime.ts';
import { ageBegins, type ProtectionFacts, protections } from './protection.ts';
import { parseProtectPattern } from '../patterns/protect-pattern.ts';
import { repositoryOf } from '../patterns/reference-pattern.ts';

const DIGITS = 'abcdef0123456789'.repeat(4);
const image = (id: string, tags: string[] = [], more: Partial<RuntimeImage> = {}): RuntimeImage => ({
  id,
  runtimeHandler: '',
  tags,
  digests: [],
  size: 1n,
  pinned: false,
  ...more,
});
const user = (imageId: string): RuntimeContainer => ({
  id: 'c'.repeat(64),
  sandboxId: 's',
  name: 'app',
  attempt: 0,
  podUid: 'p',
  podName: 'web-0',
  podNamespace: 'shop',
  imageId,
  reference: '',
  runtimeHandler: '',
  state: 'exited',
  createdAt: 0n,
  annotations: {},
});
const inventory = (images: RuntimeImage[], containers: RuntimeContainer[] = []): Inventory =>
  detect(ImageRecords.empty, { images, containers, volumes: new Map(), at: 1n, now: 1n });
const why = (images: RuntimeImage[], facts: ProtectionFacts, containers: RuntimeContainer[] = []): string =>
  [...protections(inventory(images, containers), facts)]
    .map(([key, { rule, detail }]) => `${key} ${rule}: ${detail}`)
    .join('; ');

describe('what is never collected', () => {
  it('NODE-040 says which container uses an image', () => {
    expect(why([image('a'), image('b')], {}, [user('a'), user('a')])).toBe(
      'a inUse: exited container app of pod shop/web-0 and 1 more',
    );
  });

  it('NODE-040, 226 says by which reference the container was started, where the runtime reports it', () => {
    expect(why([image('a')], {}, [{ ...user('a'), reference: 'shop/web:2' }])).toBe(
      'a inUse: exited container app of pod shop/web-0, started as shop/web:2',
    );
  });

  it('NODE-212 protects what a list of the cluster has, and names the list; every image until the lists are known', () => {
    const list = { ...parseProtectPattern('team/*'), source: 'ConfigMap kube-system/base' };
    const images = [image('a', ['team/app:1']), image('b', ['other:1'])];
    expect(why(images, { clusterLists: [list] })).toBe('a protectList: ConfigMap kube-system/base has "team/*"');
    expect(why(images, { clusterLists: 'unknown', protect: [parseProtectPattern('other')] })).toBe(
      'a protectList: the protect lists of the cluster are not known yet; b protectList: the protect list has "other"',
    );
  });

  it('NODE-212 protects by the labels of the image, and an image whose labels cannot be read', () => {
    const images = [image('a'), image('b'), image('c')];
    const labels = new Map([
      ['a', { app: 'web', tier: 'db' }],
      ['b', { app: 'web', tier: 'front' }],
    ]);
    const text = 'label:app=web,tier in (db)';
    expect(why(images, { protect: [parseProtectPattern(text)], labels })).toBe(
      `a protectList: the protect list has "${text}"; ` +
        `c protectList: the protect list has "${text}", and the labels of this image cannot be read`,
    );
    expect(why(images, { protect: [parseProtectPattern('label:!tier')], labels: labels.set('c', {} as never) })).toBe(
      'c protectList: the protect list has "label:!tier"',
    );
  });

  it('NODE-212 refuses a selector that is empty or cannot be read', () => {
    expect(() => parseProtectPattern('label:')).toThrow('the selector is empty');
    expect(() => parseProtectPattern('label:tier in (')).toThrow();
    expect(parseProtectPattern('docker.io/library/label:1').byLabels).toBe(false);
  });

  it('NODE-041, 033 protects a pinned image, and the image of a sandbox only by that', () => {
    expect(why([image('a', [], { pinned: true })], {})).toBe('a pinned: the runtime reports it as pinned');
  });

  it('NODE-046 protects the sandbox image that the runtime names, by tag or short name', () => {
    const images = [image('a', ['docker.io/library/pause:3.9']), image('b', ['registry.k8s.io/pause:3.9'])];
    expect(why(images, { sandboxImage: 'registry.k8s.io/pause:3.9' })).toMatch(/^b sandboxImage/);
    expect(why(images, { sandboxImage: 'pause:3.9' })).toMatch(/^a sandboxImage/);
  });

  it('NODE-142 protects what the spec of a pod of this node names, with the tag that is left away', () => {
    expect(
      why([image('a', ['docker.io/library/nginx:latest']), image('b', ['docker.io/library/nginx:1'])], {
        podImages: new Set(['nginx']),
      }),
    ).toBe('a podSpec: a pod of this node names nginx:latest'.replace('nginx:latest', 'nginx'));
  });

  it('NODE-048, 212 protects by reference, glob, digest and id', () => {
    const images = [
      image(`sha256:${DIGITS}`, ['host:5000/team/app:1']),
      image('b', ['quay.io/x/y:2'], { digests: [`quay.io/x/y@sha256:${'9'.repeat(64)}`] }),
    ];
    const kept = (pattern: string): string =>
      why(images, { protect: [parseProtectPattern(pattern)] }).replaceAll(/ protectList: [^;]*/g, '');
    expect(kept('host:5000/team/app')).toBe(`sha256:${DIGITS}`);
    expect(kept('host:5000/*')).toBe(`sha256:${DIGITS}`);
    expect(kept('host:5000/team/app:2')).toBe('');
    expect(kept('host')).toBe('');
    expect(kept(DIGITS.slice(0, 12))).toBe(`sha256:${DIGITS}`);
    expect(kept(`sha256:${'9'.repeat(64)}`)).toBe('b');
    expect(kept('quay.io/?/y')).toBe('b');
    expect(kept('.*')).toBe('');
    expect(kept('*')).toBe(`sha256:${DIGITS}; b`);
  });

  it('NODE-212 takes the port of a registry for no tag', () => {
    expect(['host:5000/a', 'host:5000/a:1', 'a:1@sha256:x', 'a'].map(repositoryOf)).toEqual([
      'host:5000/a',
      'host:5000/a',
      'a',
      'a',
    ]);
  });

  it('NODE-213 keeps the most recently used images of a repository', () => {
    const first = detect(ImageRecords.empty, {
      images: [image('a', ['r/app:1']), image('b', ['r/app:2']), image('c', ['r/app:3'])],
      containers: [user('b')],
      volumes: new Map(),
      at: 1n,
      now: 1n,
    });
    const later = detect(first, {
      images: [...first.values()].map((record) => record.image),
      containers: [],
      volumes: new Map(),
      at: 2n,
      now: 2n,
    });
    const kept = [...protections(later, { keepNewest: { 'r/*': 2 } })].map(([key, { rule }]) => `${key} ${rule}`);
    expect(kept).toEqual(['b keepNewest', 'c keepNewest']);
  });

  it('NODE-215 leaves images alone that no pod of this node has used', () => {
    expect(why([image('a'), image('b')], { scope: 'cluster' }, [user('a')])).toContain('b outOfScope');
  });

  it('NODE-217 takes every other image for used when a container does not report what it mounts', () => {
    expect(why([image('a')], { unreadableContainer: 'x'.repeat(64) })).toBe(
      `a unknownUse: container ${'x'.repeat(13)} does not report which images it mounts`,
    );
  });

  it('NODE-042, 214 counts the minimum age from the first detection, or from the last use', () => {
    const second = 1_000_000_000n;
    const record = { ...[...inventory([image('a')]).values()][0]!, firstDetected: 0n, lastUsed: 100n * second };
    expect([ageBegins(record, 'detected'), ageBegins(record, 'used')]).toEqual([0n, 100n * second]);
    expect(ageBegins({ ...record, lastUsed: undefined }, 'used')).toBe(0n);
  });
});
