import { readFile } from 'node:fs/promises';
import { StatusError } from '../../api/status-error.ts';
import { messageOf } from '../../base/errors/thrown.ts';
import { indentedJson } from '../../base/json/json-pieces.ts';
import { systemClock } from '../../base/time/clock.ts';
import {
  awaitCascade,
  type CascadeEnd,
  type CascadeProgress,
  isToGo,
  sentenceOf,
} from '../../cascade/delete/await-cascade.ts';
import { type Budget, exceededBudget } from '../../cascade/delete/budget.ts';
import { planAgain } from '../../cascade/delete/plan-again.ts';
import { planDifference } from '../../cascade/delete/plan-difference.ts';
import { deleteInWaves } from '../../cascade/delete/delete-in-waves.ts';
import { sendDeletes } from '../../cascade/delete/send-deletes.ts';
import type { CascadePlan } from '../../cascade/documents/cascade-plan.ts';
import { DOCUMENT_API_VERSION } from '../../cascade/documents/document.ts';
import { namesDigest, shortDigest } from '../../cascade/preview/digest.ts';
import { objectName } from '../../cascade/preview/object-name.ts';
import { rootsByWave } from '../../cascade/preview/order-plan.ts';
import { recordCascade, recordedBy } from '../../cascade/record/record-cascade.ts';
import type { RecordStore } from '../../cascade/record/record-store.ts';
import { planText } from '../../cascade/report/plan-text.ts';
import { durationOf } from '../flags/duration-flag.ts';
import { CommandError, systemReason } from '../process/command-error.ts';
import { untilSignal } from '../process/termination.ts';
import type { Terminal } from '../process/terminal.ts';
import { type ClusterAccess, withCluster } from '../command/cluster-access.ts';
import type { ClusterFlags } from '../command/cluster-options.ts';
import {
  graceOf,
  inOrder,
  nothingThere,
  type PlanRequestFlags,
  requestedPlan,
  warnIncomplete,
} from './plan-request.ts';
import { ask } from './ask.ts';
import { EXIT_DONE, EXIT_ERROR, EXIT_REFUSED, EXIT_TIMED_OUT } from '../command/exit-codes.ts';
import { openRecordStore, recordArgument, type RecordFlags, withRecords } from './record-options.ts';
import { terminalStyle } from './terminal-style.ts';
import { counted } from '../command/text-table.ts';

export interface DeleteFlags extends ClusterFlags, PlanRequestFlags, RecordFlags {
  readonly digest?: string;
  readonly plan?: string;
  readonly budget?: readonly string[];
  readonly dryRun?: 'none' | 'client' | 'server';
  /** commander's form of `--no-wait` and `--wait=false`. */
  readonly wait?: string | boolean;
  readonly timeout: string;
  readonly yes?: boolean;
  readonly output?: 'json';
}

export interface WaitFlags extends ClusterFlags, RecordFlags {
  readonly timeout: string;
}

const YEAR_MS = 365 * 24 * 3600 * 1000;
/** Maximum number of differences shown. */
const MOST_SHOWN = 10;
/** Interval between progress lines when stderr is not a terminal. */
const LINE_MS = 10_000;

