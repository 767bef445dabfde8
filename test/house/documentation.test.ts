import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';

/** Every flag and metric of the users stands in the reference pages, and no others do; and every name on a page exists. */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const page = (name: string): string => readFileSync(join(root, 'docs', name), 'utf8');

function files(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? files(path) : [path];
  });
}

function sources(directory: string): string[] {
  return files(directory)
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => readFileSync(path, 'utf8'));
}

describe('documentation', () => {
  const silent = { stdout: () => undefined, stderr: () => undefined, columns: 100 };
  const commands = buildProgram(silent, () => undefined).commands;

  it.each(['up', 'collect'])('docs/%s.md names every flag of the command, and no other', (name) => {
    const command = commands.find((each) => each.name() === name);
    const flags = command?.options.map((option) => option.long).filter((flag) => flag !== '--help');
    const described = [...page(`${name}.md`).matchAll(/^\| `(?:-\w, )?(--[\w-]+)/gm)].map((match) => match[1]);
    expect(described.toSorted()).toEqual(flags?.toSorted());
  });

  it('docs/for-an-ai-agent.md names every flag of kubegc mcp that is not of the cluster, and no other', () => {
    const built = commands.find((each) => each.name() === 'mcp')?.options.map((option) => option.long ?? '');
    const described = [...page('for-an-ai-agent.md').matchAll(/^\| `(--[\w-]+)/gm)].map(([, flag = '']) => flag);
    const shared =
      page('cascade.md')
        .split(/^## /m)
        .find((section) => section.startsWith('The cluster')) ?? '';
    const cluster = [...shared.matchAll(/^\| `(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag);
    expect([...described, ...cluster].toSorted()).toEqual(built?.toSorted());
  });

  it('docs/node-service.md names every flag of kubegc node run, and no other', () => {
    const run = commands.find((each) => each.name() === 'node')?.commands.find((each) => each.name() === 'run');
    const described = [...page('node-service.md').matchAll(/^\| `(--[\w-]+)/gm)].map((match) => match[1]);
    expect(described.filter((flag) => flag !== '--mode').toSorted()).toEqual(
      run?.options
        .map((option) => option.long)
        .filter((flag) => flag !== '--mode')
        .toSorted(),
    );
  });

  it('docs/cascade.md names every command of kubegc cascade with every flag, and no other', () => {
    const flagsIn = (text: string): string[] =>
      [...text.matchAll(/^\| `(?:-\w, )?(--[\w-]+)/gm)].map(([, flag = '']) => flag);
    const sections = new Map(
      page('cascade.md')
        .split(/^## /m)
        .slice(1)
        .map((section) => [section.slice(0, section.indexOf('\n')), section]),
    );
    const cluster = flagsIn(sections.get('The cluster') ?? '');
    sections.delete('The cluster');
    const described = [...sections].map(([name, text]) => {
      const shared = text.includes('the flags of [the cluster](#the-cluster)') ? cluster : [];
      return { name, flags: [...flagsIn(text), ...shared].toSorted() };
    });
    const cascade = commands.find((each) => each.name() === 'cascade');
    const built = cascade?.commands.map((each) => ({
      name: each.name(),
      flags: each.options
        .map((option) => option.long ?? '')
        .filter((flag) => flag !== '--help')
        .toSorted(),
    }));
    expect(described).toEqual(built);
  });

  it('the help of every command of kubegc cascade has three examples, or more', () => {
    const examplesOf = (command: (typeof commands)[number]): number => {
      let text = '';
      command.configureOutput({ writeOut: (part) => void (text += part) }).outputHelp();
      const [, examples = ''] = text.split('\nExamples:\n');
      return [...examples.matchAll(/^ {2}kube(?:ctl|gc) /gm)].length;
    };
    const cascade = commands.find((each) => each.name() === 'cascade');
    const counts = cascade?.commands.map((each) => ({ name: each.name(), examples: examplesOf(each) })) ?? [];
    expect(counts.map(({ name }) => name)).toContain('top');
    expect(counts.filter(({ examples }) => examples < 3)).toEqual([]);
  });

  it('docs/metrics.md names every metric, and no other', () => {
    const pattern =
      /name: '((?:kubegc|workqueue|apiserver|etcd|rest_client|garbagecollector|leader_election|process|pod_gc|ttl_after_finished|job_controller|cronjob_controller|taint_eviction_controller|node_collector|ephemeral_volume_controller)_\w+)'/g;
    const registered = sources(join(root, 'src')).flatMap((text) =>
      [...text.matchAll(pattern)].map((match) => match[1] ?? ''),
    );
    const described = [...page('metrics.md').matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? '');
    expect(described.toSorted()).toEqual([...new Set(registered)].toSorted());
  });

  it('links only to files that exist', () => {
    const pages = [
      'README.md',
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      ...readdirSync(join(root, 'docs'))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `docs/${name}`),
    ];
    const broken = pages.flatMap((name) => {
      const text = readFileSync(join(root, name), 'utf8');
      const targets = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => target);
      return targets
        .filter((target) => !existsSync(join(root, dirname(name), target)))
        .map((target) => `${name}: ${target}`);
    });
    expect(broken).toEqual([]);
  });

  const withPicture = 'before-you-delete stuck protect take-it-back after-a-restore for-an-ai-agent'.split(' ');

  it.each(withPicture)('docs/%s.md begins with a small picture, whose commands are there with their flags', (name) => {
    const [title, blank, picture = ''] = page(`${name}.md`).split('\n');
    expect([title, blank]).toEqual([expect.stringMatching(/^# /), '']);
    expect(picture).toMatch(/^!\[[^\]]+\]\(pictures\/[\w-]+\.svg\)$/);
    const svg = page(/\((.*)\)/.exec(picture)?.[1] ?? '');
    expect(svg.length).toBeLessThan(40_000);
    const shown = [...svg.matchAll(/<tspan class="prompt">\$ <\/tspan>([^<]+)<\/text>/g)].map(([, line = '']) => line);
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((line) => !isKnown(line))).toEqual([]);
  });

  it('knows a command of a picture by its name, its words and its flags', () => {
    const known = ['kubectl cascade undo 2026 --yes', 'kubegc record -n shop &amp;', 'kubectl get secrets -o name'];
    expect(known.filter((line) => !isKnown(line))).toEqual([]);
    const unknown = [
      'kubectl cascade undone 2026',
      'kubectl cascade undo 2026 --maybe',
      'kubegc recorder',
      'helm list',
    ];
    expect(unknown.filter((line) => isKnown(line))).toEqual([]);
  });

  /** Checks only the verb of a plain kubectl command. */
  function isKnown(line: string): boolean {
    const [program, ...words] = line.replace(/ &amp;$/, '').split(' ');
    if (program === 'kubectl' && words[0] !== 'cascade') {
      return ['annotate', 'create', 'delete', 'get', 'patch'].includes(words[0] ?? '');
    }
    if (program !== 'kubegc' && program !== 'kubectl') return false;
    let within = commands;
    let command: (typeof commands)[number] | undefined;
    for (; within.length > 0; within = command.commands) {
      command = within.find((each) => each.name() === words[0]);
      if (command === undefined) return false;
      words.shift();
    }
    const flags = words.filter((word) => word.startsWith('-')).map((word) => word.split('=')[0]);
    return flags.every((flag) => command?.options.some(({ short, long }) => flag === short || flag === long));
  }

  it('names only tests that exist: the end of a path, in which * stands for a part of a name', () => {
    const inHouse = ['src', 'test'].flatMap((folder) => files(join(root, folder)));
    const tests = inHouse.filter((path) => path.endsWith('.test.ts')).map((path) => relative(root, path));
    const exists = (named: string): boolean => {
      const pattern = named.replaceAll(/[.$+]/g, '\\$&').replaceAll('*', '[^/]*');
      return tests.some((path) => new RegExp(`(^|/)${pattern}$`).test(path.split(sep).join('/')));
    };
    const specs = inHouse.filter((path) => path.endsWith(`${sep}SPEC.md`));
    const missing = specs.flatMap((spec) =>
      [...readFileSync(spec, 'utf8').matchAll(/`([^`\s]*\.test\.ts)`/g)]
        .map(([, named = '']) => named)
        .filter((named) => !exists(named))
        .map((named) => `${relative(root, spec)}: ${named}`),
    );
    expect(specs.length).toBeGreaterThan(0);
    expect(missing).toEqual([]);
  });
});
