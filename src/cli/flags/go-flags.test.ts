import { describe, expect, it } from 'vitest';
import { CommandError } from '../process/command-error.ts';
import { parseGoFlags } from './go-flags.ts';

describe('API-565 flags in the notation of kube-apiserver and etcd', () => {
  it.each<[string[], string, string | undefined]>([
    [['--secure-port=6443'], 'secure-port', '6443'],
    [['--secure-port', '6443'], 'secure-port', '6443'],
    [['-v=4'], 'v', '4'],
    [['--allow-privileged'], 'allow-privileged', 'true'],
    [['--allow-privileged', '--bind-address=::1'], 'allow-privileged', 'true'],
    [['--service-account-issuer=https://127.0.0.1:1/?a=b'], 'service-account-issuer', 'https://127.0.0.1:1/?a=b'],
    [['--cert-dir='], 'cert-dir', ''],
    [['--secure-port=1', '--secure-port=2'], 'secure-port', '2'],
    [[], 'secure-port', undefined],
  ])('%j: %s is %s', (args, name, value) => {
    expect(parseGoFlags(args).value(name)).toBe(value);
  });

  it('collects lists, however they are given', () => {
    const flags = parseGoFlags(['--authorization-mode=Node,RBAC', '--authorization-mode', 'Webhook']);
    expect(flags.list('authorization-mode')).toEqual(['Node', 'RBAC', 'Webhook']);
    expect(flags.list('feature-gates')).toEqual([]);
    expect(flags.names).toEqual(['authorization-mode']);
    expect(flags.has('feature-gates')).toBe(false);
  });

  it.each([['serve'], ['--'], ['--=x'], ['---x']])('refuses %s', (word) => {
    expect(() => parseGoFlags([word])).toThrow(CommandError);
  });
});
