import { indentedJson } from '../../base/json/json-pieces.ts';
import { humanAge, humanDuration } from '../../api/meta/duration.ts';
import { parseTime } from '../../api/meta/time.ts';
import { systemClock } from '../../base/time/clock.ts';
import type { CascadeRecord, CascadeRecordList } from '../../cascade/documents/cascade-record.ts';
import { DOCUMENT_API_VERSION } from '../../cascade/documents/document.ts';
import type { ObjectReference } from '../../cascade/documents/object-reference.ts';
import type { RecordedObject } from '../../cascade/record/recorded-object.ts';
import type { Terminal } from '../process/terminal.ts';
import { EXIT_DONE } from '../command/exit-codes.ts';
import {
  openRecordStore,
  OTHER_FOLDERS,
  recordArgument,
  type RecordFlags,
  withRecords,
} from '../cascade/record-options.ts';
import { counted, textTable } from '../command/text-table.ts';

export interface LogFlags extends RecordFlags {
  readonly output?: 'json';
}

/** Maximum number of object lines for one record. */
const SHOWN = 200;

/** Runs `log`. Resolves with the exit code. */
export function log(id: string | undefined, flags: LogFlags, terminal: Terminal): Promise<number> {
  return withRecords(async () => {
    const store = openRecordStore(flags);
    if (id === undefined) {
      const { records, unreadable } = await store.list();
      for (const { message } of unreadable) terminal.stderr(`Warning: ${message}\n`);
      if (flags.output === 'json') terminal.stdout(listAsJson(records));
      else if (records.length === 0) terminal.stdout(`No deletion is recorded in ${store.folder}.\n${OTHER_FOLDERS}\n`);
      else terminal.stdout(listAsText(records, systemClock.now()));
      return EXIT_DONE;
    }
    const record = await store.read(id);
    if (flags.output === 'json') {
      for (const piece of indentedJson(record)) terminal.stdout(piece);
    } else terminal.stdout(recordAsText(record, await store.objects(id), { flags, now: systemClock.now() }));
    return EXIT_DONE;
  });
}

function listAsJson(records: readonly CascadeRecord[]): string {
  // The list leaves out the plans, which would be many megabytes; `log ID` shows them.
  const items = records.map(({ plan: _plan, ...rest }) => rest);
  const list: CascadeRecordList = { apiVersion: DOCUMENT_API_VERSION, kind: 'CascadeRecordList', items };
  return `${JSON.stringify(list, undefined, 2)}\n`;
}

/** The list as a table. */
export function listAsText(records: readonly CascadeRecord[], now: number): string {
  const rows = records.map((record) => [
    record.id,
    humanAge(parseTime(record.time), now),
    record.requester,
    rootsOf(record),
    String(record.objects),
    outcomeOf(record),
  ]);
  return textTable(['ID', 'AGE', 'WHO', 'ROOT', 'OBJECTS', 'OUTCOME'], rows);
}

/** One record: facts first, then its objects. */
export function recordAsText(
  record: CascadeRecord,
  objects: readonly RecordedObject[],
  { flags, now }: { readonly flags: RecordFlags; readonly now: number },
): string {
  const age = humanDuration(Math.max(0, now - (parseTime(record.time) ?? now)));
  const lines = [
    record.outcome === 'failed'
      ? `The deletion of ${rootsOf(record)} failed ${age} ago${byWhom(record)}; what is gone of ${counted(record.objects, 'object')} can be brought back.`
      : `${rootsOf(record)} was deleted ${age} ago${byWhom(record)}; ${counted(record.objects, 'object')} can be brought back.`,
    '',
    `ID        ${record.id}`,
    `WHEN      ${record.time}`,
    `CLUSTER   ${record.context.name} (${record.context.server})`,
    `POLICY    ${record.policy}`,
    `OUTCOME   ${outcomeOf(record)}`,
    `SECRETS   ${record.secrets}`,
    ...(record.differences ?? []).map((difference) => `          ${difference.replaceAll('\n', '\n          ')}`),
    ...(record.undone ?? []).map(
      ({ time, restored, left, conflicts }) =>
        `UNDONE    ${time}: ${restored} restored, ${left} left to their controllers, ${counted(conflicts, 'conflict')}`,
    ),
  ];
  const rows = objects
    .slice(0, SHOWN)
    .map(({ body, dataOmitted }) => [
      `${body.kind?.toLowerCase()}/${body.metadata?.name}`,
      body.metadata?.namespace ?? '',
      dataOmitted === true ? 'data not recorded' : '',
    ]);
  const more = objects.length > SHOWN ? `… and ${counted(objects.length - SHOWN, 'more object')}\n` : '';
  // A recorder leaves out what comes back by itself; a record of `delete`, which has a plan, has everything.
  const rebuilt =
    record.plan === undefined
      ? 'Not in the record: objects that a controller makes again, such as the pods of a ReplicaSet.\n'
      : '';
  return `${lines.join('\n')}\n\n${textTable(['OBJECT', 'NAMESPACE', ''], rows)}${more}${rebuilt}\nBring it back:   kubectl cascade undo ${recordArgument(record.id, flags)}\n`;
}

/** `deployment/web -n shop and 2 more` */
export function rootsOf({ roots }: Pick<CascadeRecord, 'roots'>): string {
  const [first, ...rest] = roots;
  if (first === undefined) return '(nothing)';
  return `${rootName(first)}${rest.length === 0 ? '' : ` and ${rest.length} more`}`;
}

/** ` by ada`; empty if a recorder saw the deletion, because it does not know the user. */
export const byWhom = ({ requester }: Pick<CascadeRecord, 'requester'>): string =>
  requester.startsWith('(') ? '' : ` by ${requester}`;

const rootName = ({ kind, name, namespace }: ObjectReference): string =>
  `${kind.toLowerCase()}/${name}${namespace === undefined ? '' : ` -n ${namespace}`}`;

const OUTCOMES: Readonly<Record<CascadeRecord['outcome'], string>> = {
  recorded: 'not known',
  asPlanned: 'as planned',
  different: 'differs from the plan',
  timedOut: 'timed out',
  interrupted: 'interrupted',
  failed: 'failed',
};

/** A recorder, which has no plan, writes a record of objects that are gone. */
function outcomeOf({ outcome, plan, undone = [] }: CascadeRecord): string {
  const text = outcome === 'recorded' && plan === undefined ? 'deleted' : OUTCOMES[outcome];
  return undone.length === 0 ? text : `${text}, undone`;
}
