import { humanDuration } from '../../api/meta/duration.ts';
import { parseTime } from '../../api/meta/time.ts';
import { indentedJson } from '../../base/json/json-pieces.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { CascadeRecord } from '../../cascade/documents/cascade-record.ts';
import type { ObjectReference } from '../../cascade/documents/object-reference.ts';
import type { ConflictPolicy, ManagedPolicy, UndoObject, UndoPlan } from '../../cascade/documents/undo-plan.ts';
import type { UndoResult } from '../../cascade/documents/undo-result.ts';
import { isRecordId, type RecordStore } from '../../cascade/record/record-store.ts';
import type { RecordedObject } from '../../cascade/record/recorded-object.ts';
import { isOfAnotherCluster } from '../../cascade/record/cluster-uid.ts';
import { noteUndo } from '../../cascade/record/note-undo.ts';
import { gatherRecorded } from '../../cascade/undo/gather-recorded.ts';
import { planRecordedUndo } from '../../cascade/undo/plan-recorded-undo.ts';
import { runUndo, UndoConflictError } from '../../cascade/undo/run-undo.ts';

import { discover, type DiscoveryResult } from '../../client/discovery/discovery.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { CommandError } from '../process/command-error.ts';
import type { Terminal } from '../process/terminal.ts';
import { ask } from '../cascade/ask.ts';
import { type ClusterAccess, withCluster } from '../command/cluster-access.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';
import { EXIT_DONE, EXIT_ERROR, EXIT_REFUSED } from '../command/exit-codes.ts';
import { byWhom, rootsOf } from './log.ts';
import { parseObjectArguments, resourceOf } from '../cascade/object-arguments.ts';
import {
  openRecordStore,
  OTHER_FOLDERS,
  recordArgument,
  type RecordFlags,
  withRecords,
} from '../cascade/record-options.ts';
import { counted, textTable } from '../command/text-table.ts';

export interface UndoFlags extends ClusterFlags, RecordFlags {
  readonly managed: ManagedPolicy;
  readonly onConflict: ConflictPolicy;
  readonly dryRun?: boolean;
  readonly anotherCluster?: boolean;
  readonly yes?: boolean;
  readonly output?: 'json';
}

/** The objects to restore: a whole record, or objects of the newest record that contains them. */
export type UndoSubject = { readonly id: string } | { readonly objects: readonly string[] };

/** Runs `undo` and `undelete`. Resolves with the exit code. */
export function undo(subject: UndoSubject, flags: UndoFlags, terminal: Terminal): Promise<number> {
  return withRecords(() => withCluster(flags, terminal, (cluster) => undoIn(cluster, subject, { flags, terminal })));
}

interface Call {
  readonly flags: UndoFlags;
  readonly terminal: Terminal;
}

async function undoIn(cluster: ClusterAccess, subject: UndoSubject, { flags, terminal }: Call): Promise<number> {
  const { client } = cluster;
  const store = openRecordStore(flags);
  const discovery = await discover(client);
  const { record, objects } = await recordedObjects(store, subject, { discovery, namespace: cluster.namespace, flags });
  if (flags.anotherCluster !== true) await refuseAnotherCluster(client, record);
  const { managed, onConflict } = flags;
  const options = { id: record.id, managed, onConflict };
  const planned = await planRecordedUndo(objects, options, { client, clock: systemClock, discovery });
  const { plan } = planned;
  const json = flags.output === 'json';
  if (!json) terminal.stdout(planAsText(plan, record, systemClock.now()));
  if (flags.dryRun === true) {
    if (json) for (const piece of indentedJson(plan)) terminal.stdout(piece);
    return EXIT_DONE;
  }
  if (plan.onConflict === 'fail' && plan.summary.conflict > 0) return refuse(plan, terminal);
  if (
    flags.yes !== true &&
    plan.summary.create > 0 &&
    !(await ask(`Create ${counted(plan.summary.create, 'object')}?`))
  ) {
    terminal.stderr('Nothing was created.\n');
    return EXIT_ERROR;
  }
  const onProgress = progressLine(terminal, plan.summary.create);
  try {
    const result = await noteUndo(store, await runUndo(planned, { client, clock: systemClock, onProgress }));
    for (const warning of result.warnings ?? []) terminal.stderr(`warning: ${warning}\n`);
    for (const piece of json ? indentedJson(result) : [resultAsText(result)]) terminal.stdout(piece);
    return result.summary.failed === 0 && result.ownerEdges.broken.length === 0 ? EXIT_DONE : EXIT_ERROR;
  } catch (error) {
    if (error instanceof UndoConflictError) return refuse(plan, terminal);
    throw error;
  }
}

function refuse({ objects }: UndoPlan, terminal: Terminal): number {
  const conflicts = objects.filter(({ action }) => action === 'conflict');
  terminal.stderr(
    `error: ${counted(conflicts.length, 'name')} cannot be restored; nothing was created\n` +
      conflicts
        .slice(0, 10)
        .map(({ ref, message }) => `DETAIL: ${displayName(ref)}: ${message}\n`)
        .join('') +
      `HINT: --on-conflict=skip keeps what is there and restores the rest below it\n`,
  );
  return EXIT_REFUSED;
}