/** Runs `delete`. Resolves with the exit code. With `-o json`, stdout has only the record, and stderr everything else. */
export function deleteObjects(args: readonly string[], flags: DeleteFlags, output: Terminal): Promise<number> {
  const terminal = flags.output === 'json' ? { ...output, stdout: output.stderr } : output;
  const timeoutMs = timeoutOf(flags.timeout);
  const budget = budgetOf(flags.budget ?? []);
  return withRecords(() =>
    withCluster(flags, terminal, async (cluster) => {
      const saved = flags.plan === undefined ? undefined : await savedPlan(flags.plan, args);
      const plan =
        saved === undefined
          ? (await requestedPlan(cluster, args, { flags, terminal }))?.plan
          : await planAnew(cluster, saved, { flags, terminal });
      if (plan === undefined) return nothingThere(terminal);
      terminal.stdout(`${planText(plan, { style: terminalStyle(terminal), all: false, wide: false })}\n`);
      const refusal = refusalOf(plan, { saved, digest: flags.digest, budget });
      if (refusal !== undefined) return refuse(refusal, terminal);
      if (flags.dryRun === 'client') return EXIT_DONE;
      const gracePeriodSeconds = graceOf(flags);
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      if (flags.dryRun === 'server') {
        await sendDeletes(cluster.client, plan.roots, { ...grace, dryRun: true });
        terminal.stdout('The server accepts the requests (dry run). Nothing was deleted.\n');
        return EXIT_DONE;
      }
      if ((flags.wait === false || flags.wait === 'false') && rootsByWave(plan).length > 1) {
        throw new CommandError(
          'the objects go in waves, and a later one begins when those before are gone',
          'Leave --wait=false away.',
        );
      }
      const isAgreed = flags.yes === true || flags.digest !== undefined || saved !== undefined;
      if (!isAgreed && !(await ask(`Delete ${counted(plan.objects.filter(isToGo).length, 'object')}?`))) {
        terminal.stderr('Nothing was deleted.\n');
        return EXIT_ERROR;
      }
      const onRecord = async (id: string): Promise<void> => {
        if (flags.output !== 'json') return;
        for (const piece of indentedJson(await openRecordStore(flags).read(id))) output.stdout(piece);
      };
      return await carryOut(cluster, plan, { flags, terminal, timeoutMs, onRecord, ...grace });
    }),
  );
}

/** Runs `wait`. Resolves with the exit code. */
export function waitFor(id: string, flags: WaitFlags, terminal: Terminal): Promise<number> {
  const timeoutMs = timeoutOf(flags.timeout);
  return withRecords(() =>
    withCluster(flags, terminal, async (cluster) => {
      const store = openRecordStore(flags);
      const record = await store.read(id);
      if (record.plan === undefined) {
        throw new CommandError(
          `record ${record.id} has no plan to wait for`,
          'It was kept by a recorder, not by a deletion of ours.',
        );
      }
      const stop = stopped();
      const named = recordArgument(record.id, flags);
      const awaiting = { store, id: record.id, named, terminal, deadline: deadlineOf(timeoutMs) };
      if (rootsByWave(record.plan).length > 1) {
        const begun = await inWaves(cluster, record.plan, { ...awaiting, signal: stop, from: 'later' });
        if (begun !== undefined) return begun;
      }
      return await awaitEnd(cluster, record.plan, { ...awaiting, signal: stop });
    }),
  );
}

interface CarryOut {
  readonly flags: DeleteFlags;
  readonly terminal: Terminal;
  readonly timeoutMs: number | undefined;
  readonly gracePeriodSeconds?: number;
  /** Called at the end with the id of the record. */
  readonly onRecord: (id: string) => Promise<void>;
}

/** Records first, then deletes, then waits. */
async function carryOut(
  cluster: ClusterAccess,
  plan: CascadePlan,
  { flags, terminal, timeoutMs, gracePeriodSeconds, onRecord }: CarryOut,
): Promise<number> {
  const { client } = cluster;
  const store = openRecordStore(flags);
  const goes = recordedBy(plan);
  const context = { name: cluster.source, server: cluster.server };
  const id = await recordCascade(plan, { client, records: store, context });
  terminal.stderr(`Recorded ${counted(goes.length, 'object')} as ${id}.\n`);
  const signal = rootsByWave(plan).length > 1 ? stopped() : undefined;
  const named = recordArgument(id, flags);
  const awaiting = { store, id, named, terminal, deadline: deadlineOf(timeoutMs) };
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  const ended = await inWaves(cluster, plan, { ...awaiting, signal, ...grace });
  if (ended !== undefined) {
    await onRecord(id);
    return ended;
  }
  if (flags.wait === false || flags.wait === 'false') {
    terminal.stdout(`Deleting. kubectl cascade wait ${named} waits for the end.\n`);
    await onRecord(id);
    return EXIT_DONE;
  }
  const code = await awaitEnd(cluster, plan, { ...awaiting, signal: signal ?? stopped() });
  await onRecord(id);
  return code;
}

