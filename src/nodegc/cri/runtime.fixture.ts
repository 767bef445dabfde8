import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type ServerHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';

/** A container runtime on its own socket. It has only the calls that a test gives it. */
export async function runtimeOf(
  routes: (router: ConnectRouter) => void,
): Promise<{ readonly endpoint: string; readonly close: () => Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'kgr-'));
  const path = join(directory, 's');
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer(connectNodeAdapter({ routes }));
  server.on('session', (session) => sessions.add(session));
  server.listen(path);
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    for (const each of sessions) each.destroy();
    await new Promise((settle) => server.close(settle));
    await rm(directory, { recursive: true });
  };
  return { endpoint: `unix://${path}`, close };
}
