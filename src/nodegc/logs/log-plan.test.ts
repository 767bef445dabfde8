import { describe, expect, it } from 'vitest';
import { containerIdOfLink, deadLinkGoes, logFilesOf, logLinkName, planLogDirectories } from './log-plan.ts';

const ENTRY = 'default_web-0_11111111-2222-3333-4444-555555555555';
const gone = { ready: true, contentShouldBeRemoved: (uid: string) => uid === '11111111-2222-3333-4444-555555555555' };
const ID = 'a'.repeat(64);

describe('logs', () => {
  it('NODE-094 LG-01 removes the directory of a pod that is gone or evicted, LG-03', () => {
    expect(planLogDirectories([ENTRY, 'default_web-1_other'], gone)).toEqual([ENTRY]);
  });

  it('NODE-094 LG-02 keeps every directory until the sources are ready', () => {
    expect(planLogDirectories([ENTRY], { ...gone, ready: false })).toEqual([]);
  });

  it('NODE-095 LG-04 keeps entries of another form', () => {
    const all = { ready: true, contentShouldBeRemoved: () => true };
    expect(planLogDirectories(['notes.txt', 'a_b', 'a_b_', '___', ENTRY], all)).toEqual([ENTRY]);
  });

  it('NODE-089 LG-05 takes the log and what it was rotated to, and no other', () => {
    const entries = ['3.log', '3.log.20260101-000000', '3.log.20260101-010000.gz', '30.log', '4.log'];
    expect(logFilesOf('3.log', entries)).toEqual(['3.log', '3.log.20260101-000000', '3.log.20260101-010000.gz']);
    expect(logFilesOf('', entries)).toEqual([]);
  });

  it('NODE-096 LG-06, LG-07, LG-08 removes a dead link unless its container is there and not dead', () => {
    expect(containerIdOfLink(`web-0_default_app-${ID}.log`)).toBe(ID);
    expect(containerIdOfLink('x-abc.log')).toBeUndefined();
    expect(containerIdOfLink('anything')).toBeUndefined();
    const decided = (['running', 'created', 'unknown', 'exited', 'unreadable', 'absent'] as const).map(deadLinkGoes);
    expect(decided).toEqual([false, false, false, true, true, false]);
  });

  it('NODE-096 LG-09 cuts the name of a link to 251 bytes before .log', () => {
    const name = logLinkName({ podName: 'p'.repeat(253), podNamespace: 'default', name: 'app', id: ID });
    expect(Buffer.byteLength(name)).toBe(255);
    expect(logLinkName({ podName: 'web-0', podNamespace: 'default', name: 'app', id: ID })).toBe(
      `web-0_default_app-${ID}.log`,
    );
  });
});
