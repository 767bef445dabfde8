import type { CommandOption } from '../command/command-option.ts';

/** The flags that determine a plan. */
export interface PlanFlags {
  /** `true` if it has no value. */
  readonly cascade?: string | true;
  readonly gracePeriod?: string;
  /** Equals a grace period of one second. */
  readonly now?: boolean;
  readonly ignoreNotFound?: string | boolean;
  readonly assumeFinalizers: 'removed' | 'kept';
  readonly pvcProtectionIgnoreFinishedPods?: boolean;
}

/** For commands that simulate the controllers of a cluster: their flag, under its own name. */
export const ignoreFinishedPodsOption: CommandOption = {
  flags: '--pvc-protection-ignore-finished-pods',
  description: 'the controllers of the cluster have this flag: they delete claims although finished pods name them',
};

/** The flags of every command that makes a plan. */
export const planOptions: readonly CommandOption[] = [
  {
    flags: '--cascade [POLICY]',
    description: 'background, foreground or orphan; else the default of the type, which orphans for Jobs',
  },
  { flags: '--grace-period <SECONDS>', description: 'for pods; else each its own' },
  { flags: '--now', description: 'as --grace-period=1' },
  { flags: '--ignore-not-found [BOOL]', description: 'do nothing, and no error, where an object is not there' },
  {
    flags: '--assume-finalizers <HOW>',
    description: 'removed: the owners of finalizers remove them in the end; kept: they stay',
    choices: ['removed', 'kept'],
    default: 'removed',
  },
  ignoreFinishedPodsOption,
];
