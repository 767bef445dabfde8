import { describe, expect, it } from 'vitest';
import { StatusError, newBadRequest } from '../status-error.ts';
import {
  type DeleteOptions,
  deleteOptionsFromBody,
  deleteOptionsFromQuery,
  isDryRun,
  validateDeleteOptions,
} from './delete-options.ts';

describe('validateDeleteOptions', () => {
  const valid: readonly DeleteOptions[] = [
    {},
    { propagationPolicy: 'Background' },
    { propagationPolicy: 'Foreground' },
    { propagationPolicy: 'Orphan' },
    { orphanDependents: true },
    { dryRun: ['All'], gracePeriodSeconds: -5 },
    { dryRun: ['All', 'All'] },
  ];
  it.each(valid)('API-241 lets %o pass', (options) => {
    expect(validateDeleteOptions(options)).toBeUndefined();
  });

  it.each([
    [
      'API-241 both forms of the policy',
      { propagationPolicy: 'Orphan', orphanDependents: false },
      'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ],
    [
      'API-241 an unknown policy',
      { propagationPolicy: 'x' },
      'propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      'API-241 an empty policy',
      { propagationPolicy: '' },
      'propagationPolicy: Unsupported value: "": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      'API-236 an unknown dry run',
      { dryRun: ['All', 'Some'] },
      'dryRun: Unsupported value: ["All","Some"]: supported values: "All"',
    ],
  ])('%s', (_, options, text) => {
    const error = validateDeleteOptions(options);
    expect(error?.code).toBe(422);
    expect(error?.message).toBe(`DeleteOptions.meta.k8s.io "" is invalid: ${text}`);
    expect(error?.details).toMatchObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' });
  });

  it('API-241 reports everything at once', () => {
    const error = validateDeleteOptions({ propagationPolicy: 'x', orphanDependents: true, dryRun: ['no'] });
    expect(error?.details.causes?.map((cause) => cause.field)).toEqual([
      'propagationPolicy',
      'propagationPolicy',
      'dryRun',
    ]);
  });
});

describe('deleteOptionsFromQuery', () => {
  it.each<[string, DeleteOptions]>([
    ['', {}],
    ['gracePeriodSeconds=5', { gracePeriodSeconds: 5 }],
    ['gracePeriodSeconds=-1', { gracePeriodSeconds: -1 }],
    ['propagationPolicy=Orphan', { propagationPolicy: 'Orphan' }],
    ['propagationPolicy=', { propagationPolicy: '' }],
    ['orphanDependents=false', { orphanDependents: false }],
    ['orphanDependents=0', { orphanDependents: false }],
    ['orphanDependents=FALSE', { orphanDependents: false }],
    ['orphanDependents=maybe', { orphanDependents: true }],
    ['orphanDependents=', { orphanDependents: true }],
    ['dryRun=All', { dryRun: ['All'] }],
    ['dryRun=All&dryRun=x', { dryRun: ['All', 'x'] }],
    ['uid=u&resourceVersion=7', { preconditions: { uid: 'u', resourceVersion: '7' } }],
    ['uid=u&resourceVersion=', { preconditions: { uid: 'u' } }],
    ['resourceVersion=7', { preconditions: { resourceVersion: '7' } }],
    ['uid=', {}],
    ['unknown=1', {}],
  ])('API-240 ?%s', (query, want) => {
    expect(deleteOptionsFromQuery(new URLSearchParams(query))).toEqual(want);
  });

  it.each(['abc', '', '1.5', '9223372036854775808'])('API-016 gracePeriodSeconds=%s is a 400', (text) => {
    const query = new URLSearchParams({ gracePeriodSeconds: text });
    expect(() => deleteOptionsFromQuery(query)).toThrow(StatusError);
    expect(() => deleteOptionsFromQuery(query)).toThrow(`strconv.ParseInt: parsing "${text}"`);
  });
});

describe('deleteOptionsFromBody', () => {
  it('API-240 reads every field; null and unknown ones count as absent', () => {
    expect(
      deleteOptionsFromBody({
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        gracePeriodSeconds: 0,
        propagationPolicy: 'Background',
        orphanDependents: null,
        preconditions: { uid: 'u', resourceVersion: null, other: 1 },
        dryRun: ['All'],
        ignoreStoreReadErrorWithClusterBreakingPotential: true,
      }),
    ).toEqual({
      gracePeriodSeconds: 0,
      propagationPolicy: 'Background',
      preconditions: { uid: 'u' },
      dryRun: ['All'],
      ignoreStoreReadErrorWithClusterBreakingPotential: true,
    });
    expect(deleteOptionsFromBody({})).toEqual({});
    expect(deleteOptionsFromBody({ preconditions: { uid: '' } })).toEqual({ preconditions: { uid: '' } });
  });

  it.each([
    [[], 'json: cannot unmarshal array into Go value of type v1.DeleteOptions'],
    ['x', 'json: cannot unmarshal string into Go value of type v1.DeleteOptions'],
    [{ kind: 'Pod' }, 'decoded object cannot be converted to DeleteOptions'],
    [
      { gracePeriodSeconds: '5' },
      'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      { gracePeriodSeconds: 1.5 },
      'json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    ],
    [
      { orphanDependents: 'true' },
      'json: cannot unmarshal string into Go struct field DeleteOptions.orphanDependents of type bool',
    ],
    [{ dryRun: 'All' }, 'json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string'],
    [{ dryRun: [true] }, 'json: cannot unmarshal bool into Go struct field DeleteOptions.dryRun of type string'],
    [
      { preconditions: [] },
      'json: cannot unmarshal array into Go struct field DeleteOptions.preconditions of type v1.Preconditions',
    ],
    [
      { preconditions: { uid: 5 } },
      'json: cannot unmarshal number into Go struct field DeleteOptions.preconditions.uid of type string',
    ],
  ])('API-240 %o is a 400', (body, message) => {
    expect(() => deleteOptionsFromBody(body)).toThrow(newBadRequest(message));
  });
});

describe('isDryRun', () => {
  it('API-257 any value asks for one', () => {
    expect(isDryRun({})).toBe(false);
    expect(isDryRun({ dryRun: [] })).toBe(false);
    expect(isDryRun({ dryRun: ['All'] })).toBe(true);
  });
});
