import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  applyFault,
  type Fault,
  FaultDoesNotApplyError,
  MalformedFaultError,
  parseFault,
  readFaults,
} from './fault.ts';
import { nearestFirst } from './nearest-first.ts';
import { findersOf, mutationPage, updatedPage } from './page.ts';
import { judge, type Run } from './verdict.ts';

const root = resolve(import.meta.dirname, '../..');
const faults = readFaults();
const example: Fault = { name: '001-x', rule: 'COL-001', breaks: 'It breaks.', file: 'a.ts', find: 'b', put: 'c' };

describe('the faults', () => {
  it('are at least 45, of as many kinds', () => {
    expect(faults.length).toBeGreaterThanOrEqual(45);
    const names = faults.map(({ name }) => name.replace(/^\d+-/, ''));
    expect(new Set(names).size).toBe(faults.length);
  });

  it.each(faults)('$name still applies, and changes something', (fault) => {
    const source = readFileSync(join(root, fault.file), 'utf8');
    expect(applyFault(fault, source)).not.toBe(source);
  });

  it('break rules that exist, in the rooms that decide and act', () => {
    const rules = readFileSync(join(root, 'docs/rules.json'), 'utf8');
    expect(
      faults.filter(({ rule }) => !rules.includes(`"${rule}"`)).map(({ name, rule }) => `${name} ${rule}`),
    ).toEqual([]);
    const rooms = new Set(faults.map(({ file }) => file.split('/').slice(0, -1).join('/')));
    for (const room of ['graph', 'decide', 'operations']) expect(rooms).toContain(`src/collector/${room}`);
  });

  it('stand in docs/mutation.md, each with what found it', () => {
    const page = readFileSync(join(root, 'docs/mutation.md'), 'utf8');
    const finders = findersOf(page);
    expect([...finders.keys()]).toEqual(faults.map(({ name }) => name));
    expect([...finders.values()].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

describe('a fault', () => {
  it('that does not stand there exactly once is refused', () => {
    expect(applyFault(example, 'abc')).toBe('acc');
    expect(() => applyFault(example, 'ac')).toThrow(FaultDoesNotApplyError);
    expect(() => applyFault(example, 'abb')).toThrow(
      'the fault 001-x no longer applies: its text stands 2 times in a.ts',
    );
  });

  it('may put dollar signs, which mean nothing', () => {
    expect(applyFault({ ...example, put: "$&$'" }, 'abc')).toBe("a$&$'c");
  });

  it('needs all its fields', () => {
    expect(() => parseFault('001-x', 'rule: COL-001\n')).toThrow(MalformedFaultError);
  });
});

describe('what the tests said', () => {
  const run = (states: Run['tests'][number]['state'][], ...errors: string[]): Run => ({
    tests: states.map((state, i) => ({ file: 'a.test.ts', name: `test ${i}`, state })),
    errors,
  });

  it('only a test that failed has found the fault', () => {
    const found = { outcome: 'found', file: 'a.test.ts', test: 'test 1' };
    expect(judge(run(['passed', 'failed', 'failed']))).toEqual(found);
    expect(judge(run(['passed', 'failed'], 'a rejection'))).toEqual(found);
    expect(judge(run(['passed', 'skipped']))).toEqual({ outcome: 'passed', tests: 1 });
  });

  it('a run that broke or ran nothing proves nothing', () => {
    expect(judge(run(['passed'], 'no such file\nat line 1'))).toEqual({
      outcome: 'broken',
      why: 'no test failed, but the run did: no such file',
    });
    expect(judge(run(['skipped', 'pending']))).toEqual({ outcome: 'broken', why: 'no test ran' });
  });

  it('is written down as a table', () => {
    const page = mutationPage([
      { fault: example, outcome: { outcome: 'found', file: 'src/a.test.ts', test: 'a | b' } },
    ]);
    expect(page).toContain('| 001-x | COL-001 | It breaks. | [a.test.ts](../src/a.test.ts): a \\| b |');
    expect([...findersOf(page)]).toEqual([['001-x', 'src/a.test.ts']]);
    const other = { ...example, name: '002-y' };
    const outcome = { outcome: 'found', file: 'src/b.test.ts', test: 'b' } as const;
    const both = updatedPage(page, [{ fault: other, outcome }], [example, other]);
    expect([...findersOf(both)]).toEqual([
      ['001-x', 'src/a.test.ts'],
      ['002-y', 'src/b.test.ts'],
    ]);
    expect(both).toContain('2 faults');
    expect([...findersOf(updatedPage(both, [], [other]))]).toEqual([['002-y', 'src/b.test.ts']]);
  });
});

it('the nearest tests run first', () => {
  const tests = [
    'test/collector/simulation.test.ts',
    'test/collector/orphan.slow.test.ts',
    'test/collector/decide.test.ts',
    'src/collector/graph/apply.test.ts',
    'src/collector/decide/interleavings.slow.test.ts',
    'src/collector/decide/reasons.test.ts',
    'src/collector/decide/facts.test.ts',
    'src/collector/decide/facts.enumeration.test.ts',
  ];
  expect(nearestFirst('src/collector/decide/facts.ts', tests, (test) => test)).toEqual([
    'src/collector/decide/facts.test.ts',
    'src/collector/decide/facts.enumeration.test.ts',
    'src/collector/decide/reasons.test.ts',
    'src/collector/decide/interleavings.slow.test.ts',
    'test/collector/decide.test.ts',
    'src/collector/graph/apply.test.ts',
    'test/collector/orphan.slow.test.ts',
    'test/collector/simulation.test.ts',
  ]);
});
