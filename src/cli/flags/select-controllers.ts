import {
  type ControllerName,
  controllerNames as names,
  knownControllers,
  offByDefault,
} from '../../assembly/controller-names.ts';
import { CommandError } from '../process/command-error.ts';

function canonicalName(text: string): ControllerName {
  const found = names.find((name) => name === text || knownControllers[name] === text);
  if (!found) {
    throw new CommandError(
      `"${text}" is not in the list of known controllers`,
      `Known controllers: ${names.join(', ')}. Use * for all of them and -NAME to leave one out.`,
    );
  }
  return found;
}

/**
 * Parses a list in the grammar of kube-controller-manager's `--controllers`: `*` enables all except those that are off by default, `name`
 * enables one, `-name` disables one. The first word about a controller takes precedence over `*`, and a controller without a word is off
 * unless there is a `*`.
 */
export function selectControllers(words: readonly string[]): ReadonlySet<ControllerName> {
  const selected = new Set<ControllerName>();
  const decided = new Map<ControllerName, boolean>();
  let all = false;
  for (const word of words.flatMap((entry) => entry.split(',')).map((entry) => entry.trim())) {
    if (word === '') continue;
    if (word === '*') {
      all = true;
      continue;
    }
    const off = word.startsWith('-');
    const name = canonicalName(off ? word.slice(1) : word);
    if (!decided.has(name)) decided.set(name, !off);
  }
  for (const name of names) if (decided.get(name) ?? (all && !offByDefault.has(name))) selected.add(name);
  return selected;
}
