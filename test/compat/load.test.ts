import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { type Acknowledged, configMaps, GROUPS, Tally } from './load-ledger.ts';
import type { Cut, ReadersReport, WatcherReport, WritersDone } from './load-readers.ts';
import type { WritersReport } from './load-writers.ts';

/**
 * The built program under as many durable writes as it takes for a minute (`KUBEGC_LOAD_SECONDS` for another time), with a thousand
 * watchers and a few that are slow on purpose. Three processes: the server, the writers, who wait for nobody but the server, and the
 * readers.
 *
 * Nothing is asserted about time. The test compares the answers to the writers with the events of each watcher, to know whether the watcher
 * got all of them. It compares the lag of a disconnected watcher with the bounds of docs/up.md, to know whether it was rightly
 * disconnected. The memory is the peak that the kernel noted.
 */
const seconds = Number(process.env['KUBEGC_LOAD_SECONDS'] ?? '60');
const GROUP_WATCHERS = GROUPS * 10;
const ALL_WATCHERS = 10;
const CONNECTIONS = 64;
/** 5 MiB of the 64 MiB of events are one large object's, so that slow readers fall behind on any machine. */
const LEAST_LARGE = Math.min(25, Math.ceil(seconds / 2));
const MIB = 1024 * 1024;
/** docs/up.md, "Bounds": events kept for watches of a kind, and the memory that may be taken, here beside objects that come and go. */
const KEPT = { events: 10_000, bytes: 64 * MIB };
const HISTORY = 256 * MIB;
const WAITING_FOR_DISK = 256 * MIB;
/** The average that each reader may have on its way; never are all of them as far behind at once. */
const PIECE_OF_A_READER = MIB / 4;
const PROCESS = 200 * MIB;
const SLOW_READERS = 4;
const READERS = GROUP_WATCHERS + ALL_WATCHERS + SLOW_READERS;
const MEMORY_LIMIT = PROCESS + HISTORY + KEPT.bytes + WAITING_FOR_DISK + READERS * PIECE_OF_A_READER;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let program: KubegcProcess;
let kubeconfig: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory();
  kubeconfig = join(directory.path, 'kubeconfig');
  program = new KubegcProcess([
    'up',
    '--listen=127.0.0.1:0',
    `--data-dir=${join(directory.path, 'data')}`,
    `--write-kubeconfig=${kubeconfig}`,
    '--log-level=warn',
  ]);
  await program.ready();
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await program.stop();
  await directory[Symbol.asyncDispose]();
});

/** Peak of the resident memory, in bytes. */
function peakBytes(): number {
  const status = readFileSync(`/proc/${program.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

function start(file: string, ...args: (string | number)[]): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, args.map(String), { execArgv: ['--import', 'tsx'] });
  children.push(child);
  return child;
}

/** Its next message; fails when it ends before. */
async function answerOf<Message>(child: ChildProcess): Promise<Message> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the load ended with ${code}`);
  });
  ended.catch(() => undefined);
  return Promise.race([once(child, 'message').then(([message]) => message as Message), ended]);
}

function tallyOf(acknowledged: readonly Acknowledged[], group: number | undefined): Tally {
  const tally = new Tally();
  for (const write of acknowledged) {
    if (group === undefined || write.group === group) tally.add(write.type, write.name, write.revision);
  }
  return tally;
}

/** Whether what was written between the two versions of a cut is as much as is kept for somebody who is behind, give or take a large object. */
function isFarBehind({ last, newest }: Cut, acknowledged: readonly Acknowledged[]): boolean {
  let bytes = 0;
  for (const write of acknowledged) {
    // The answer to a deletion names no version: it counts with the change before it, which is as large.
    const events = write.type === 'MODIFIED' ? 2 : 1;
    if (write.revision > last && write.revision <= newest) bytes += events * write.bytes;
  }
  return newest - last >= KEPT.events || bytes >= KEPT.bytes * 0.75;
}

describe('a minute of load', () => {
  it(
    'API-120 API-135 API-136 a thousand watchers see every durable write once and in order, and slow ones are cut at nobody else’s cost',
    { timeout: (seconds + 240) * 1000 },
    async () => {
      const client = new ApiClient(kubeconfig);
      const { body } = await client.send('GET', `${configMaps}?limit=1`);
      const from = (body['metadata'] as { resourceVersion: string }).resourceVersion;
      const readers = start('load-readers.ts', kubeconfig, from, GROUP_WATCHERS, ALL_WATCHERS);
      expect(await answerOf(readers)).toBe('open');
      const writers = start('load-writers.ts', kubeconfig, seconds, CONNECTIONS, LEAST_LARGE);
      const { acknowledged, wrong, elapsedMs } = await answerOf<WritersReport>(writers);
      const groups = Array.from({ length: GROUPS }, (_, group) => tallyOf(acknowledged, group));
      const all = tallyOf(acknowledged, undefined);
      const done: WritersDone = { groups: groups.map(({ count }) => count), all: all.count };
      const reported = answerOf<ReadersReport>(readers);
      readers.send(done);
      const { watchers, slow } = await reported;
      const peak = peakBytes();
      const cut = watchers.filter(({ cuts }) => cuts.length > 0).length;
      process.stdout.write(
        [
          `${all.count} durable writes in ${Math.round(elapsedMs / 1000)} s, ${Math.round((all.count * 1000) / elapsedMs)} a second,`,
          `${all.count * 20} events delivered, ${cut} of ${watchers.length} watchers cut, ${Math.round(peak / MIB)} MiB at most\n`,
          ...slow.map(
            ({ pace, cuts, relisted }) =>
              `  reads ${pace}: ${JSON.stringify(cuts)} ${relisted === undefined ? '' : 'listed anew'}\n`,
          ),
        ].join(' '),
      );
      expect(wrong).toEqual([]);
      expect([watchers.length, slow.length]).toEqual([GROUP_WATCHERS + ALL_WATCHERS, SLOW_READERS]);
      const expected = ({ group }: WatcherReport): string => (group === undefined ? all : groups[group]!).toString();
      expect([...watchers, ...slow].flatMap((watcher) => watcher.wrong).slice(0, 20)).toEqual([]);
      const other = watchers.filter((watcher) => watcher.relisted !== undefined || watcher.tally !== expected(watcher));
      expect(other.slice(0, 20).map((watcher) => [watcher, expected(watcher)])).toEqual([]);
      // On a machine that gives the readers no time even they fall behind; nobody else is ever cut.
      const early = watchers.flatMap(({ cuts }) => cuts).filter((each) => !isFarBehind(each, acknowledged));
      expect(early).toEqual([]);
      for (const { pace, cuts, tally, relisted } of slow) {
        expect([pace, cuts.length > 0]).toEqual([pace, true]);
        // A reader that takes nothing for a minute may be reset; one that reads on gets a proper end of the stream.
        if (!pace.startsWith('not at all'))
          expect([pace, cuts.map(({ by }) => by)]).toEqual([pace, cuts.map(() => 'end')]);
        expect([pace, cuts.filter((each) => each.by === 'end' && !isFarBehind(each, acknowledged))]).toEqual([
          pace,
          [],
        ]);
        expect([pace, relisted ?? tally]).toEqual([pace, relisted === undefined ? all.toString() : []]);
      }
      expect(peak).toBeLessThan(MEMORY_LIMIT);
      client.close();
    },
  );
});
