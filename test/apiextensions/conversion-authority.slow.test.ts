import { beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { caPem } from '../../src/client/http/tls.fixture.ts';
import { conditionOf, definition, definitions, established, widget, widgets } from './definition-fixture.ts';
import { until } from '../program/until.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});

const path = `${definitions}/widgets.example.com`;
/** The placeholder in generated manifests until the certificate is put there: a line feed. */
const PLACEHOLDER = 'Cg==';

function converted(caBundle: string): object {
  const webhook = { clientConfig: { url: 'https://127.0.0.1:1', caBundle }, conversionReviewVersions: ['v1'] };
  return { conversion: { strategy: 'Webhook', webhook } };
}

const merge = (body: object) => server.patch(path, body);

describe('API-464 the authority of a conversion webhook', () => {
  it('API-453 may be a placeholder at first: the definition is served, and established with the certificate', async () => {
    expect((await server.post(definitions, definition({ spec: converted(PLACEHOLDER) }))).status).toBe(201);
    const condition = await until('InvalidCABundle', async () => {
      const found = conditionOf((await server.get(path)).json, 'Established');
      return found?.reason === 'InvalidCABundle' ? found : undefined;
    });
    expect(condition).toMatchObject({ status: 'False', message: 'The conversion webhook CABundle is invalid' });
    expect((await server.post(widgets, widget('a'))).status).toBe(201);
    expect((await merge({ spec: converted('bm9uZQ==') })).status).toBe(200);
    expect((await merge({ spec: converted(Buffer.from(caPem).toString('base64')) })).status).toBe(200);
    await established(server, 'widgets.example.com');
    const back = await merge({ spec: converted(PLACEHOLDER) });
    expect([back.status, back.json.message]).toEqual([
      422,
      'CustomResourceDefinition.apiextensions.k8s.io "widgets.example.com" is invalid: spec.conversion.webhookClientConfig.caBundle: Invalid value: "Cg==": unable to load root certificates: unable to parse bytes as PEM block',
    ]);
  });

  it('API-456 what was created meanwhile goes with the definition', async () => {
    await server.post(definitions, definition({ spec: converted(PLACEHOLDER) }));
    await until('served', async () => ((await server.get(widgets)).status === 200 ? true : undefined));
    await server.post(widgets, widget('a'));
    await server.delete(path);
    await until('gone', async () => ((await server.get(path)).status === 404 ? true : undefined));
    await server.post(definitions, definition());
    await established(server, 'widgets.example.com');
    expect((await server.get(widgets)).json).toMatchObject({ items: [] });
  });
});
