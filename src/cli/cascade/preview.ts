import { yamlPieces } from '../../api/codec/yaml/yaml-pieces.ts';
import { indentedJson } from '../../base/json/json-pieces.ts';
import { writeFileAtomically } from '../../base/write-file-atomically.ts';
import type { CascadePlan } from '../../cascade/documents/cascade-plan.ts';
import { shortDigest } from '../../cascade/preview/digest.ts';
import { dotPieces, mermaidPieces } from '../../cascade/report/drawing.ts';
import { planDrawing } from '../../cascade/report/plan-drawing.ts';
import { planNames, planText } from '../../cascade/report/plan-text.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import { shellWord } from '../process/shell-quoted.ts';
import type { Terminal } from '../process/terminal.ts';
import { withCluster } from '../command/cluster-access.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';
import { EXIT_DONE } from '../command/exit-codes.ts';
import { isOn, nothingThere, type PlanRequestFlags, requestedPlan } from './plan-request.ts';
import { terminalStyle } from './terminal-style.ts';

export interface PreviewFlags extends ClusterFlags, PlanRequestFlags {
  readonly output: 'tree' | 'wide' | 'json' | 'yaml' | 'name' | 'dot' | 'mermaid';
  readonly all?: boolean;
  readonly save?: string;
}

/** Runs `preview`. Resolves with the exit code. */
export function preview(args: readonly string[], flags: PreviewFlags, terminal: Terminal): Promise<number> {
  return withCluster(flags, terminal, async (cluster) => {
    const requested = await requestedPlan(cluster, args, { flags, terminal });
    if (requested === undefined) return nothingThere(terminal);
    const { plan } = requested;
    if (flags.save !== undefined) await savePlan(plan, flags.save);
    for (const piece of shown(plan, args, flags, terminal)) terminal.stdout(piece);
    return EXIT_DONE;
  });
}

/** The output in pieces. */
function shown(plan: CascadePlan, args: readonly string[], flags: PreviewFlags, terminal: Terminal): Iterable<string> {
  switch (flags.output) {
    case 'json':
      return indentedJson(plan);
    case 'yaml':
      return yamlPieces(plan);
    case 'name':
      return [planNames(plan)];
    case 'dot':
      return dotPieces(planDrawing(plan));
    case 'mermaid':
      return mermaidPieces(planDrawing(plan));
    case 'tree':
    case 'wide':
      return [
        planText(plan, {
          style: terminalStyle(terminal),
          all: flags.all === true,
          wide: flags.output === 'wide',
          command: deleteCommand(plan, args, flags),
        }),
      ];
  }
}

/** The command line that carries out the plan, and nothing else if the cluster changes. */
function deleteCommand(plan: CascadePlan, args: readonly string[], flags: PreviewFlags): string {
  const { namespace, context, kubeconfig, selector, filename = [], cascade, gracePeriod, assumeFinalizers } = flags;
  const isAllOfType =
    flags.all === true && selector === undefined && args.length > 0 && !args.some((each) => each.includes('/'));
  const words = [
    'kubectl cascade delete',
    ...args.map(shellWord),
    ...filename.map((file) => `-f ${shellWord(file)}`),
    ...(selector === undefined ? [] : [`-l ${shellWord(selector)}`]),
    ...(namespace === undefined ? [] : [`-n ${shellWord(namespace)}`]),
    ...(context === undefined ? [] : [`--context ${shellWord(context)}`]),
    ...(kubeconfig === undefined ? [] : [`--kubeconfig ${shellWord(kubeconfig)}`]),
    ...(cascade === undefined ? [] : [`--cascade=${cascade === true ? 'background' : cascade}`]),
    ...(gracePeriod === undefined ? [] : [`--grace-period=${gracePeriod}`]),
    ...(assumeFinalizers === 'removed' ? [] : [`--assume-finalizers=${assumeFinalizers}`]),
    ...(flags.pvcProtectionIgnoreFinishedPods === true ? ['--pvc-protection-ignore-finished-pods'] : []),
    ...(isAllOfType && args.length === 1 ? ['--all'] : []),
    ...(flags.allNamespaces === true ? ['-A'] : []),
    ...(flags.now === true ? ['--now'] : []),
    ...(isOn(flags.ignoreNotFound) ? ['--ignore-not-found'] : []),
    ...sameCluster(flags),
    `--digest ${shortDigest(plan.digest)}`,
  ];
  return words.join(' ');
}

/** kubectl's flags for another server or user, without secrets. */
function sameCluster({ server, cluster, user, as, asGroup = [] }: PreviewFlags): string[] {
  return [
    ...(server === undefined ? [] : [`--server ${shellWord(server)}`]),
    ...(cluster === undefined ? [] : [`--cluster ${shellWord(cluster)}`]),
    ...(user === undefined ? [] : [`--user ${shellWord(user)}`]),
    ...(as === undefined ? [] : [`--as ${shellWord(as)}`]),
    ...asGroup.map((group) => `--as-group ${shellWord(group)}`),
  ];
}

async function savePlan(plan: CascadePlan, file: string): Promise<void> {
  try {
    await writeFileAtomically(file, indentedJson(plan), 0o600);
  } catch (error) {
    throw new CommandError(
      `cannot write the plan ${file}: ${systemReason(error)}`,
      'Choose another file with --save.',
      {
        cause: error,
      },
    );
  }
}
