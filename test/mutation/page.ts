import type { Fault } from './fault.ts';
import type { Outcome } from './verdict.ts';

export interface Result {
  readonly fault: Fault;
  readonly outcome: Outcome;
}

/** docs/mutation.md: every fault with its rule and what found it first. */
export function mutationPage(results: readonly Result[]): string {
  return pageOf(results.map(rowOf));
}

/** The page with the rows of these results, and the rows it has of the other faults. */
export function updatedPage(text: string, results: readonly Result[], faults: readonly Fault[]): string {
  const rows = new Map([...text.matchAll(/^\| (\d\S*) \|.*$/gm)].map(([row, name = '']) => [name, row]));
  for (const result of results) rows.set(result.fault.name, rowOf(result));
  return pageOf(faults.flatMap(({ name }) => rows.get(name) ?? []));
}

function rowOf({ fault, outcome }: Result): string {
  const found =
    outcome.outcome === 'found' ? `[${fileName(outcome.file)}](../${outcome.file}): ${outcome.test}` : 'nothing';
  return `| ${fault.name} | ${fault.rule} | ${cell(fault.breaks)} | ${cell(found)} |`;
}

function pageOf(rows: readonly string[]): string {
  return `# Does the net hold?

Written by \`npm run mutation -- --write\`. ${rows.length} faults, each kept as data in [test/mutation/faults](../test/mutation/faults), are put into the
collector, its leader election, the controllers, node collection and some bounds of the server one at a time; the tests nearest to the fault run first, then the rest of the room, the scenarios with a
server, and random histories. One that no test finds makes the command fail, and so does one that does not fit the source any more. \`.ci/run\` runs a third of
them, chosen by the commit, each beginning with the file that found it here.

| fault | rule | what it breaks | found first by |
|---|---|---|---|
${rows.join('\n')}
`;
}

/** Which test file found each fault when the page was written, by the fault's name. */
export function findersOf(text: string): ReadonlyMap<string, string> {
  const rows = text.matchAll(/^\| (\S+) \|.*\| \[[^\]]+\]\(\.\.\/([^)]+)\): /gm);
  return new Map([...rows].map(([, name = '', file = '']) => [name, file]));
}

const fileName = (path: string): string => path.split('/').at(-1) ?? path;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
