import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DefaultPropagation } from '../kinds/resource-info.ts';
import type { KubeObject, ObjectMeta } from '../meta/object-meta.ts';
import { formatTime, parseTime } from '../meta/time.ts';
import type { DeleteDecision } from './before-delete.ts';
import { decideDelete } from './before-delete.ts';
import type { DeleteOptions } from './delete-options.ts';
import {
  deepFreeze,
  EARLIER_TEXT,
  LATER_TEXT,
  NOW,
  NOW_TEXT,
  pod,
  type PodShape,
  PODS,
  resourceInfo,
  thing,
} from './fixtures.ts';
import { podGrace } from './pod-grace.ts';
import { isGarbageCollectionFinalizer, nextFinalizers } from './propagation.ts';
import type { DeleteReason } from './reasons.ts';

function decideThing(
  metadata: Partial<ObjectMeta>,
  options: DeleteOptions = {},
  defaultPropagation: DefaultPropagation = 'Background',
): DeleteDecision {
  const resource = resourceInfo({ defaultPropagation });
  return decideDelete({ object: deepFreeze(thing(metadata)), options, resource, now: NOW });
}

function decidePod(shape: PodShape, metadata: Partial<ObjectMeta>, options: DeleteOptions = {}): DeleteDecision {
  return decideDelete({ object: deepFreeze(pod(shape, metadata)), options, resource: PODS, grace: podGrace, now: NOW });
}

function stateOf(decision: DeleteDecision): ObjectMeta {
  if (decision.outcome === 'refuse') throw decision.error;
  return decision.object.metadata ?? {};
}

interface ThingRow {
  readonly rule: string;
  readonly metadata: Partial<ObjectMeta>;
  readonly options?: DeleteOptions;
  readonly byDefault?: DefaultPropagation;
  readonly want: {
    readonly outcome: DeleteDecision['outcome'];
    readonly reason: DeleteReason;
    readonly meta: Partial<ObjectMeta>;
  };
}

const terminating = { deletionTimestamp: EARLIER_TEXT, deletionGracePeriodSeconds: 0 };

