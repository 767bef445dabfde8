import { describe, expect, it } from 'vitest';
import { MemoryLogger } from './memory-logger.ts';

describe('MemoryLogger', () => {
  it('keeps the newest lines up to its bound, those of children included', () => {
    const logger = new MemoryLogger({ bound: 2 });
    logger.info('one');
    logger.child({ a: 1 }).child({ b: 2 }).warn('two', { c: 3 });
    logger.error('three');
    expect(logger.lines).toEqual([
      { level: 'warn', message: 'two', fields: { a: 1, b: 2, c: 3 } },
      { level: 'error', message: 'three', fields: {} },
    ]);
  });
});
