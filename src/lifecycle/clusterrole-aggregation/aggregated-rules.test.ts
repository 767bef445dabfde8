import { describe, expect, it } from 'vitest';
import { aggregateRules } from './aggregated-rules.ts';

const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
const role = (name: string, labels: Record<string, string>, ...resources: string[]) => ({
  metadata: { name, labels },
  rules: resources.map(rule),
});
const selecting = (...labels: string[]) => ({
  clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: 'true' } })),
});
const sum = { ...role('sum', { x: 'true' }), aggregationRule: selecting('x') };

describe('aggregateRules', () => {
  it.each([
    ['by name', sum, [role('b', { x: 'true' }, 'pods'), role('a', { x: 'true' }, 'nodes')], ['nodes', 'pods']],
    [
      'only matching ones',
      sum,
      [role('a', { x: 'false' }, 'pods'), role('b', {}, 'nodes'), role('c', { x: 'true' }, 'secrets')],
      ['secrets'],
    ],
    [
      'each rule once',
      sum,
      [role('a', { x: 'true' }, 'pods'), role('b', { x: 'true' }, 'pods', 'nodes')],
      ['pods', 'nodes'],
    ],
    [
      'selector by selector',
      { ...sum, aggregationRule: selecting('y', 'x') },
      [role('a', { x: 'true' }, 'pods'), role('b', { y: 'true' }, 'nodes')],
      ['nodes', 'pods'],
    ],
    ['nothing any more', { ...sum, rules: [rule('pods')] }, [], []],
  ])('API-375 %s', (_, aggregating, others, expected) => {
    // The role matches its own selector, but its rules are no part of the result.
    const decision = aggregateRules(aggregating, [aggregating, ...others]);
    expect(decision).toEqual({ verdict: 'apply', reason: 'different', rules: expected.map(rule) });
  });

  it.each([
    ['gone', undefined, 'gone'],
    ['no aggregation', role('a', {}), 'aggregatesNothing'],
    ['the same already', { ...sum, rules: [rule('pods')] }, 'upToDate'],
    ['nothing, as null', { ...sum, rules: null, aggregationRule: {} }, 'upToDate'],
  ])('API-375 does nothing: %s', (_, aggregating, reason) => {
    const others = [role('b', { x: 'true' }, 'pods')];
    expect(aggregateRules(aggregating, others)).toEqual({ verdict: 'nothing', reason });
  });
});
