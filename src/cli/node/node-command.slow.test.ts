import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../program.ts';

describe('kubegc node, with bad input', () => {
  let directory = '';
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kgn-'));
  });
  afterAll(async () => await rm(directory, { recursive: true }));

  async function kubegc(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
    let [out, err] = ['', ''];
    const terminal = {
      stdout: (text: string) => void (out += text),
      stderr: (text: string) => void (err += text),
      columns: 100,
    };
    const code = await run(['node', ...args], terminal);
    return { code, out, err };
  }
  const socket = (name: string): string => `unix://${join(directory, name)}`;
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  async function listening<T>(
    server: Pick<Server, 'listen' | 'close'>,
    name: string,
    work: (endpoint: string) => Promise<T>,
  ): Promise<T> {
    await new Promise<void>((settle) => void server.listen(join(directory, name), settle));
    try {
      return await work(socket(name));
    } finally {
      server.close();
    }
  }

  it('NODE-010 says that there is no socket, and what to do', async () => {
    expect(await kubegc('status', '--container-runtime-endpoint', socket('none'))).toEqual({
      code: 1,
      out: '',
      err:
        `error: cannot reach the container runtime at ${socket('none')}: there is no such socket\n` +
        'Nothing was removed. Is the runtime running? Give another socket with --container-runtime-endpoint.\n',
    });
  });

  it('NODE-019 ends with 4 when the runtime hangs', async () => {
    const open = new Set<Socket>();
    const server = createServer((connection) => void open.add(connection));
    const said = await listening(server, 'hangs', (endpoint) =>
      kubegc('prune', '--confirm', '--container-runtime-endpoint', endpoint, '--runtime-request-timeout', '200ms'),
    );
    for (const each of open) each.destroy();
    expect([said.code, said.out]).toEqual([4, '']);
    expect(said.err).toContain(`the container runtime at ${socket('hangs')} does not answer`);
  });

  it('NODE-010 refuses a runtime that speaks only v1alpha2 in the words of the kubelet', async () => {
    const server = createHttp2Server();
    server.on('stream', (stream) => {
      const message = encodeURIComponent('unknown service runtime.v1.RuntimeService');
      stream.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12', 'grpc-message': message },
        { endStream: true },
      );
    });
    const said = await listening(server, 'old', (endpoint) => kubegc('plan', '--container-runtime-endpoint', endpoint));
    expect(said.err).toBe(
      `error: validate CRI v1 runtime API for endpoint "${socket('old')}": rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService\n` +
        'Nothing was removed. kubegc needs CRI v1: containerd 1.6, CRI-O 1.23, or later.\n',
    );
    expect(said.code).toBe(1);
  });

  it.each([
    [
      'thresholds that contradict',
      ['--image-gc-low-threshold', '90'],
      /^error: invalid configuration: imageGCLowThresholdPercent \(--image-gc-low-threshold\) 90 must be less than imageGCHighThresholdPercent \(--image-gc-high-threshold\) 85\n/,
    ],
    [
      'a percentage that is none',
      ['--image-gc-high-threshold', 'x'],
      /^error: invalid --image-gc-high-threshold "x"\nGive an integer\.\n/,
    ],
    ['a duration in days', ['--minimum-image-ttl-duration', '7d'], /time: unknown unit "d" in duration "7d"/],
    ['an unknown source of pods', ['--pods', 'docker'], /^error: invalid --pods "docker"/],
  ])('NODE-002 refuses %s', async (_, flags, message) => {
    const said = await kubegc('prune', '--confirm', '--container-runtime-endpoint', socket('none'), ...flags);
    expect([said.code, said.out]).toEqual([1, '']);
    expect(said.err).toMatch(message);
  });

  it('NODE-001 names an unknown key and the file that has it', async () => {
    const path = await write(
      'config.yaml',
      'apiVersion: node.kubegc/v1alpha1\nkind: NodeGCConfiguration\nimageGCHigh: 80\n',
    );
    const said = await kubegc('plan', '--config', path, '--container-runtime-endpoint', socket('none'));
    expect(said).toEqual({
      code: 1,
      out: '',
      err: `error: failed to load the configuration ${path}: strict decoding error: unknown field "imageGCHigh"\nNothing was removed. Mend the configuration, then try again.\n`,
    });
    expect((await kubegc('plan', '--config', join(directory, 'no.yaml'))).err).toContain('no such file or directory');
    expect(await kubegc('plan', '--config', await write('broken.yaml', 'a: ['))).toMatchObject({ code: 1 });
  });

  it('NODE-210 refuses a state file that cannot be read', async () => {
    const path = await write('state.json', 'torn');
    const said = await kubegc(
      'prune',
      '--confirm',
      '--container-runtime-endpoint',
      socket('none'),
      '--state-file',
      path,
    );
    expect(said).toEqual({
      code: 1,
      out: '',
      err: `error: cannot read the state file ${path}: it is not JSON\nNothing was removed. Move ${path} away to begin anew, or give another --state-file.\n`,
    });
  });

  it('NODE-100 takes a file without a list of pods for an error, never for a node without pods', async () => {
    const said = await kubegc(
      'plan',
      '--pods',
      `file=${await write('pods.json', '{"kind":"PodList"}')}`,
      '--container-runtime-endpoint',
      socket('none'),
    );
    expect([said.code, said.err.split('\n')[0]]).toEqual([
      1,
      `error: the list of pods ${join(directory, 'pods.json')} has no items`,
    ]);
  });

  it('refuses --confirm with --dry-run, and a percentage that is none', async () => {
    expect(await kubegc('prune', '--confirm', '--dry-run')).toMatchObject({
      code: 1,
      err: expect.stringContaining('exclude each other'),
    });
    expect(await kubegc('prune', '--to', '100')).toMatchObject({
      code: 1,
      err: expect.stringContaining('from 0 to 99'),
    });
    expect(await kubegc('repair')).toMatchObject({ code: 1, err: expect.stringContaining('Give --stranded') });
  });
});
