import { describe, expect, it } from 'vitest';
import { AfterTurn } from './after-turn.ts';
import { FakeClock } from './fake-clock.ts';

describe('AfterTurn', () => {
  function started() {
    const clock = new FakeClock();
    const done: string[] = [];
    return { clock, done, afterTurn: new AfterTurn(clock) };
  }

  it('does what was added when the turn is over, in order, once', () => {
    const { clock, done, afterTurn } = started();
    afterTurn.add(() => done.push('a'));
    afterTurn.add(() => done.push('b'));
    expect(done).toEqual([]);
    clock.runDeferred();
    expect(done).toEqual(['a', 'b']);
    clock.runDeferred();
    expect(done).toEqual(['a', 'b']);
  });

  it('does it sooner when asked, and nothing of it again at the end of the turn', () => {
    const { clock, done, afterTurn } = started();
    afterTurn.add(() => done.push('a'));
    afterTurn.run();
    expect(done).toEqual(['a']);
    afterTurn.add(() => done.push('b'));
    clock.runDeferred();
    expect(done).toEqual(['a', 'b']);
  });

  it('leaves what the work adds to the next turn', () => {
    const { clock, done, afterTurn } = started();
    afterTurn.add(() => {
      done.push('a');
      afterTurn.add(() => done.push('later'));
    });
    afterTurn.run();
    expect(done).toEqual(['a']);
    clock.runDeferred();
    expect(done).toEqual(['a', 'later']);
  });
});
