import { describe, expect, it } from 'vitest';
import type { RuntimeContainer, RuntimeSandbox } from '../inventory/runtime.ts';
import { planSandboxes, type SandboxPlanFacts } from './sandbox-plan.ts';

const sandbox = (text: string): RuntimeSandbox => {
  const [, id = '', created = '0', ready = ''] = /^(\w+)@(\d+)(!?)$/.exec(text) ?? [];
  return { id, podUid: 'p', foreign: false, ready: ready === '!', createdAt: BigInt(created), attempt: 0 };
};
const inside = (sandboxId: string) => ({ sandboxId }) as RuntimeContainer;
const unknown = { ready: true, contentShouldBeRemoved: () => true, runtimeShouldBeRemoved: () => true };
const alive = { ready: true, contentShouldBeRemoved: () => false, runtimeShouldBeRemoved: () => false };
const terminated = { ready: true, contentShouldBeRemoved: () => false, runtimeShouldBeRemoved: () => true };

/** Sandboxes with `!` are ready. */
const vectors = [
  { id: 'SB-01', sandboxes: 's1@1 s2@2 s3@3!', inside: [], pods: alive, removed: ['s1', 's2'] },
  { id: 'SB-02', sandboxes: 's1@1 s2@2', inside: [], pods: alive, removed: ['s1'] },
  { id: 'SB-03', sandboxes: 's1@1 s2@2', inside: ['s1'], pods: alive, removed: [] },
  { id: 'SB-04', sandboxes: 's1@1 s2@2!', inside: [], pods: unknown, removed: ['s1'] },
  { id: 'SB-05', sandboxes: 's1@1', inside: [], pods: unknown, removed: ['s1'] },
];

describe('sandboxes', () => {
  const plan = (sandboxes: string, users: readonly string[], more: Partial<SandboxPlanFacts>) =>
    planSandboxes({
      sandboxes: sandboxes.split(' ').map(sandbox),
      containers: users.map(inside),
      pods: alive,
      pressure: false,
      collectForeign: false,
      ...more,
    }).map((each) => `${each.sandbox.id}`);

  it.each(vectors)('NODE-045, 091 $id removes the inactive ones and keeps the newest of a living pod', (vector) => {
    expect(plan(vector.sandboxes, vector.inside, { pods: vector.pods })).toEqual(vector.removed);
  });

  it('NODE-092 gives the place of the newest to one that is ready or has containers as well', () => {
    expect(plan('s1@1 s2@2 s3@3', ['s3'], {})).toEqual(['s1', 's2']);
  });

  it('NODE-091 removes all of a terminated pod under pressure only', () => {
    expect(plan('s1@1 s2@2', [], { pods: terminated })).toEqual(['s1']);
    expect(plan('s1@1 s2@2', [], { pods: terminated, pressure: true })).toEqual(['s1', 's2']);
  });

  it('NODE-047 leaves sandboxes of no pod alone unless they are to be collected', () => {
    const foreign = {
      sandboxes: [
        { ...sandbox('s1@1'), foreign: true },
        { ...sandbox('s2@2'), foreign: true },
      ],
      containers: [],
      pods: alive,
      pressure: false,
    };
    expect(planSandboxes({ ...foreign, collectForeign: false })).toEqual([]);
    expect(planSandboxes({ ...foreign, collectForeign: true }).map((each) => each.sandbox.id)).toEqual(['s1']);
  });

  it('NODE-100 trims the sandboxes of a pod of which nothing is known, but keeps its newest', () => {
    expect(plan('s1@1 s2@2', [], { pods: { ...unknown, ready: false } })).toEqual(['s1']);
  });
});
