import { describe, expect, it } from 'vitest';
import {
  StoreFullError,
  StoreOutcomeUnknownError,
  StoreTooLargeError,
  StoreUnavailableError,
} from '../storage/store-errors.ts';
import { outcomeOf } from './store-outcome.ts';

describe('what became of a write', () => {
  it.each([
    [new StoreUnavailableError('away'), 'not stored'],
    [new StoreTooLargeError('too large'), 'not stored'],
    // etcd may have applied the write before it noticed the lack of space.
    [new StoreFullError('database space exceeded'), 'unknown'],
    [new StoreOutcomeUnknownError(), 'unknown'],
    [new Error('anything else'), 'unknown'],
  ] as const)('after %s: %s', (error, outcome) => {
    expect(outcomeOf(error)).toBe(outcome);
  });
});
