import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random/random.ts';
import { CollectorProbe, type ProbeOutcome } from '../../src/cli/collect/collector-probe.ts';
import { answerWith, type Match, pathNotFound, refuse, resetAfter, resetBefore, silence } from './faults.ts';
import { configMap } from './kinds.ts';
import { Recorder } from './recorder.ts';
import { Rig } from './rig.ts';

/** The probe of `kubegc collect --mode auto --probe`, beside a collector or none. */
let rig: Rig;
let sent: Recorder;
let probe: CollectorProbe;
let stop: AbortController;
beforeEach(async () => {
  rig = await Rig.start();
  sent = new Recorder();
  stop = new AbortController();
  const client = rig.clientWith('probe', sent.intercept, rig.faults.intercept);
  probe = new CollectorProbe({ client, clock: rig.clock, random: seededRandom(7), namespace: 'default' });
});
afterEach(() => rig.stop());

async function outcome(): Promise<ProbeOutcome> {
  const running = probe.run(stop.signal);
  running.catch(() => undefined);
  await rig.advance(30_000);
  return rig.wait(running);
}

describe('the probe', () => {
  it('is collected by a collector that runs, soon', async () => {
    await rig.startCollector();
    expect(await outcome()).toEqual({ probe: 'collected', afterMs: 1000 });
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('is kept where none runs, and taken away afterwards', async () => {
    const running = probe.run(stop.signal);
    await rig.advance(5000);
    const [name = ''] = await rig.names(configMap);
    const { metadata } = (await rig.get(configMap, name)) ?? {};
    expect(name).toMatch(/^kubegc-probe-[0-9a-f]{8}$/);
    expect(metadata?.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'kubegc' });
    expect(metadata?.ownerReferences).toEqual([
      { apiVersion: 'v1', kind: 'ConfigMap', name: `${name}-owner`, uid: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    ]);
    await rig.advance(20_000);
    expect(await rig.wait(running)).toEqual({ probe: 'kept', afterMs: 15_000 });
    expect(await rig.names(configMap)).toEqual([]);
    const deletion = sent.all.find(({ method }) => method === 'DELETE');
    expect(deletion?.body).toMatchObject({ preconditions: { uid: metadata?.uid } });
  });

  it('is a question of collecting, not of watching: an observer keeps it', async () => {
    await rig.startCollector({ workers: 'whenLeading' });
    expect(await outcome()).toMatchObject({ probe: 'kept' });
  });

  it('is taken away when the process ends while it is out', async () => {
    const running = probe.run(stop.signal);
    running.catch(() => undefined);
    await rig.advance(3000);
    expect(await rig.names(configMap)).toHaveLength(1);
    stop.abort();
    await rig.advance(1000);
    await expect(rig.wait(running)).rejects.toMatchObject({ name: 'AbortError' });
    expect(await rig.names(configMap)).toEqual([]);
  });

  const creation: Match = { method: 'POST', target: /configmaps/ };
  const look: Match = { method: 'GET', target: /configmaps/ };
  const removal: Match = { method: 'DELETE', target: /configmaps/ };

  it.each([
    { what: 'nobody may create it', fault: refuse(403, 'Forbidden') },
    { what: 'a webhook denies it', fault: refuse(400, '') },
    { what: 'a policy denies it', fault: refuse(422, 'Invalid') },
    { what: 'nothing is created there', fault: refuse(405, 'MethodNotAllowed') },
    {
      what: 'there is no such namespace',
      fault: refuse(404, 'NotFound', { details: { kind: 'namespaces', name: 'default' } }),
    },
  ])('is refused when $what, and then there is nothing to take away', async ({ fault }) => {
    rig.faults.on(creation, fault);
    expect(await outcome()).toMatchObject({ probe: 'refused' });
    expect(sent.all.map(({ method }) => method)).toEqual(['POST']);
  });

  it.each([
    { what: 'the server is away', match: { target: /./ }, fault: resetBefore },
    { what: 'the server does not answer', match: { target: /./ }, fault: silence },
    { what: 'the server has too much to do', match: creation, fault: refuse(429, 'TooManyRequests') },
    { what: 'the server ends', match: creation, fault: refuse(503, 'ServiceUnavailable') },
    { what: 'the server does not know who asks', match: creation, fault: refuse(401, 'Unauthorized') },
    { what: 'a proxy refuses it', match: creation, fault: answerWith(403, 'forbidden') },
    { what: 'a proxy has no such path', match: creation, fault: pathNotFound },
    { what: 'it may not be read', match: look, fault: refuse(403, 'Forbidden') },
    { what: 'a proxy answers', match: look, fault: refuse(404, 'NotFound') },
    { what: 'a look is not answered', match: look, fault: silence },
  ])('tells nothing when $what, and leaves nothing', async ({ match, fault }) => {
    rig.faults.on(match, fault);
    const running = probe.run(stop.signal);
    await rig.advance(30_000);
    rig.faults.clear();
    await rig.advance(30_000);
    expect(await rig.wait(running)).toMatchObject({ probe: 'failed' });
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('whose creation was not answered is taken away too', async () => {
    rig.faults.on(creation, resetAfter);
    expect(await outcome()).toMatchObject({ probe: 'failed' });
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('that cannot be taken away at once is tried again', async () => {
    rig.faults.on(removal, refuse(500, 'InternalError'), 3);
    expect(await outcome()).toMatchObject({ probe: 'kept' });
    expect(await rig.names(configMap)).toEqual([]);
  });

  it('that could not be taken away goes before there is another one', async () => {
    rig.faults.on(look, refuse(500, 'InternalError'));
    rig.faults.on(removal, refuse(500, 'InternalError'));
    expect(await outcome()).toMatchObject({ probe: 'failed' });
    const left = await rig.names(configMap);
    expect(left).toHaveLength(1);
    expect(await outcome()).toMatchObject({ probe: 'failed' });
    expect(await rig.names(configMap)).toEqual(left);
    rig.faults.clear();
    expect(await outcome()).toMatchObject({ probe: 'kept' });
    expect(await rig.names(configMap)).toEqual([]);
  });
});