const thingRows: readonly ThingRow[] = [
  {
    rule: 'API-250 no finalizer: removed, as stored',
    metadata: { generation: 3 },
    want: { outcome: 'remove', reason: 'noFinalizers', meta: { generation: 3 } },
  },
  {
    rule: 'API-255 grace means nothing to a type that is not graceful',
    metadata: {},
    options: { gracePeriodSeconds: 30 },
    want: { outcome: 'remove', reason: 'noFinalizers', meta: {} },
  },
  {
    rule: 'API-256 Background removes at once',
    metadata: {},
    options: { propagationPolicy: 'Background' },
    byDefault: 'Orphan',
    want: { outcome: 'remove', reason: 'noFinalizers', meta: {} },
  },
  {
    rule: 'API-257 Background drops a finalizer of garbage collection and removes the object as stored',
    metadata: { finalizers: ['foregroundDeletion'] },
    options: { propagationPolicy: 'Background' },
    want: {
      outcome: 'remove',
      reason: 'garbageCollectionFinalizersDropped',
      meta: { finalizers: ['foregroundDeletion'] },
    },
  },
  {
    rule: 'API-249 a finalizer holds it: terminating from now, generation bumped',
    metadata: { finalizers: ['a.io/x'], generation: 3 },
    want: {
      outcome: 'update',
      reason: 'waitsForFinalizers',
      meta: {
        finalizers: ['a.io/x'],
        generation: 4,
        deletionTimestamp: NOW_TEXT,
        deletionGracePeriodSeconds: 0,
      },
    },
  },
  {
    rule: 'API-075 a generation of 0 stays 0',
    metadata: { finalizers: ['a.io/x'], generation: 0 },
    want: {
      outcome: 'update',
      reason: 'waitsForFinalizers',
      meta: { finalizers: ['a.io/x'], generation: 0, deletionTimestamp: NOW_TEXT, deletionGracePeriodSeconds: 0 },
    },
  },
  {
    rule: 'API-247 the default of the type orphans',
    metadata: {},
    byDefault: 'Orphan',
    want: {
      outcome: 'update',
      reason: 'waitsForOrphaning',
      meta: { finalizers: ['orphan'], deletionTimestamp: NOW_TEXT, deletionGracePeriodSeconds: 0 },
    },
  },
  {
    rule: 'API-246 Foreground waits for dependents',
    metadata: { finalizers: ['a.io/x'] },
    options: { propagationPolicy: 'Foreground' },
    want: {
      outcome: 'update',
      reason: 'waitsForDependents',
      meta: {
        finalizers: ['a.io/x', 'foregroundDeletion'],
        deletionTimestamp: NOW_TEXT,
        deletionGracePeriodSeconds: 0,
      },
    },
  },
  {
    rule: 'API-249 a deletionTimestamp of the future comes down to now, without a bump',
    metadata: { finalizers: ['a.io/x'], generation: 3, deletionTimestamp: LATER_TEXT, deletionGracePeriodSeconds: 0 },
    want: {
      outcome: 'update',
      reason: 'deletionTimestampReached',
      meta: { finalizers: ['a.io/x'], generation: 3, deletionTimestamp: NOW_TEXT, deletionGracePeriodSeconds: 0 },
    },
  },
  {
    rule: 'API-249 a missing grace period becomes 0 (second DELETE of a namespace)',
    metadata: { finalizers: ['a.io/x'], deletionTimestamp: EARLIER_TEXT },
    want: {
      outcome: 'update',
      reason: 'gracePeriodWaived',
      meta: { finalizers: ['a.io/x'], ...terminating },
    },
  },
  {
    rule: 'API-252 a repeated DELETE changes nothing',
    metadata: { finalizers: ['a.io/x'], generation: 4, ...terminating },
    want: {
      outcome: 'unchanged',
      reason: 'alreadyTerminating',
      meta: { finalizers: ['a.io/x'], generation: 4, ...terminating },
    },
  },
  {
    rule: 'API-252 Background to Foreground',
    metadata: { finalizers: ['a.io/x'], generation: 4, ...terminating },
    options: { propagationPolicy: 'Foreground' },
    want: {
      outcome: 'update',
      reason: 'policySwitched',
      meta: { finalizers: ['a.io/x', 'foregroundDeletion'], generation: 4, ...terminating },
    },
  },
  {
    rule: 'API-252 Foreground to Orphan',
    metadata: { finalizers: ['foregroundDeletion', 'a.io/x'], generation: 4, ...terminating },
    options: { propagationPolicy: 'Orphan' },
    want: {
      outcome: 'update',
      reason: 'policySwitched',
      meta: { finalizers: ['a.io/x', 'orphan'], generation: 4, ...terminating },
    },
  },
  {
    rule: 'API-252 Foreground to Background, nothing else holds it',
    metadata: { finalizers: ['foregroundDeletion'], ...terminating },
    options: { propagationPolicy: 'Background' },
    want: {
      outcome: 'remove',
      reason: 'garbageCollectionFinalizersDropped',
      meta: { finalizers: ['foregroundDeletion'], ...terminating },
    },
  },
  {
    rule: 'API-250 terminating without finalizers: removed',
    metadata: { ...terminating },
    want: { outcome: 'remove', reason: 'noFinalizers', meta: { ...terminating } },
  },
  {
    rule: 'COL-231 events drop the finalizers of garbage collection whatever the policy',
    metadata: { finalizers: ['orphan'] },
    options: { propagationPolicy: 'Orphan' },
    byDefault: 'Unsupported',
    want: {
      outcome: 'remove',
      reason: 'garbageCollectionFinalizersDropped',
      meta: { finalizers: ['orphan'] },
    },
  },
];

