import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { reasons } from '../../collector/types/reasons.ts';
import { Recorder } from './recorder.ts';

const uid = 'u1';
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default', uid } };
/** The reasons that docs/reasons.md leaves out of the trace. */
const trivial = ['goneFromGraph', 'noOwners', 'virtualEntryOutdated'];
const catalogue = Object.entries(reasons.decided).map(([reason, sentence]) => ({ reason, sentence }));

describe('the recorder', () => {
  it.each(catalogue.filter(({ reason }) => !trivial.includes(reason)))(
    'DESIGN 4 has a line for the decision $reason',
    ({ reason, sentence }) => {
      const recorder = new Recorder(new FakeClock());
      recorder.write({ previous: undefined, next: object, revision: 1 });
      recorder.decision({ uid, reason, sentence });
      expect(recorder.trace().entries).toMatchObject([
        { kind: 'write' },
        { kind: 'decision', object: { name: 'x', uid }, why: sentence },
      ]);
    },
  );

  it.each(trivial)('DESIGN 4 has no line for the decision %s, which the catalogue knows', (reason) => {
    const recorder = new Recorder(new FakeClock());
    recorder.write({ previous: undefined, next: object, revision: 1 });
    recorder.decision({ uid, reason, sentence: 'nothing to decide' });
    expect(recorder.trace().entries).toMatchObject([{ kind: 'write' }]);
    expect(catalogue.map((each) => each.reason)).toContain(reason);
  });
});
