import { describe, expect, it } from 'vitest';
import { MemoryLogger } from '../../base/logs/memory-logger.ts';
import {
  admissionPluginsOf,
  authorizationModeOf,
  envtestControllers,
  featureGatesOf,
  serviceRangeOf,
} from './envtest-apiserver.ts';
import { CommandError } from '../process/command-error.ts';
import { parseGoFlags } from '../flags/go-flags.ts';

describe('API-565 flags of kube-apiserver', () => {
  it.each([
    [[], 'AlwaysAllow'],
    [['--authorization-mode=RBAC'], 'RBAC'],
    [['--authorization-mode=Node,RBAC'], 'RBAC'],
    [['--authorization-mode=AlwaysAllow'], 'AlwaysAllow'],
    [['--authorization-mode=AlwaysDeny'], 'AlwaysDeny'],
  ] as const)('%j: %s', (args, mode) => {
    expect(authorizationModeOf(parseGoFlags(args))).toBe(mode);
  });

  it('a mode that is not to be had is refused, not replaced by one that allows more', () => {
    for (const mode of ['ABAC', 'Webhook', 'Node']) {
      expect(() => authorizationModeOf(parseGoFlags([`--authorization-mode=${mode}`]))).toThrow(CommandError);
    }
  });

  it('the first IPv4 range of services counts', () => {
    const range = (...args: string[]): string | undefined => serviceRangeOf(parseGoFlags(args))?.cidr;
    expect(range()).toBeUndefined();
    expect(range('--service-cluster-ip-range=10.0.0.0/24')).toBe('10.0.0.0/24');
    expect(range('--service-cluster-ip-range=fd00::/108,10.1.0.0/16')).toBe('10.1.0.0/16');
    for (const wrong of ['fd00::/108', '10.0.0.0/31', 'x']) {
      expect(() => range(`--service-cluster-ip-range=${wrong}`)).toThrow(CommandError);
    }
  });

  it('admission plug-ins that are not known are left out, and those asked for are named', () => {
    const logger = new MemoryLogger();
    const flags = parseGoFlags([
      '--enable-admission-plugins=ResourceQuota,PodSecurityPolicy',
      '--disable-admission-plugins=ServiceAccount,OldPlugin,ResourceQuota',
    ]);
    expect(admissionPluginsOf(flags, logger)).toEqual({ enable: ['ResourceQuota'], disable: ['ServiceAccount'] });
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { plugins: 'PodSecurityPolicy' } }]);
  });
});

describe('API-607 feature gates of a server for envtest', () => {
  const gates = (...args: string[]): [string[], string[]] => {
    const logger = new MemoryLogger();
    const on = featureGatesOf(parseGoFlags(args), logger);
    return [[...on], logger.lines.map(({ fields }) => String(fields?.['gates']))];
  };

  it.each([
    [[], [], []],
    [['--feature-gates=ShardedListAndWatch=true'], ['ShardedListAndWatch'], []],
    [['--feature-gates=ShardedListAndWatch=true', '--feature-gates=ShardedListAndWatch=false'], [], []],
    [
      ['--feature-gates=AllAlpha=true,ShardedListAndWatch=true,ManagedFieldsOptOut=true'],
      ['ShardedListAndWatch'],
      ['AllAlpha=true ManagedFieldsOptOut=true'],
    ],
    [['--feature-gates=ShardedListAndWatch=yes'], [], ['ShardedListAndWatch=yes']],
  ])('%j: %j, and the log names %j', (args, on, named) => {
    expect(gates(...args)).toEqual([on, named]);
  });
});

describe('API-565 the controllers of a server for envtest', () => {
  it.each([undefined, '', ' '])(
    'are the collector and the namespace controller when KUBEGC_CONTROLLERS is %j',
    (asked) => {
      expect([...envtestControllers(asked)]).toEqual(['garbage-collector-controller', 'namespace-controller']);
    },
  );

  it('are those that KUBEGC_CONTROLLERS selects', () => {
    expect([...envtestControllers('namespace-controller')]).toEqual(['namespace-controller']);
    expect(envtestControllers('*').size).toBeGreaterThan(2);
    expect(envtestControllers('*,-garbagecollector')).not.toContain('garbage-collector-controller');
    expect(() => envtestControllers('nobody')).toThrow(CommandError);
  });
});