describe('types that are not graceful', () => {
  it.each(thingRows)('$rule', ({ metadata, options, byDefault, want }) => {
    const decision = decideThing(metadata, options, byDefault);
    expect(decision.outcome).toBe(want.outcome);
    expect(decision.reason).toBe(want.reason);
    expect(stateOf(decision)).toEqual({ ...thing().metadata, ...want.meta });
  });

  it('API-249 leaves all but the metadata as it is', () => {
    const decision = decideThing({ finalizers: ['a.io/x'] });
    expect(decision).toMatchObject({ object: { apiVersion: 'apps/v1', kind: 'Thing', spec: { keep: 'me' } } });
  });

  it('COL-234 refuses before it checks anything else', () => {
    expect(decideThing({}, { preconditions: { uid: 'x' } })).toMatchObject({
      outcome: 'refuse',
      reason: 'uidMismatch',
      error: { code: 409 },
    });
    expect(decideThing({}, { preconditions: { resourceVersion: '1' } })).toMatchObject({
      outcome: 'refuse',
      reason: 'resourceVersionMismatch',
      error: { code: 409 },
    });
  });

  it('API-243 wrong options come before preconditions', () => {
    expect(decideThing({}, { propagationPolicy: 'x', preconditions: { uid: 'x' } })).toMatchObject({
      outcome: 'refuse',
      reason: 'invalidOptions',
      error: { code: 422 },
    });
  });

  it('API-257 only a dry run that drops the last finalizer answers with an empty object', () => {
    const answers = (metadata: Partial<ObjectMeta>, options: DeleteOptions): string | undefined => {
      const decision = decideThing(metadata, options);
      return decision.outcome === 'remove' ? decision.answer : undefined;
    };
    const background = { propagationPolicy: 'Background' };
    expect(answers({ finalizers: ['orphan'] }, { ...background, dryRun: ['All'] })).toBe('emptyObject');
    expect(answers({ finalizers: ['orphan'] }, background)).toBe('removedObject');
    expect(answers({}, { ...background, dryRun: ['All'] })).toBe('removedObject');
    expect(answers({ finalizers: ['a.io/x'] }, { ...background, dryRun: ['All'] })).toBeUndefined();
  });
});

describe('every combination of the decision table', () => {
  const policies = [undefined, 'Background', 'Foreground', 'Orphan'];
  const orphanOptions = [undefined, true, false];
  const held = [[], ['orphan'], ['foregroundDeletion'], ['orphan', 'foregroundDeletion']];
  const others = [[], ['a.io/x']];
  const defaults: readonly DefaultPropagation[] = ['Background', 'Orphan', 'Unsupported'];
  const lives: readonly Partial<ObjectMeta>[] = [{}, { generation: 5 }, { generation: 6, ...terminating }];

  const rows = policies.flatMap((policy) =>
    orphanOptions.flatMap((orphan) =>
      held.flatMap((collector) =>
        others.flatMap((foreign) =>
          defaults.flatMap((byDefault) =>
            lives.map((life) => ({ policy, orphan, finalizers: [...collector, ...foreign], byDefault, life })),
          ),
        ),
      ),
    ),
  );

  it.each(rows)(
    'API-243 policy $policy orphanDependents $orphan default $byDefault on [$finalizers] $life',
    ({ policy, orphan, finalizers, byDefault, life }) => {
      const options: DeleteOptions = {
        ...(policy === undefined ? {} : { propagationPolicy: policy }),
        ...(orphan === undefined ? {} : { orphanDependents: orphan }),
      };
      const metadata = { ...life, ...(finalizers.length === 0 ? {} : { finalizers }) };
      const decision = decideThing(metadata, options, byDefault);
      if (policy !== undefined && orphan !== undefined) {
        expect(decision).toMatchObject({ outcome: 'refuse', reason: 'invalidOptions' });
        return;
      }
      const next = nextFinalizers({ finalizers, options, defaultPropagation: byDefault });
      if (next.length === 0) {
        expect(decision.outcome).toBe('remove');
        expect(stateOf(decision)).toEqual({ ...thing().metadata, ...metadata });
        return;
      }
      const wasTerminating = life.deletionTimestamp !== undefined;
      expect(decision.outcome).toBe(wasTerminating && next === finalizers ? 'unchanged' : 'update');
      const state = stateOf(decision);
      expect(state.finalizers).toEqual(next);
      expect(state.deletionGracePeriodSeconds).toBe(0);
      expect(state.deletionTimestamp).toBe(wasTerminating ? EARLIER_TEXT : NOW_TEXT);
      expect(state.generation).toBe(life.generation === 5 ? 6 : life.generation);
    },
  );
});

interface PodRow {
  readonly rule: string;
  readonly shape?: PodShape;
  readonly metadata?: Partial<ObjectMeta>;
  readonly options?: DeleteOptions;
  readonly want: {
    readonly outcome: DeleteDecision['outcome'];
    readonly reason: DeleteReason;
    readonly meta: Partial<ObjectMeta>;
  };
}

const at = (offsetSeconds: number): string => formatTime(NOW + offsetSeconds * 1000);
const shuttingDown = (deadline: number, seconds: number): Partial<ObjectMeta> => ({
  deletionTimestamp: at(deadline),
  deletionGracePeriodSeconds: seconds,
  generation: 2,
});

