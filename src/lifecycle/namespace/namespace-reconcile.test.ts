import { describe, expect, it } from 'vitest';
import {
  decideAfterPass,
  decideNamespaceStep,
  nextConditions,
  type PassReport,
  podEstimateSeconds,
  unexpectedItems,
} from './namespace-reconcile.ts';

const clean: PassReport = {
  remaining: [],
  discoveryFailures: {},
  unparsableGroupVersions: [],
  contentFailures: [],
  podEstimateSeconds: 0,
  podsFirst: false,
};
const now = '2026-11-21T12:00:00Z';
const later = '2026-11-21T12:00:05Z';
const pods = { group: '', version: 'v1', resource: 'pods', count: 2, finalizers: new Map(), unexpected: 0 };
const held = {
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  count: 1,
  finalizers: new Map([['example.com/hold', 1]]),
  unexpected: 0,
};

describe('decideNamespaceStep (LIFE-440)', () => {
  const spec = { finalizers: ['kubernetes'] };
  const deletionTimestamp = now;
  it.each([
    { name: 'alive', namespace: { metadata: {}, spec }, step: 'ignore' },
    {
      name: 'deleted, phase not set',
      namespace: { metadata: { deletionTimestamp }, spec, status: { phase: 'Active' } },
      step: 'mark-terminating',
    },
    {
      name: 'terminating',
      namespace: { metadata: { deletionTimestamp }, spec, status: { phase: 'Terminating' } },
      step: 'delete-content',
    },
    {
      name: 'finalized',
      namespace: { metadata: { deletionTimestamp }, spec: {}, status: { phase: 'Terminating' } },
      step: 'done',
    },
  ])('$name: $step', ({ namespace, step }) => {
    expect(decideNamespaceStep(namespace)).toBe(step);
  });
});

describe('decideAfterPass', () => {
  it.each([
    { name: 'LIFE-440 nothing left', report: clean, decision: { verdict: 'finalize', reason: 'content-removed' } },
    {
      name: 'LIFE-442 a group that discovery cannot read keeps the namespace',
      report: { ...clean, discoveryFailures: { 'x.example.com/v1': 'gone' } },
      decision: { verdict: 'retry', afterMs: undefined, reason: 'discovery-failed' },
    },
    {
      name: 'LIFE-443 a failing resource keeps the namespace',
      report: { ...clean, contentFailures: ['boom'] },
      decision: { verdict: 'retry', afterMs: undefined, reason: 'content-failed' },
    },
    {
      name: 'LIFE-444 finalizers are waited for 15 s',
      report: { ...clean, remaining: [held] },
      decision: { verdict: 'retry', afterMs: 8000, reason: 'content-remains' },
    },
    {
      name: 'LIFE-441 pods are waited for half their grace',
      report: { ...clean, remaining: [pods], podEstimateSeconds: 30, podsFirst: true },
      decision: { verdict: 'retry', afterMs: 16_000, reason: 'content-remains' },
    },
  ])('$name', ({ report, decision }) => {
    expect(decideAfterPass(report, 60_000)).toEqual(decision);
  });

  it.each([
    { name: 'a discovery that failed as a whole', change: { discoveryError: 'no' } },
    { name: 'a group version that does not parse', change: { unparsableGroupVersions: ['a/b/c'] } },
  ])('LIFE-442 $name keeps the namespace', ({ change }) => {
    expect(decideAfterPass({ ...clean, ...change }, 0)).toMatchObject({ verdict: 'retry', reason: 'discovery-failed' });
  });

  it('looks soon at first, then less and less often, up to the estimate', () => {
    const waits = [-5, 0, 400, 2000, 10_000, 20_000].map((ms) => {
      const decision = decideAfterPass({ ...clean, remaining: [held] }, ms);
      return decision.verdict === 'retry' && decision.afterMs;
    });
    expect(waits).toEqual([250, 250, 250, 1000, 5000, 8000]);
  });
});