interface Awaiting {
  readonly store: RecordStore;
  readonly id: string;
  /** The record as an argument of the next command. */
  readonly named: string;
  readonly terminal: Terminal;
  /** The deadline of the waves and the wait after them, in monotonic milliseconds. */
  readonly deadline: number | undefined;
  readonly signal: AbortSignal;
}

function deadlineOf(timeoutMs: number | undefined): number | undefined {
  return timeoutMs === undefined ? undefined : systemClock.monotonic() + timeoutMs;
}

/** Aborted by Ctrl-C, which then ends the command in order. */
function stopped(): AbortSignal {
  const stop = new AbortController();
  void untilSignal().then(() => stop.abort());
  return stop.signal;
}

/** Sends the requests, wave by wave. Resolves with the exit code when not all were sent. */
async function inWaves(
  { client }: ClusterAccess,
  plan: CascadePlan,
  {
    store,
    id,
    named,
    terminal,
    deadline,
    signal,
    ...options
  }: Omit<Awaiting, 'signal'> & {
    readonly signal: AbortSignal | undefined;
    readonly from?: 'later';
    readonly gracePeriodSeconds?: number;
  },
): Promise<number | undefined> {
  const progress = progressLine(plan, terminal);
  const waiting = { client, clock: systemClock, deadline, onProgress: progress.show };
  const waves = await deleteInWaves(plan, { ...waiting, ...(signal === undefined ? {} : { signal }) }, options).catch(
    async (error: unknown) => {
      progress.end();
      // The refusal counts, even if the record cannot take it any more.
      await store.finish(id, { outcome: 'failed', differences: [messageOf(error)] }).catch(() => undefined);
      terminal.stderr(
        error instanceof StatusError && plan.roots.length === 1
          ? 'Nothing was deleted.\n'
          : `kubectl cascade undo ${named} brings back what is gone, if anything is.\n`,
      );
      throw error;
    },
  );
  progress.end();
  if (waves.end !== 'sent') {
    const { end, remaining } = waves;
    const differences = remaining.map(sentenceOf);
    await store.finish(id, { outcome: end, ...(differences.length === 0 ? {} : { differences }) });
    if (end === 'timedOut') return say({ end, remaining, differences }, plan, named, terminal);
    terminal.stderr(`Interrupted before the last wave. kubectl cascade wait ${named} goes on with it.\n`);
    return EXIT_ERROR;
  }
  const { sent } = waves;
  const changed = sent.find(({ answer }) => answer === 'changed');
  if (changed === undefined) return undefined;
  const done = sent.length - 1;
  await store.finish(id, { outcome: 'failed', differences: [changed.message ?? 'it changed'] });
  return refuse(
    {
      what: `${objectName(changed.root.ref)} changed since the plan was made`,
      detail:
        done === 0
          ? ['Nothing was deleted.']
          : [
              `${counted(done, 'object')} before it were deleted: kubectl cascade undo ${named} brings back what is gone.`,
            ],
      next: 'Preview it again.',
    },
    terminal,
  );
}

async function awaitEnd(
  { client }: ClusterAccess,
  plan: CascadePlan,
  { store, id, named, terminal, deadline, signal }: Awaiting,
): Promise<number> {
  const progress = progressLine(plan, terminal);
  const end = await awaitCascade(plan, {
    client,
    clock: systemClock,
    signal,
    deadline,
    onProgress: progress.show,
  });
  progress.end();
  const outcome = end.end === 'asPlanned' ? 'asPlanned' : end.end;
  await store.finish(id, { outcome, ...(end.differences.length === 0 ? {} : { differences: end.differences }) });
  return say(end, plan, named, terminal);
}

