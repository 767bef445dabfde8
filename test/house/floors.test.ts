import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/**
 * The house, held by test: which room may import which (ARCHITECTURE.md, "Floors"), no cycle anywhere, no barrel, and a
 * sentence in ARCHITECTURE.md for every room that exists, and for no other.
 */
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const src = join(root, 'src');

const mayImport: Record<string, readonly string[]> = {
  base: [],
  api: ['base'],
  workqueue: ['base'],
  client: ['base', 'api'],
  collector: ['base', 'api', 'workqueue', 'client'],
  lifecycle: ['base', 'api', 'workqueue', 'client'],
  apiserver: ['base', 'api'],
  nodegc: ['base', 'api', 'client'],
  cascade: ['base', 'api', 'client', 'collector'],
  assembly: ['base', 'api', 'client', 'collector', 'lifecycle', 'apiserver'],
  testing: ['base', 'api', 'workqueue', 'client', 'collector', 'lifecycle', 'apiserver', 'cascade', 'assembly'],
  cli: ['base', 'api', 'workqueue', 'client', 'collector', 'lifecycle', 'apiserver', 'cascade', 'nodegc', 'assembly'],
  doors: ['base', 'api', 'client', 'collector', 'apiserver', 'testing', 'cli', 'cascade', 'nodegc'],
};

/** Folders that may reach further than their room, with the design that says why. */
const folderMayImport: Record<string, readonly string[]> = {
  // designs/0003-webhooks-are-called-by-the-client-room.md
  'apiserver/webhook-client': ['client'],
  // designs/0015-preview-shares-decisions-of-controllers.md
  'cascade/simulate': ['lifecycle'],
  'cascade/explain': ['lifecycle'],
};

function files(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? files(path) : path.endsWith('.ts') ? [path] : [];
  });
}

/** `… from 'x'`, `import('x')`, and `import 'x'`, of which only the effect is wanted. */
const importPattern = new RegExp(
  [
    /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s*'([^']+)'/,
    /(?:^|[^\w.])import\(\s*'([^']+)'\s*\)/,
    /(?:^|\n)\s*import\s*'([^']+)'/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Returns the specifiers of the imports in a file's text, as they stand there. */
