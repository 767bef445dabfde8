import { indentedJson } from '../../base/json/json-pieces.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { LintReport } from '../../cascade/documents/lint-report.ts';
import { lintCluster } from '../../cascade/lint/lint-cluster.ts';
import { lintManifests } from '../../cascade/lint/lint-manifests.ts';
import { readObservation } from '../../cascade/observed/read-observation.ts';
import { discover } from '../../client/discovery/discovery.ts';
import { durationOf } from '../flags/duration-flag.ts';
import { readManifests } from '../flags/manifests.ts';
import type { Terminal } from '../process/terminal.ts';
import { withCluster } from '../command/cluster-access.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';
import { EXIT_DONE, EXIT_FINDINGS } from '../command/exit-codes.ts';
import { warnIncomplete } from '../cascade/plan-request.ts';
import { counted, textTable } from '../command/text-table.ts';

export interface LintFlags extends ClusterFlags {
  readonly filename?: readonly string[];
  readonly olderThan: string;
  readonly allNamespaces?: boolean;
  readonly output?: 'json';
}

const YEAR_MS = 365 * 24 * 3600 * 1000;

/** Runs `lint`. Resolves with the exit code: 2 if there are findings. */
export async function lint(flags: LintFlags, terminal: Terminal): Promise<number> {
  const { filename = [] } = flags;
  const olderThanMs = durationOf('--older-than', flags.olderThan, { least: 0, most: YEAR_MS });
  if (filename.length === 0) {
    return withCluster(flags, terminal, async ({ client, namespace }) => {
      const discovery = await discover(client);
      const scope = flags.allNamespaces === true ? { fallbackNamespace: namespace } : { namespace };
      const observation = await readObservation({ client, clock: systemClock, discovery, ...scope });
      warnIncomplete(observation, terminal);
      const where = flags.allNamespaces === true ? 'the cluster' : `namespace ${namespace}`;
      return print(lintCluster(observation, { olderThanMs }), { flags, terminal, where });
    });
  }
  const manifests = await readManifests(filename);
  const report = lintManifests(
    manifests.map(({ object }) => object),
    { now: systemClock.now() },
  );
  return print(report, { flags, terminal, where: counted(manifests.length, 'manifest') });
}

function print(
  report: LintReport,
  { flags, terminal, where }: { readonly flags: LintFlags; readonly terminal: Terminal; readonly where: string },
): number {
  for (const piece of flags.output === 'json' ? indentedJson(report) : [lintAsText(report, where)])
    terminal.stdout(piece);
  return report.findings.length === 0 ? EXIT_DONE : EXIT_FINDINGS;
}

/** Findings as a table, and each fix once below it. */
export function lintAsText({ findings }: LintReport, where: string): string {
  if (findings.length === 0) return `Nothing is wrong with ownership in ${where}.\n`;
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const head = `${counted(findings.length, 'finding')} in ${where}, ${counted(errors, 'error')} among them.`;
  const rows = findings.map(({ severity, code, ref, message }) => [
    severity,
    ref?.namespace ?? '',
    ref === undefined ? '' : `${ref.kind.toLowerCase()}/${ref.name}`,
    code,
    message,
  ]);
  const fixes = new Map(
    findings.flatMap(({ code, fix }) => (fix === undefined ? [] : [[`${code}${fix}`, `${code}: ${fix}`]])),
  );
  return `${head}\n\n${textTable(['SEVERITY', 'NAMESPACE', 'OBJECT', 'CODE', 'WHAT'], rows)}\n${[...fixes.values()].join('\n')}\n`;
}
