import { playHistory } from './node-history.ts';

// `npx tsx test/nodegc/simulate.ts FIRST COUNT`: plays histories of a node and ends with 1 at the first that goes wrong.
const [first = 1, count = 1000] = process.argv.slice(2).map(Number);
const totals: Record<string, number> = {};
const started = Date.now();
for (let seed = first; seed < first + count; seed++) {
  const { violations, counts } = await playHistory(seed);
  for (const [name, value] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + value;
  if (violations.length > 0) {
    console.log(`seed ${seed}: ${violations.join('; ')}`);
    process.exit(1);
  }
}
console.log(
  `${count} histories from seed ${first} in ${((Date.now() - started) / 1000).toFixed(0)} s: ${JSON.stringify(totals)}`,
);
