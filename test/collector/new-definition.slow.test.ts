import { afterEach, expect, it } from 'vitest';
import { refuse } from './faults.ts';
import { configMap, refTo, secret, widget } from './kinds.ts';
import { Rig } from './rig.ts';

let rig: Rig;
afterEach(() => rig.stop());

it.each([1, 6])(
  'COL-048 a definition that answers 429 %s times is watched within a second of the last one, and its dependents go',
  async (refusals) => {
    rig = await Rig.collecting();
    const kubeApiserver = refuse(429, 'TooManyRequests', { details: { retryAfterSeconds: 1 } });
    rig.faults.on({ target: /widgets\?/ }, kubeApiserver, refusals);
    rig.serve(widget);
    const owner = await rig.create(widget, 'owner');
    await rig.create(secret, 'd', { owners: [refTo(owner)] });
    const answers = (): number[] =>
      rig.recorder.all.filter(({ path }) => path.endsWith('widgets')).map(({ status }) => status);
    // The discovery that finds the new resource.
    while (answers().length === 0) await rig.advance(100);
    await rig.advance(refusals * 1000);
    expect(answers()).toEqual([...Array.from({ length: refusals }, () => 429), 200]);
    await rig.delete(widget, 'owner');
    await rig.rest();
    expect(await rig.names(secret)).toEqual([]);
    expect(await rig.names(configMap)).toEqual([]);
  },
);
