import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { type EngineHeap, IdleHeap } from './idle-heap.ts';

const MiB = 1 << 20;

/** A program that computes for a share of each second. */
class Program implements EngineHeap {
  readonly clock = new FakeClock();
  readonly idle = new IdleHeap({ clock: this.clock, heap: this });
  readonly preferred: string[] = [];
  committed = 30 * MiB;
  youngMayGrow = true;
  #cpuMs = 0;

  cpuMs(): number {
    return this.#cpuMs;
  }

  committedBytes(): number {
    return this.committed;
  }

  prefer(what: 'speed' | 'small'): void {
    this.preferred.push(what);
  }

  letYoungGrow(allowed: boolean): void {
    this.youngMayGrow = allowed;
  }

  start(): void {
    this.idle.start();
    expect(this.preferred.splice(0)).toEqual(['speed']);
  }

  run(seconds: number, load: number): void {
    for (let i = 0; i < seconds; i++) {
      this.#cpuMs += load * 1000;
      this.clock.advance(1000);
    }
  }
}

describe('the heap of a program at rest', () => {
  it('is made small once after each burst of work', () => {
    const program = new Program();
    program.start();
    for (let burst = 1; burst <= 2; burst++) {
      program.committed = 150 * MiB;
      program.run(10, 0.9);
      program.run(4, 0.02);
      expect(program.preferred).toHaveLength(2 * burst - 2);
      program.run(1, 0.02);
      expect(program.preferred.at(-1)).toBe('small');
      program.committed = 50 * MiB;
      program.run(12, 0.02);
      expect(program.preferred).toHaveLength(2 * burst);
      expect(program.preferred.at(-1)).toBe('speed');
      program.run(600, 0.02);
      expect(program.preferred).toHaveLength(2 * burst);
    }
  });

  it('is left alone under load, however little, and between pauses shorter than five seconds', () => {
    const program = new Program();
    program.committed = 500 * MiB;
    program.start();
    program.run(100, 0.1);
    for (let i = 0; i < 20; i++) {
      program.run(4, 0);
      program.run(1, 0.3);
    }
    expect(program.preferred).toEqual([]);
  });

  it.each([
    ['there is work again', (program: Program) => program.run(1, 0.6)],
    ['the program ends', (program: Program) => program.idle.stop()],
  ])('is fast again as soon as %s', (_, event) => {
    const program = new Program();
    program.committed = 150 * MiB;
    program.start();
    program.run(6, 0);
    expect(program.preferred).toEqual(['small']);
    // CPU time of the collections alone does not end the preference.
    program.run(1, 0.4);
    expect(program.preferred).toEqual(['small']);
    event(program);
    expect(program.preferred).toEqual(['small', 'speed']);
  });

  it('is left alone when it is small, or was made small before', () => {
    const program = new Program();
    program.start();
    program.run(100, 0);
    expect(program.preferred).toEqual([]);
    program.committed = 150 * MiB;
    program.run(50, 0);
    expect(program.preferred).toEqual(['small', 'speed']);
    program.committed = 200 * MiB;
    program.run(50, 0);
    expect(program.preferred).toEqual(['small', 'speed']);
  });

  it('keeps a small young generation through the start, until there is work', () => {
    const program = new Program();
    program.start();
    program.run(3, 1);
    expect(program.youngMayGrow).toBe(false);
    program.run(100, 0.05);
    expect(program.youngMayGrow).toBe(false);
    program.run(1, 1);
    program.run(1, 0.05);
    expect(program.youngMayGrow).toBe(false);
    // A busy machine gives a server that has much to do only a share of a core.
    program.run(2, 0.2);
    expect(program.youngMayGrow).toBe(true);
    program.run(100, 0);
    expect(program.youngMayGrow).toBe(true);
  });

  it('may have a large young generation when the program has ended', () => {
    const program = new Program();
    program.start();
    expect(program.youngMayGrow).toBe(false);
    program.idle.stop();
    expect(program.youngMayGrow).toBe(true);
  });

  it('is not checked after the program has ended', () => {
    const program = new Program();
    program.start();
    program.idle.start();
    expect(program.clock.pendingTimers).toBe(1);
    program.idle.stop();
    expect(program.clock.pendingTimers).toBe(0);
    expect(program.preferred).toEqual([]);
  });
});