function say(
  { end, remaining, differences }: CascadeEnd,
  plan: CascadePlan,
  named: string,
  terminal: Terminal,
): number {
  const gone = plan.objects.filter(isToGo).length - remaining.length;
  const held = plan.objects.filter((object) => object.outcome === 'waits' && !isToGo(object));
  switch (end) {
    case 'asPlanned':
      terminal.stdout(
        gone === 0
          ? 'No object is gone yet, as planned.\n'
          : `Deleted ${counted(gone, 'object')}, as planned. kubectl cascade undo ${named} brings ${gone === 1 ? 'it' : 'them'} back.\n`,
      );
      if (held.length > 0) {
        const lines = held.map(({ ref, message }) => `${objectName(ref)}: ${message}`);
        terminal.stdout(
          `${counted(held.length, 'object')} ${held.length === 1 ? 'still waits' : 'still wait'}:\n${shownLines(lines)}`,
        );
      }
      return EXIT_DONE;
    case 'different':
      terminal.stdout(`Deleted ${counted(gone, 'object')}, and not all as planned:\n${shownLines(differences)}`);
      terminal.stdout(`kubectl cascade undo ${named} brings back what was recorded.\n`);
      return EXIT_ERROR;
    case 'timedOut':
      terminal.stderr(
        `error: timed out with ${counted(remaining.length, 'object')} left\n${shownLines(remaining.map(sentenceOf))}`,
      );
      terminal.stderr(
        `kubectl cascade explain ${asArguments(remaining)} says why; kubectl cascade wait ${named} goes on.\n`,
      );
      return EXIT_TIMED_OUT;
    case 'interrupted':
      terminal.stderr(
        `Interrupted; the deletion goes on in the cluster. kubectl cascade wait ${named} waits until it has finished.\n`,
      );
      return EXIT_ERROR;
  }
}

/** The first object that is left, as arguments of kubectl. */
function asArguments([first]: CascadeEnd['remaining']): string {
  if (first === undefined) return 'TYPE/NAME';
  const { ref } = first;
  return `${objectName(ref)}${ref.namespace === undefined ? '' : ` -n ${ref.namespace}`}`;
}

/** One line that is rewritten on a terminal, or a line every ten seconds elsewhere. */
function progressLine(
  plan: CascadePlan,
  { stderr, isInteractive = false }: Terminal,
): { show: (progress: CascadeProgress) => void; end: () => void } {
  const [root] = plan.roots;
  const what = plan.roots.length === 1 && root !== undefined ? root.ref.name : counted(plan.roots.length, 'object');
  const startedAt = systemClock.monotonic();
  let saidAt = startedAt;
  let shown = false;
  return {
    show({ done, total, waitsFor }) {
      const now = systemClock.monotonic();
      const rate = done / Math.max(0.001, (now - startedAt) / 1000);
      const waits = waitsFor === undefined ? '' : `, waits: ${sentenceOf(waitsFor)}`;
      const line = `deleting ${what}: ${done.toLocaleString('en-US')} of ${counted(total, 'object')}, ${Math.round(rate).toLocaleString('en-US')}/s${waits}`;
      if (isInteractive) {
        stderr(`\r\u001b[K${line}`);
        shown = true;
      } else if (now - saidAt >= LINE_MS) {
        saidAt = now;
        stderr(`${line}\n`);
      }
    },
    end() {
      if (shown) stderr('\r\u001b[K');
    },
  };
}

interface Refusal {
  readonly what: string;
  readonly detail: readonly string[];
  readonly next: string;
}

/** Prints the refusal, its objects, and the next step. */
function refuse({ what, detail, next }: Refusal, terminal: Terminal): number {
  terminal.stderr(`error: ${what}\n${shownLines(detail)}${next}\n`);
  return EXIT_REFUSED;
}

