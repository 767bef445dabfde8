import { reasons } from '../../../src/collector/types/reasons.ts';
import { LIES } from './lies/lie-plan.ts';
import { FAULTS, type Step, STREAM_FAULTS, VERSIONS } from './plan.ts';

/** How many histories had what, such as `fault twice` or `reason ownersAbsent`. */
export class Coverage {
  readonly counts = new Map<string, number>();
  readonly #expected: readonly string[];

  constructor(canOccur: readonly string[] = expected) {
    this.#expected = canOccur;
  }

  add(labels: Iterable<string>): void {
    for (const label of labels) this.counts.set(label, (this.counts.get(label) ?? 0) + 1);
  }

  merge(counts: Iterable<readonly [string, number]>): void {
    for (const [label, count] of counts) this.counts.set(label, (this.counts.get(label) ?? 0) + count);
  }

  /** The labels that never occurred although they can. */
  get missing(): string[] {
    return this.#expected.filter((label) => !this.counts.has(label));
  }

  /** One line a label, sorted. */
  toString(): string {
    const lines = [...this.counts].map(([label, count]) => `${String(count).padStart(9)}  ${label}`);
    return lines.toSorted((a, b) => (a.slice(11) < b.slice(11) ? -1 : 1)).join('\n');
  }
}

/** Decisions that a history cannot lead to, or as good as never does, and why. */
const NOT_HERE: Readonly<Record<string, string>> = {
  ignoredResource: 'no resource is ignored but events, which nobody deletes here',
  deleteAccepted: 'told as the decision that led to it',
  patchAccepted: 'told as the decision that led to it',
  patchNotNeeded: 'told as the decision that led to it',
  finalizerConflictsExhausted:
    'versions are plain numbers here, and no resource is ignored: each removal rests on one version',
  factsKeptChanging: 'it takes eight changes, each during the look at the one before',
};

const STEPS: readonly Step['do'][] = [
  'create',
  'delete',
  'deleteAll',
  'refer',
  'label',
  'hold',
  'release',
  'strip',
  'define',
  'undefine',
  'wait',
  'fault',
  'stream',
  'crash',
  'stop',
  'start',
  'lead',
  'partition',
  'backup',
  'restore',
  'lie',
];

const RESTORES = [
  'to a lower version',
  'to a higher version',
  'during a write',
  'that takes a deletion back',
  'that silences a watch',
  'that refuses a watch',
  'that leaves watches open',
];

export const expected: readonly string[] = [
  ...STEPS.map((step) => `step ${step}`),
  ...FAULTS.map((fault) => `fault ${fault}`),
  ...STREAM_FAULTS.map((fault) => `stream ${fault}`),
  ...LIES.flatMap((lie) => [`lie ${lie}`, `answered ${lie}`]),
  'another cluster was met',
  ...RESTORES.map((what) => `restore ${what}`),
  ...['Background', 'Foreground', 'Orphan', 'none'].map((policy) => `policy ${policy}`),
  ...['rest', 'resync', 'empty'].map((end) => `end ${end}`),
  ...['json', 'protobuf'].map((encoding) => `encoding ${encoding}`),
  ...['list', 'watchList'].map((intake) => `intake ${intake}`),
  ...[...VERSIONS, 'late'].map((version) => `version ${version}`),
  ...['query', 'body'].map((place) => `options in ${place}`),
  ...['at once', 'late'].map((news) => `news ${news}`),
  ...['one', 'two', 'leader and standby'].map((collectors) => `collectors ${collectors}`),
  ...Object.keys({ ...reasons.decided, ...reasons.answered })
    .filter((reason) => !(reason in NOT_HERE))
    .map((reason) => `reason ${reason}`),
];
