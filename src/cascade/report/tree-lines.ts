import type { Style } from './style.ts';

/** An item of a tree that is printed as lines. */
export interface TreeItem<T> {
  readonly value: T;
  /** Indexes of the items below this one. */
  readonly children: readonly number[];
}

/** One line of a tree. `folded` is the number of siblings that the line represents, with all below them. */
export interface TreeLine<T> {
  /** The glyphs before the text. */
  readonly prefix: string;
  readonly value: T;
  readonly folded?: number;
}

export interface TreeOptions<T> {
  readonly style: Pick<Style, 'ascii'>;
  /** Maximum number of lines before folding; undefined for no limit. */
  readonly most?: number;
  /** The group of siblings that are folded together. */
  readonly groupOf: (value: T) => string;
}

/** Number of siblings of a group that are shown before the rest is folded; the second number applies if the first does not suffice. */
const SHOWN = [3, 1] as const;

/**
 * The lines of a forest, from its top items down. Beyond `most` lines, siblings of a group are folded into one line that counts them. Uses
 * an explicit stack, because a chain of owners may be very long.
 */
export function treeLines<T>(
  items: readonly TreeItem<T>[],
  tops: readonly number[],
  options: TreeOptions<T>,
): TreeLine<T>[] {
  const { most } = options;
  const all = walk(items, tops, options, Number.POSITIVE_INFINITY);
  if (most === undefined || all.length <= most) return all;
  let lines = all;
  for (const shown of SHOWN) {
    lines = walk(items, tops, options, shown);
    if (lines.length <= most) return lines;
  }
  const kept = lines.slice(0, most - 1);
  const left = lines[most - 1]!;
  return [...kept, { prefix: '', value: left.value, folded: items.length - kept.length }];
}

interface Open {
  readonly index: number;
  readonly prefix: string;
  readonly below: string;
  readonly folded?: number;
}

function walk<T>(
  items: readonly TreeItem<T>[],
  tops: readonly number[],
  { style, groupOf }: TreeOptions<T>,
  shown: number,
): TreeLine<T>[] {
  const [branch, last, pipe] = style.ascii ? ['|- ', '`- ', '|  '] : ['├─ ', '└─ ', '│  '];
  const lines: TreeLine<T>[] = [];
  const open: Open[] = foldSiblings(items, tops, groupOf, shown)
    .map(({ index, folded }) => ({ index, prefix: '', below: '', ...(folded === undefined ? {} : { folded }) }))
    .toReversed();
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const { index, prefix, below, folded } = each;
    const { value, children } = items[index]!;
    lines.push(folded === undefined ? { prefix, value } : { prefix, value, folded });
    if (folded !== undefined) continue;
    const next = foldSiblings(items, children, groupOf, shown);
    for (let i = next.length - 1; i >= 0; i--) {
      const isLast = i === next.length - 1;
      const child = next[i]!;
      open.push({
        index: child.index,
        prefix: `${below}${isLast ? last : branch}`,
        below: `${below}${isLast ? '   ' : pipe}`,
        ...(child.folded === undefined ? {} : { folded: child.folded }),
      });
    }
  }
  return lines;
}

/** The first items of each group, and one that represents the rest, in their positions. */
function foldSiblings<T>(
  items: readonly TreeItem<T>[],
  siblings: readonly number[],
  groupOf: (value: T) => string,
  shown: number,
): { readonly index: number; readonly folded?: number }[] {
  if (siblings.length <= shown + 1) return siblings.map((index) => ({ index }));
  const groups = new Map<string, number[]>();
  for (const index of siblings) {
    const key = groupOf(items[index]!.value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  }
  return [...groups.values()].flatMap((group) =>
    group.length <= shown + 1
      ? group.map((index) => ({ index }))
      : [...group.slice(0, shown).map((index) => ({ index })), { index: group[shown]!, folded: group.length - shown }],
  );
}
