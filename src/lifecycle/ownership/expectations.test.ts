import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { Expectations } from './expectations.ts';

const pod = (resourceVersion: string, extra: KubeObject['metadata'] = {}): KubeObject => ({
  metadata: { namespace: 'n', name: 'p', uid: 'u', resourceVersion, ...extra },
});

function scene() {
  const clock = new FakeClock();
  const objects = new Map<string, KubeObject>();
  const cache = { resourceVersion: '9', get: (key: string) => objects.get(key) };
  return { clock, objects, cache, expectations: new Expectations(clock) };
}

describe('Expectations', () => {
  it('LIFE-009 hold an owner until the cache shows what it wrote, by number and not by text', () => {
    const { cache, expectations } = scene();
    expectations.wrote('n/o', cache, pod('10'));
    expect(expectations.satisfied('n/o')).toBe(false);
    expect(expectations.satisfied('n/other')).toBe(true);
    cache.resourceVersion = '10';
    expect(expectations.satisfied('n/o')).toBe(true);
  });

  it('LIFE-009 a version that is no number holds nobody up', () => {
    const { cache, expectations } = scene();
    expectations.wrote('n/o', cache, pod('abc'));
    expect(expectations.satisfied('n/o')).toBe(true);
  });

  it('LIFE-008 a pod counts as deleted once it has a deletion timestamp', () => {
    const { cache, objects, expectations } = scene();
    objects.set('n/p', pod('1'));
    expectations.deleted('n/o', cache, pod('1'));
    expect(expectations.satisfied('n/o')).toBe(false);
    objects.set('n/p', pod('2', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    expect(expectations.satisfied('n/o')).toBe(true);
  });

  it('LIFE-021 counts a deletion by uid, and knows who waits for it whoever controls the pod now', () => {
    const { cache, objects, expectations } = scene();
    objects.set('n/p', pod('1'));
    expectations.deleted('n/o', cache, pod('1'));
    expect(expectations.waitingFor('u')).toBe('n/o');
    objects.set('n/p', pod('3', { uid: 'another' }));
    expect(expectations.satisfied('n/o')).toBe(true);
    expect(expectations.waitingFor('u')).toBeUndefined();
  });

  it('LIFE-008 hold nobody longer than five minutes', async () => {
    const { clock, cache, objects, expectations } = scene();
    objects.set('n/p', pod('1'));
    expectations.deleted('n/o', cache, pod('1'));
    expectations.wrote('n/o', cache, pod('10'));
    await clock.advance(299_999);
    expect(expectations.satisfied('n/o')).toBe(false);
    await clock.advance(1);
    expect(expectations.satisfied('n/o')).toBe(true);
  });

  it('LIFE-269 an owner made anew begins clean', () => {
    const { cache, objects, expectations } = scene();
    objects.set('n/p', pod('1'));
    expectations.deleted('n/o', cache, pod('1'));
    expectations.forget('n/o');
    expect(expectations.satisfied('n/o')).toBe(true);
    expect(expectations.waitingFor('u')).toBeUndefined();
  });
});
