import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { KubeObject } from '../../api/meta/object-meta.ts';
import { formatTime, parseTime } from '../../api/meta/time.ts';
import { parseExactJson, stringifyExactJson } from '../../base/json/exact-json.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Random } from '../../base/random/random.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import type { PlannedObject } from '../documents/cascade-plan.ts';
import type { CascadeRecord, SecretsPolicy, UndoEntry } from '../documents/cascade-record.ts';
import { DOCUMENT_API_VERSION } from '../documents/document.ts';
import type { RecordedObject, RecordHeader } from './recorded-object.ts';
import { defaultExpiry, expiredRecords, type ExpiryLimits, type KeptRecord } from './expiry.ts';
import {
  damaged,
  decodeObject,
  decodeRecordFile,
  encodeObject,
  encodeRecordFile,
  isSecret,
  type LinesFile,
  type RecordFile,
  type SecretKeeping,
} from './record-codec.ts';
import { RecordError } from './record-error.ts';
import { diskFiles, type RecordFiles } from './record-files.ts';
import { KEY_BYTES } from './secret-cipher.ts';

/** The interface of the store for `delete`: a record is durable before the first DELETE is sent, and completed afterwards. */
export interface RecordWriter {
  /**
   * Resolves with the id once the record is durable. Rejects with a RecordError if it is not; then nothing may be deleted.
   * @param objects the full body of every object that the plan removes
   */
  write(header: RecordHeader, objects: AsyncIterable<KubeObject> | Iterable<KubeObject>): Promise<string>;
  /** Records the result of the cascade. */
  finish(id: string, end: RecordEnd): Promise<void>;
}

export type RecordEnd = Pick<CascadeRecord, 'outcome' | 'differences'>;

export interface RecordStoreOptions {
  /** See `recordFolder`. Created with the first record. */
  readonly folder: string;
  readonly clock: Clock;
  readonly random: Random;
  /** `omitted` leaves out the data of Secrets (`--no-secrets`). */
  readonly secrets?: 'encrypted' | 'omitted';
  readonly expiry?: ExpiryLimits;
  readonly files?: RecordFiles;
}

const RECORD = 'record.json';
const OBJECTS = 'objects.jsonl';
/** The objects of a long plan, one a line. */
const PLAN_OBJECTS = 'plan-objects.jsonl';
/** A plan with more objects has them in a file of their own: the text of a million is longer than a string may be. */
const LONG_PLAN = 10_000;
const KEY = 'key';
/** The prefix of an incomplete record's folder. */
const INCOMPLETE = '.writing-';
const ID = /^\d{8}t\d{6}-[0-9a-f]{8}$/;

/** Whether a text is an id of a record, as `log` shows it. */
export function isRecordId(text: string): boolean {
  return ID.test(text);
}

/** Maximum bytes of lines that are written together. */
const BATCH_BYTES = 1 << 20;

/**
 * Records of cascades, one folder each. A record is either complete and durable or absent: it is written to a temporary folder, fsynced,
 * and renamed. A reader checks every byte before it returns the first object.
 */
export class RecordStore implements RecordWriter {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #secrets: 'encrypted' | 'omitted';
  readonly #expiry: ExpiryLimits;
  readonly #files: RecordFiles;

  constructor({ folder, clock, random, secrets = 'encrypted', expiry = defaultExpiry, files }: RecordStoreOptions) {
    this.#folder = folder;
    this.#clock = clock;
    this.#random = random;
    this.#secrets = secrets;
    this.#expiry = expiry;
    this.#files = files ?? diskFiles;
  }

  /** The folder that holds the records; it is made with the first of them. */
  get folder(): string {
    return this.#folder;
  }

