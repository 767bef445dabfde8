import { describe, expect, it } from 'vitest';
import { FakeClock } from '../base/time/fake-clock.ts';
import { silentLogger } from '../base/logs/logger.ts';
import { inProcessTransport } from '../client/http/in-process-transport.ts';
import { RestClient } from '../client/rest/rest-client.ts';
import { MonitorIntake } from './monitor-intake.ts';
import type { OfferedResource } from './resources/deletable-resources.ts';
import type { MonitorEvent } from './types/monitor-event.ts';

const offered = (group: string, resource: string): OfferedResource => ({
  group,
  version: 'v1',
  resource,
  kind: resource,
  namespaced: false,
  verbs: [],
});
const secrets = offered('', 'secrets');

function setUp() {
  const clock = new FakeClock();
  const done: string[] = [];
  const transport = inProcessTransport(() => Promise.reject(new Error('away')));
  const intake = new MonitorIntake({
    client: new RestClient({ transport, clock, userAgent: 'test' }),
    clock,
    logger: silentLogger,
    writer: {
      lookAgain: () => void done.push('lookAgain'),
      touched: () => void done.push('touched'),
      wakeAll: () => void done.push('wakeAll'),
    },
    lists: { listed: () => void done.push('listed') },
    outages: {
      watchFailed: (_, scope) => void done.push(`watchFailed ${scope}`),
      watchBroke: (_, error) => void done.push(`watchBroke ${error.message}`),
      watchRecovered: () => void done.push('watchRecovered'),
      historyReset: (_, evidence) => void done.push(`historyReset ${evidence}`),
    },
    resourceSync: () => ({ sooner: (reason) => void done.push(`discovery ${reason}`) }),
  });
  return { clock, done, intake };
}

describe('MonitorIntake', () => {
  it.each<{ readonly event: MonitorEvent; readonly passed: readonly string[] }>([
    { event: { type: 'listed' }, passed: ['listed'] },
    { event: { type: 'outage', scope: 'beside' }, passed: ['watchFailed beside'] },
    { event: { type: 'recovered' }, passed: ['watchRecovered'] },
    { event: { type: 'historyReset', evidence: 'deletionTakenBack' }, passed: ['historyReset deletionTakenBack'] },
    { event: { type: 'changed' }, passed: [] },
    { event: { type: 'synced' }, passed: [] },
    { event: { type: 'answered' }, passed: [] },
  ])('passes $event.type of a Secret on to whoever it is for', ({ event, passed }) => {
    const { intake, done } = setUp();
    intake.of(secrets)(event);
    expect(done).toEqual(passed);
  });

  it('BETTER-3 BETTER-8 reads discovery after a change of a definition, and wakes the waiting keys once a second later', () => {
    const { intake, done, clock } = setUp();
    const take = intake.of(offered('apiextensions.k8s.io', 'customresourcedefinitions'));
    take({ type: 'changed' });
    take({ type: 'changed' });
    expect(done).toEqual(['discovery definitionChanged', 'discovery definitionChanged']);
    clock.advance(1000);
    expect(done.slice(2)).toEqual(['wakeAll']);
  });

  it('BETTER-8 wakes the waiting keys after a change of a webhook, and does not read discovery again', () => {
    const { intake, done, clock } = setUp();
    intake.of(offered('admissionregistration.k8s.io', 'validatingwebhookconfigurations'))({ type: 'changed' });
    clock.advance(1000);
    expect(done).toEqual(['wakeAll']);
  });

  it('COL-111 asks for the version of kube-apiserver after its watch resumed, and of no other server', () => {
    const { intake, clock } = setUp();
    intake.of(offered('example.com', 'widgets'))({ type: 'resumed', version: 7 });
    expect(clock.pendingTimers).toBe(0);
    const take = intake.of(secrets);
    take({ type: 'resumed', version: 7 });
    expect(clock.pendingTimers).toBe(1);
    take({ type: 'stopped' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves no timer behind when it is stopped', async () => {
    const { intake, clock } = setUp();
    intake.of(secrets)({ type: 'resumed', version: 7 });
    intake.of(secrets)({ type: 'failed', error: new Error('no') });
    intake.of(offered('apiextensions.k8s.io', 'customresourcedefinitions'))({ type: 'changed' });
    await intake.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
