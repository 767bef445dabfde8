/** The facts about one record for expiry. */
export interface KeptRecord {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly bytes: number;
}

export interface ExpiryLimits {
  /** Milliseconds. */
  readonly maxAgeMs: number;
  /** The limit for all records together. */
  readonly maxBytes: number;
}

/** Thirty days and 2 GiB. */
export const defaultExpiry: ExpiryLimits = { maxAgeMs: 30 * 24 * 3600 * 1000, maxBytes: 2 * 1024 ** 3 };

/**
 * The records that expire: those older than the maximum age, then the oldest until the rest fits. The newest record always stays, because
 * it may be the only copy of the objects that were just deleted.
 */
export function expiredRecords(records: readonly KeptRecord[], now: number, limits: ExpiryLimits): string[] {
  const newestFirst = records.toSorted((a, b) => b.time - a.time || (a.id < b.id ? 1 : -1));
  const expired: string[] = [];
  let bytes = 0;
  for (const [index, record] of newestFirst.entries()) {
    bytes += record.bytes;
    const keep = index === 0 || (now - record.time <= limits.maxAgeMs && bytes <= limits.maxBytes);
    if (keep) continue;
    bytes -= record.bytes;
    expired.push(record.id);
  }
  return expired;
}