const podRows: readonly PodRow[] = [
  {
    rule: 'API-311 a running pod gets its own grace period, into the future',
    want: { outcome: 'update', reason: 'gracePeriodStarted', meta: shuttingDown(30, 30) },
  },
  {
    rule: 'API-311 a period that a Go duration cannot hold wraps, and the deletion stays possible',
    shape: { terminationGracePeriodSeconds: 9223372036854775807n },
    want: {
      outcome: 'update',
      reason: 'gracePeriodStarted',
      meta: { ...shuttingDown(0, Number.MAX_SAFE_INTEGER), deletionTimestamp: at(0) },
    },
  },
  {
    rule: 'API-310 the option wins over the spec',
    options: { gracePeriodSeconds: 5 },
    want: { outcome: 'update', reason: 'gracePeriodStarted', meta: shuttingDown(5, 5) },
  },
  {
    rule: 'API-255 a negative option counts as 1',
    options: { gracePeriodSeconds: -7 },
    want: { outcome: 'update', reason: 'gracePeriodStarted', meta: shuttingDown(1, 1) },
  },
  {
    rule: 'API-310 a negative spec counts as 1',
    shape: { terminationGracePeriodSeconds: -7 },
    want: { outcome: 'update', reason: 'gracePeriodStarted', meta: shuttingDown(1, 1) },
  },
  {
    rule: 'API-310 never scheduled: at once',
    shape: { nodeName: '' },
    options: { gracePeriodSeconds: 30 },
    want: { outcome: 'remove', reason: 'gracePeriodZero', meta: shuttingDown(0, 0) },
  },
  {
    rule: 'API-310 succeeded: at once',
    shape: { phase: 'Succeeded' },
    want: { outcome: 'remove', reason: 'gracePeriodZero', meta: shuttingDown(0, 0) },
  },
  {
    rule: 'API-310 failed: at once',
    shape: { phase: 'Failed' },
    want: { outcome: 'remove', reason: 'gracePeriodZero', meta: shuttingDown(0, 0) },
  },
  {
    rule: 'API-312 grace 0 without finalizers: removed now',
    options: { gracePeriodSeconds: 0 },
    want: { outcome: 'remove', reason: 'gracePeriodZero', meta: shuttingDown(0, 0) },
  },
  {
    rule: 'API-312 grace 0 with finalizers: stays',
    metadata: { finalizers: ['a.io/x'] },
    options: { gracePeriodSeconds: 0 },
    want: {
      outcome: 'update',
      reason: 'gracePeriodWaived',
      meta: { finalizers: ['a.io/x'], ...shuttingDown(0, 0) },
    },
  },
  {
    rule: 'API-244 the policy works together with grace',
    options: { propagationPolicy: 'Foreground' },
    want: {
      outcome: 'update',
      reason: 'gracePeriodStarted',
      meta: { finalizers: ['foregroundDeletion'], ...shuttingDown(30, 30) },
    },
  },
  {
    rule: 'API-257 a graceful pod that drops the finalizer is shown without it',
    metadata: { finalizers: ['orphan'] },
    options: { gracePeriodSeconds: 0, propagationPolicy: 'Background', dryRun: ['All'] },
    want: { outcome: 'remove', reason: 'gracePeriodZero', meta: shuttingDown(0, 0) },
  },
  {
    rule: 'API-253 again without a grace period: nothing, not even the policy',
    metadata: shuttingDown(20, 30),
    options: { propagationPolicy: 'Foreground' },
    want: { outcome: 'unchanged', reason: 'gracePeriodNotShorter', meta: shuttingDown(20, 30) },
  },
  {
    rule: 'API-253 again with the same grace period: nothing',
    metadata: shuttingDown(20, 30),
    options: { gracePeriodSeconds: 30 },
    want: { outcome: 'unchanged', reason: 'gracePeriodNotShorter', meta: shuttingDown(20, 30) },
  },
  {
    rule: 'API-253 again with a longer grace period: nothing',
    metadata: shuttingDown(20, 30),
    options: { gracePeriodSeconds: 60 },
    want: { outcome: 'unchanged', reason: 'gracePeriodNotShorter', meta: shuttingDown(20, 30) },
  },
  {
    rule: 'API-313 shorter: the deadline moves by the difference',
    metadata: shuttingDown(20, 30),
    options: { gracePeriodSeconds: 15 },
    want: { outcome: 'update', reason: 'gracePeriodShortened', meta: shuttingDown(5, 15) },
  },
  {
    rule: 'API-313 shorter than what is over already: now, and 1 second',
    metadata: shuttingDown(20, 30),
    options: { gracePeriodSeconds: 5 },
    want: { outcome: 'update', reason: 'gracePeriodShortened', meta: shuttingDown(0, 1) },
  },
  {
    rule: 'API-312 the kubelet is done: grace 0 removes',
    metadata: shuttingDown(20, 30),
    options: { gracePeriodSeconds: 0 },
    want: { outcome: 'remove', reason: 'gracePeriodZero', meta: shuttingDown(0, 0) },
  },
  {
    rule: 'API-312 the kubelet is done, a finalizer holds it: grace 0, no second bump',
    metadata: { finalizers: ['a.io/x'], ...shuttingDown(20, 30) },
    options: { gracePeriodSeconds: 0 },
    want: {
      outcome: 'update',
      reason: 'gracePeriodWaived',
      meta: { finalizers: ['a.io/x'], ...shuttingDown(0, 0) },
    },
  },
  {
    rule: 'API-255 a negative stored grace period counts as 1',
    metadata: shuttingDown(20, -4),
    options: { gracePeriodSeconds: 1 },
    want: { outcome: 'unchanged', reason: 'gracePeriodNotShorter', meta: shuttingDown(20, -4) },
  },
  {
    rule: 'API-250 terminating with grace 0 and no finalizers: removed',
    metadata: shuttingDown(-5, 0),
    want: { outcome: 'remove', reason: 'noFinalizers', meta: shuttingDown(-5, 0) },
  },
  {
    rule: 'API-252 terminating with grace 0: the policy may switch',
    metadata: { finalizers: ['a.io/x'], ...shuttingDown(-5, 0) },
    options: { propagationPolicy: 'Orphan', gracePeriodSeconds: 60 },
    want: {
      outcome: 'update',
      reason: 'policySwitched',
      meta: { finalizers: ['a.io/x', 'orphan'], ...shuttingDown(-5, 0) },
    },
  },
];