function refusalOf(
  plan: CascadePlan,
  {
    saved,
    digest,
    budget,
  }: { readonly saved: CascadePlan | undefined; readonly digest: string | undefined; readonly budget: Budget },
): Refusal | undefined {
  const short = shortDigest(plan.digest);
  if (saved !== undefined && saved.digest !== plan.digest) {
    return {
      what: `the cluster gives another plan now (${short} instead of ${shortDigest(saved.digest)}); nothing was deleted`,
      detail: planDifference(saved, plan),
      next: 'Read the plan above, and save it anew if it is what you want.',
    };
  }
  if (digest !== undefined && !namesDigest(digest, plan.digest)) {
    return {
      what: `the plan has digest ${short}, not ${digest}; nothing was deleted`,
      detail: [],
      next: `Read the plan above. If it is what you want, give --digest ${short}.`,
    };
  }
  const exceeded = exceededBudget(plan, budget);
  if (exceeded.length === 0) return undefined;
  return {
    what: 'the plan exceeds the budget; nothing was deleted',
    detail: exceeded,
    next: 'Delete less, or give a larger --budget.',
  };
}

function shownLines(lines: readonly string[]): string {
  const shown = lines.slice(0, MOST_SHOWN).map((line) => `  ${line}\n`);
  const more = lines.length - shown.length;
  return shown.join('') + (more > 0 ? `  … and ${more.toLocaleString('en-US')} more\n` : '');
}

async function savedPlan(file: string, args: readonly string[]): Promise<CascadePlan> {
  if (args.length > 0) throw new CommandError('--plan says what is deleted', 'Leave TYPE/NAME away, or --plan.');
  let plan: CascadePlan;
  try {
    plan = JSON.parse(await readFile(file, 'utf8')) as CascadePlan;
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : systemReason(error);
    throw new CommandError(`cannot read the plan ${file}: ${why}`, 'kubectl cascade preview --save FILE writes one.', {
      cause: error,
    });
  }
  const { apiVersion, kind } = plan as { readonly apiVersion?: unknown; readonly kind?: unknown };
  if (kind === 'CascadePlan' && apiVersion === DOCUMENT_API_VERSION) return plan;
  throw new CommandError(
    `${file} is ${String(kind)} in ${String(apiVersion)}, not a CascadePlan in ${DOCUMENT_API_VERSION}`,
    'Use the version of kubegc that wrote it, or preview again.',
  );
}

async function planAnew(
  { client }: ClusterAccess,
  saved: CascadePlan,
  { flags, terminal }: { readonly flags: DeleteFlags; readonly terminal: Terminal },
): Promise<CascadePlan> {
  const gracePeriodSeconds = graceOf(flags);
  const plan = await inOrder(
    planAgain(saved, {
      client,
      clock: systemClock,
      gracePeriodSeconds,
      ignoreFinishedPods: flags.pvcProtectionIgnoreFinishedPods,
    }),
  );
  if (plan === undefined)
    throw new CommandError('none of the roots of the plan exists any more', 'There is nothing to delete.');
  warnIncomplete(plan, terminal);
  return plan;
}

function budgetOf(texts: readonly string[]): Budget {
  let total: number | undefined;
  const byKind = new Map<string, number>();
  for (const text of texts) {
    const [, kind, digits] = /^(?:([a-z][a-z0-9.-]*)=)?(\d{1,9})$/.exec(text) ?? [];
    if (digits === undefined)
      throw new CommandError(`invalid --budget "${text}"`, 'Give a number of objects, or KIND=N, for example pods=50.');
    if (kind === undefined) total = Number(digits);
    else byKind.set(kind, Number(digits));
  }
  return { byKind, ...(total === undefined ? {} : { total }) };
}

function timeoutOf(text: string): number | undefined {
  const ms = durationOf('--timeout', text, { least: 0, most: YEAR_MS });
  return ms === 0 ? undefined : ms;
}
