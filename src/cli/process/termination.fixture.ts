import { writeSync } from 'node:fs';
import { untilSignal } from './termination.ts';

/** A process that prints the first signal and hangs in its shutdown. It ends by itself after a while. */
const GIVES_UP_MS = 20_000;
const GAVE_UP = 70;

setTimeout(() => process.exit(GAVE_UP), GIVES_UP_MS);
void untilSignal().then((signal) => writeSync(1, `${signal}\n`));
writeSync(1, 'ready\n');
