import { skipString } from './json-scanner.ts';

/** Upstream's strict decoder keeps at most this many findings (sigs.k8s.io/json). */
export const MAX_STRICT_FINDINGS = 100;

/** One open object or list of the text. */
interface Level {
  /** Path of the container, without a trailing dot. */
  readonly path: string;
  /** Keys seen so far; absent for a list. */
  readonly keys: Set<string> | undefined;
  /** Path of the value that comes next. */
  next: string;
  index: number;
}

/**
 * Paths of duplicate keys of a well-formed JSON text in the order they occur, each once: `spec.replicas`,
 * `spec.containers[0].name` (API-231).
 */
export function scanDuplicateFields(text: string): string[] {
  const found = new Set<string>();
  const levels: Level[] = [];
  let top: Level | undefined;
  for (let i = 0; i < text.length && found.size < MAX_STRICT_FINDINGS; i++) {
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
        if (top?.keys !== undefined && isKey(text, end)) {
          const key = JSON.parse(text.slice(i, end)) as string;
          top.next = top.path === '' ? key : `${top.path}.${key}`;
          if (top.keys.has(key)) found.add(top.next);
          top.keys.add(key);
        }
        i = end - 1;
        break;
      }
      default:
    }
  }
  return [...found];
}

function valuePath(level: Level): string {
  return level.keys === undefined ? `${level.path}[${level.index}]` : level.next;
}

function isKey(text: string, end: number): boolean {
  let i = end;
  while (/\s/.test(text.charAt(i))) i++;
  return text.charAt(i) === ':';
}
