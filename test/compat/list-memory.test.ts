import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect } from 'node:http2';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../program/api-client.ts';
import { KubegcProcess, temporaryDirectory } from '../program/kubegc-process.ts';
import { readKubeconfig } from '../program/read-kubeconfig.ts';
import { until } from '../program/until.ts';

/**
 * 200 MiB of Pods, listed in every form by readers who stop after the first KiB. If the server made any of these answers as a whole, it would
 * have done so by then; it may hold a piece of each, as docs/up.md says under "Bounds". Memory is the peak that the kernel noted since
 * the lists were asked for, so nothing depends on when somebody looks.
 */
const MIB = 1024 * 1024;
const COUNT = 400;
const POD_BYTES = MIB / 2;
/** The memory of one answer: in protobuf the beginning is kept, since it has to be measured before it is sent. */
const PIECE = 8 * MIB;
/** At once. Together they would be 1,200 MiB. */
const READERS = 6;
/** "200 MiB for a process under load": what has been set aside for short-lived objects comes and goes. One answer alone is more than that. */
const PROCESS = 200 * MIB;
const pods = '/api/v1/namespaces/default/pods';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let program: KubegcProcess;
let kubeconfig: string;
let client: ApiClient;

beforeAll(async () => {
  directory = await temporaryDirectory();
  kubeconfig = join(directory.path, 'kubeconfig');
  const flags = ['--store=memory', '--listen=127.0.0.1:0', `--write-kubeconfig=${kubeconfig}`, '--log-level=warn'];
  program = new KubegcProcess(['up', ...flags]);
  await program.ready();
  client = new ApiClient(kubeconfig);
  const account = '/api/v1/namespaces/default/serviceaccounts/default';
  await until('the service account', async () => (await client.send('GET', account)).status === 200);
  const create = async (first: number): Promise<void> => {
    for (let index = first; index < COUNT; index += 8) {
      // Nothing that a compression makes small.
      const value = randomBytes((POD_BYTES / 4) * 3).toString('base64');
      const containers = [{ name: 'c', image: 'i', env: [{ name: 'FILLER', value }] }];
      const metadata = { name: `pod-${String(index).padStart(3, '0')}`, labels: { app: 'large' } };
      const { status } = await client.send('POST', pods, { metadata, spec: { containers } });
      if (status !== 201) throw new Error(`${metadata.name}: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, first) => create(first)));
});

afterAll(async () => {
  client.close();
  await program.stop();
  await directory[Symbol.asyncDispose]();
});

/** Resident memory now, and its peak since the last call of `forgetPeak`; bytes. */
function memory(name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${program.pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
}
const forgetPeak = (): void => writeFileSync(`/proc/${program.pid}/clear_refs`, '5');

interface Form {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const forms: Readonly<Record<string, Form>> = {
  JSON: {},
  'JSON, by labels': { query: '?labelSelector=app%3Dlarge' },
  'rows of a table, with the objects': {
    query: '?includeObject=Object',
    headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
  },
  'rows of a table, with the objects, by labels': {
    query: '?includeObject=Object&labelSelector=app%3Dlarge',
    headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
  },
  'JSON, by a field': { query: '?fieldSelector=spec.nodeName%3D' },
  'protobuf, by labels': {
    query: '?labelSelector=app%3Dlarge',
    headers: { accept: 'application/vnd.kubernetes.protobuf' },
  },
  protobuf: { headers: { accept: 'application/vnd.kubernetes.protobuf' } },
  'gzip of JSON': { headers: { 'accept-encoding': 'gzip' } },
  'a watch that begins with the list': {
    query: '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  },
  'such a watch in protobuf': {
    query: '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    headers: { accept: 'application/vnd.kubernetes.protobuf;stream=watch' },
  },
};

/** Returns the body of the answer, paused after its first KiB. */
async function begun(open: (path: string, headers: Record<string, string>) => Promise<Readable>, form: Form) {
  const { authorization } = readKubeconfig(kubeconfig);
  const body = await open(`${pods}${form.query ?? ''}`, { authorization, ...form.headers });
  body.on('error', () => undefined);
  const chunks: Buffer[] = [];
  await new Promise<void>((settle) => {
    const read = (chunk: Buffer): void => {
      chunks.push(chunk);
      if (chunks.reduce((sum, { length }) => sum + length, 0) < 1024) return;
      body.pause();
      body.off('data', read);
      settle();
    };
    body.on('data', read);
  });
  return { body, chunks };
}

const cleanUps: (() => void)[] = [];
const transports = {
  'HTTP/2': (path: string, headers: Record<string, string>): Promise<Readable> => {
    const { origin, ca } = readKubeconfig(kubeconfig);
    const session = connect(origin.href, { ca });
    session.on('error', () => undefined);
    cleanUps.push(() => session.destroy());
    return Promise.resolve(session.request({ ':path': path, ...headers }));
  },
  'HTTP/1.1': (path: string, headers: Record<string, string>): Promise<Readable> =>
    new Promise((settle, reject) => {
      const { origin, ca } = readKubeconfig(kubeconfig);
      const { hostname: host, port } = origin;
      const request = get({ host, port, path, ca, agent: false, headers }, settle).on('error', reject);
      cleanUps.push(() => request.destroy());
    }),
};

/** The code that makes an answer knows nothing of the connection, so the second transport needs only a few forms. */
const formsOver = (transport: string): [string, Form][] =>
  Object.entries(forms).filter(([name]) => transport === 'HTTP/2' || /^(JSON|gzip of JSON|a watch .*)$/.test(name));

describe.each(Object.entries(transports))(
  'lists of 200 MiB over %s, read by nobody beyond their first KiB',
  (transport, open) => {
    it.each(formsOver(transport))('API-091 API-129 are never in memory as a whole: %s', async (name, form) => {
      const before = memory('VmRSS');
      forgetPeak();
      await Promise.all(Array.from({ length: READERS }, () => begun(open, form)));
      // The server goes on with whatever it does by itself, and with others.
      for (let round = 0; round < 100; round++) expect((await client.send('GET', '/readyz')).status).toBe(200);
      const grown = memory('VmHWM') - before;
      process.stdout.write(`${READERS} lists begun, ${name}: ${Math.round(grown / MIB)} MiB more at most\n`);
      expect(before).toBeGreaterThan(COUNT * POD_BYTES);
      expect(grown).toBeLessThan(PROCESS + READERS * PIECE);
      for (const cleanUp of cleanUps.splice(0)) cleanUp();
    });

    it('API-091 only rest: one that is read on is whole', async () => {
      const { body, chunks } = await begun(open, {});
      for await (const chunk of body) chunks.push(chunk as Buffer);
      const { items } = JSON.parse(Buffer.concat(chunks).toString()) as { items: { metadata: { name: string } }[] };
      expect([items.length, items[0]?.metadata.name, items.at(-1)?.metadata.name]).toEqual([
        COUNT,
        'pod-000',
        'pod-399',
      ]);
      for (const cleanUp of cleanUps.splice(0)) cleanUp();
    });
  },
);
