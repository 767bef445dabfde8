import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import type { LogFields } from '../../src/base/logs/logger.ts';
import { explainDecision } from '../../src/cli/collect/explain-decision.ts';
import { sentenceOf } from '../../src/collector/types/reasons.ts';
import type { CarriedOut } from '../../src/collector/workers/decision.ts';
import { event } from './kinds.ts';
import type { Rig } from './rig.ts';

/** Where a reason can be seen. */
export type Sink = 'log' | 'metrics' | 'Events' | 'explain';

const COMPONENT = 'garbage-collector-controller';
/** Fields of a line that carry names of the catalogue, one or several. */
const FIELDS = ['reason', 'because', 'decided', 'answered'] as const;

/** Messages that warn of a write that failed. */
const FAILED: ReadonlySet<string> = new Set([
  'write failed, will retry',
  'failed to orphan a dependent, will retry',
  sentenceOf('writeRejected'),
  sentenceOf('finalizerConflictsExhausted'),
]);

/** Gathers the reasons that a collector gave while a rig ran, by where it gave them. */
export class EmittedReasons {
  readonly by: Readonly<Record<Sink, Set<string>>> = {
    log: new Set(),
    metrics: new Set(),
    Events: new Set(),
    explain: new Set(),
  };

  /** Fields of the lines about writes. */
  readonly writes: LogFields[] = [];
  /** Fields of the lines of `--explain-every-action`. */
  readonly explained: LogFields[] = [];
  /** Fields of warnings about writes that failed. */
  readonly failures: LogFields[] = [];
  /** Rigs whose server accepted another number of deletions and patches than the log reported. */
  readonly untold: string[] = [];

  /** As `--explain-every-action` does. */
  readonly onDecision = (decision: CarriedOut): void => {
    const { fields } = explainDecision(decision);
    this.explained.push(fields);
    for (const reason of reasonsIn(fields)) this.by.explain.add(reason);
  };

  async gather(rig: Rig): Promise<void> {
    const before = this.writes.length;
    for (const { level, message, fields } of rig.logger.lines) {
      if (fields['from'] !== 'collector') continue;
      if (level === 'warn' && FAILED.has(message)) this.failures.push(fields);
      if (message === 'deleted an object' || message === 'patched an object') this.writes.push(fields);
      for (const reason of reasonsIn(fields)) this.by.log.add(reason);
    }
    const accepted = rig.recorder.writes.filter(({ path, status }) => status < 300 && !path.includes('/events'));
    const told = this.writes.length - before;
    if (accepted.length !== told) this.untold.push(`${told} lines, ${rig.recorder.lines.join('; ')}`);
    for (const name of ['kubegc_collector_queued_total', 'kubegc_collector_decisions_total']) {
      for (const { reason } of rig.metrics.labels(name)) this.by.metrics.add(String(reason));
    }
    const { items } = await rig.wait(
      rig.client.list<KubeObject & { reason?: string; source?: { component?: string } }>({ gvr: event.gvr }),
    );
    for (const { reason = '', source } of items) if (source?.component === COMPONENT) this.by.Events.add(reason);
  }
}

function reasonsIn(fields: Readonly<Record<string, unknown>>): string[] {
  return FIELDS.flatMap((field) => {
    const value = fields[field];
    return typeof value === 'string' ? value.split(', ') : [];
  });
}
