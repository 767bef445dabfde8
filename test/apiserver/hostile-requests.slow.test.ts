import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_BODY_VALUES, MAX_OBJECT_MEMBERS } from '../../src/api/codec/json/body-values.ts';
import { type Answer, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import {
  type HostileRequest,
  longWork,
  refused,
  tooManyElements,
  tooManyMembers,
  tooManyValues,
} from './hostile-requests.ts';

/** Turns of the event loop that a long write takes: each of its steps is one. */
const LEAST_TURNS = 8;

/** Counts turns of the event loop instead of time: whoever asks in a turn between two steps is answered first. */
describe('API-007 a request that is made to keep the server busy', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer();
  });

  const send = async ({ method, path, type, body, before }: HostileRequest): Promise<Answer> => {
    if (before !== undefined) expect((await server.post(before.path, before.object)).status).toBe(201);
    return server.request(method, path, { body, headers: { 'content-type': type } });
  };

  it.each([
    ...tooManyValues.map((each) => [...each, `${MAX_BODY_VALUES} values`] as const),
    ...tooManyMembers.map((each) => [...each, `${MAX_OBJECT_MEMBERS} members in one object`] as const),
    ...tooManyElements.map(
      (each) => [...each, `${MAX_OBJECT_MEMBERS} elements in one list of type set or map`] as const,
    ),
  ])('%s: is refused for their number, and the answer says how many are taken', async (_what, request, limit) => {
    const { status, json } = await send(request);
    expect([status, json.message]).toEqual([413, `Request entity too large: limit is ${limit}`]);
  });

  it.each(refused)('%s: is refused', async (_what, request, code, words) => {
    const { status, json } = await send(request);
    expect(status).toBe(code);
    expect(json.message).toMatch(words);
  });

  it.each(longWork)('%s: others are answered before it is, and while it is checked', async (_what, request) => {
    const { before, ...hostile } = request;
    if (before !== undefined) await server.post(before.path, before.object);
    const progress = { done: false };
    const long = send(hostile).then(({ status }) => {
      progress.done = true;
      return status;
    });
    await new Promise((resolve) => void setImmediate(resolve));
    let answered = 0;
    while (!progress.done) {
      expect((await server.get('/livez')).status).toBe(200);
      answered++;
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect([200, 201]).toContain(await long);
    expect(answered).toBeGreaterThanOrEqual(LEAST_TURNS);
  });
});
