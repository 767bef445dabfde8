// A terminal session against `kubegc up` of the built program: what is shown was really run, with a real kubectl ($KUBECTL, else the one in PATH).
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { COLUMNS } from './terminal-picture.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PATIENCE_MS = 60_000;

export class TerminalSession {
  /** `{ kind, text }` of everything shown. */
  lines = [];
  env;
  #home = mkdtempSync(join(tmpdir(), 'kubegc-picture-'));
  #children = [];

  /** Starts a server with these flags, and resolves when it is ready. */
  static async start(serverFlags = []) {
    const session = new TerminalSession();
    try {
      await session.#serve(serverFlags);
      return session;
    } catch (error) {
      session.close();
      throw error;
    }
  }

  async #serve(serverFlags) {
    const bin = join(this.#home, 'bin');
    mkdirSync(bin);
    const kubectl = execFileSync('which', [process.env.KUBECTL ?? 'kubectl'], { encoding: 'utf8' }).trim();
    symlinkSync(kubectl, join(bin, 'kubectl'));
    for (const name of ['kubegc', 'kubectl-cascade']) symlinkSync(join(root, 'dist/kubegc.js'), join(bin, name));
    const kubeconfig = join(this.#home, 'kubeconfig');
    const { XDG_STATE_HOME: _, ...env } = process.env;
    this.env = {
      ...env,
      PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: this.#home,
      KUBECONFIG: kubeconfig,
    };
    const where = ['--store', 'memory', '--listen', '127.0.0.1:0', '--write-kubeconfig', kubeconfig];
    const server = this.spawn(['kubegc', 'up', ...where, '--log-level', 'error', ...serverFlags]);
    await server.says('kubegc is ready');
  }

  /** Starts a program that runs until the session ends. `output()` is what it has printed. `says` rejects when the program ends first. */
  spawn([program, ...args]) {
    const child = spawn(program, args, { env: this.env, cwd: this.#home, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    return {
      output: () => output.trimEnd(),
      says: (text) =>
        until(`${program} says "${text}"`, () => {
          if (output.includes(text)) return true;
          const { exitCode, signalCode } = child;
          if (exitCode === null && signalCode === null) return false;
          throw new Error(`${program} ended with ${exitCode ?? signalCode} before it said "${text}":\n${output}`);
        }),
    };
  }

  comment(text) {
    this.show('comment', `# ${text}`);
  }

  show(kind, text) {
    this.lines.push(...text.split('\n').map((line) => ({ kind, text: line })));
  }

  /** Shows a command with what it prints; it must end with this exit code. Resolves with what it printed. */
  async command(words, { exit = 0 } = {}) {
    this.shownCommand(words);
    const output = await this.run(words, { exit });
    if (output !== '') for (const line of output.split('\n')) this.show(isError(line) ? 'error' : 'output', line);
    return output;
  }

  shownCommand(words) {
    const line = words.map((word) => (/^[\w./:=@%,+-]+$/.test(word) ? word : `'${word}'`)).join(' ');
    if (line.length > COLUMNS - 2) throw new Error(`a command has more than ${COLUMNS - 2} characters: ${line}`);
    this.show('command', line);
  }

  /** Runs a command that is not shown. Resolves with both of its outputs in their order. */
  async run(words, { exit = 0, input = '' } = {}) {
    const child = spawn('sh', ['-c', 'exec "$@" 2>&1', 'sh', ...words], { env: this.env, cwd: this.#home });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stdin.end(input);
    const code = await new Promise((resolve) => child.on('close', resolve));
    if (code !== exit) throw new Error(`${words.join(' ')} ended with ${code}, not ${exit}:\n${output}`);
    return output.trimEnd();
  }

  async apply(objects, flags = []) {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    await this.run(['kubectl', 'apply', '-f', '-', ...flags], { input: JSON.stringify(list) });
  }

  uidOf(...object) {
    return this.run(['kubectl', 'get', ...object, '-o', 'jsonpath={.metadata.uid}']);
  }

  /** Resolves when a command prints what passes. */
  async until(words, passes) {
    await until(`${words.join(' ')} prints what is expected`, async () => passes(await this.run(words)));
  }

  close() {
    for (const child of this.#children) child.kill('SIGTERM');
    rmSync(this.#home, { recursive: true, force: true });
  }
}

const isError = (line) => /^(error:|Error from)/.test(line);

async function until(what, isSo) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`it took more than a minute until ${what}`);
    await sleep(50);
  }
}
