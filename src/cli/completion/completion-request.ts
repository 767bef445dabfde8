import type { Command, Option } from 'commander';

/** One possible next word. */
export interface Choice {
  readonly value: string;
  readonly description?: string;
}

/** The possible next words: known ones, or a list to read. */
export type CompletionRequest =
  | { readonly want: 'choices'; readonly choices: readonly Choice[] }
  | { readonly want: 'files' }
  | { readonly want: 'namespaces' | 'contexts' | 'clusters' | 'users' | 'records' }
  /** `TYPE`, or `TYPE/NAME` if `slashed`. */
  | { readonly want: 'types'; readonly slashed: boolean }
  | { readonly want: 'names'; readonly type: string; readonly prefix: string; readonly taken: readonly string[] };

/** The request, the beginning of the word, and the previous flags. */
export interface Completion {
  readonly request: CompletionRequest;
  readonly toComplete: string;
  /** By attribute name, as in commander. */
  readonly flags: Readonly<Record<string, string>>;
}

/** Flags whose values are read from the cluster or the kubeconfig. */
const VALUES: Readonly<Record<string, 'namespaces' | 'contexts' | 'clusters' | 'users'>> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--cluster': 'clusters',
  '--user': 'users',
};

/**
 * Determines the possible next words of a command line whose last word is incomplete. Pure: it reads nothing.
 * @param words the words after the command's own name; the last is the one to complete, and may be empty
 */
export function completionOf(root: Command, words: readonly string[]): Completion {
  const toComplete = words.at(-1) ?? '';
  const flags: Record<string, string> = {};
  const typed: string[] = [];
  let command = root;
  let open: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (open !== undefined) {
      flags[open.attributeName()] = word;
      open = undefined;
    } else if (word.startsWith('-') && word.length > 1) {
      const at = word.indexOf('=');
      const option = optionOf(command, at < 0 ? word : word.slice(0, at));
      if (option === undefined) continue;
      if (at >= 0) flags[option.attributeName()] = word.slice(at + 1);
      else if (option.required) open = option;
      else flags[option.attributeName()] = 'true';
    } else {
      const child = typed.length === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (child === undefined) typed.push(word);
      else command = child;
    }
  }
  return { request: requestOf(command, { open, typed, toComplete }), toComplete, flags };
}

interface Place {
  readonly open: Option | undefined;
  readonly typed: readonly string[];
  readonly toComplete: string;
}

function requestOf(command: Command, { open, typed, toComplete }: Place): CompletionRequest {
  if (open !== undefined) return valueOf(open, '');
  const at = toComplete.indexOf('=');
  if (toComplete.startsWith('-') && at >= 0) {
    const option = optionOf(command, toComplete.slice(0, at));
    return option === undefined ? NOTHING : valueOf(option, `${toComplete.slice(0, at)}=`);
  }
  if (toComplete.startsWith('-')) {
    const choices = [...command.options, command.createHelp().visibleOptions(command).find(isHelp)].flatMap((option) =>
      option?.long === undefined ? [] : [{ value: option.long, description: firstLine(option.description) }],
    );
    return { want: 'choices', choices: uniqueOf(choices) };
  }
  if (command.commands.length > 0) {
    const choices = command.commands.map((each) => ({ value: each.name(), description: each.summary() }));
    return { want: 'choices', choices };
  }
  return argumentOf(command, typed, toComplete);
}

function argumentOf(command: Command, typed: readonly string[], toComplete: string): CompletionRequest {
  const argument = command.registeredArguments[0];
  switch (argument?.name()) {
    case 'id':
      return typed.length === 0 ? { want: 'records' } : NOTHING;
    case 'type':
      return typed.length === 0 ? { want: 'types', slashed: false } : NOTHING;
    case 'objects':
    case 'object': {
      const [first] = typed;
      const slash = toComplete.indexOf('/');
      if (slash > 0) {
        const prefix = toComplete.slice(0, slash + 1);
        return { want: 'names', type: toComplete.slice(0, slash), prefix, taken: typed };
      }
      if (first === undefined) return { want: 'types', slashed: false };
      if (first.includes('/')) return { want: 'types', slashed: true };
      return { want: 'names', type: first, prefix: '', taken: typed.slice(1) };
    }
    default:
      return NOTHING;
  }
}

function valueOf(option: Option, prefix: string): CompletionRequest {
  const known = VALUES[option.long ?? ''];
  if (known !== undefined && prefix === '') return { want: known };
  if (/FILE|DIR/.test(option.flags)) return { want: 'files' };
  const words = option.argChoices ?? policiesOf(option);
  return { want: 'choices', choices: words.map((word) => ({ value: `${prefix}${word}` })) };
}

const policiesOf = (option: Option): readonly string[] =>
  option.long === '--cascade' ? ['background', 'foreground', 'orphan'] : [];

const NOTHING: CompletionRequest = { want: 'choices', choices: [] };

const optionOf = (command: Command, flag: string): Option | undefined =>
  command.options.find(({ long, short }) => long === flag || short === flag);

const isHelp = ({ long }: Option): boolean => long === '--help';

const firstLine = (text: string): string => text.split('\n')[0] ?? '';

function uniqueOf(choices: readonly Choice[]): Choice[] {
  return [...new Map(choices.map((choice) => [choice.value, choice])).values()];
}