describe('nextConditions', () => {
  it('LIFE-445 writes all five after the first pass, and none when nothing changed', () => {
    const first = nextConditions([], clean, now);
    expect(first?.map(({ type, status }) => [type, status])).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False'],
      ['NamespaceDeletionContentFailure', 'False'],
      ['NamespaceContentRemaining', 'False'],
      ['NamespaceFinalizersRemaining', 'False'],
    ]);
    expect(nextConditions(first ?? [], clean, later)).toBeUndefined();
  });

  it('LIFE-445 moves lastTransitionTime only with the status', () => {
    const first = nextConditions([], { ...clean, remaining: [pods] }, now) ?? [];
    const second = nextConditions(first, { ...clean, remaining: [{ ...pods, count: 1 }] }, later) ?? [];
    const third = nextConditions(second, clean, later) ?? [];
    const at = (conditions: typeof first) => conditions.find(({ type }) => type === 'NamespaceContentRemaining');
    expect(at(second)).toMatchObject({
      status: 'True',
      lastTransitionTime: now,
      message: 'Some resources are remaining: pods. has 1 resource instances',
    });
    expect(at(third)).toMatchObject({ status: 'False', lastTransitionTime: later, reason: 'ContentRemoved' });
  });

  it('LIFE-446 reports correctly while pods remain, with resources and finalizers sorted', () => {
    const conditions = nextConditions([], { ...clean, remaining: [pods, held], podsFirst: true }, now) ?? [];
    expect(conditions.find(({ type }) => type === 'NamespaceContentRemaining')?.message).toBe(
      'Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances',
    );
    expect(conditions.find(({ type }) => type === 'NamespaceFinalizersRemaining')?.message).toBe(
      'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
    );
  });

  it.each([
    {
      name: 'a failed discovery',
      change: { discoveryError: 'connection refused' },
      condition: {
        type: 'NamespaceDeletionDiscoveryFailure',
        reason: 'DiscoveryFailed',
        message: 'connection refused',
      },
    },
    {
      name: 'failed groups',
      change: { discoveryFailures: { 'b.io/v1': 'down', 'a.io/v1': 'stale' } },
      condition: {
        type: 'NamespaceDeletionDiscoveryFailure',
        reason: 'DiscoveryFailed',
        message:
          'Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: a.io/v1: stale, b.io/v1: down',
      },
    },
    {
      name: 'a name that does not parse',
      change: { unparsableGroupVersions: ['unexpected GroupVersion string: a/b/c'] },
      condition: {
        type: 'NamespaceDeletionGroupVersionParsingFailure',
        reason: 'GroupVersionParsingFailed',
        message: 'unexpected GroupVersion string: a/b/c',
      },
    },
    {
      name: 'failures, sorted',
      change: { contentFailures: ['b is down', 'a is forbidden'] },
      condition: {
        type: 'NamespaceDeletionContentFailure',
        reason: 'ContentDeletionFailed',
        message: 'Failed to delete all resource types, 2 remaining: a is forbidden, b is down',
      },
    },
  ])('LIFE-442 LIFE-443 says what is wrong: $name', ({ change, condition }) => {
    const conditions = nextConditions([], { ...clean, ...change }, now);
    expect(conditions).toContainEqual({ ...condition, status: 'True', lastTransitionTime: now });
  });

  it('keeps conditions of others', () => {
    const foreign = { type: 'Else', status: 'True' as const, lastTransitionTime: now, reason: 'R', message: 'm' };
    expect(nextConditions([foreign], clean, later)).toContainEqual(foreign);
  });
});

describe('podEstimateSeconds (LIFE-441)', () => {
  const pod = (phase: string, terminationGracePeriodSeconds: number | bigint) => ({
    phase,
    terminationGracePeriodSeconds,
  });
  it.each([
    { name: 'no pods', pods: [], since: 0, seconds: 0 },
    {
      name: 'the largest grace of running pods',
      pods: [pod('Running', 30), pod('Pending', 60), pod('Succeeded', 900)],
      since: 10,
      seconds: 60,
    },
    { name: 'a long integer', pods: [pod('Running', 2n ** 60n)], since: 10, seconds: 2 ** 60 },
    { name: 'that time has passed', pods: [pod('Running', 30)], since: 31, seconds: 0 },
  ])('$name', ({ pods: list, since, seconds }) => {
    expect(podEstimateSeconds(list, since)).toBe(seconds);
  });
});

describe('unexpectedItems (LIFE-444)', () => {
  it('is silent about items that something holds', () => {
    expect(unexpectedItems('n', held)).toBeUndefined();
  });

  it('names the namespace and the resource', () => {
    expect(unexpectedItems('n', { ...pods, unexpected: 1 })).toBe(
      'unexpected items still remain in namespace: n for gvr: /v1, Resource=pods',
    );
  });
});
