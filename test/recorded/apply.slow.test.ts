import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { establish } from '../apiextensions/definition-fixture.ts';
import { playApplyCase, recordedApplyCases, type Send } from './apply-case.ts';

const definition = JSON.parse(readFileSync(new URL('apply-definition.json', import.meta.url), 'utf8')) as KubeObject;
const cases = recordedApplyCases();

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  await establish(server, definition);
});

const send: Send = async (method, target, body) => {
  const { status, json, headers } = await server.request(
    method,
    target,
    body === undefined ? {} : { body: body.text, headers: { 'content-type': body.type } },
  );
  const warning = headers['warning'];
  return { status, json, warnings: warning === undefined ? [] : [[warning].flat().join(', ')] };
};

describe('API-210 API-214 nulls, empty values and managers, as kube-apiserver 1.36 answered', () => {
  it('has at least two hundred cases, each once', () => {
    expect(cases.length).toBeGreaterThanOrEqual(200);
    expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length);
  });

  it.each(cases.map((each, index) => ({ ...each, index })))('$title', async ({ answers, differs, index, ...each }) => {
    const played = await playApplyCase(each, `case-${index}`, send);
    if (differs === undefined) expect(played).toEqual(answers);
    else expect(played).not.toEqual(answers);
  });
});
