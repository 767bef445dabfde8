import { describe, expect, it } from 'vitest';
import { createLogger } from './logger.ts';

function recorded(level: 'debug' | 'info' | 'warn' | 'error' | 'silent', format: 'text' | 'json') {
  const lines: string[] = [];
  let now = Date.parse('2026-01-02T03:04:05.006Z');
  const logger = createLogger({ level, format, write: (line) => lines.push(line), now: () => now++ });
  return { lines, logger };
}

describe('the log', () => {
  it('json is one object a line, with the fields of the logger and of the line', async () => {
    const { lines, logger } = recorded('info', 'json');
    logger.child({ component: 'store' }).warn('slow', { ms: 12 });
    await expect.poll(() => lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toEqual({
      time: '2026-01-02T03:04:05.006Z',
      level: 'warn',
      component: 'store',
      ms: 12,
      msg: 'slow',
    });
    expect(lines[0]).toMatch(/\n$/);
  });

  it('text is one line for a person; what is no plain word is quoted', async () => {
    const { lines, logger } = recorded('debug', 'text');
    logger.error('no space', { path: '/a/b', why: 'disk full' });
    await expect.poll(() => lines).toEqual(['2026-01-02T03:04:05.006Z ERROR no space  path=/a/b why="disk full"\n']);
  });

  it('keeps order and time of lines that come before, and after, the library is loaded', async () => {
    const { lines, logger } = recorded('info', 'text');
    logger.info('one');
    logger.info('two');
    await expect.poll(() => lines).toHaveLength(2);
    logger.info('three');
    expect(lines).toEqual([
      '2026-01-02T03:04:05.006Z INFO  one\n',
      '2026-01-02T03:04:05.007Z INFO  two\n',
      '2026-01-02T03:04:05.008Z INFO  three\n',
    ]);
  });

  it('loses what exceeds the bound while the library is loaded, and says how much', async () => {
    const { lines, logger } = recorded('info', 'text');
    for (let line = 0; line < 1003; line++) logger.info(`line ${line}`);
    await expect.poll(() => lines).toHaveLength(1001);
    expect(lines[999]).toContain('line 999');
    expect(lines[1000]).toContain('log lines were lost  lost=3');
  });

  it.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ] as const)('%s logs %j', async (level, expected) => {
    const { lines, logger } = recorded(level, 'json');
    for (const each of ['debug', 'info', 'warn', 'error'] as const) logger[each]('said');
    await expect.poll(() => lines.map((line) => JSON.parse(line).level as string)).toEqual(expected);
  });

  it('shows an error with its type, message and stack', async () => {
    const { lines, logger } = recorded('info', 'json');
    logger.error('failed', { error: new TypeError('no') });
    await expect.poll(() => lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!).error).toMatchObject({ type: 'TypeError', message: 'no', stack: expect.any(String) });
  });
});
