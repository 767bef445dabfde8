import { writeSync } from 'node:fs';
import { systemClock } from '../../../base/time/clock.ts';
import { openFileStore } from './file-store.ts';

/**
 * A process for the crash tests: writes to the store at the given path until it is killed, or until the store fails. It prints one line for
 * each acknowledged write (`<key> <count> <revision>`), and how it ended.
 */
const [path = '', valueBytes = '100'] = process.argv.slice(2);
// Written synchronously, so that lines survive a kill; a stream would keep data for a slow reader.
const say = (line: string): void => void writeSync(1, `${line}\n`);
const store = await openFileStore({ path, clock: systemClock });
say('open');

async function writeOn(key: string): Promise<never> {
  const padding = '.'.repeat(Number(valueBytes));
  const current = (await store.get(key)).kv;
  let count = Number(
    Buffer.from(current?.value ?? [])
      .toString()
      .split('.')[0] ?? 0,
  );
  let revision = current?.modRevision;
  for (;;) {
    const value = Buffer.from(`${++count}${padding}`);
    const result = revision === undefined ? await store.create(key, value) : await store.update(key, value, revision);
    if (!result.succeeded) throw new Error(`${key} was changed by somebody else`);
    revision = result.kv.modRevision;
    say(`${key} ${count} ${revision}`);
    if (count % 50 === 0) await store.compact(revision);
  }
}

try {
  await Promise.all(Array.from({ length: 8 }, (_, i) => writeOn(`/registry/counter-${i}`)));
} catch (error) {
  say(`failed ${String(error)}`);
  await store.close();
}
