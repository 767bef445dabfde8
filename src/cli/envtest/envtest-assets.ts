import { shellQuoted } from '../process/shell-quoted.ts';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError, systemReason } from '../process/command-error.ts';

/** The program of the executables: Node and a script, or a single executable file without a script. */
export interface Program {
  readonly node: string;
  readonly script: string | undefined;
}

const HEAD = '#!/bin/sh\n# Written by kubegc envtest-assets.\n';

/** The text of each executable by its name. It uses `exec`, so that a signal reaches the program and not a shell. */
export function envtestAssets({
  node,
  script,
}: Program): Readonly<Record<'etcd' | 'kube-apiserver' | 'kubectl', string>> {
  const program = [node, ...(script === undefined ? [] : [script])].map(shellQuoted).join(' ');
  const run = (what: string): string => `${HEAD}exec ${program} envtest-${what} "$@"\n`;
  return {
    etcd: run('etcd'),
    'kube-apiserver': run('kube-apiserver'),
    // Runs the first kubectl on the PATH other than this file.
    kubectl: `${HEAD}self=$(cd "\${0%/*}" && pwd -P)
old_ifs=$IFS
IFS=:
for directory in $PATH; do
  IFS=$old_ifs
  [ -n "$directory" ] && [ -x "$directory/kubectl" ] || continue
  [ "$(cd "$directory" && pwd -P)" = "$self" ] && continue
  exec "$directory/kubectl" "$@"
done
echo 'kubectl is not installed; kubegc has none of its own' >&2
exit 127
`,
  };
}

/** Writes them into a directory, which is created if needed. Resolves with its absolute path. */
export async function writeEnvtestAssets(directory: string, program: Program): Promise<string> {
  const path = resolve(directory);
  try {
    await mkdir(path, { recursive: true });
    for (const [name, text] of Object.entries(envtestAssets(program))) {
      await writeFile(join(path, name), text);
      await chmod(join(path, name), 0o755);
    }
  } catch (error) {
    throw new CommandError(`cannot write into ${path}: ${systemReason(error)}`, 'Choose another directory.', {
      cause: error,
    });
  }
  return path;
}
