import { onDemandControllers } from '../../lifecycle/assembly/on-demand-controllers.ts';
import { CommandError } from '../process/command-error.ts';

/**
 * Controllers that `kubegc up` can run, by kube-controller-manager's names, each with the short alias that
 * kube-controller-manager still accepts (`cmd/kube-controller-manager/names`).
 */
export const knownControllers = {
  'garbage-collector-controller': 'garbagecollector',
  'namespace-controller': 'namespace',
  'serviceaccount-controller': 'serviceaccount',
  'root-ca-certificate-publisher-controller': 'root-ca-cert-publisher',
  'serviceaccount-token-controller': 'serviceaccount-token',
  'clusterrole-aggregation-controller': 'clusterrole-aggregation',
  'resourcequota-controller': 'resourcequota',
  'persistentvolumeclaim-protection-controller': 'pvc-protection',
  'persistentvolume-protection-controller': 'pv-protection',
  ...onDemandControllers,
} as const;

export type ControllerName = keyof typeof knownControllers;

const names = Object.keys(knownControllers) as ControllerName[];

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
 * The grammar of kube-controller-manager's `--controllers`: a list in which `*` turns on all, `name` one, `-name` turns
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
  for (const name of names) if (decided.get(name) ?? all) selected.add(name);
  return selected;
}
