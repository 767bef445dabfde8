import { expect, it } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { TransportError } from '../../client/transport.ts';
import { UntilUnanswered } from './until-unanswered.ts';

const request: HttpRequest = { method: 'PATCH', target: '/a', headers: {} };
const answer = (status: number): Promise<HttpResponse> =>
  Promise.resolve({ status, headers: {}, body: Buffer.from('') });

it('COL-121 COL-002 sends nothing any more after a request that got no answer, and goes on after any answer', async () => {
  const round = new UntilUnanswered();
  const sent: string[] = [];
  const send = (by: string, then: () => Promise<HttpResponse>) =>
    round.intercept(request, () => {
      sent.push(by);
      return then();
    });
  await send('accepted', () => answer(200));
  await send('refused', () => answer(503));
  expect(round.isOver).toBe(false);
  let arrive: ((response: HttpResponse) => void) | undefined;
  const underWay = send('under way', () => new Promise((resolve) => (arrive = resolve)));
  await expect(send('lost', () => Promise.reject(new TransportError('reset', 'reset by peer')))).rejects.toThrow(
    'reset',
  );
  await expect(send('late', () => answer(200))).rejects.toThrow('PATCH was not sent');
  expect([sent, round.isOver]).toEqual([['accepted', 'refused', 'under way', 'lost'], true]);
  // What had been sent before is waited for.
  arrive?.(await answer(200));
  expect((await underWay).status).toBe(200);
});
