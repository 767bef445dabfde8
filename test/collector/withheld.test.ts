import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explainDecision } from '../../src/cli/collect/explain-decision.ts';
import type { CarriedOut } from '../../src/collector/workers/decision.ts';
import { configMap, refTo, refToNothing, secret } from './kinds.ts';
import { Rig } from './rig.ts';

/** A collector that only observes: `kubegc collect --mode observe`. */
let rig: Rig;
let decisions: CarriedOut[];
beforeEach(async () => {
  rig = await Rig.start();
  decisions = [];
  const onDecision = (decision: CarriedOut): void => void decisions.push(decision);
  await rig.startCollector({ writes: 'withheld', onDecision });
});
afterEach(() => rig.stop());

const wouldAll = (): unknown[] =>
  decisions.map((decision) => explainDecision(decision).fields['would']).filter((would) => would !== undefined);
const writesSent = (): readonly string[] => rig.recorder.lines.filter((line) => !line.startsWith('GET '));

describe('a collector that only observes', () => {
  it('says that it would delete garbage, sends nothing, and comes to rest', async () => {
    await rig.create(secret, 'garbage', { owners: [refToNothing(configMap, 'never-was')] });
    await rig.rest();
    expect(wouldAll()).toEqual(['delete (Background)']);
    expect(await rig.names(secret)).toEqual(['garbage']);
    expect(writesSent()).toEqual([]);
  });

  it('says what it would do with dependents and owner of each policy', async () => {
    for (const policy of ['Foreground', 'Orphan'] as const) {
      const owner = await rig.create(configMap, policy.toLowerCase());
      await rig.create(secret, `of-${policy.toLowerCase()}`, { owners: [refTo(owner, { block: true })] });
      await rig.delete(configMap, policy.toLowerCase(), policy);
    }
    await rig.rest();
    expect(wouldAll()).toContain('delete (Background)');
    expect(wouldAll()).toContain('remove finalizer orphan');
    expect(await rig.names(configMap)).toEqual(['foreground', 'orphan']);
    expect(writesSent()).toEqual([]);
  });

  it('decides anew when another collector has done the work', async () => {
    const owner = await rig.create(configMap, 'owner');
    await rig.create(secret, 'dependent', { owners: [refTo(owner)] });
    await rig.delete(configMap, 'owner');
    await rig.rest();
    await rig.delete(secret, 'dependent');
    await rig.rest();
    expect(wouldAll()).toEqual(['delete (Background)']);
    expect(await rig.names(secret)).toEqual([]);
  });
});
