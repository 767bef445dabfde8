import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { builtinResources } from '../../src/api/kinds/builtin-resources.ts';
import { apiVersionOf } from '../../src/api/meta/group-version-kind.ts';
import type { KubeObject } from '../../src/api/meta/object-meta.ts';
import { startTestServer } from '../../src/apiserver/test/test-server.ts';

const root = join(import.meta.dirname, '../..');

/** Where an object of a built-in kind is created; undefined for one of a definition. */
function collectionOf({ apiVersion = '', kind, metadata }: KubeObject): string | undefined {
  const info = builtinResources().find((row) => row.kind === kind && apiVersionOf(row) === apiVersion);
  if (info === undefined) return undefined;
  const scope = info.namespaced ? `namespaces/${metadata?.namespace ?? 'default'}/` : '';
  return `/${info.group === '' ? 'api' : 'apis'}/${apiVersion}/${scope}${info.resource}`;
}

/** Status and message of the answer to each object that was not created. */
async function refusals(file: string): Promise<unknown[]> {
  const server = await startTestServer();
  const objects = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as KubeObject | null);
  const refused: unknown[] = [];
  let asked = 0;
  for (const object of objects) {
    const collection = object === null ? undefined : collectionOf(object);
    if (collection === undefined) continue;
    asked++;
    const { status, json } = await server.post(`${collection}?fieldValidation=Strict`, object);
    if (status !== 201) refused.push([object?.kind, object?.metadata?.name, json.message]);
  }
  expect(asked).toBeGreaterThan(0);
  return refused;
}

describe('manifests in use', () => {
  it.each(['test/fixtures/shop.yaml', 'docs/manifests/collect-rbac.yaml', 'docs/manifests/collect-deployment.yaml'])(
    'API-502 all of %s is accepted',
    async (file) => {
      expect(await refusals(join(root, file))).toEqual([]);
    },
  );
});

/** Other people's, and no part of this project: tried where they lie beside it. */
const others = join(root, '../shared/manifests');

describe.skipIf(!existsSync(others))('manifests of others', () => {
  it('API-502 a shop of eleven services is accepted', async () => {
    expect(await refusals(join(others, 'online-boutique.yaml'))).toEqual([]);
  });
});
