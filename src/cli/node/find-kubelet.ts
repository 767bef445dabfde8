import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';

const HEALTHZ_PORT = 10_248;
const TIMEOUT_MS = 500;

/** Describes how a kubelet of this node was found: as a process, or by its health port; undefined if there is none (NODE-140). */
export async function findKubelet(): Promise<string | undefined> {
  const processes = await readdir('/proc').catch(() => []);
  for (const id of processes.filter((name) => /^\d+$/.test(name))) {
    const name = await readFile(`/proc/${id}/comm`, 'utf8').catch(() => '');
    if (name.trim() === 'kubelet') return `process ${id}`;
  }
  return (await listens(HEALTHZ_PORT)) ? `port ${HEALTHZ_PORT}` : undefined;
}

function listens(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const end = (answer: boolean) => (): void => {
      socket.destroy();
      settle(answer);
    };
    socket.setTimeout(TIMEOUT_MS, end(false)).once('connect', end(true)).once('error', end(false));
  });
}
