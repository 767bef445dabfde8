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
 * The grammar of kube-controller-manager's `--controllers`: a list in which `*` turns on all but those that are off by default, `name` one, `-name` turns
 * one off; the first word about a controller wins over `*`, and what is not mentioned is off unless `*` is there.
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
