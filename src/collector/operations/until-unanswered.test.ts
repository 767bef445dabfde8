import { expect, it } from 'vitest';
import type { HttpRequest, HttpResponse } from '../../base/http-message.ts';
import { TransportError } from '../../client/http/transport.ts';
import { NotSentError, UntilUnanswered } from './until-unanswered.ts';

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
  // A request that was sent before is waited for.
  arrive?.(await answer(200));
  expect((await underWay).status).toBe(200);
});

it('COL-121 COL-002 COL-214 is asked once more when a request is sent, and so is whoever was to be asked before', async () => {
  const round = new UntilUnanswered();
  const waiting: HttpRequest[] = [];
  const wait = (request: HttpRequest): Promise<HttpResponse> => {
    waiting.push(request);
    return answer(200);
  };
  let tooLate: Error | undefined;
  await round.intercept({ ...request, refusal: () => tooLate }, wait);
  const asked = (): unknown => waiting[0]?.refusal?.();
  expect(asked()).toBeUndefined();
  tooLate = new TransportError('aborted', 'too late');
  expect(asked()).toBe(tooLate);
  tooLate = undefined;
  const lost = new TransportError('reset', 'reset by peer');
  await expect(round.intercept(request, () => Promise.reject(lost))).rejects.toBe(lost);
  expect(asked()).toBeInstanceOf(NotSentError);
  expect(asked()).toMatchObject({ code: 'aborted', cause: lost });
});
