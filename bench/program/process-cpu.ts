import { readFileSync } from 'node:fs';

/** User and system time that a process has used so far, µs; the kernel counts in steps of 10 ms. */
export function processCpuMicros(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return ((Number(fields[11]) + Number(fields[12])) / 100) * 1_000_000;
}
