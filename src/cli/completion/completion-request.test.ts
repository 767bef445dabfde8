import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { cascadeCommand } from '../cascade-command.ts';
import { completionOf } from './completion-request.ts';

const silent = { stdout: () => undefined, stderr: () => undefined, columns: 80 };
const root = new Command().addCommand(cascadeCommand(silent, () => undefined));
const wanted = (line: string) => completionOf(root, line.split(' ')).request;

describe('what may follow a command line', () => {
  it.each([
    ['cascade tree ', { want: 'types', slashed: false }],
    ['cascade tree deploy', { want: 'types', slashed: false }],
    ['cascade tree deploy ', { want: 'names', type: 'deploy', prefix: '', taken: [] }],
    ['cascade tree deploy web ', { want: 'names', type: 'deploy', prefix: '', taken: ['web'] }],
    ['cascade delete deploy/we', { want: 'names', type: 'deploy', prefix: 'deploy/', taken: [] }],
    ['cascade delete deploy/web ', { want: 'types', slashed: true }],
    ['cascade undelete ', { want: 'types', slashed: false }],
    ['cascade undo ', { want: 'records' }],
    ['cascade undo 2026 ', { want: 'choices', choices: [] }],
    ['cascade preview -n ', { want: 'namespaces' }],
    ['cascade preview --namespace s', { want: 'namespaces' }],
    ['cascade preview --context ', { want: 'contexts' }],
    ['cascade preview -f ', { want: 'files' }],
    ['cascade preview -n shop ', { want: 'types', slashed: false }],
  ])('after "%s"', (line, request) => {
    expect(wanted(line)).toEqual(request);
  });

  it('offers the subcommands, the flags of a command, and the words that a flag takes', () => {
    const values = (line: string): string[] => {
      const request = wanted(line);
      return request.want === 'choices' ? request.choices.map(({ value }) => value) : [];
    };
    expect(values('cascade ')).toContain('preview');
    expect(values('cascade delete --')).toEqual(expect.arrayContaining(['--digest', '--namespace', '--help']));
    expect(values('cascade preview -o ')).toContain('mermaid');
    expect(values('cascade preview --output=')).toContain('--output=json');
    expect(values('cascade delete --cascade=')).toEqual([
      '--cascade=background',
      '--cascade=foreground',
      '--cascade=orphan',
    ]);
  });

  it('reads the flags that were typed before', () => {
    expect(completionOf(root, ['cascade', 'tree', '-n', 'shop', '--context=c', 'pod', '']).flags).toEqual({
      namespace: 'shop',
      context: 'c',
    });
  });
});
