import { describe, expect, it } from 'vitest';
import type { Condition } from '../../api/meta/conditions.ts';
import type { Definition, DefinitionNames } from './definition.ts';
import { nextStatus } from './establishing-controller.ts';
import { claimedNames, decideNames } from './naming-controller.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const NONE: DefinitionNames = { plural: '', kind: '' };
const NAMES: DefinitionNames = { plural: 'as', singular: 'a', kind: 'A', listKind: 'AList', shortNames: ['x', 'y'] };

interface State {
  readonly names?: Partial<DefinitionNames>;
  readonly accepted?: DefinitionNames;
  readonly conditions?: readonly Condition[] | null;
  readonly group?: string;
  readonly annotations?: Record<string, string>;
  readonly deletionTimestamp?: string;
}

function definition(state: State = {}): Definition {
  const { names, accepted = NONE, conditions = null, group = 'g.io', annotations = {}, deletionTimestamp } = state;
  return {
    metadata: { name: 'as.g.io', annotations, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) },
    spec: { group, scope: 'Cluster', names: { ...NAMES, ...names }, versions: [] },
    status: { acceptedNames: accepted, conditions, storedVersions: ['v1'] },
  };
}

const accepted: Condition = {
  type: 'NamesAccepted',
  status: 'True',
  reason: 'NoConflicts',
  message: 'no conflicts found',
};

describe('decideNames', () => {
  it.each<[string, readonly DefinitionNames[], string, string, Partial<DefinitionNames>]>([
    ['plural', [{ plural: 'as', kind: 'O' }], 'PluralConflict', '"as" is already in use', { plural: '' }],
    [
      'a plural that is a short name elsewhere',
      [{ plural: 'os', kind: 'O', shortNames: ['as'] }],
      'PluralConflict',
      '"as" is already in use',
      { plural: '' },
    ],
    ['singular', [{ plural: 'a', kind: 'O' }], 'SingularConflict', '"a" is already in use', { singular: '' }],
    [
      'short names',
      [{ plural: 'x', singular: 'y', kind: 'O' }],
      'ShortNamesConflict',
      '["x" is already in use, "y" is already in use]',
      { shortNames: undefined },
    ],
    [
      'one short name',
      [{ plural: 'x', kind: 'O' }],
      'ShortNamesConflict',
      '"x" is already in use',
      { shortNames: undefined },
    ],
    ['kind', [{ plural: 'os', kind: 'A' }], 'KindConflict', '"A" is already in use', { kind: '' }],
    [
      'kind of lists',
      [{ plural: 'os', kind: 'AList' }],
      'ListKindConflict',
      '"AList" is already in use',
      { listKind: '' },
    ],
    [
      'the last of several',
      [{ plural: 'as', kind: 'A' }],
      'KindConflict',
      '"A" is already in use',
      { plural: '', kind: '' },
    ],
  ] as never)('API-453 %s', (_what, others, reason, message, missing) => {
    const decision = decideNames(definition(), claimedNames(others));
    expect(decision?.namesAccepted).toEqual({ type: 'NamesAccepted', status: 'False', reason, message });
    expect(decision?.established).toMatchObject({ status: 'False', reason: 'NotAccepted' });
    const wanted: Record<string, unknown> = { ...NAMES, ...(missing as object) };
    for (const [name, value] of Object.entries(decision?.acceptedNames ?? {}))
      expect([name, value ?? '']).toEqual([name, wanted[name] ?? '']);
    expect(decision?.acceptedNames.shortNames).toEqual(wanted['shortNames']);
  });

  it('API-453 its own names are no conflict', () => {
    const own = claimedNames([NAMES]);
    expect(decideNames(definition({ accepted: NAMES }), own)).toBeUndefined();
    const renamed = decideNames(
      definition({ accepted: { ...NAMES, shortNames: ['x'] } }),
      claimedNames([{ ...NAMES, shortNames: ['x'] }]),
    );
    expect(renamed).toMatchObject({ namesAccepted: accepted, acceptedNames: NAMES });
  });

  it('API-453 a known conflict is not reported again', () => {
    const others = claimedNames([{ plural: 'os', kind: 'A' }]);
    const first = decideNames(definition(), others)!;
    const state = { accepted: first.acceptedNames, conditions: [first.namesAccepted, first.established] };
    expect(decideNames(definition(state), others)).toBeUndefined();
    expect(decideNames(definition(state), claimedNames([]))?.established).toMatchObject({
      status: 'False',
      reason: 'Installing',
    });
  });

  it('API-453 what is established stays so when new names are in conflict', () => {
    const established: Condition = { type: 'Established', status: 'True' };
    const decision = decideNames(
      definition({ accepted: { ...NAMES, shortNames: [] }, conditions: [accepted, established] }),
      claimedNames([{ plural: 'x', kind: 'O' }]),
    );
    expect(decision).toMatchObject({ namesAccepted: { status: 'False' }, established });
  });
});

describe('nextStatus', () => {
  const nobody = claimedNames([]);

  it('API-453 names, then established, then nothing', () => {
    const first = nextStatus(definition(), nobody, NOW);
    expect(first?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'False', 'Installing'],
    ]);
    const second = nextStatus({ ...definition(), status: first! }, nobody, NOW);
    expect(second?.conditions?.[1]).toEqual({
      type: 'Established',
      status: 'True',
      lastTransitionTime: '2026-01-02T03:04:05Z',
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    });
    expect(nextStatus({ ...definition(), status: second! }, nobody, NOW)).toBeUndefined();
  });

  it('API-456 what is being deleted is not established any more', () => {
    const first = nextStatus(definition(), nobody, NOW)!;
    const deleting = definition({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(nextStatus({ ...deleting, status: first }, nobody, NOW)).toBeUndefined();
  });

  it.each([
    ['https://github.com/x/y', 'True', 'ApprovedAnnotation', 'approved in https://github.com/x/y'],
    ['unapproved, a test', 'False', 'UnapprovedAnnotation', 'not approved: "unapproved, a test"'],
  ])('API-452 approval %s is told, and kept up to date', (text, status, reason, message) => {
    const state = { group: 'a.k8s.io', annotations: { 'api-approved.kubernetes.io': text } };
    const first = nextStatus(definition(state), nobody, NOW)!;
    expect(first.conditions?.find(({ type }) => type === 'KubernetesAPIApprovalPolicyConformant')).toMatchObject({
      status,
      reason,
      message,
    });
    const done = nextStatus({ ...definition(state), status: first }, nobody, NOW)!;
    expect(nextStatus({ ...definition(state), status: done }, nobody, NOW)).toBeUndefined();
    const removed = nextStatus({ ...definition({ ...state, annotations: {} }), status: done }, nobody, NOW);
    expect(removed?.conditions?.find(({ type }) => type === 'KubernetesAPIApprovalPolicyConformant')).toMatchObject({
      status: 'False',
      reason: 'MissingAnnotation',
    });
  });
});
