import { quoted } from '../../meta/quoted.ts';
import { skipString } from '../../../base/json/json-scanner.ts';

/** Upstream's strict decoder keeps at most this many findings (sigs.k8s.io/json). */
export const MAX_STRICT_FINDINGS = 100;

/** One open object or list of the text. */
interface Level {
  /** Path of the container, without a trailing dot. */
  readonly path: string;
  /** Keys seen so far; absent for a list. */
  readonly keys: Set<string> | undefined;
  /** The path of the next value. */
  next: string;
  index: number;
}

export interface ScannedKey {
  /** `spec.replicas`, `spec.containers[0].name`. */
  readonly path: string;
  readonly name: string;
  readonly occurrence: 'first' | 'repeated';
  /** Where the value of the member begins, as an index into the text. */
  readonly valueAt: number;
}

/** The keys of a well-formed JSON text in the order of the text. */
export function* scanKeys(text: string): Generator<ScannedKey> {
  const levels: Level[] = [];
  let top: Level | undefined;
  for (let i = 0; i < text.length; i++) {
    switch (text.charAt(i)) {
      case '{':
      case '[': {
        const path = top === undefined ? '' : valuePath(top);
        top = { path, keys: text.charAt(i) === '{' ? new Set() : undefined, next: '', index: 0 };
        levels.push(top);
        break;
      }
      case '}':
      case ']':
        levels.pop();
        top = levels.at(-1);
        break;
      case ',':
        if (top !== undefined) top.index++;
        break;
      case '"': {
        const end = skipString(text, i);
        const colon = top?.keys === undefined ? end : afterSpace(text, end);
        if (top?.keys !== undefined && text.charAt(colon) === ':') {
          const name = JSON.parse(text.slice(i, end)) as string;
          top.next = top.path === '' ? name : `${top.path}.${name}`;
          const occurrence = top.keys.has(name) ? 'repeated' : 'first';
          top.keys.add(name);
          yield { path: top.next, name, occurrence, valueAt: afterSpace(text, colon + 1) };
        }
        i = end - 1;
        break;
      }
      default:
    }
  }
}

/** Paths of duplicate keys of a well-formed JSON text in the order of the text, each once (API-231). */
export function scanDuplicateFields(text: string): string[] {
  const found = new Set<string>();
  for (const { path, occurrence } of scanKeys(text)) {
    if (occurrence === 'repeated') found.add(path);
    if (found.size === MAX_STRICT_FINDINGS) break;
  }
  return [...found];
}

/** Duplicate keys in the form of a YAML reader: `line 4: key "a" already set in map`, inner ones first (API-235). */
export function scanRepeatedKeys(text: string): string[] {
  const found: string[] = [];
  const open: { readonly path: string; readonly problem: string }[] = [];
  const lineAt = lineCounter(text);
  for (const { path, name, occurrence, valueAt } of scanKeys(text)) {
    if (occurrence === 'first') continue;
    while (open.length > 0 && !isBelow(path, open.at(-1)!.path)) found.push(open.pop()!.problem);
    open.push({ path, problem: `line ${lineAt(valueAt)}: key ${quoted(name)} already set in map` });
    if (found.length + open.length >= MAX_STRICT_FINDINGS) break;
  }
  return [...found, ...open.toReversed().map(({ problem }) => problem)];
}

/** Returns line numbers for indexes that must increase from call to call. */
function lineCounter(text: string): (index: number) => number {
  let line = 1;
  let counted = 0;
  return (index) => {
    for (; counted < index; counted++) if (text.charAt(counted) === '\n') line++;
    return line;
  };
}

export function isBelow(path: string, ancestor: string): boolean {
  return path.startsWith(ancestor) && (path[ancestor.length] === '.' || path[ancestor.length] === '[');
}

function valuePath(level: Level): string {
  return level.keys === undefined ? `${level.path}[${level.index}]` : level.next;
}

function afterSpace(text: string, from: number): number {
  let i = from;
  while (/\s/.test(text.charAt(i))) i++;
  return i;
}
