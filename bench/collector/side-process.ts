import type { Measured, Sides } from './side.ts';

const [file = '', name = '', options = '{}'] = process.argv.slice(2);
const { sides } = (await import(file)) as { sides: Sides };
const stepper = sides[name]!(JSON.parse(options) as never);

process.on('message', async (message) => {
  const { step } = message as { step: number };
  stepper.prepare(step);
  const before = process.cpuUsage();
  await stepper.work(step);
  const { user, system } = process.cpuUsage(before);
  const measured: Measured = { cpu: user + system, report: stepper.report() };
  process.send?.(measured);
});
