import { describe, expect, it } from 'vitest';
import type { ContainerState, RuntimeContainer } from '../inventory/runtime.ts';
import { type ContainerPlanFacts, planContainers, stopGraceSeconds } from './container-plan.ts';
import { type ContainerVector, containerVectors } from './container-vectors.fixture.ts';

const MILLISECOND = 1_000_000n;
const states: Readonly<Record<string, ContainerState>> = { '!': 'running', '+': 'created', '?': 'unknown' };

function containersOf(units: ContainerVector['units']): RuntimeContainer[] {
  return Object.entries(units).flatMap(([unit, text]) => {
    const [podUid = '', name = ''] = unit.split('/');
    return text.split(' ').map((each, attempt): RuntimeContainer => {
      const [, id = '', created = '', mark = ''] = /^(\w+)@([\d.]+)(.?)$/.exec(each) ?? [];
      return {
        id,
        sandboxId: '',
        name,
        attempt,
        podUid,
        podName: '',
        podNamespace: '',
        imageId: '',
        reference: '',
        runtimeHandler: '',
        state: states[mark] ?? 'exited',
        createdAt: BigInt(Number(created) * 1000) * MILLISECOND,
        annotations: {},
      };
    });
  });
}

function factsOf(vector: ContainerVector, more: Partial<ContainerPlanFacts> = {}): ContainerPlanFacts {
  const { unknownPods = [], terminatedPods = [] } = vector;
  return {
    containers: containersOf(vector.units),
    pods: {
      ready: vector.sourcesReady ?? true,
      contentShouldBeRemoved: (uid) => unknownPods.includes(uid),
      runtimeShouldBeRemoved: (uid) => unknownPods.includes(uid) || terminatedPods.includes(uid),
    },
    now: 100_000n * MILLISECOND,
    minAge: BigInt(vector.minAge ?? 0) * 1000n * MILLISECOND,
    maxPerPodContainer: vector.perUnit,
    maxContainers: vector.total,
    pressure: vector.pressure ?? false,
    collectForeign: false,
    ...more,
  };
}

const idsOf = (facts: ContainerPlanFacts): string[] => planContainers(facts).map(({ container }) => container.id);
function keptOf(facts: ContainerPlanFacts): string {
  const gone = new Set(idsOf(facts));
  return facts.containers
    .map(({ id }) => id)
    .filter((id) => !gone.has(id))
    .toSorted()
    .join(' ');
}
const vector = (id: string): ContainerVector => containerVectors.find((each) => each.id === id)!;

describe('dead containers', () => {
  it.each(containerVectors)(
    'NODE-081 to NODE-086, NODE-082, 083, 084, 085 $id removes what the kubelet removes, in its order',
    (each) => {
      const facts = factsOf(each);
      expect(idsOf(facts).join(' ')).toBe(each.removed);
      expect(keptOf(facts)).toBe(each.kept);
    },
  );

  it.each(containerVectors)('NODE-221 $id fills every place that the maximum allows', (each) => {
    expect(keptOf(factsOf(each, { useAllPlaces: true }))).toBe(each.keptWithAllPlaces ?? each.kept);
  });

  it('NODE-047 leaves containers of no pod alone unless they are to be collected', () => {
    const foreign: ContainerVector = { id: '', units: { '/a': 'x@0' }, perUnit: 0, total: -1, removed: '', kept: 'x' };
    expect(idsOf(factsOf(foreign))).toEqual([]);
    expect(idsOf(factsOf(foreign, { collectForeign: true }))).toEqual(['x']);
  });

  it('NODE-043 never plans a running container, whatever is known of its pod', () => {
    const running: ContainerVector = {
      id: '',
      units: { 'p1/a': 'x@0!' },
      perUnit: 0,
      total: 0,
      unknownPods: ['p1'],
      removed: '',
      kept: 'x',
    };
    expect(idsOf(factsOf(running, { pressure: true, collectForeign: true }))).toEqual([]);
  });

  it('NODE-044, 222 counts the minimum age from the creation, or from the end where that is wanted', () => {
    const each = vector('CT-17');
    expect(idsOf(factsOf(each, { finishedAt: new Map([['x', 90_000n * MILLISECOND]]) }))).toEqual([]);
    expect(idsOf(factsOf(each))).toEqual(['x']);
  });

  it('NODE-222 removes dead containers above the maximum age in any case', () => {
    expect(idsOf(factsOf(vector('CT-02'), { maxAge: 98_500n * MILLISECOND }))).toEqual(['a0', 'a1']);
  });

  it('NODE-103 keeps the newest dead container of a pod that is terminated but not deleted (CT-20)', () => {
    expect(keptOf(factsOf(vector('CT-20 periodic')))).toBe('a1');
  });

  it('NODE-087 gives a container in an unknown state its grace, never below 2 s', () => {
    const container = 'io.kubernetes.container.terminationGracePeriod';
    const pod = 'io.kubernetes.pod.terminationGracePeriod';
    expect(
      [{}, { [pod]: '30' }, { [pod]: '30', [container]: '7' }, { [pod]: '0' }, { [pod]: 'x' }].map(stopGraceSeconds),
    ).toEqual([2, 30, 7, 2, 2]);
  });
});
