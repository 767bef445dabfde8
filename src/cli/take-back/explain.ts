import { apiVersionOf, formatGroupResource } from '../../api/meta/group-version-kind.ts';
import { humanDuration } from '../../api/meta/duration.ts';
import { parseTime } from '../../api/meta/time.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { Explanation, Hold } from '../../cascade/documents/explanation.ts';
import type { ObjectReference } from '../../cascade/documents/object-reference.ts';
import { explain } from '../../cascade/explain/explain.ts';
import { readEvidence } from '../../cascade/explain/read-evidence.ts';
import { READ_IN_ONE } from '../../cascade/observed/read-observation.ts';
import { discover } from '../../client/discovery/discovery.ts';
import { CommandError } from '../process/command-error.ts';
import type { Terminal } from '../process/terminal.ts';
import { withCluster } from '../command/cluster-access.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';
import { EXIT_DONE, EXIT_ERROR, EXIT_FINDINGS } from '../command/exit-codes.ts';
import { warnIncomplete } from '../cascade/plan-request.ts';
import { parseObjectArguments, resourceOf } from '../cascade/object-arguments.ts';
import { textTable } from '../command/text-table.ts';

export interface ExplainFlags extends ClusterFlags {
  readonly output?: 'json';
}

/** Runs `explain`. Resolves with the exit code: 2 if something is stuck. */
export function explainObject(args: readonly string[], flags: ExplainFlags, terminal: Terminal): Promise<number> {
  const [typed, ...others] = parseObjectArguments(args, {});
  if (typed?.name === undefined || others.length > 0) {
    throw new CommandError('explain is about one object', 'Give TYPE/NAME, for example namespace/shop.');
  }
  return withCluster(flags, terminal, async ({ client, namespace }) => {
    const discovery = await discover(client);
    const resource = resourceOf(discovery, typed.type);
    const subject: ObjectReference = {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      resource: resource.resource,
      ...(resource.namespaced ? { namespace } : {}),
      name: typed.name ?? '',
      uid: '',
    };
    const explanation = explain(await readEvidence(subject, { client, clock: systemClock, discovery }));
    warnIncomplete(explanation, terminal);
    const unread = explanation.incomplete?.find(
      (each) => each.resource === formatGroupResource(resource) && !each.reason.startsWith(READ_IN_ONE),
    );
    if (explanation.state === 'gone' && unread !== undefined) {
      throw new CommandError(
        `cannot find out whether ${formatGroupResource(resource)} "${subject.name}" exists: ${unread.reason}`,
        `Ask for the right to list ${formatGroupResource(resource)}.`,
      );
    }
    const json = flags.output === 'json';
    terminal.stdout(
      json ? `${JSON.stringify(explanation, undefined, 2)}\n` : explanationAsText(explanation, systemClock.now()),
    );
    if (explanation.state === 'gone') return EXIT_ERROR;
    return explanation.findings.length > 0 ? EXIT_FINDINGS : EXIT_DONE;
  });
}

/** The answer first, then owners, holders, and the next step of each finding. */
export function explanationAsText(explanation: Explanation, now: number): string {
  const { ref, state, since, message, owners, heldBy, findings } = explanation;
  const name = `${ref.kind.toLowerCase()}/${ref.name}${ref.namespace === undefined ? '' : ` -n ${ref.namespace}`}`;
  if (state === 'gone') return `${name} does not exist.\n`;
  const age = since === undefined ? '' : ` for ${humanDuration(Math.max(0, now - (parseTime(since) ?? now)))}`;
  const blocks = [`${name} is ${state}${age}. ${headline(explanation)}`, `COLLECTOR   ${message}`];
  if (owners.length > 0) {
    const rows = owners.map(({ reference, class: cls, proof }) => [
      `${reference.kind.toLowerCase()}/${reference.name}`,
      cls,
      proof,
    ]);
    blocks.push(textTable(['OWNER', 'CLASS', 'PROOF'], rows).trimEnd());
  }
  if (heldBy.length > 0) {
    blocks.push(textTable(['HELD BY', 'SET BY', 'SERVED', 'WHY'], heldBy.map(holdRow)).trimEnd());
    const causes = heldBy.flatMap(({ firstCause }) => (firstCause === undefined ? [] : [firstCause]));
    const distinct = new Map(
      causes.map(({ ref: cause, message: why }) => [
        cause.uid,
        `FIRST CAUSE   ${cause.kind.toLowerCase()}/${cause.name}: ${why}`,
      ]),
    );
    if (distinct.size > 0) blocks.push([...distinct.values()].join('\n'));
  }
  for (const { code, evidence, nextStep } of findings) {
    blocks.push(`FOUND   ${code}: ${evidence}\nNEXT    ${nextStep}`);
  }
  return `${blocks.join('\n\n')}\n`;
}

function headline({ state, owners, heldBy, findings }: Explanation): string {
  if (findings.length > 0)
    return `${findings.length === 1 ? 'One known trap holds' : `${findings.length} known traps hold`} it or what it waits for.`;
  if (state === 'terminating')
    return heldBy.length === 0 ? 'Nothing that was read holds it.' : 'No known trap was found.';
  if (owners.length === 0) return 'It has no owner: only a request deletes it.';
  const solid = owners.find(({ class: cls }) => cls === 'solid');
  return solid === undefined
    ? 'None of its owners stays.'
    : `It lives as long as ${solid.reference.kind.toLowerCase()}/${solid.reference.name} does.`;
}

function holdRow({ type, name, ref, setBy, served, message }: Hold): string[] {
  const what = name ?? (ref === undefined ? type : `${ref.kind.toLowerCase()}/${ref.name}`);
  return [what, setBy ?? '', served ?? '', message];
}
