import { describe, expect, it } from 'vitest';
import { type CallingKubectl, namingKubectl } from './calling-kubectl.ts';

function printed(text: string, calling: Partial<CallingKubectl>): string {
  let out = '';
  const terminal = { stdout: (part: string) => void (out += part), stderr: () => undefined, columns: 80 };
  const there = new Set(['/usr/bin/kubectl']);
  const usual = { path: undefined, searchPath: '/bin:/usr/bin', exists: (file: string) => there.has(file) };
  namingKubectl(terminal, { ...usual, ...calling }).stdout(text);
  return out;
}
const line = 'Run it: kubectl cascade delete cm/kubectl -n shop; kubectl annotate cm/a x-\n';

describe('commands that a plugin prints', () => {
  it.each([[undefined], [''], ['/usr/bin/kubectl']])('CAS-055 stay as they are when KUBECTL_PATH is %j', (path) => {
    expect(printed(line, { path })).toBe(line);
  });

  it('CAS-055 name the kubectl that started it when a shell finds another one, or none', () => {
    expect(printed(line, { path: '/opt/1.37/kubectl' })).toBe(
      'Run it: /opt/1.37/kubectl cascade delete cm/kubectl -n shop; /opt/1.37/kubectl annotate cm/a x-\n',
    );
    expect(printed('kubectl cascade wait x\n', { path: '/usr/bin/kubectl', searchPath: '' })).toBe(
      '/usr/bin/kubectl cascade wait x\n',
    );
  });

  it('CAS-055 quote a path as a shell needs it, and leave other words alone', () => {
    expect(printed('kubectl get cm', { path: '/my tools/kubectl' })).toBe("'/my tools/kubectl' get cm");
    expect(printed('kubectl-cascade is on the PATH of kubectl.', { path: '/opt/oc' })).toBe(
      'kubectl-cascade is on the PATH of kubectl.',
    );
  });
});
