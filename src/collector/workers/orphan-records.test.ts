import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../base/fake-clock.ts';
import type { HttpRequest } from '../../base/http-message.ts';
import { silentLogger } from '../../base/logger.ts';
import { inProcessTransport } from '../../client/in-process-transport.ts';
import { RestClient } from '../../client/rest-client.ts';
import { OrphanedOwners } from '../graph/orphaned-owners.ts';
import { OrphanRecords } from './orphan-records.ts';

const owner = { kind: 'ConfigMap', namespace: 'ns', name: 'a', uid: 'uid-a' };
const component = 'garbage-collector-controller';
const event = {
  metadata: { name: 'orphaned-uid-a', namespace: 'ns' },
  involvedObject: { apiVersion: 'v1', ...owner },
  reason: 'DependentsOrphaned',
  source: { component },
  reportingComponent: component,
  lastTimestamp: '1970-01-01T00:00:00Z',
};

/** A server whose list of Events has no end; each page takes so long. */
function setUp(pageMs: number) {
  const clock = new FakeClock(0);
  const asked: string[] = [];
  const warnings: unknown[] = [];
  const handler = ({ target }: HttpRequest) => {
    asked.push(target);
    clock.advance(pageMs);
    const body = { kind: 'EventList', apiVersion: 'v1', metadata: { continue: 'more' }, items: [event] };
    return Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)) });
  };
  const orphanedOwners = new OrphanedOwners();
  const records = new OrphanRecords({
    client: new RestClient({ transport: inProcessTransport(handler), clock, userAgent: 'test' }),
    clock,
    logger: { ...silentLogger, warn: (message, fields) => void warnings.push([message, fields]) },
    orphanedOwners,
    component,
    keptIn: 'events',
  });
  return { clock, asked, warnings, orphanedOwners, records };
}

describe('OrphanRecords', () => {
  it.each([
    ['100,000 records', 1, 200, 'there are more than 100000'],
    ['10 s', 1000, 10, 'there are more than 5000'],
  ])('LIFE-561 reads no more than %s when a term begins, and says so', async (_what, pageMs, pages, error) => {
    const { clock, asked, warnings, orphanedOwners, records } = setUp(pageMs);
    await records.load(new AbortController().signal);
    expect(asked).toHaveLength(pages);
    expect(orphanedOwners.has(owner, clock.now())).toBe(true);
    expect(warnings).toEqual([[expect.stringContaining('could not all be read'), { error }]]);
  });
});
