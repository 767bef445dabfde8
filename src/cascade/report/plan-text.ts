import { grouped } from '../../base/collections/grouped.ts';
import type { CascadePlan, DataBearing, PlannedObject } from '../documents/cascade-plan.ts';
import { shortDigest } from '../preview/digest.ts';
import { objectName, typeName } from '../preview/object-name.ts';
import { objectReasons } from './object-reason.ts';
import { bold, count, cut, dim, paintOutcome, type Style } from './style.ts';
import { type TreeLine, treeLines } from './tree-lines.ts';

/** Maximum lines of the tree before it is folded. */
const MOST_LINES = 200;
const MOST_DATA_LINES = 10;
/** Maximum width of the object column without a terminal. */
const OBJECT_WIDTH = 78;

export interface PlanTextOptions {
  readonly style: Style;
  /** True to print all lines. */
  readonly all: boolean;
  /** More columns. */
  readonly wide: boolean;
  /** The command that carries out the plan; absent if there is none. */
  readonly command?: string;
}

/** A plan as a text for people: one sentence, the tree, data that would be lost, the command. */
export function planText(plan: CascadePlan, options: PlanTextOptions): string {
  const { style, command } = options;
  const parts = [
    `${bold(style, planSentence(plan))}\n`,
    planTable(plan, options),
    dataLines(plan, style),
    orderLines(plan),
  ];
  const end = [`PLAN       ${shortDigest(plan.digest)}\n`];
  if (command !== undefined) end.push(`Run it:    ${bold(style, command)}\n`);
  return [...parts.filter((part) => part !== ''), end.join('')].join('\n');
}

/** Objects of a wave that are named. */
const MOST_IN_A_WAVE = 5;

/**
 * One line for each wave: the roots that are deleted when those of the wave before are gone (CAS-054). Empty if all are deleted together.
 */
function orderLines({ roots }: CascadePlan): string {
  const lines = [...grouped(roots, ({ wave }) => String(wave ?? 1))].map(([wave, each]) => {
    const names = each.slice(0, MOST_IN_A_WAVE).map(({ ref }) => objectName(ref));
    const more = each.length - names.length;
    return `WAVE ${wave}     ${names.join(', ')}${more > 0 ? ` and ${count(more, 'more object')}` : ''}\n`;
  });
  return lines.length < 2 ? '' : lines.join('');
}

/** The effect, in one sentence with counts. */
export function planSentence({ roots, policy, summary, objects }: CascadePlan): string {
  const [root] = roots;
  const what = roots.length === 1 && root !== undefined ? objectName(root.ref) : count(roots.length, 'object');
  const how = policy === undefined ? 'policies differ' : policy.toLowerCase();
  const { deleted = 0, kept = 0, orphaned = 0, waits = 0, stuck = 0, unknown = 0 } = summary.byOutcome;
  const held = objects.every(({ outcome, finalizers = [] }) => outcome !== 'waits' || finalizers.length > 0)
    ? ' for a finalizer'
    : '';
  const namespaces = Object.entries(summary.byNamespace).filter(
    ([name, counts]) => name !== '' && (counts.deleted ?? 0) > 0,
  ).length;
  const where = namespaces === 0 ? '' : ` in ${count(namespaces, 'namespace')}`;
  const clauses = [
    `removes ${count(deleted, 'object')}${where}`,
    ...clause(orphaned, 'is orphaned', 'are orphaned'),
    ...clause(kept, 'is kept', 'are kept'),
    ...clause(waits, `waits${held}`, `wait${held}`),
    ...clause(stuck, 'gets stuck', 'get stuck'),
    ...clause(unknown, 'is not known', 'are not known'),
  ];
  return `Deleting ${what} (${how}) ${clauses.join('; ')}.`;
}

function clause(number: number, one: string, many: string): string[] {
  return number === 0 ? [] : [`${number.toLocaleString('en-US')} ${number === 1 ? one : many}`];
}

interface Row {
  readonly object: string;
  readonly cells: readonly string[];
  readonly outcome: PlannedObject['outcome'];
}

function planTable(plan: CascadePlan, { style, all, wide }: PlanTextOptions): string {
  const lines = planLines(plan, style, all);
  const [root] = plan.roots;
  const home = root?.ref.kind === 'Namespace' ? root.ref.name : root?.ref.namespace;
  const reasonOf = objectReasons(plan);
  const rows = lines.map((line): Row => rowOf(line, { home, wide, reasonOf }));
  const header = wide ? ['OBJECT', 'OUTCOME', 'ORDER', 'WAITS FOR', 'FINALIZERS', 'WHY'] : ['OBJECT', 'OUTCOME', 'WHY'];
  const most = style.width === undefined ? OBJECT_WIDTH : Math.max(24, Math.floor(style.width * 0.5));
  const widths = header.map((title, column) => {
    const widest = rows.reduce(
      (most, row) => Math.max(most, (column === 0 ? row.object : row.cells[column - 1]!).length),
      title.length,
    );
    return column === 0 ? Math.min(widest, style.width === undefined ? widest : most) : widest;
  });
  const format = (cells: readonly string[], paint: (text: string) => string): string => {
    let used = 0;
    return cells
      .map((cell, column) => {
        const isLast = column === cells.length - 1;
        const room = isLast
          ? style.width === undefined
            ? cell.length
            : Math.max(10, style.width - used)
          : widths[column]!;
        const text = cut(cell, room);
        used += widths[column]! + 3;
        const padded = isLast ? text : text.padEnd(widths[column]! + 3);
        return column === 1 ? paint(text) + padded.slice(text.length) : padded;
      })
      .join('')
      .trimEnd();
  };
  const body = rows.map(({ object, cells, outcome }) =>
    format([object, ...cells], (text) => paintOutcome(style, outcome, text)),
  );
  return `${[
    dim(
      style,
      format(header, (text) => text),
    ),
    ...body,
  ].join('\n')}\n`;
}

