import type { KubeObject } from '../../api/meta/object-meta.ts';
import { indentedJson } from '../../base/json/json-pieces.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { ObjectReference } from '../../cascade/documents/object-reference.ts';
import type { RelinkPlan } from '../../cascade/documents/relink-plan.ts';
import { kindsOf, readObservation } from '../../cascade/observed/read-observation.ts';
import { planRelink } from '../../cascade/relink/plan-relink.ts';
import { runRelink } from '../../cascade/relink/run-relink.ts';
import { discover, type DiscoveryResult } from '../../client/discovery/discovery.ts';
import { CommandError } from '../process/command-error.ts';
import { readManifests } from '../flags/manifests.ts';
import type { Terminal } from '../process/terminal.ts';
import { ask } from '../cascade/ask.ts';
import { withCluster } from '../command/cluster-access.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';
import { EXIT_DONE, EXIT_ERROR } from '../command/exit-codes.ts';
import { warnIncomplete } from '../cascade/plan-request.ts';
import { counted } from '../command/text-table.ts';

export interface RelinkFlags extends ClusterFlags {
  readonly live?: boolean;
  readonly filename?: readonly string[];
  readonly allNamespaces?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly output?: 'json';
}

/** Runs `relink`. Resolves with the exit code. */
export async function relink(flags: RelinkFlags, terminal: Terminal): Promise<number> {
  const { filename = [], live = false } = flags;
  if (live === filename.length > 0) {
    throw new CommandError('relink needs --live or -f FILE, and not both', 'See kubectl cascade relink --help.');
  }
  const files = live ? undefined : (await readManifests(filename)).map(({ object }) => object);
  return withCluster(flags, terminal, async ({ client, namespace }) => {
    const discovery = await discover(client);
    const scope =
      flags.allNamespaces === true || files !== undefined ? { fallbackNamespace: namespace } : { namespace };
    const observation = await readObservation({ client, clock: systemClock, discovery, ...scope });
    warnIncomplete(observation, terminal);
    const plan = planRelink(observation, files && withNamespaces(files, discovery, namespace));
    for (const piece of flags.output === 'json' ? indentedJson(plan) : [relinkAsText(plan)]) terminal.stdout(piece);
    if (flags.dryRun === true || plan.objects.length === 0) return EXIT_DONE;
    if (flags.yes !== true && !(await ask(`Patch ${counted(plan.objects.length, 'object')}?`))) return EXIT_ERROR;
    const outcomes = await runRelink(client, plan);
    const failed = outcomes.filter(({ error }) => error !== undefined);
    for (const { ref, error } of failed) terminal.stderr(`error: ${displayName(ref)}: ${error}\n`);
    if (flags.output !== 'json') terminal.stdout(`Patched ${counted(outcomes.length - failed.length, 'object')}.\n`);
    if (failed.length > 0) terminal.stderr('Run it again: it reads again what changed meanwhile.\n');
    return failed.length === 0 ? EXIT_DONE : EXIT_ERROR;
  });
}

/** Namespaced objects in files without a namespace get that of the command. */
function withNamespaces(objects: readonly KubeObject[], discovery: DiscoveryResult, namespace: string): KubeObject[] {
  const { kindOf } = kindsOf(discovery);
  return objects.map((object) => {
    const { apiVersion = '', kind = '', metadata = {} } = object;
    if (metadata.namespace !== undefined || kindOf(apiVersion, kind)?.namespaced !== true) return object;
    return { ...object, metadata: { ...metadata, namespace } };
  });
}

/** The changes as a diff of owner references. */
export function relinkAsText({ objects, unresolved, valid }: RelinkPlan): string {
  const stale = unresolved.length === 0 ? '' : `; ${counted(unresolved.length, 'reference')} cannot be repaired`;
  const head =
    objects.length === 0
      ? `No owner reference needs a repair; ${valid} ${valid === 1 ? 'is' : 'are'} valid${stale}.`
      : `Repairs the owner references of ${counted(objects.length, 'object')}; ${valid} ${valid === 1 ? 'is' : 'are'} valid${stale}.`;
  const lines = [head, ''];
  for (const { ref, before, after } of objects) {
    lines.push(displayName(ref));
    const kept = new Set(after.map(({ uid }) => uid));
    const had = new Set(before.map(({ uid }) => uid));
    for (const { kind, name, uid } of before) if (!kept.has(uid)) lines.push(`  - ${kind}/${name} ${uid}`);
    for (const { kind, name, uid } of after) if (!had.has(uid)) lines.push(`  + ${kind}/${name} ${uid}`);
  }
  for (const { ref, message } of unresolved) lines.push(`${displayName(ref)}: ${message}`);
  return `${lines.join('\n').trimEnd()}\n`;
}

const displayName = ({ kind, name, namespace }: ObjectReference): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;
