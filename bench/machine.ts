import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './result.ts';

/** Milliseconds of one appended page made durable: what a single write waits for, whatever the program does. */
function diskSyncMs(): number {
  const directory = mkdtempSync(join(tmpdir(), 'kubegc-disk-'));
  const file = openSync(join(directory, 'page'), 'w');
  try {
    const page = Buffer.alloc(4096, 1);
    const samples = Array.from({ length: 101 }, () => {
      const started = performance.now();
      writeSync(file, page);
      fdatasyncSync(file);
      return performance.now() - started;
    });
    return median(samples);
  } finally {
    closeSync(file);
    rmSync(directory, { recursive: true });
  }
}

/** Ticks that all processors spent, and those that they spent idle or waiting for a disk. */
function ticks(): { all: number; idle: number } {
  const fields = (/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '').split(' ').map(Number);
  // Guest time, the last two, is part of user time already.
  const all = fields.slice(0, 8).reduce((sum, value) => sum + value, 0);
  return { all, idle: (fields[3] ?? 0) + (fields[4] ?? 0) };
}

/** Cores that others keep busy while this process waits a second. Above a quarter, figures of wall-clock time mean little. */
async function busyCores(): Promise<number> {
  const before = ticks();
  await new Promise((settle) => setTimeout(settle, 1000));
  const after = ticks();
  const all = after.all - before.all;
  return all === 0 ? 0 : (1 - (after.idle - before.idle) / all) * cpus().length;
}

export async function machineLine(): Promise<string> {
  const processor = `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`;
  const busy = `${(await busyCores()).toFixed(2)} cores busy with other work`;
  return `Node ${process.version}, Linux ${release()}, ${processor}; ${busy}; fdatasync ${diskSyncMs().toFixed(2)} ms`;
}
