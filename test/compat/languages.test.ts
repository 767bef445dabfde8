import { readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../program/kubegc-process.ts';
import { runCommand } from '../program/run-command.ts';

/** The pieces of docs/testing.md for other languages, run as they stand there, with `kubegc` on the PATH as the page puts it there. */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let path: string;

async function npm(...args: string[]): Promise<void> {
  const { code, stderr } = await runCommand('npm', [...args, '--silent'], { cwd: directory.path });
  expect(code, stderr).toBe(0);
}

beforeAll(async () => {
  directory = await temporaryDirectory();
  // It is built already, and others use it now. Without the optional store nothing is fetched.
  await npm('pack', '--ignore-scripts', '--pack-destination', directory.path, root);
  const [archive = ''] = (await readdir(directory.path)).filter((name) => name.endsWith('.tgz'));
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
});
