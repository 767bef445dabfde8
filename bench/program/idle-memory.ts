import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Benchmark, levelOf } from '../result.ts';
import { ServerProcess } from './server-process.ts';

/** P14: resident memory 10 s after start with every part on and no objects, against a process with nothing but a timer. */
const MiB = 1024 * 1024;

export const run: Benchmark = async ({ smoke }) => {
  const idle = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  const server = new ServerProcess();
  await server.ready;
  await new Promise((settle) => setTimeout(settle, smoke ? 500 : 10_000));
  const value = server.residentBytes / MiB;
  const status = readFileSync(`/proc/${idle.pid}/status`, 'utf8');
  const baseline = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  idle.kill();
  await server.stop();
  return [
    {
      id: 'P14',
      workload: 'idle for 10 s, all parts on, no objects',
      metric: 'MiB resident',
      value,
      baseline: { what: 'a process with one timer', value: baseline },
      ratio: value / baseline,
      level: levelOf(value, { good: 100, great: 75, better: 'less' }),
      demands: { good: '<= 100 MiB', great: '<= 75 MiB' },
    },
  ];
};