describe('pods', () => {
  it.each(podRows)('$rule', ({ shape = {}, metadata = {}, options, want }) => {
    const decision = decidePod(shape, metadata, options);
    expect(decision.outcome).toBe(want.outcome);
    expect(decision.reason).toBe(want.reason);
    expect(stateOf(decision)).toEqual({ ...pod().metadata, ...want.meta });
    if (decision.outcome === 'remove') expect(decision.answer).toBe('removedObject');
  });
});

describe('on the very second', () => {
  const now = Math.floor(NOW / 1000) * 1000;

  it('API-249 a deletionTimestamp of now is not in the future', () => {
    const object = thing({ finalizers: ['a.io/x'], deletionTimestamp: formatTime(now), deletionGracePeriodSeconds: 0 });
    expect(decideDelete({ object, options: {}, resource: resourceInfo(), now })).toMatchObject({
      outcome: 'unchanged',
    });
  });

  it('API-313 a deadline that moves to exactly now keeps the grace period asked for', () => {
    const metadata = { deletionTimestamp: formatTime(now + 20_000), deletionGracePeriodSeconds: 30 };
    const object = pod({}, metadata);
    const options = { gracePeriodSeconds: 10 };
    expect(decideDelete({ object, options, resource: PODS, grace: podGrace, now })).toMatchObject({
      outcome: 'update',
      object: { metadata: { deletionTimestamp: formatTime(now), deletionGracePeriodSeconds: 10 } },
    });
  });
});

