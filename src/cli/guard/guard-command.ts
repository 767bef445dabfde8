import { Command } from 'commander';
import { logFormatOption, logLevelOption } from '../flags/logging-options.ts';
import { ignoreFinishedPodsOption } from '../cascade/plan-options.ts';
import { addOptions, type OptionRow } from '../flags/add-options.ts';
import type { Terminal } from '../process/terminal.ts';
import type { GuardFlags } from './serve-guard.ts';

const guardOptions: readonly OptionRow[] = [
  {
    group: 'Common flags:',
    flags: '--kubeconfig <FILE>',
    description: 'kubeconfig of the cluster; else KUBECONFIG, ~/.kube/config, or the pod this runs in',
  },
  { group: 'Common flags:', flags: '--context <NAME>', description: 'context of the kubeconfig' },
  {
    group: 'Common flags:',
    flags: '--print <WHAT>',
    description:
      'print objects as YAML and exit: the webhook configuration, a policy that needs no process, or the policy for manifest-based admission',
    choices: ['webhook', 'policy', 'static-policy'],
  },
  {
    group: 'Serving:',
    flags: '--listen <HOST:PORT>',
    description: 'address to serve reviews on',
    default: '127.0.0.1:9443',
  },
  {
    group: 'Serving:',
    flags: '--certificate-dir <DIR>',
    description: 'directory of the certificate authority, ca.crt and ca.key; made when it is empty',
    default: './.kubegc-guard',
  },
  {
    group: 'Serving:',
    flags: '--serving-name <NAME>',
    description: 'host name or address that the API server reaches the guard by (repeatable)',
    repeatable: true,
  },
  {
    group: 'Serving:',
    flags: '--renew-after <DURATION>',
    description: 'age at which the serving certificate is replaced',
    default: '720h',
  },
  {
    group: 'Webhook configuration:',
    flags: '--service <NAMESPACE/NAME>',
    description: 'service in front of the guard; else --url',
  },
  { group: 'Webhook configuration:', flags: '--url <URL>', description: 'URL of the guard, ending in /validate' },
  {
    group: 'Webhook configuration:',
    flags: '--failure-policy <POLICY>',
    description: 'Fail: deletions wait for the guard to come back. Ignore: they go on unguarded',
    choices: ['Fail', 'Ignore'],
    default: 'Fail',
  },
  {
    group: 'Webhook configuration:',
    flags: '--webhook-timeout <SECONDS>',
    description: 'time that the API server waits for an answer, 1 to 30',
    default: '10',
  },
  {
    group: 'Rules:',
    flags: '--budget <N>',
    description: 'objects that one deletion may remove; more needs an approved plan',
  },
  { group: 'Rules:', flags: '--budget-per-hour <N>', description: 'objects that one user may remove within an hour' },
  {
    group: 'Rules:',
    flags: '--budgets <FILE>',
    description: 'limits of users and groups, altogether and by kind, in YAML; the first that names a user counts',
  },
  {
    group: 'Rules:',
    flags: '--exempt-user <NAME>',
    description: 'user that is never asked, besides those of Kubernetes (repeatable)',
    repeatable: true,
  },
  {
    group: 'Rules:',
    flags: '--exempt-group <NAME>',
    description: 'group that is never asked, besides those of Kubernetes (repeatable)',
    repeatable: true,
  },
  { ...ignoreFinishedPodsOption, group: 'Rules:' },
  logLevelOption,
  logFormatOption,
];

/** `kubegc guard` in the command tree. */
export function guardCommand(terminal: Terminal, setExitCode: (code: number) => void): Command {
  const command = new Command('guard')
    .summary('Refuse deletions that reach what is protected, in any cluster')
    .description(
      'Serve a validating webhook that refuses deletions which reach an object with the annotation kubegc.io/protect.\n\n' +
        'Reads only. Any number of instances may run, with one certificate directory. Ctrl-C ends it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  # Guard a cluster that reaches this machine, and register the guard
  kubegc guard --listen 0.0.0.0:9443 --serving-name guard.example.com
  kubegc guard --print webhook --url https://guard.example.com:9443/validate | kubectl apply -f -

  # At most 100 objects a deletion, unless somebody agreed to the plan
  kubegc guard --budget 100

  # Plain protection by a policy, without a process
  kubegc guard --print policy | kubectl apply -f -`,
    )
    .allowExcessArguments(false)
    .action(async (flags: GuardFlags) => {
      const { serveGuard } = await import('./serve-guard.ts');
      setExitCode(await serveGuard(flags, terminal));
    });
  addOptions(command, guardOptions);
  return command;
}