async function recordedObjects(
  store: RecordStore,
  subject: UndoSubject,
  {
    discovery,
    namespace,
    flags,
  }: { readonly discovery: DiscoveryResult; readonly namespace: string; readonly flags: RecordFlags },
): Promise<{ record: CascadeRecord; objects: readonly RecordedObject[] }> {
  if ('id' in subject) return { record: await store.read(subject.id), objects: await store.objects(subject.id) };
  const [id = ''] = subject.objects;
  if (isRecordId(id)) {
    throw new CommandError(
      `${id} is a record, not TYPE/NAME`,
      `kubectl cascade undo ${recordArgument(id, flags)} takes it back as a whole.`,
    );
  }
  const wanted = parseObjectArguments(subject.objects, {}).map(({ type, name }) => {
    const { group, kind, namespaced } = resourceOf(discovery, type);
    return { group, kind, name, namespace: namespaced ? namespace : undefined };
  });
  const isWanted = ({ apiVersion = '', kind, metadata }: RecordedObject['body']): boolean =>
    wanted.some(
      (each) =>
        each.kind === kind &&
        each.name === metadata?.name &&
        each.namespace === metadata?.namespace &&
        each.group === (apiVersion.includes('/') ? apiVersion.split('/')[0] : ''),
    );
  const gathered = await gatherRecorded(store, isWanted);
  if (gathered !== undefined) return gathered;
  throw new CommandError(
    `no record in ${store.folder} has ${subject.objects.join(' ')}`,
    `Only kubectl cascade delete, a running kubegc record and kubegc up --record make records; kubectl cascade log lists them, and -n NAMESPACE chooses the namespace.\n${OTHER_FOLDERS}`,
  );
}

/** Refuses a record of another cluster, because an undo would mix the objects of two clusters. */
async function refuseAnotherCluster(client: RestClient, record: CascadeRecord): Promise<void> {
  if (!(await isOfAnotherCluster(record, client))) return;
  const { id, context } = record;
  throw new CommandError(
    `record ${id} is from another cluster: ${context.name} (${context.server})`,
    'Choose that cluster with --context, or give --another-cluster to restore into this one.',
  );
}

const WORDS: Readonly<Record<UndoObject['action'], string>> = {
  create: 'create',
  present: 'keep',
  leave: 'leave',
  conflict: 'conflict',
  impossible: 'impossible',
};
/** Maximum number of lines of one kind, action and reason before they are folded. */
const SHOWN_ALIKE = 5;

/** The steps of an undo: a summary, then the objects in the order of their creation. */
export function planAsText(plan: UndoPlan, record: CascadeRecord, now: number): string {
  const { create, present, leave, conflict, impossible } = plan.summary;
  const age = humanDuration(Math.max(0, now - (parseTime(record.time) ?? now)));
  const rest = [
    [present, 'is there already', 'are there already'],
    [leave, 'is left out', 'are left out'],
    [conflict, 'has a name that is taken', 'have names that are taken'],
    [impossible, 'cannot be restored', 'cannot be restored'],
  ] as const;
  const clauses = rest.flatMap(([count, one, many]) => (count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]));
  const head = `Undoing the deletion of ${rootsOf(record)} (${age} ago${byWhom(record)}) creates ${counted(create, 'object')}${clauses.map((clause) => `; ${clause}`).join('')}.`;
  const ordered = plan.objects.toSorted((a, b) => (a.wave ?? Infinity) - (b.wave ?? Infinity) || 0);
  const rows: string[][] = [];
  const alike = new Map<string, { shown: number; folded: number; kind: string }>();
  for (const { ref, action, reason, message, notes = [] } of ordered) {
    const key = `${ref.kind} ${action} ${reason}`;
    const seen = alike.get(key) ?? { shown: 0, folded: 0, kind: ref.kind };
    alike.set(key, seen);
    if (seen.shown >= SHOWN_ALIKE && notes.length === 0) {
      seen.folded++;
      continue;
    }
    seen.shown++;
    rows.push([displayName(ref), WORDS[action], message]);
    for (const note of notes) rows.push(['', '', `note: ${note}`]);
  }
  const folded = [...alike.values()]
    .filter((each) => each.folded > 0)
    .map((each) => `… and ${counted(each.folded, `more ${each.kind.toLowerCase()}`)}\n`);
  return `${head}\n\n${textTable(['OBJECT', 'ACTION', 'WHY'], rows)}${folded.join('')}\n`;
}

/** The result of an undo. */
export function resultAsText({ objects, summary, ownerEdges }: UndoResult): string {
  const { created, present, left, conflict, failed } = summary;
  const lines = [
    `Restored ${counted(created, 'object')}; ${present} ${present === 1 ? 'was' : 'were'} there, ${left} left out, ${conflict} skipped, ${failed} failed.`,
    ...(ownerEdges.total === 0
      ? []
      : [
          `Owner references: ${ownerEdges.valid.toLocaleString('en-US')} of ${ownerEdges.total.toLocaleString('en-US')} are valid.`,
        ]),
    ...ownerEdges.broken.slice(0, 20).map((broken) => `  ${broken}`),
  ];
  for (const { ref, outcome, message, notes = [] } of objects) {
    if (outcome === 'failed' || outcome === 'conflict') lines.push(`${outcome}: ${displayName(ref)}: ${message}`);
    if (outcome === 'created') for (const note of notes) lines.push(`note: ${displayName(ref)}: ${note}`);
  }
  return `${lines.join('\n')}\n`;
}

const displayName = ({ kind, name, namespace }: ObjectReference): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;

/** A progress line that is rewritten on a terminal; nothing elsewhere, because an undo takes seconds. */
function progressLine(terminal: Terminal, total: number): (done: number) => void {
  if (!process.stderr.isTTY || total < 100) return () => undefined;
  return (done) => {
    if (done % 50 === 0)
      terminal.stderr(`\rrestoring: ${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}`);
    if (done >= total) terminal.stderr('\r\u001B[K');
  };
}
