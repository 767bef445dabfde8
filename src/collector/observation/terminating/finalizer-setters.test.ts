import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { finalizerSetters } from './finalizer-setters.ts';

const entry = (manager: string, finalizer: string) => ({
  manager,
  operation: 'Apply',
  time: '2026-11-27T12:00:00Z',
  fieldsV1: { 'f:metadata': { 'f:finalizers': { '.': {}, [`v:"${finalizer}"`]: {} } } },
});

it('BETTER-21 finds the manager of each finalizer', () => {
  expect(finalizerSetters(['a/x', 'b/y', 'c/z'], [entry('one', 'a/x'), entry('two', 'b/y')])).toEqual([
    { finalizer: 'a/x', setBy: 'one (Apply at 2026-11-27T12:00:00Z)' },
    { finalizer: 'b/y', setBy: 'two (Apply at 2026-11-27T12:00:00Z)' },
    { finalizer: 'c/z', setBy: undefined },
  ]);
});

it('BETTER-21 takes any JSON value, and passes over what is no entry', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (finalizers, entries) => {
      const found = finalizerSetters(finalizers, [...entries, { fieldsV1: finalizers }]);
      expect(found.every(({ finalizer }) => typeof finalizer === 'string')).toBe(true);
    }),
  );
});
