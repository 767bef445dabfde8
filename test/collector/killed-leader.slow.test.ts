import { afterEach, describe, expect, it } from 'vitest';
import { defaultLeaseTimes, type Lease } from '../../src/client/election/leader-election.ts';
import { configMap, namespace, secret } from './kinds.ts';
import { COLLECTORS_LEASE, leases, LedProcess } from './led-process.ts';
import type { Death, Moment } from './mortal-wire.ts';
import { Play } from './play.ts';
import { type Scenario, scenarios } from './scenarios.ts';

/**
 * As `killed.slow.test.ts`, with all other requests of `kubegc collect`: the calls of the election, from the first read of the lease over
 * its renewals to its release, and those that detect another collector. The process is killed at any of them, right before it reaches the
 * server or right after it took effect, and the next process ends the same (COL-214, COL-215).
 */
interface Outcome {
  readonly calls: readonly string[];
  readonly restarts: number;
  readonly left: readonly string[];
  readonly wrong: readonly string[];
  /** The holder of the lease at the end, after the running process was asked to stop: nobody. */
  readonly holder: string | undefined;
  /** How long the second process waited. Undefined without one, or if the first one did not hold the lease when it died. */
  readonly waitedMs: number | undefined;
}

/** Long enough for two renewals. */
const LAST_MS = 5000;

let play: Play | undefined;
let processes: LedProcess[] = [];
afterEach(() => close());

async function close(): Promise<void> {
  const over = play;
  play = undefined;
  if (over === undefined) return;
  await over.rig.wait(Promise.all(processes.map((each) => each.stop())));
  processes = [];
  await over.rig.stop();
}

async function played(scenario: Scenario, probe: string | undefined, death?: Death): Promise<Outcome> {
  await close();
  let heldAt: number | undefined;
  play = await Play.of(scenario, {
    start: async (rig, wire, index) => {
      const lease: Lease | undefined = await rig.get(leases, COLLECTORS_LEASE.name, COLLECTORS_LEASE.namespace);
      if ((lease?.spec?.holderIdentity ?? '') !== '') heldAt = rig.clock.monotonic();
      const process = new LedProcess(rig, { wire, index, probe });
      processes.push(process);
      return process.start();
    },
    serve: [leases],
    lastMs: LAST_MS,
    ...(death === undefined ? {} : { death }),
  });
  const { rig, wire, restarts, left, wrong } = play;
  const lease: Lease | undefined = await rig.get(leases, COLLECTORS_LEASE.name, COLLECTORS_LEASE.namespace);
  const ledSince = processes[1]?.ledSince;
  return {
    calls: wire.calls,
    restarts,
    left,
    wrong,
    holder: lease?.spec?.holderIdentity,
    waitedMs: heldAt === undefined || ledSince === undefined ? undefined : ledSince - heldAt,
  };
}

/** Every call of the undisturbed play, one death each. */
async function killedAtEach(scenario: Scenario, probe: string | undefined, moment: Moment): Promise<Outcome> {
  const undisturbed = await played(scenario, probe);
  expect(undisturbed).toMatchObject({ restarts: 0, left: [...scenario.left].toSorted(), wrong: [], holder: '' });
  for (const [index, call] of undisturbed.calls.entries()) {
    const disturbed = await played(scenario, probe, { call: index, moment });
    const what = `killed ${moment} call ${index}: ${call}`;
    expect(disturbed.calls[index], what).toBe(call);
    expect(disturbed.restarts, what).toBe(1);
    expect(disturbed.left, what).toEqual(undisturbed.left);
    expect(disturbed.wrong, what).toEqual([]);
    expect(disturbed.holder, what).toBe('');
    if (disturbed.waitedMs !== undefined) {
      expect(disturbed.waitedMs, what).toBeGreaterThanOrEqual(defaultLeaseTimes.leaseDurationMs);
    }
  }
  return undisturbed;
}

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

describe.each(scenarios)('$name', (scenario) => {
  it.each<Moment>(['before', 'after'])(
    'COL-211 COL-214 COL-215 COL-217 ends the same when the leader is killed %s any of its calls',
    async (moment) => {
      const { calls } = await killedAtEach(scenario, undefined, moment);
      const election = calls.filter((call) => call.includes(LEASE));
      const own = `${LEASE}/${COLLECTORS_LEASE.name}`;
      // Acquired, renewed, and released.
      expect(election.slice(0, 2)).toEqual([`GET ${own}`, `POST ${LEASE}`]);
      expect(election.slice(2)).toEqual(Array.from({ length: election.length - 2 }, () => `PUT ${own}`));
      expect(election.length).toBeGreaterThanOrEqual(5);
      expect(calls.at(-1)).toBe(`PUT ${own}`);
    },
  );
});

describe('with a probe', () => {
  const scenario: Scenario = {
    name: 'an owner that goes in background',
    serve: [configMap, secret, namespace],
    prepare: async (rig) => {
      const owner = await rig.create(configMap, 'owner');
      const { uid = '' } = owner.metadata ?? {};
      await rig.create(secret, 'child', { owners: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] });
    },
    steps: [(rig) => rig.delete(configMap, 'owner', 'Background')],
    left: [],
  };

  it.each<Moment>(['before', 'after'])(
    'COL-204 COL-214 COL-217 ends the same, and leaves no probe, when the process is killed %s any of its calls',
    async (moment) => {
      const { calls } = await killedAtEach(scenario, 'default', moment);
      const sent = calls.map((call) => call.replace(/kubegc-probe-\w+/, 'PROBE'));
      const probe = '/api/v1/namespaces/default/configmaps';
      const count = (call: string): number => sent.filter((each) => each === call).length;
      expect(count(`GET ${LEASE}/kube-controller-manager`)).toBeGreaterThan(1);
      expect(count(`POST ${probe}`)).toBe(1);
      expect(count(`GET ${probe}/PROBE`)).toBe(15);
      expect(count(`DELETE ${probe}/PROBE`)).toBe(1);
      expect(count(`POST ${LEASE}`)).toBe(1);
    },
  );
});
