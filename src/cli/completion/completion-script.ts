import { shellQuoted } from '../process/shell-quoted.ts';
import type { Command } from 'commander';
import { CommandError } from '../process/command-error.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

interface Words {
  /** The words of the command, without the program's name. */
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly { readonly name: string; readonly description: string; readonly takesFile: boolean }[];
}

function wordsOf(command: Command, path: readonly string[]): Words[] {
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => command.commands.includes(child));
  const commands = visible.map((child) => ({ name: child.name(), description: child.description() }));
  const flags = command.options.map((option) => ({
    name: option.long ?? option.short ?? '',
    description: option.description,
    takesFile: /FILE|DIR/.test(option.flags),
  }));
  return [{ path, commands, flags }, ...visible.flatMap((child) => wordsOf(child, [...path, child.name()]))];
}

function bash(all: readonly Words[]): string {
  const cases = all
    .map(({ path, commands, flags }) => {
      const words = [...commands.map((child) => child.name), ...flags.map((flag) => flag.name)].join(' ');
      return `    ${shellQuoted(path.join(' '))}) words=${shellQuoted(words)} ;;`;
    })
    .join('\n');
  return `# bash completion for kubegc. Load it with: source <(kubegc completion bash)
_kubegc() {
  local current=\${COMP_WORDS[COMP_CWORD]} path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case $path in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _kubegc kubegc
`;
}

function zsh(all: readonly Words[]): string {
  const cases = all
    .map(({ path, commands, flags }) => {
      const entry = (name: string, description: string): string =>
        shellQuoted(`${name}:${description.replaceAll(':', '\\:')}`);
      const words = [...commands, ...flags].map(({ name, description }) => entry(name, description)).join(' ');
      return `    ${shellQuoted(path.join(' '))}) choices=(${words}) ;;`;
    })
    .join('\n');
  return `#compdef kubegc
# zsh completion for kubegc. Load it with: source <(kubegc completion zsh)
_kubegc() {
  local -a typed choices
  local word
  for word in "\${(@)words[2,CURRENT-1]}"; do [[ $word == -* ]] || typed+=("$word"); done
  case "\${(j: :)typed}" in
${cases}
  esac
  if (( $#choices )); then _describe 'kubegc' choices; else _files; fi
}
compdef _kubegc kubegc
`;
}

function fish(all: readonly Words[]): string {
  const lines = all.flatMap(({ path, commands, flags }) => {
    const condition = path.length === 0 ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.at(-1) ?? ''}`;
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c kubegc -f -n ${shellQuoted(condition)} -a ${name} -d ${shellQuoted(description)}`,
      ),
      ...flags.map(({ name, description, takesFile }) => {
        const file = takesFile ? ' -r' : '';
        return `complete -c kubegc -n ${shellQuoted(condition)} -l ${name.replace(/^--?/, '')}${file} -d ${shellQuoted(description)}`;
      }),
    ];
  });
  return `# fish completion for kubegc. Load it with: kubegc completion fish | source\n${lines.join('\n')}\n`;
}

/** The completion script for a shell, generated from the command tree so that it is always current. */
export function completionScript(shell: string, program: Command): string {
  const all = wordsOf(program, []);
  switch (shell) {
    case 'bash':
      return bash(all);
    case 'zsh':
      return zsh(all);
    case 'fish':
      return fish(all);
    default:
      throw new CommandError(`no completion for the shell "${shell}"`, `Completion exists for ${shells.join(', ')}.`);
  }
}