function specifiersIn(text: string): string[] {
  return [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** By file: every test below asks. */
const specifiers = new Map<string, string[]>();

function specifiersOf(file: string): string[] {
  let found = specifiers.get(file);
  if (found === undefined) {
    found = specifiersIn(readFileSync(file, 'utf8'));
    specifiers.set(file, found);
  }
  return found;
}

/** Files of the house. */
function importsOf(file: string): string[] {
  return specifiersOf(file)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolve(dirname(file), specifier));
}

/** Patterns that a pure folder must not contain: clocks, timers, chance, I/O, the environment, and anything asynchronous. */
const impure = [
  /\bDate\.now\b|\bnew Date\(\)|\bperformance\b/,
  /\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bnextTick\b/,
  /\bMath\.random\b|\bcrypto\b/,
  /from 'node:(?!buffer|util)/,
  /\bawait\b|\basync\b|\bPromise\b|\.then\(/,
  /\bprocess\.|\bfetch\(|\bconsole\./,
];

const roomOf = (file: string): string => relative(src, file).split(sep)[0] ?? '';
const folderOf = (file: string): string => relative(src, dirname(file)).split(sep).join('/');
const sources = files(src);
/** Tests and what only tests use (`*.fixture.ts`, folders `test` and `testing`) are no rooms. */
const production = sources.filter((file) => !/\.(test|fixture)\.ts$|[/\\]test(ing)?[/\\]/.test(relative(src, file)));

/** These decide: the graph, the caches that gather facts reads, and the decisions. */
const decidingFolders = ['collector/types', 'collector/graph', 'collector/caches', 'collector/decide'];
const isIn = (folder: string, within: string): boolean => folder === within || folder.startsWith(`${within}/`);
const deciding = production.filter((file) => decidingFolders.some((each) => isIn(folderOf(file), each)));

/** Small files of one importer that stay what they are. */
const smallFiles = {
  /** Folders of one file for each kind, verb or API group, however small. */
  oneOfMany: [
    'api/schema/defaults',
    'apiserver/endpoints/verbs',
    'apiserver/printers/columns',
    'apiserver/registry/strategies',
  ],
  named: [
    // Made by scripts/generate-kinds.mjs.
    'api/kinds/resources.generated.ts',
    'api/kinds/types.generated.ts',
    // Keeps the engine for expressions from being loaded with the table of plug-ins.
    'apiserver/admission/cel/lazy-match-conditions.ts',
    // Their importers are in other rooms.
    'cascade/delete/plan-difference.ts',
    // A pure decision beside the actor that it decides for.
    'lifecycle/simulator/node-fit.ts',
  ],
};

/** Files of production code in one folder, at most: what a reader takes in at one look. */
const FILES_IN_A_FOLDER = 22;

describe('the house', () => {
  it('sees every way of importing', () => {
    const text = `import 'a';\nimport { b } from 'b';\nimport type {\n  c,\n} from './c.ts';\nexport * from 'd';\nvoid import('e');`;
    expect(specifiersIn(text)).toEqual(['a', 'b', './c.ts', 'd', 'e']);
  });

  it('has only rooms that are on a floor', () => {
    const rooms = new Set(production.map(roomOf));
    expect([...rooms].filter((room) => !(room in mayImport))).toEqual([]);
  });

  it('imports only downwards: rooms of one floor are strangers', () => {
    const wrong = production.flatMap((file) => {
      const room = roomOf(file);
      return importsOf(file)
        .map(roomOf)
        .filter((target) => target !== room && !mayImport[room]?.includes(target))
        .filter((target) => !folderMayImport[folderOf(file)]?.includes(target))
        .map((target) => `${relative(root, file)} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it('puts clusters together in one place: cli and testing build controllers, plug-ins and their client by assembly only', () => {
    const clusters = ['cli/cluster/cluster.ts', 'testing/cluster.ts'].map((name) => join(src, name));
    const shared = ['build-controllers.ts', 'default-plugins.ts', 'in-process-client.ts'];
    const missing = clusters.flatMap((file) => {
      const imported = new Set(importsOf(file).map((target) => relative(src, target).split(sep).join('/')));
      return shared
        .filter((name) => !imported.has(`assembly/${name}`))
        .map((name) => `${relative(src, file)}: ${name}`);
    });
    expect(missing).toEqual([]);
    const valueOf =
      /^import (?!type\b)[^;]*?from '[^']*\/(?:lifecycle\/[^']*-controller|collector\/garbage-collector|apiserver\/admission\/plugins\/[^']*)\.ts';/gm;
    // `collect` is a collector alone, of a cluster that others put together.
    const besides = production
      .filter((file) => /^(?:cli|testing)\//.test(relative(src, file)) && folderOf(file) !== 'cli/collect')
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(valueOf)].map(([line]) => `${relative(src, file)}: ${line}`),
      );
    expect(besides).toEqual([]);
  });

  it('lets cascade use the graph, the decisions and the reasons of the collector, and nothing else of it', () => {
    const allowed = ['collector/graph/', 'collector/decide/', 'collector/types/', 'collector/caches/'];
    const wrong = production
      .filter((file) => roomOf(file) === 'cascade')
      .flatMap((file) =>
        importsOf(file)
          .map((target) => relative(src, target).split(sep).join('/'))
          .filter((target) => target.startsWith('collector/') && !allowed.some((each) => target.startsWith(each)))
          .map((target) => `${relative(root, file)} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it('keeps the pure folders pure: no clock, no timer, no I/O, no await', () => {
    const pureFolders = ['api', ...decidingFolders].map((folder) => join(src, folder) + sep);
    const wrong = production
      .filter((file) => pureFolders.some((folder) => file.startsWith(folder)))
      .flatMap((file) => {
        const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
        return impure
          .filter((pattern) => pattern.test(text))
          .map((pattern) => `${relative(root, file)} has ${pattern.source}`);
      });
    expect(wrong).toEqual([]);
  });

  it('lets what decides import nothing but what is pure itself', () => {
    const allowed = [
      'api/',
      ...decidingFolders.map((each) => `${each}/`),
      'collector/queues/work-key',
      'workqueue/key-table.ts',
    ];
    const pureBase = [
      'base/collections/',
      'base/errors/assert.ts',
      'base/random/byte-view.ts',
      'base/random/digest-uuid.ts',
      'base/random/uuid.ts',
    ];
    const wrong = deciding.flatMap((file) =>
      importsOf(file)
        .map((target) => relative(src, target).split(sep).join('/'))
        .filter((target) => ![...allowed, ...pureBase].some((each) => target.startsWith(each)))
        .map((target) => `${relative(root, file)} imports ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('lets what decides import no package, and nothing of Node', () => {
    const wrong = deciding.flatMap((file) =>
      specifiersOf(file)
        .filter((specifier) => !specifier.startsWith('.'))
        .map((specifier) => `${relative(root, file)} imports ${specifier}`),
    );
    expect(deciding.length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });

  it('LIFE-015 lets only base and cli touch time, chance and the environment (law 4)', () => {
    const wrong = production
      .filter((file) => !['base', 'cli'].includes(roomOf(file)))
      .flatMap((file) => {
        const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
        return [
          /\bDate\.now\b/,
          /\bnew Date\(\)/,
          /\bperformance\.now\b/,
          /\bsetTimeout\(/,
          /\bsetInterval\(/,
          /\bMath\.random\b/,
          /\bprocess\.env\b/,
        ]
          .filter((pattern) => pattern.test(text))
          .map((pattern) => `${relative(root, file)} has ${pattern.source}`);
      });
    expect(wrong).toEqual([]);
  });

  it('has no import cycle, types included', () => {
    const graph = new Map(production.map((file) => [file, importsOf(file)]));
    const state = new Map<string, 'open' | 'closed'>();
    const cycles: string[] = [];
    const visit = (file: string, trail: readonly string[]): void => {
      if (state.get(file) === 'closed') return;
      if (state.get(file) === 'open') {
        cycles.push([...trail.slice(trail.indexOf(file)), file].map((path) => relative(src, path)).join(' -> '));
        return;
      }
      state.set(file, 'open');
      for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
      state.set(file, 'closed');
    };
    for (const file of production) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('has no circle among folders, inner ones included', () => {
    const targets = new Map<string, Map<string, string>>();
    for (const file of production) {
      const from = targets.get(folderOf(file)) ?? new Map<string, string>();
      targets.set(folderOf(file), from);
      for (const target of importsOf(file)) {
        if (folderOf(target) !== folderOf(file)) {
          from.set(folderOf(target), `${relative(src, file)} imports ${relative(src, target)}`);
        }
      }
    }
    const closed = new Set<string>();
    const circles: string[] = [];
    const visit = (folder: string, trail: readonly string[]): void => {
      if (trail.includes(folder)) {
        const circle = [...trail.slice(trail.indexOf(folder)), folder];
        circles.push(
          circle
            .slice(1)
            .map((next, at) => targets.get(circle[at] ?? '')?.get(next) ?? next)
            .join('; '),
        );
        return;
      }
      if (closed.has(folder)) return;
      for (const next of targets.get(folder)?.keys() ?? []) visit(next, [...trail, folder]);
      closed.add(folder);
    };
    for (const folder of targets.keys()) visit(folder, []);
    expect(circles).toEqual([]);
  });

  it('has shallow folders', () => {
    const counts = new Map<string, number>();
    for (const file of production) counts.set(folderOf(file), (counts.get(folderOf(file)) ?? 0) + 1);
    const deep = [...counts].filter(([, count]) => count > FILES_IN_A_FOLDER);
    expect(deep.map(([folder, count]) => `${folder} has ${count} files`)).toEqual([]);
  });

  it('has no file that is too small to be one: what one other file needs, in under twenty lines, is in that file', () => {
    const importers = new Map<string, number>();
    for (const file of sources)
      for (const target of new Set(importsOf(file))) importers.set(target, (importers.get(target) ?? 0) + 1);
    const small = production
      .filter(
        (file) => (importers.get(file) ?? 0) < 2 && !smallFiles.oneOfMany.some((each) => isIn(folderOf(file), each)),
      )
      .filter((file) => readFileSync(file, 'utf8').trimEnd().split('\n').length < 20)
      .map((file) => relative(src, file).split(sep).join('/'));
    expect(small.toSorted()).toEqual(smallFiles.named.toSorted());
  });

  it('keeps garbage-collector.ts wiring: the parts of a collector have files of their own', () => {
    const lines = readFileSync(join(src, 'collector/garbage-collector.ts'), 'utf8').trimEnd().split('\n').length;
    expect(lines).toBeLessThan(200);
  });

  it('has no barrel and no utils room', () => {
    const names = production.map((file) => relative(src, file));
    expect(names.filter((name) => /(^|\/)(index|utils?|helpers?|common)(\.ts|\/)/.test(name))).toEqual([]);
  });

  // src/base/collections/append.ts says why.
  it('hands no list over as arguments of push, whose stack a long one exceeds', () => {
    const spreads = production.flatMap((file) => {
      const calls = readFileSync(file, 'utf8').match(/\.(?:push|unshift)\(\s*\.\.\.[^;]*;/g) ?? [];
      return calls.map((call) => `${relative(src, file)}: ${call}`);
    });
    expect(spreads).toEqual([]);
  });

  it('is described in ARCHITECTURE.md: a sentence for every folder, and for no other', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const described = [...text.matchAll(/^\| \d \| `([\w/-]+)` \| .+ \|$/gm)].map((match) => match[1] ?? '');
    expect(described.toSorted()).toEqual([...new Set(production.map(folderOf))].toSorted());
  });
});
