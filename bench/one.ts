import type { Benchmark } from './result.ts';

const [file, flag] = process.argv.slice(2);
const { run } = (await import(`./${file ?? ''}`)) as { run: Benchmark };
process.send?.(await run({ smoke: flag === '--smoke' }));
process.disconnect?.();
