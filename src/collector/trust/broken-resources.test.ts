import { describe, expect, it } from 'vitest';
import { BrokenResources } from './broken-resources.ts';

describe('BrokenResources', () => {
  it('COL-116 takes one refused connection for an outage of the server', () => {
    expect(new BrokenResources().note('secrets', 'away', 0)).toBe(true);
  });

  it('COL-116 takes two resources that break within ten seconds for an outage of the server', () => {
    const broken = new BrokenResources();
    expect(broken.note('secrets', 'broken', 0)).toBe(false);
    expect(broken.note('configmaps', 'broken', 10_000)).toBe(true);
    expect(broken.note('secrets', 'broken', 10_001)).toBe(true);
  });

  it('COL-048 never takes one resource for the server, however often it breaks', () => {
    const broken = new BrokenResources();
    for (let now = 0; now < 60_000; now += 1500) expect(broken.note('widgets', 'broken', now)).toBe(false);
  });

  it('forgets a resource after ten seconds', () => {
    const broken = new BrokenResources();
    expect(broken.note('secrets', 'broken', 0)).toBe(false);
    expect(broken.note('configmaps', 'broken', 10_001)).toBe(false);
    expect(broken.note('secrets', 'broken', 20_001)).toBe(true);
  });
});