function planLines(plan: CascadePlan, style: Style, all: boolean): TreeLine<PlannedObject>[] {
  const { objects } = plan;
  const index = new Map(objects.map(({ ref }, i) => [ref.uid, i]));
  const children: number[][] = objects.map(() => []);
  const tops: number[] = [];
  for (const [i, { owners = [] }] of objects.entries()) {
    const parent = owners.map((uid) => index.get(uid)).find((found) => found !== undefined && found !== i);
    // Members of a cycle that nothing else reaches are at the top.
    if (parent === undefined || isBelow(parent, i, objects, index)) tops.push(i);
    else children[parent]!.push(i);
  }
  const items = objects.map((value, i) => ({ value, children: sorted(children[i]!, objects) }));
  return treeLines(items, tops, {
    style,
    groupOf: ({ ref, outcome, reason }) => `${typeName(ref)} ${outcome} ${reason}`,
    ...(all ? {} : { most: MOST_LINES }),
  });
}

/** Types in the order of their first occurrence, and within a type by name, numbers by value. */
function sorted(siblings: readonly number[], objects: readonly PlannedObject[]): number[] {
  const types = new Map<string, number>();
  for (const i of siblings) {
    const type = typeName(objects[i]!.ref);
    if (!types.has(type)) types.set(type, types.size);
  }
  const rank = (i: number): number => types.get(typeName(objects[i]!.ref))!;
  return siblings.toSorted((a, b) => rank(a) - rank(b) || NAMES.compare(objects[a]!.ref.name, objects[b]!.ref.name));
}

const NAMES = new Intl.Collator('en', { numeric: true });

/** Maximum steps up from an object before the path counts as a circle. */
const MOST_STEPS = 1000;

/** True if the path up from `start` reaches `target`, so that placing `target` below `start` would close a circle. */
function isBelow(
  start: number,
  target: number,
  objects: readonly PlannedObject[],
  index: ReadonlyMap<string, number>,
): boolean {
  let at: number | undefined = start;
  for (let step = 0; at !== undefined && step < MOST_STEPS; step++) {
    if (at === target) return true;
    const current: number = at;
    at = objects[current]!.owners?.map((uid) => index.get(uid)).find(
      (found) => found !== undefined && found !== current,
    );
  }
  return at !== undefined;
}

interface RowOptions {
  readonly home: string | undefined;
  readonly wide: boolean;
  readonly reasonOf: (object: PlannedObject) => string;
}

function rowOf({ prefix, value, folded }: TreeLine<PlannedObject>, { home, wide, reasonOf }: RowOptions): Row {
  const { ref, outcome, sequence, waitsFor = [], finalizers = [], graceSeconds } = value;
  if (folded !== undefined) {
    const noun = typeName(ref);
    return {
      object: `${prefix}… and ${folded.toLocaleString('en-US')} more ${plural(noun)}`,
      cells: wide ? [outcome, '', '', '', ''] : [outcome, ''],
      outcome,
    };
  }
  const elsewhere = ref.namespace !== undefined && ref.namespace !== home ? ` (${ref.namespace})` : '';
  const grace = graceSeconds === undefined ? '' : `; its node may take ${graceSeconds}s`;
  const why = `${reasonOf(value)}${grace}`;
  const more = wide
    ? [
        sequence === undefined ? '' : String(sequence),
        waitsFor.length === 0 ? '' : String(waitsFor.length),
        finalizers.map(({ name }) => name).join(','),
      ]
    : [];
  return { object: `${prefix}${objectName(ref)}${elsewhere}`, cells: [outcome, ...more, why], outcome };
}

function plural(type: string): string {
  const [name = '', ...group] = type.split('.');
  const many = /(s|x|ch|sh)$/.test(name)
    ? `${name}es`
    : /[^aeiou]y$/.test(name)
      ? `${name.slice(0, -1)}ies`
      : `${name}s`;
  return [many, ...group].join('.');
}

function dataLines({ summary }: CascadePlan, style: Style): string {
  const { dataBearing } = summary;
  if (dataBearing.length === 0) return '';
  const shown = dataBearing.slice(0, MOST_DATA_LINES);
  const widest = Math.max(...shown.map(({ ref }) => objectName(ref).length));
  const lines = shown.map((each, i) => `${i === 0 ? 'DATA       ' : '           '}${dataLine(each, widest, style)}`);
  const more = dataBearing.length - shown.length;
  if (more > 0) lines.push(`           … and ${more.toLocaleString('en-US')} more that hold data`);
  return `${lines.join('\n')}\n`;
}

function dataLine({ ref, outcome, size, message }: DataBearing, widest: number, style: Style): string {
  return `${paintOutcome(style, outcome, objectName(ref))}${' '.repeat(widest - objectName(ref).length)}  ${size === undefined ? '' : `${size}  `}${message}`;
}

/** The deleted objects as `type/name` lines, in order of deletion. */
export function planNames({ objects }: CascadePlan): string {
  return objects
    .filter(({ outcome }) => outcome === 'deleted' || outcome === 'waits')
    .map(({ ref }) => `${objectName(ref)}\n`)
    .join('');
}
