import { describe, expect, it } from 'vitest';
import { parseBudgets, readBudgets } from './read-budgets.ts';

describe('budgets of a file', () => {
  it('CAS-071 limit users and groups, per delete and per hour, altogether and by kind', () => {
    const text = `budgets:
  - users: [ann]
    groups: [interns]
    perDelete: 10
    perDeleteOf: {pods: 5, deployments.apps: 1}
    perHour: 100
    perHourOf: {persistentvolumeclaims: 0}
  - perDelete: 1000
`;
    expect(parseBudgets(text)).toEqual([
      {
        users: ['ann'],
        groups: ['interns'],
        perDelete: 10,
        perDeleteOf: { pods: 5, 'deployments.apps': 1 },
        perHour: 100,
        perHourOf: { persistentvolumeclaims: 0 },
      },
      { perDelete: 1000 },
    ]);
  });

  it.each([
    ['[]', 'the document is no mapping'],
    ['budgets: []\nbudgets: []', 'key "budgets" already set in map'],
    ['budgets: 5', '"budgets" is no list'],
    ['budgets: [5]', 'budgets[0] is no mapping'],
    ['budgets: [{perdelete: 5}]', 'budgets[0] has an unknown field "perdelete"'],
    ['budget: []', 'the document has an unknown field "budget"'],
    ['budgets: [{perDelete: 1.5}]', 'budgets[0].perDelete is no whole number'],
    ['budgets: [{users: ann}]', 'budgets[0].users is no list of names'],
    ['budgets: [{groups: []}]', 'budgets[0].groups is no list of names'],
    ['budgets: [{perHourOf: {Pod: 1}}]', 'budgets[0].perHourOf has "Pod", which is no RESOURCE or RESOURCE.GROUP'],
  ])('CAS-071 are refused as a whole when they are wrong: %s', (text, message) => {
    expect(() => parseBudgets(text)).toThrow(message);
  });

  it('CAS-071 name the file that cannot be read', async () => {
    await expect(readBudgets('/nowhere/budgets.yaml')).rejects.toThrow('cannot read the budgets /nowhere/budgets.yaml');
  });
});
