// `node .ci/failed-files.mjs REPORT`: prints the files that failed in a vitest run, from its JSON report, in one line. Ends with 1
// if it knows of none, or of more than three.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative('.', name));
if (failed.length === 0 || failed.length > 3) process.exit(1);
process.stdout.write(`${failed.join(' ')}\n`);
