import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServingCertificates } from '../../src/apiserver/authentication/certificates.ts';
import { type HttpServer, serve } from '../../src/apiserver/serving/http-server.ts';
import { configMap, configMaps, startTestServer, type TestServer } from '../../src/apiserver/test/test-server.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { systemRandom } from '../../src/base/random/random.ts';
import { temporaryDirectory } from '../program/kubegc-process.ts';
import { Kubectl, kubectlPaths, olderKubectlPaths } from './kubectl.ts';

/**
 * Real kubectl, whose list takes so long that its state is gone before the second page: the server forgets history between the two.
 * kubectl does not follow the token of the error (cli-runtime `resource/helper.go`, `FollowContinue`): it says what the server said, and
 * asked again it gets everything.
 */
const NAMES = ['a', 'b', 'c', 'd', 'e'];

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let server: TestServer;
let listener: HttpServer;
let kubeconfig: string;
let forgets: boolean;
/** The requests for the collection, and their answers. */
let asked: string[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory();
  const certificates = await createServingCertificates({ clock: systemClock, random: systemRandom });
  server = await startTestServer();
  for (const name of NAMES) await server.post(configMaps, configMap(name));
  listener = await serve({
    handler: async (request) => {
      const { pathname, searchParams } = new URL(request.target, 'https://here');
      if (forgets && searchParams.has('continue')) {
        await server.post(configMaps, configMap(`later-${await server.store.currentRevision()}`));
        await server.store.compact(await server.store.currentRevision());
      }
      const answer = await server.server.handler(request);
      const page = searchParams.has('continue') ? 'further page' : 'first page';
      if (pathname === configMaps) asked.push(`${page}: ${answer.status}`);
      return answer;
    },
    host: '127.0.0.1',
    port: 0,
    tls: { keyPem: certificates.keyPem, certPem: certificates.certPem },
  });
  kubeconfig = join(directory.path, 'kubeconfig');
  const name = 'here';
  const ca = Buffer.from(certificates.caPem).toString('base64');
  await writeFile(
    kubeconfig,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': name,
      clusters: [{ name, cluster: { server: listener.url, 'certificate-authority-data': ca } }],
      // Without one kubectl asks for a name.
      users: [{ name, user: { token: 'of-nobody' } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
    }),
  );
});

afterAll(async () => {
  await listener.close();
  await server.server.stop();
  await directory[Symbol.asyncDispose]();
});

describe.each([...kubectlPaths(), ...olderKubectlPaths()])('%s', (path) => {
  it('API-097 API-099 says that a list expired between its pages, and lists anew when asked again', async () => {
    const kubectl = new Kubectl({ path, kubeconfig, home: directory.path });
    const list = ['get', 'configmaps', '--chunk-size=2', '-o', 'name'];
    [forgets, asked] = [true, []];
    const { code, stdout, stderr } = await kubectl.try(list);
    expect({ code, asked, stderr }).toMatchObject({ code: 1, asked: ['first page: 200', 'further page: 410'] });
    expect(stderr).toMatch(/^Error from server \(Expired\): The provided continue parameter is too old /m);
    expect(stdout.split('\n').filter((line) => line !== '')).toEqual(
      stdout === '' ? [] : ['configmap/a', 'configmap/b'],
    );
    [forgets, asked] = [false, []];
    const whole = await kubectl.run(list);
    expect(whole.split('\n').slice(0, NAMES.length)).toEqual(NAMES.map((name) => `configmap/${name}`));
    expect(asked.length).toBeGreaterThan(2);
  });
});
