import type { UserInfo } from '../authentication/user-info.ts';

/**
 * The compact form of an event, which is converted only when read, because most are never read. It contains nothing of the request's body
 * or answer.
 */
export interface AuditRecord {
  readonly auditId: string;
  readonly method: string;
  /** Path and query, unchanged. */
  readonly target: string;
  /** The name of an object that was created without one in the path. */
  readonly createdName: string;
  readonly user: UserInfo;
  readonly impersonator: UserInfo | undefined;
  readonly userAgent: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly code: number;
  readonly times: AuditTimes;
}

export interface AuditTimes {
  /** Epoch milliseconds. */
  readonly received: number;
  readonly answered: number;
}

/** Bytes of a record: code and lengths of its three texts (u16), two times (f64), the texts. Little endian. */
const SLOT = 512;
const TEXTS = 24;
/** Maximum bytes of one character. */
const UTF8_BYTES = 3;
const SLOTS_A_PAGE = 128;
const MOST_USER_AGENTS = 64;

type Texts = Pick<AuditRecord, 'auditId' | 'target' | 'createdName'>;

/**
 * The newest records of writes, in memory outside the garbage-collected heap. As objects they lived just long enough to be promoted to the
 * old generation before newer ones replaced them, which was half of all garbage there. User and program, which many writes share, are
 * stored as references.
 */
export class AuditRecords {
  readonly #bound: number;
  readonly #pages: Buffer[] = [];
  readonly #methods: string[] = [];
  readonly #users: UserInfo[] = [];
  readonly #impersonators: (UserInfo | undefined)[] = [];
  readonly #userAgents: (string | undefined)[] = [];
  readonly #annotations: AuditRecord['annotations'][] = [];
  /** The texts of the few records that do not fit. */
  readonly #long = new Map<number, Texts>();
  readonly #knownUserAgents = new Map<string, string>();
  #next = 0;

  constructor({ bound }: { readonly bound: number }) {
    this.#bound = bound;
  }

  /** The number of the next record; the first is 0. */
  get next(): number {
    return this.#next;
  }

  /** The number of the oldest kept record. */
  get oldest(): number {
    return Math.max(0, this.#next - this.#bound);
  }

  add(record: AuditRecord): void {
    const slot = this.#next % this.#bound;
    const { page, at } = this.#place(slot);
    const { auditId, target, createdName, times } = record;
    page.writeUInt16LE(record.code, at);
    page.writeDoubleLE(times.received, at + 8);
    page.writeDoubleLE(times.answered, at + 16);
    if (this.#long.size > 0) this.#long.delete(slot);
    if ((auditId.length + target.length + createdName.length) * UTF8_BYTES <= SLOT - TEXTS) {
      let end = at + TEXTS;
      end += lengthAt(page, at + 2, page.write(auditId, end));
      end += lengthAt(page, at + 4, page.write(target, end));
      lengthAt(page, at + 6, page.write(createdName, end));
    } else {
      this.#long.set(slot, { auditId, target, createdName });
    }
    this.#methods[slot] = record.method;
    this.#users[slot] = record.user;
    this.#impersonators[slot] = record.impersonator;
    this.#userAgents[slot] = record.userAgent && this.#known(record.userAgent);
    this.#annotations[slot] = record.annotations;
    this.#next++;
  }

  /** The record of a number from {@link oldest} to below {@link next}. */
  read(number: number): AuditRecord {
    const slot = number % this.#bound;
    const { page, at } = this.#place(slot);
    return {
      ...(this.#long.get(slot) ?? textsOf(page, at)),
      method: this.#methods[slot]!,
      user: this.#users[slot]!,
      impersonator: this.#impersonators[slot],
      userAgent: this.#userAgents[slot],
      annotations: this.#annotations[slot],
      code: page.readUInt16LE(at),
      times: { received: page.readDoubleLE(at + 8), answered: page.readDoubleLE(at + 16) },
    };
  }

  #place(slot: number): { readonly page: Buffer; readonly at: number } {
    const number = Math.floor(slot / SLOTS_A_PAGE);
    const page = (this.#pages[number] ??= Buffer.allocUnsafeSlow(SLOT * SLOTS_A_PAGE));
    return { page, at: (slot % SLOTS_A_PAGE) * SLOT };
  }

  /** Returns one shared text for all requests of a program. */
  #known(userAgent: string): string {
    const known = this.#knownUserAgents.get(userAgent);
    if (known !== undefined) return known;
    if (this.#knownUserAgents.size === MOST_USER_AGENTS) this.#knownUserAgents.clear();
    this.#knownUserAgents.set(userAgent, userAgent);
    return userAgent;
  }
}

function lengthAt(page: Buffer, at: number, length: number): number {
  page.writeUInt16LE(length, at);
  return length;
}

function textsOf(page: Buffer, at: number): Texts {
  const targetStart = at + TEXTS + page.readUInt16LE(at + 2);
  const nameStart = targetStart + page.readUInt16LE(at + 4);
  return {
    auditId: page.toString('utf8', at + TEXTS, targetStart),
    target: page.toString('utf8', targetStart, nameStart),
    createdName: page.toString('utf8', nameStart, nameStart + page.readUInt16LE(at + 6)),
  };
}
