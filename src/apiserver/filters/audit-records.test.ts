import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AuditRecord, AuditRecords } from './audit-records.ts';

const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  // Lengths around the maximum that fits beside others, and far above it.
  fc.nat(200).map((length) => 'x'.repeat(length)),
  fc.nat(200).map((length) => '€'.repeat(length)),
  fc.nat(20_000).map((length) => 'y'.repeat(length)),
);
const user = fc.record({ username: fc.string(), groups: fc.array(fc.string(), { maxLength: 2 }) });
const record: fc.Arbitrary<AuditRecord> = fc.record({
  auditId: text,
  method: fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE'),
  target: text,
  createdName: text,
  user,
  impersonator: fc.option(user, { nil: undefined }),
  userAgent: fc.option(fc.string(), { nil: undefined }),
  annotations: fc.option(fc.dictionary(fc.string(), fc.string()), { nil: undefined }),
  code: fc.integer({ min: 100, max: 599 }),
  times: fc.record({ received: fc.double({ noNaN: true }), answered: fc.nat() }),
});

describe('the records of the audit stream', () => {
  it('API-379 returns the newest as they came, whatever they hold', () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 40 }), fc.integer({ min: 1, max: 30 }), (all, bound) => {
        const records = new AuditRecords({ bound });
        for (const [i, one] of all.entries()) {
          records.add(one);
          expect(records.next).toBe(i + 1);
          expect(records.oldest).toBe(Math.max(0, i + 1 - bound));
        }
        for (let n = records.oldest; n < records.next; n++) expect(records.read(n)).toEqual(all[n]);
      }),
    );
  });

  it('API-379 keeps them through many turns of its memory', () => {
    const records = new AuditRecords({ bound: 300 });
    const nth = (n: number): AuditRecord => ({
      auditId: `id-${n}`,
      method: 'DELETE',
      target: `/api/v1/namespaces/default/pods/${'p'.repeat((n * 7) % 190)}-${n}`,
      createdName: '',
      user: { username: 'root', groups: [] },
      impersonator: undefined,
      userAgent: `kubectl/${n % 100}`,
      annotations: undefined,
      code: 200,
      times: { received: n, answered: n + 0.5 },
    });
    for (let n = 0; n < 2000; n++) records.add(nth(n));
    for (let n = 1700; n < 2000; n++) expect(records.read(n)).toEqual(nth(n));
  });
});
