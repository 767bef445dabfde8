import { describe, expect, it } from 'vitest';
import { newConflict, newForbidden, newNotFound, type StatusError } from '../../api/status-error.ts';
import { FakeClock } from '../../base/time/fake-clock.ts';
import { inProcessTransport } from '../../client/http/in-process-transport.ts';
import { RestClient } from '../../client/rest/rest-client.ts';
import type { SharedCache } from '../kit/shared-informers.ts';
import { Expectations } from './expectations.ts';
import { writeOwnerStatus } from './write-owner-status.ts';

const gvr = { group: 'apps', version: 'v1', resource: 'replicasets' };
const owner = { metadata: { namespace: 'n', name: 'web', uid: 'u', resourceVersion: '5' }, status: { replicas: 2 } };
type Owner = typeof owner;
const at = (resourceVersion: string, uid = 'u') => ({
  ...owner,
  metadata: { ...owner.metadata, resourceVersion, uid },
});
const conflict = newConflict(gvr, 'web');
const gone = newNotFound(gvr, 'web');

/** Writes to a server that answers in this order. The cache shows the owner at version 5 until `show` is called. */
async function write(answers: readonly (object | StatusError)[], onConflict: 'decide-again' | 'write-on-live') {
  const clock = new FakeClock();
  const requests: string[] = [];
  const left = [...answers];
  const handler = ({ method = '', body }: { method?: string; body?: Uint8Array | undefined }) => {
    const sent = body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString()) as Owner);
    requests.push(
      sent === undefined ? method : `${method} ${sent.status.replicas} on ${sent.metadata.resourceVersion}`,
    );
    const next = left.shift()!;
    const [status, value] = 'code' in next ? [next.code as number, (next as StatusError).status] : [200, next];
    const headers = { 'content-type': 'application/json' };
    return Promise.resolve({ status, headers, body: Buffer.from(JSON.stringify(value)) });
  };
  const client = new RestClient({ transport: inProcessTransport(handler), clock, userAgent: 'test' });
  let shown: { resourceVersion: string; object: Owner | undefined } = { resourceVersion: '5', object: owner };
  const cache = {
    get resourceVersion() {
      return shown.resourceVersion;
    },
    get: () => shown.object,
  } as unknown as SharedCache<Owner>;
  const expectations = new Expectations(clock);
  const { signal } = new AbortController();
  const result = await writeOwnerStatus(client, {
    gvr,
    key: 'n/web',
    owner,
    cache,
    expectations,
    onConflict,
    signal,
  });
  const satisfiedAt = (resourceVersion: string, object: Owner | undefined): boolean => {
    shown = { resourceVersion, object };
    return expectations.satisfied('n/web');
  };
  return { result, requests, satisfiedAt };
}

describe('writeOwnerStatus', () => {
  it('LIFE-009 waits for its own write', async () => {
    const { result, requests, satisfiedAt } = await write([at('6')], 'decide-again');
    expect({ result, requests }).toEqual({ result: 'written', requests: ['PUT 2 on 5'] });
    expect([satisfiedAt('5', owner), satisfiedAt('6', at('6'))]).toEqual([false, true]);
  });

  it('LIFE-009 waits for the live state after a conflict, and writes nothing more', async () => {
    const { result, requests, satisfiedAt } = await write([conflict, at('8')], 'decide-again');
    expect({ result, requests }).toEqual({ result: 'changed', requests: ['PUT 2 on 5', 'GET'] });
    expect([satisfiedAt('7', at('7')), satisfiedAt('8', at('8'))]).toEqual([false, true]);
  });

  it('LIFE-266 writes once more on the live state, and no third time', async () => {
    const second = await write([conflict, { ...at('8'), status: { replicas: 1 } }, at('9')], 'write-on-live');
    expect(second).toMatchObject({ result: 'written', requests: ['PUT 2 on 5', 'GET', 'PUT 2 on 8'] });
    expect([second.satisfiedAt('8', at('8')), second.satisfiedAt('9', at('9'))]).toEqual([false, true]);
    const third = await write([conflict, at('8'), conflict], 'write-on-live');
    expect(third).toMatchObject({ result: 'changed', requests: ['PUT 2 on 5', 'GET', 'PUT 2 on 8'] });
    expect([third.satisfiedAt('7', at('7')), third.satisfiedAt('8', at('8'))]).toEqual([false, true]);
  });

  it.each([
    { name: 'the write finds none', answers: [gone] },
    { name: 'the live read finds none', answers: [conflict, gone] },
    { name: 'the live read finds another of its name', answers: [conflict, at('8', 'other')] },
    { name: 'the second write finds none', answers: [conflict, at('8'), gone] },
  ])('LIFE-009 waits for the deletion of an owner that is gone: $name', async ({ answers }) => {
    const { result, requests, satisfiedAt } = await write(answers, 'write-on-live');
    expect(result).toBe('gone');
    expect(requests).toHaveLength(answers.length);
    expect([satisfiedAt('8', at('8')), satisfiedAt('9', at('9', 'other'))]).toEqual([false, true]);
  });

  it.each([
    { name: 'a write', answers: [newForbidden(gvr, 'web', 'policy')] },
    { name: 'a live read', answers: [conflict, newForbidden(gvr, 'web', 'policy')] },
  ])('throws any other refusal of $name', async ({ answers }) => {
    await expect(write(answers, 'decide-again')).rejects.toMatchObject({ status: { reason: 'Forbidden' } });
  });
});