describe('properties', () => {
  const finalizer = fc.constantFrom('orphan', 'foregroundDeletion', 'a.io/x', 'b.io/y');
  const optionsArbitrary: fc.Arbitrary<DeleteOptions> = fc.oneof(
    fc.record(
      {
        propagationPolicy: fc.constantFrom('Background', 'Foreground', 'Orphan'),
        gracePeriodSeconds: fc.integer({ min: -2, max: 40 }),
        dryRun: fc.constant<string[]>(['All']),
      },
      { requiredKeys: [] },
    ),
    fc.record(
      { orphanDependents: fc.boolean(), gracePeriodSeconds: fc.integer({ min: -2, max: 40 }) },
      { requiredKeys: [] },
    ),
  );
  const metadataArbitrary: fc.Arbitrary<Partial<ObjectMeta>> = fc.record(
    {
      finalizers: fc.array(finalizer, { maxLength: 4 }),
      generation: fc.integer({ min: 0, max: 9 }),
      deletionTimestamp: fc.integer({ min: -60, max: 60 }).map(at),
      deletionGracePeriodSeconds: fc.integer({ min: 0, max: 40 }),
    },
    { requiredKeys: [] },
  );
  const caseArbitrary = fc.record({
    graceful: fc.boolean(),
    metadata: metadataArbitrary,
    options: optionsArbitrary,
    defaultPropagation: fc.constantFrom<DefaultPropagation>('Background', 'Orphan', 'Unsupported'),
    later: fc.integer({ min: 0, max: 90 }),
  });
  type Case = typeof caseArbitrary extends fc.Arbitrary<infer T> ? T : never;

  function decide(given: Case, object: KubeObject, laterSeconds = 0): DeleteDecision {
    return decideDelete({
      object: deepFreeze(object),
      options: given.options,
      resource: resourceInfo({ defaultPropagation: given.defaultPropagation }),
      ...(given.graceful ? { grace: podGrace } : {}),
      now: NOW + laterSeconds * 1000,
    });
  }

  function start(given: Case): KubeObject {
    return given.graceful ? pod({}, given.metadata) : thing(given.metadata);
  }

  const foreign = (meta: Partial<ObjectMeta>): readonly string[] =>
    (meta.finalizers ?? []).filter((name) => !isGarbageCollectionFinalizer(name));

  it('API-244 never adds or drops a foreign finalizer, and never removes what one holds', () => {
    fc.assert(
      fc.property(caseArbitrary, (given) => {
        const decision = decide(given, start(given));
        expect(foreign(stateOf(decision))).toEqual(foreign(given.metadata));
        if (foreign(given.metadata).length > 0) expect(decision.outcome).not.toBe('remove');
      }),
    );
  });

  it('API-252 the same DELETE at the same time again changes nothing', () => {
    fc.assert(
      fc.property(caseArbitrary, (given) => {
        const once = decide(given, start(given));
        if (once.outcome !== 'update') return;
        // If the clock went back, a DELETE with grace 0 leaves a deletion time in the future, and the next DELETE sets it to now.
        const ahead = Date.parse(once.object.metadata?.deletionTimestamp ?? '') > NOW;
        if (ahead && once.object.metadata?.deletionGracePeriodSeconds === 0) return;
        expect(decide(given, once.object).outcome).toBe('unchanged');
      }),
    );
  });

  it('API-252 terminating never goes back, whatever is asked next', () => {
    fc.assert(
      fc.property(caseArbitrary, optionsArbitrary, (given, options) => {
        const once = decide(given, start(given));
        if (once.outcome === 'refuse' || once.outcome === 'remove') return;
        expect(once.object.metadata?.deletionTimestamp).toBeTruthy();
        const twice = decide({ ...given, options }, once.object, given.later);
        if (twice.outcome === 'update') expect(twice.object.metadata?.deletionTimestamp).toBeTruthy();
      }),
    );
  });

  it('API-249, API-313 an existing deletionTimestamp never moves later', () => {
    fc.assert(
      fc.property(caseArbitrary, (given) => {
        const before = given.metadata.deletionTimestamp;
        if (typeof before !== 'string') return;
        const after = stateOf(decide(given, start(given), given.later)).deletionTimestamp;
        // A graceful deadline in the past is set to now, never later.
        const limit = given.graceful ? Math.max(parseTime(before)!, NOW + given.later * 1000) : parseTime(before)!;
        expect(parseTime(after ?? '')).toBeLessThanOrEqual(limit);
      }),
    );
  });

  it('API-075 LIFE-500 the generation rises by one exactly when a kept object starts to terminate', () => {
    fc.assert(
      fc.property(caseArbitrary, (given) => {
        const decision = decide(given, start(given));
        if (decision.outcome !== 'update') return;
        const before = start(given).metadata?.generation ?? 0;
        const starts = given.metadata.deletionTimestamp === undefined && before > 0;
        expect(stateOf(decision).generation ?? 0).toBe(starts ? before + 1 : before);
      }),
    );
  });

  it('API-257 a dry run decides as the real request does', () => {
    fc.assert(
      fc.property(caseArbitrary, (given) => {
        const dry = decide({ ...given, options: { ...given.options, dryRun: ['All'] } }, start(given));
        const { dryRun: _, ...options } = given.options;
        const real = decide({ ...given, options }, start(given));
        expect(dry.outcome).toBe(real.outcome);
        expect(dry.reason).toBe(real.reason);
        expect(stateOf(dry)).toEqual(stateOf(real));
      }),
    );
  });
});
