import { readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { debianGoEnv, hasUnpackedGo, unpackedGo } from './debian-go.ts';
import { kubegcCommand, temporaryDirectory } from '../program/kubegc-process.ts';
import { type CommandOptions, type CommandResult, runCommand } from '../program/run-command.ts';
import { until } from '../program/until.ts';

/** The pieces of docs/testing.md for other languages, run as they stand there, with `kubegc` on the PATH as the page puts it there. */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');

/** Compiling the part of client-go that the pieces need takes a minute of processor time. */
const BUILD_MS = 10 * 60_000;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let path: string;

interface Manifest {
  readonly scripts: unknown;
  readonly files: readonly string[];
}

async function npm(...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand('npm', [...args, '--silent'], { cwd: directory.path });
  expect(code, stderr).toBe(0);
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  // It is built already, and others use that now, so a copy is packed that has nothing to build.
  const { scripts: _, ...manifest } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
  for (const name of manifest.files)
    await cp(join(root, name), join(directory.path, 'clone', name), { recursive: true });
  await save('clone/package.json', JSON.stringify(manifest));
  await npm('pack', '--pack-destination', directory.path, './clone');
  const [archive = ''] = (await readdir(directory.path)).filter((name) => name.endsWith('.tgz'));
  // Without the optional store nothing is fetched.
  await npm('install', '--prefix', 'tools', archive, '--omit=optional', '--offline', '--no-audit', '--no-fund');
  const bin = join(directory.path, 'tools/node_modules/.bin');
  path = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter);
});

afterAll(() => directory[Symbol.asyncDispose]());

/** The only piece of a language, or the one that has a word. */
function piece(language: string, word: string): string {
  const pieces = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  );
  const found = pieces.filter((text) => text.includes(word));
  expect(found).toHaveLength(1);
  return found[0] ?? '';
}

async function save(name: string, text: string): Promise<string> {
  const file = join(directory.path, name);
  await writeFile(file, text);
  return file;
}

const present = async (program: string, ...args: string[]): Promise<boolean> =>
  (await runCommand(program, args).catch(() => undefined))?.code === 0;
/** Where everything has to run nothing may be left out. */
const must = process.env['CI'] !== undefined;
const hasPython = must || (await present('python3', '--version'));
const hasJava = must || (await present('java', '-version'));
const hasGo = must || hasUnpackedGo;

/** A directory whose `kubegc` is the real one with a flag that it does not know, so that it ends at once. */
async function refusing(): Promise<string> {
  const bin = join(directory.path, 'refusing');
  await mkdir(bin, { recursive: true });
  const program = join(bin, 'kubegc');
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${kubegcCommand}' "$@" --no-such-flag\n`);
  await chmod(program, 0o755);
  return bin;
}

/** The command lines of all processes of this machine that the test may read. */
async function commandLines(): Promise<readonly string[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  return Promise.all(processes.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')));
}

/** With Go, and with a directory for temporary files that shows what was left behind. */
async function runWithGo(
  file: string,
  args: readonly string[],
  options: CommandOptions & { before?: string } = {},
): Promise<CommandResult & { left: readonly string[] }> {
  const { before = '', ...rest } = options;
  const temporary = join(directory.path, 'temporary');
  await mkdir(temporary, { recursive: true });
  const env = {
    ...debianGoEnv(directory.path),
    PATH: [before, join(unpackedGo(), 'go/bin'), path].filter((one) => one !== '').join(delimiter),
    TMPDIR: temporary,
  };
  const result = await runCommand(file, args, { timeoutMs: BUILD_MS, ...rest, env });
  return { ...result, left: await readdir(temporary) };
}

/** The two pieces of Go as the tests of a package. */
async function goPackage(): Promise<string> {
  const cwd = join(directory.path, 'deletion');
  await mkdir(cwd, { recursive: true });
  await save('deletion/main_test.go', piece('go', 'func TestMain'));
  await save('deletion/deletion_test.go', piece('go', 'func TestDependentsGo'));
  return cwd;
}

describe('docs/testing.md', () => {
  it('names the package as npm does', async () => {
    const [archive = ''] = (await readdir(directory.path)).filter((name) => name.endsWith('.tgz'));
    expect(page.split('../kubegc-').length).toBeGreaterThan(1);
    for (const [name] of page.matchAll(/kubegc-\S+\.tgz/g)) expect(name).toBe(archive);
  });

  it.runIf(hasPython)('Python, with its standard library', async () => {
    const file = await save('test_deletion.py', piece('python', 'unittest'));
    const { code, stderr } = await runCommand('python3', [file], { env: { PATH: path } });
    expect(stderr).toMatch(/^Ran 1 test[\s\S]*^OK$/m);
    expect(code).toBe(0);
  });

  it.runIf(hasJava)('Java, with its standard library', async () => {
    const file = await save('Deletion.java', piece('java', 'class Deletion'));
    const { code, stdout, stderr } = await runCommand('java', [file], { env: { PATH: path } });
    expect(stdout, stderr).toContain('the dependent is gone');
    expect(code).toBe(0);
  });

  describe.runIf(hasGo)('Go', () => {
    it('TestMain with the standard library, a test with client-go', { timeout: BUILD_MS }, async () => {
      const cwd = await goPackage();
      const run = await runWithGo('go', ['test', '-count=1', '-v', '.'], { cwd });
      expect(run.stdout, run.stderr).toContain('--- PASS: TestDependentsGo');
      expect(run).toMatchObject({ code: 0, left: [] });
    });

    it('is formatted', async () => {
      const cwd = await goPackage();
      expect(await runWithGo('gofmt', ['-l', '.'], { cwd })).toMatchObject({ code: 0, stdout: '', stderr: '' });
    });

    it('TestMain says that kubegc has ended, and does not wait for it', { timeout: BUILD_MS }, async () => {
      const cwd = await goPackage();
      const run = await runWithGo('go', ['test', '-count=1', '.'], { cwd, before: await refusing() });
      expect(run.stdout + run.stderr).toContain("unknown option '--no-such-flag'");
      expect(run.stdout + run.stderr).toContain('kubegc has ended before it was ready: exit status');
      expect(run).toMatchObject({ code: 1, left: [] });
    });

    it('API-565 a suite that does what envtest does with USE_EXISTING_CLUSTER', { timeout: BUILD_MS }, async () => {
      const script = await save('existing-cluster.sh', piece('sh', 'USE_EXISTING_CLUSTER=true'));
      const cwd = join(import.meta.dirname, 'go-envtest');
      const run = await runWithGo('sh', [script], { cwd });
      expect(run.stdout, run.stderr).toMatch(/^ok\s(?!.*cached)/m);
      expect(run).toMatchObject({ code: 0, left: [] });
      await until('the server ends', async () => !(await commandLines()).some((line) => line.includes(directory.path)));
    });

    it('the script for USE_EXISTING_CLUSTER ends when kubegc does not start', { timeout: BUILD_MS }, async () => {
      const script = await save('existing-cluster.sh', piece('sh', 'USE_EXISTING_CLUSTER=true'));
      const run = await runWithGo('sh', [script], { cwd: directory.path, before: await refusing() });
      expect(run.stderr).toContain("unknown option '--no-such-flag'");
      expect(run.code).not.toBe(0);
      expect(run.left).toEqual([]);
    });
  });
});
