import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCluster } from '../../src/testing/testing.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubegc-manifests-'));
});
afterEach(() => rm(directory, { recursive: true }));

const save = (name: string, text: string) => writeFile(join(directory, name), text);
const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing was refused',
    (error: Error) => `${error.name}: ${error.message}`,
  );
const definition = `# generated
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: shops.example.com }
spec:
  group: example.com
  names: { kind: Shop, plural: shops }
  scope: Namespaced
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
`;
const shop = 'apiVersion: example.com/v1\nkind: Shop\nmetadata: { name: corner }\n';

describe('paths in the place of objects', () => {
  it('are files, or directories with definitions among other files, as those of kubebuilder', async () => {
    await mkdir(join(directory, 'patches'));
    await save('shops.yaml', definition);
    await save('kustomization.yaml', 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n');
    await save('notes.txt', 'neither: [YAML');
    await save('patches/broken.yaml', 'a: [b');
    const elsewhere = join(directory, 'patches', 'shop.json');
    await writeFile(elsewhere, JSON.stringify({ apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name: 'j' } }));
    await using cluster = await startCluster({ crds: [directory], objects: pathToFileURL(elsewhere), controllers: [] });
    await cluster.load(shop);
    const shops = await cluster.client.list({ apiVersion: 'example.com/v1', kind: 'Shop' });
    expect(shops.map(({ metadata }) => metadata?.name).toSorted()).toEqual(['corner', 'j']);
  });

  it('are named, with the line, by an error of YAML', async () => {
    await save('broken.yaml', 'kind: Shop\nmetadata: {\n  name: [\n');
    expect(await messageOf(startCluster({ objects: join(directory, 'broken.yaml') }))).toMatch(
      /^SeedError: cannot create objects from \/\S+\/broken\.yaml:\d+: error converting YAML to JSON/,
    );
  });

  it('are named, with the line where the object begins, by an error of what is in them', async () => {
    await save('two.yaml', `${definition}---\nkind: Nothing\n`);
    const path = join(directory, 'two.yaml');
    const nothing = await messageOf(startCluster({ objects: path }));
    expect(nothing).toBe(`SeedError: cannot create {"kind":"Nothing"} from ${path}:12: it has no apiVersion and kind`);
    await save('upper.yaml', '\n\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: Upper }\n');
    const upper = await messageOf(startCluster({ objects: join(directory, 'upper.yaml') }));
    expect(upper).toMatch(/cannot create ConfigMap Upper from \/\S+\/upper\.yaml:3: .*RFC 1123/);
  });

  it('are refused when there is nothing, or no definition in a file that is given as one', async () => {
    expect(await messageOf(startCluster({ crds: [directory] }))).toMatch(
      /cannot create objects from "\/\S+": the directory has no file that ends in \.yaml, \.yml or \.json$/,
    );
    await save('shop.yaml', shop);
    expect(await messageOf(startCluster({ crds: join(directory, 'shop.yaml') }))).toMatch(
      /^TypeError: crds takes CustomResourceDefinitions, not Shop corner; give that to objects/,
    );
  });
});