  async write(header: RecordHeader, objects: AsyncIterable<KubeObject> | Iterable<KubeObject>): Promise<string> {
    const now = this.#clock.now();
    const id = idOf(now, this.#random);
    const temporary = join(this.#folder, `${INCOMPLETE}${id}`);
    try {
      await this.#files.makeFolder(this.#folder);
      const keeping = await this.#keeping();
      await this.#files.makeFolder(temporary);
      let secrets: SecretsPolicy = 'none';
      async function* bodies(): AsyncGenerator<string> {
        for await (const body of objects) {
          if (isSecret(body)) secrets = keeping.mode;
          yield encodeObject(id, body, keeping);
        }
      }
      const written = await this.#writeLines(join(temporary, OBJECTS), bodies());
      const { plan } = header;
      const isLong = plan !== undefined && plan.objects.length > LONG_PLAN;
      const planObjects = isLong
        ? await this.#writeLines(join(temporary, PLAN_OBJECTS), linesOf(plan.objects))
        : undefined;
      const record: CascadeRecord = {
        apiVersion: DOCUMENT_API_VERSION,
        kind: 'CascadeRecord',
        id,
        time: formatTime(now),
        ...header,
        ...(isLong ? { plan: { ...plan, objects: [] } } : {}),
        outcome: 'recorded',
        objects: written.count,
        secrets,
      };
      const text = encodeRecordFile({
        record,
        objects: written,
        ...(planObjects === undefined ? {} : { planObjects }),
      });
      await this.#writeDurably(join(temporary, RECORD), text);
      await this.#files.syncFolder(temporary);
      await this.#files.rename(temporary, join(this.#folder, id));
      await this.#files.syncFolder(this.#folder);
    } catch (error) {
      await this.#files.remove(temporary).catch(() => undefined);
      throw unwritable(this.#folder, error);
    }
    return id;
  }

  async finish(id: string, end: RecordEnd): Promise<void> {
    await this.#change(id, (record) => ({ ...record, ...end }));
  }

  /** Records a run of undo. */
  async noteUndo(id: string, entry: Omit<UndoEntry, 'time'>): Promise<void> {
    const time = formatTime(this.#clock.now());
    await this.#change(id, (record) => ({ ...record, undone: [...(record.undone ?? []), { time, ...entry }] }));
  }

  /** Newest first, with the unreadable records listed separately. */
  async list(): Promise<{ readonly records: readonly CascadeRecord[]; readonly unreadable: readonly RecordError[] }> {
    const records: CascadeRecord[] = [];
    const unreadable: RecordError[] = [];
    for (const id of (await this.#ids()).toReversed()) {
      try {
        records.push(await this.#readRecord(id));
      } catch (error) {
        if (!(error instanceof RecordError)) throw error;
        unreadable.push(error);
      }
    }
    return { records, unreadable };
  }

  /** @param id of a record, or a unique prefix of it. Rejects with a RecordError. */
  async read(id: string): Promise<CascadeRecord> {
    return this.#readRecord(await this.#resolve(id));
  }

  /**
   * All recorded objects, which are read and checked completely before the first is returned (CAS-061). Rejects with a RecordError
   * `damaged`, `laterVersion` or `key`.
   */
  async objects(id: string): Promise<RecordedObject[]> {
    const full = await this.#resolve(id);
    const { objects: expected, record } = await this.#readFile(full);
    const key = record.secrets === 'encrypted' ? await this.#readKey(full) : undefined;
    const lines = await this.#readLines(join(this.#folder, full, OBJECTS), expected);
    return lines.map((line) => decodeObject(full, line, key));
  }

  /** All lines of a file, once its size and checksum are known to be right. */
  async #readLines(path: string, expected: LinesFile): Promise<string[]> {
    const hash = createHash('sha256');
    const lines: string[] = [];
    try {
      for await (const line of this.#files.readLines(path)) {
        hash.update(`${line}\n`, 'utf8');
        lines.push(line);
      }
    } catch (error) {
      throw damaged(path, 'it cannot be read', { cause: error });
    }
    if (lines.length !== expected.count) {
      throw damaged(path, `it has ${lines.length} objects, ${expected.count} were written`);
    }
    if (hash.digest('hex') !== expected.sha256) throw damaged(path, 'its checksum is wrong');
    return lines;
  }

  /** Removes expired records, and files of a killed writer older than a day. Returns the ids of the records. */
  async expire(): Promise<string[]> {
    const kept: KeptRecord[] = [];
    for (const id of await this.#ids()) {
      const folder = join(this.#folder, id);
      const names = await this.#files.list(folder);
      const sizes = await Promise.all(names.map((name) => this.#files.sizeOf(join(folder, name))));
      kept.push({ id, time: timeOf(id), bytes: sizes.reduce((sum, size) => sum + size, 0) });
    }
    const now = this.#clock.now();
    const expired = expiredRecords(kept, now, this.#expiry);
    for (const id of expired) await this.#files.remove(join(this.#folder, id));
    for (const name of await this.#names()) {
      if (!name.startsWith(INCOMPLETE)) continue;
      if (now - timeOf(name.slice(INCOMPLETE.length)) > DAY_MS) await this.#files.remove(join(this.#folder, name));
    }
    return expired;
  }

  async #writeLines(path: string, lines: AsyncIterable<string> | Iterable<string>): Promise<LinesFile> {
    const hash = createHash('sha256');
    let count = 0;
    let bytes = 0;
    const file = await this.#files.create(path);
    try {
      let batch: Buffer[] = [];
      let size = 0;
      const flush = async (): Promise<void> => {
        await file.appendFile(Buffer.concat(batch));
        batch = [];
        size = 0;
      };
      for await (const text of lines) {
        const line = Buffer.from(`${text}\n`, 'utf8');
        hash.update(line);
        batch.push(line);
        size += line.length;
        bytes += line.length;
        count++;
        if (size >= BATCH_BYTES) await flush();
      }
      if (size > 0) await flush();
      await file.sync();
    } finally {
      await file.close();
    }
    return { count, bytes, sha256: hash.digest('hex') };
  }

  async #writeDurably(path: string, text: string): Promise<void> {
    const file = await this.#files.create(path);
    try {
      await file.appendFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #change(id: string, change: (record: CascadeRecord) => CascadeRecord): Promise<void> {
    const full = await this.#resolve(id);
    const { record, ...files } = await this.#readFile(full);
    const text = encodeRecordFile({ record: change(record), ...files });
    try {
      await writeFileAtomically(join(this.#folder, full, RECORD), text, 0o600);
    } catch (error) {
      throw unwritable(this.#folder, error);
    }
  }

  /** With all objects of its plan. */
  async #readRecord(id: string): Promise<CascadeRecord> {
    const { record, planObjects } = await this.#readFile(id);
    if (record.plan === undefined || planObjects === undefined) return record;
    const path = join(this.#folder, id, PLAN_OBJECTS);
    const lines = await this.#readLines(path, planObjects);
    const objects = lines.map((line) => parseExactJson(line) as PlannedObject);
    return { ...record, plan: { ...record.plan, objects } };
  }

  async #readFile(id: string): Promise<RecordFile> {
    const path = join(this.#folder, id, RECORD);
    let text: string;
    try {
      text = await this.#files.readText(path);
    } catch (error) {
      throw damaged(path, 'it cannot be read', { cause: error });
    }
    const file = decodeRecordFile(text, path);
    if (file.record.id !== id) throw damaged(path, `it is the record ${file.record.id}`);
    return file;
  }

  async #resolve(id: string): Promise<string> {
    const found = (await this.#ids()).filter((each) => each.startsWith(id));
    if (found.length === 1 || found.includes(id)) return found.includes(id) ? id : found[0]!;
    const where = `in ${this.#folder}`;
    if (found.length === 0 || id === '') {
      throw new RecordError(
        'notFound',
        `no record "${id}" ${where}`,
        'Give the ID of a record, or its beginning: kubectl cascade log lists them.',
      );
    }
    throw new RecordError('ambiguous', `${found.length} records begin with "${id}" ${where}`, 'Give more of the id.');
  }

  /** Oldest first. */
  async #ids(): Promise<string[]> {
    return (await this.#names()).filter((name) => ID.test(name)).toSorted();
  }

  async #names(): Promise<string[]> {
    try {
      return await this.#files.list(this.#folder);
    } catch (error) {
      if (isCode(error, 'ENOENT')) return [];
      throw new RecordError('unreadable', `cannot read ${this.#folder}: ${wordsOf(error)}`, 'Check --record-dir.', {
        cause: error,
      });
    }
  }

  async #keeping(): Promise<SecretKeeping> {
    if (this.#secrets === 'omitted') return { mode: 'omitted' };
    return { mode: 'encrypted', key: await this.#makeKey(), random: this.#random };
  }

  /** The key is created once; a second process uses the existing one. */
  async #makeKey(): Promise<Uint8Array> {
    const path = join(this.#folder, KEY);
    const present = await this.#files.readText(path).catch((error: unknown) => {
      if (isCode(error, 'ENOENT')) return undefined;
      throw error;
    });
    if (present !== undefined) return parseKey(present, path);
    const text = `${Buffer.from(this.#random.bytes(KEY_BYTES)).toString('hex')}\n`;
    // The key is written to a temporary file and linked only if no other process was faster, because two writers must not use two keys.
    const temporary = join(this.#folder, `.${KEY}-${Buffer.from(this.#random.bytes(8)).toString('hex')}`);
    try {
      await this.#writeDurably(temporary, text);
      await this.#files.linkNew(temporary, path);
    } finally {
      await this.#files.remove(temporary);
    }
    await this.#files.syncFolder(this.#folder);
    return parseKey(await this.#files.readText(path), path);
  }

  async #readKey(id: string): Promise<Uint8Array> {
    const path = join(this.#folder, KEY);
    try {
      return parseKey(await this.#files.readText(path), path);
    } catch (error) {
      if (error instanceof RecordError) throw error;
      throw new RecordError(
        'key',
        `record ${id} has encrypted Secrets, and their key ${path} cannot be read: ${wordsOf(error)}`,
        'Put the key file back, mode 0600.',
        { cause: error },
      );
    }
  }
}

function* linesOf(values: Iterable<unknown>): Generator<string> {
  for (const value of values) yield stringifyExactJson(value);
}

const DAY_MS = 24 * 3600 * 1000;

function parseKey(text: string, path: string): Uint8Array {
  const key = Buffer.from(text.trim(), 'hex');
  if (key.length === KEY_BYTES) return key;
  throw new RecordError('key', `${path} is not a key of ${KEY_BYTES} bytes`, 'Put back the key file that was there.');
}

/** `20261126t155500-3f9c2e81`: sorts by time; UTC. */
function idOf(now: number, random: Random): string {
  const digits = formatTime(now).replace(/[-:Z]/g, '').replace('T', 't');
  return `${digits}-${Buffer.from(random.bytes(4)).toString('hex')}`;
}

function timeOf(id: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)t(\d\d)(\d\d)(\d\d)/.exec(id) ?? [];
  return parseTime(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) ?? 0;
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than is allowed',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on the device',
  ENOTDIR: 'a part of the path is not a directory',
  EROFS: 'the file system is read-only',
};

function wordsOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return WORDS[code] ?? (error instanceof Error ? error.message : String(error));
}

/** Converts file system errors to a RecordError; other errors (from the source of the bodies) stay. */
function unwritable(folder: string, error: unknown): unknown {
  if (error instanceof RecordError || !(error instanceof Error) || !('syscall' in error)) return error;
  return new RecordError(
    'unwritable',
    `cannot write a record in ${folder}: ${wordsOf(error)}`,
    'Nothing was deleted. Free space there, or choose another folder with --record-dir.',
    { cause: error },
  );
}
