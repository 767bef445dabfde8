import { describe, expect, it } from 'vitest';
import { knownPod, podKnowledge, type PodObject } from './pod-verdicts.ts';

const pod = (
  phase: string,
  more: { reason?: string; deleted?: true; mirror?: string; images?: string[] } = {},
): PodObject => ({
  metadata: {
    uid: 'u',
    ...(more.deleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    ...(more.mirror === undefined ? {} : { annotations: { 'kubernetes.io/config.mirror': more.mirror } }),
  },
  spec: { containers: (more.images ?? []).map((image) => ({ image })), volumes: [{ image: { reference: 'data:1' } }] },
  status: { phase, ...(more.reason === undefined ? {} : { reason: more.reason }) },
});
const judge = (object: PodObject, running: string[] = [], uid = 'u'): string => {
  const knowledge = podKnowledge([knownPod(object)!], new Set(running));
  return `${knowledge.contentShouldBeRemoved(uid)} ${knowledge.runtimeShouldBeRemoved(uid)}`;
};

describe('which pods exist', () => {
  it('NODE-102 keeps what belongs to a pod that is not finished, even one that is being deleted', () => {
    expect(judge(pod('Running'))).toBe('false false');
    expect(judge(pod('Running', { deleted: true }))).toBe('false false');
  });

  it('NODE-102, 103 lets the runtime of a finished pod go, and its content once it is deleted or evicted', () => {
    expect(judge(pod('Succeeded'))).toBe('false true');
    expect(judge(pod('Failed', { deleted: true }))).toBe('true true');
    expect(judge(pod('Failed', { reason: 'Evicted' }))).toBe('true true');
    expect(judge(pod('Failed', { reason: 'Other' }))).toBe('false true');
  });

  it('NODE-102 does not take a pod for terminated while one of its containers runs', () => {
    expect(judge(pod('Failed', { reason: 'Evicted', deleted: true }), ['u'])).toBe('false false');
  });

  it('NODE-100 lets an unknown pod go only once the sources are ready', () => {
    expect(judge(pod('Running'), [], 'other')).toBe('true true');
    const none = podKnowledge(undefined, new Set());
    expect([none.ready, none.contentShouldBeRemoved('other'), none.runtimeShouldBeRemoved('other')]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('NODE-101 knows a static pod by the annotation of its mirror', () => {
    expect(judge(pod('Running', { mirror: 'static' }), [], 'static')).toBe('false false');
  });

  it('NODE-142 names the images of pods that are not finished', () => {
    expect([...podKnowledge([knownPod(pod('Pending', { images: ['a:1'] }))!], new Set()).imagesInUse]).toEqual([
      'a:1',
      'data:1',
    ]);
    expect([...podKnowledge([knownPod(pod('Succeeded', { images: ['a:1'] }))!], new Set()).imagesInUse]).toEqual([]);
  });
});
