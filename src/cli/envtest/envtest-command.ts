import { Command } from 'commander';
import type { Terminal } from '../process/terminal.ts';

/** `kubegc envtest-assets` in the command tree. */
export function envtestAssetsCommand(terminal: Terminal): Command {
  return new Command('envtest-assets')
    .argument('<DIR>', 'where to put them; made if needed')
    .summary("Write etcd, kube-apiserver and kubectl for controller-runtime's envtest")
    .description(
      "Write executables named etcd, kube-apiserver and kubectl, which controller-runtime's envtest starts.\n\n" +
        'A suite that uses envtest then runs against kubegc without a change, and what it deletes is collected.\n' +
        'kubectl runs the one on the PATH.\n\n' +
        'Only the garbage collector and the namespace controller run, so that nothing else writes to the cluster of a suite.\n' +
        'KUBEGC_CONTROLLERS in the environment of the suite names others, as kubegc up --controllers does.',
    )
    .addHelpText(
      'after',
      `
Examples:
  kubegc envtest-assets bin/kubegc
  KUBEBUILDER_ASSETS=$PWD/bin/kubegc go test ./...
  KUBEBUILDER_ASSETS=$PWD/bin/kubegc KUBEGC_CONTROLLERS='*' go test ./...`,
    )
    .allowExcessArguments(false)
    .action(async (directory: string) => {
      const { writeEnvtestAssets } = await import('./envtest-assets.ts');
      const { isSea } = await import('node:sea');
      const script = isSea() ? undefined : (process.argv[1] ?? '');
      const path = await writeEnvtestAssets(directory, { node: process.execPath, script });
      terminal.stdout(`wrote etcd, kube-apiserver and kubectl\nexport KUBEBUILDER_ASSETS=${path}\n`);
    });
}

/** The commands behind the executables, which people do not use directly. */
export function envtestExecutables(terminal: Terminal, setExitCode: (code: number) => void): readonly Command[] {
  return [
    executable('envtest-etcd', async (args) => {
      const { runEtcd } = await import('./envtest-etcd.ts');
      setExitCode(await runEtcd(args, terminal));
    }),
    executable('envtest-kube-apiserver', async (args) => {
      const { runKubeApiserver } = await import('./envtest-apiserver.ts');
      setExitCode(await runKubeApiserver(args, terminal, process.env['KUBEGC_CONTROLLERS']));
    }),
  ];
}

/** Passes every argument on, including `--help`. */
function executable(name: string, run: (args: readonly string[]) => Promise<void>): Command {
  return new Command(name)
    .argument('[FLAGS...]')
    .allowUnknownOption()
    .helpOption(false)
    .action((_, __, command: Command) => run(command.args));
}
