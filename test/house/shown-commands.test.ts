import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { wordsOfName } from '../../src/cli/plugin-name.ts';
import { buildProgram } from '../../src/cli/program.ts';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const names = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', ...names.map((name) => `docs/${name}`)];
const program = buildProgram({ stdout: () => undefined, stderr: () => undefined, columns: 100 }, () => undefined);

type Words = readonly string[];

/** The simple commands of a shell text, each as its words. A quote may hold what would otherwise separate them. */
function simpleCommands(text: string): Words[] {
  const commands: string[][] = [[]];
  const pieces =
    /\\\n|\s+#.*|[ \t]+|[\n;|&()]+|\d*>{1,2}&?\s*\S*|<\S*|(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s;|&()<>"'\\])+/g;
  for (const [piece] of text.matchAll(pieces)) {
    if (/^(?:\\\n|[ \t]|\s+#|\d*>|<)/.test(piece)) continue;
    if (/^[\n;|&()]/.test(piece)) commands.push([]);
    else commands.at(-1)!.push(piece.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'/g, '$1$2'));
  }
  return commands;
}

/** The words after the name of this program in a simple command; undefined when another program is called. */
function ownWords(words: Words): Words | undefined {
  // Variables, and programs that start another one, stand before its name.
  const start = words.findIndex((word) => !/^(?:[A-Z_]+=|(?:npx|sudo|exec|nohup|nice|-n|\d+)$)/.test(word));
  const [name = '', next = ''] = start === -1 ? [] : words.slice(start);
  if (/^(?:.*\/)?kubegc$/.test(name)) return words.slice(start + 1);
  const plugin = name === 'kubectl' ? wordsOfName(`kubectl-${next}`) : [];
  return plugin.length === 0 ? undefined : [...plugin, ...words.slice(start + 2)];
}

const BLOCK = /^ *```(\w*)\n([\s\S]*?)^ *```/gm;

interface ShellText {
  readonly text: string;
  /** In running text a command may name a flag without its value: `kubegc up --controllers`. */
  readonly running: boolean;
}

/** The shell texts of a page: blocks of code, lines after a prompt, and commands of this program in running text. */
function shellTexts(page: string): ShellText[] {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = [...text.matchAll(BLOCK)].flatMap(([, language = '', block = '']) => {
    const typed = [...block.matchAll(/^ *\$ ((?:.*\\\n)*.*)$/gm)].map(([, line = '']) => line);
    return typed.length > 0 || language !== 'sh' ? typed : [block];
  });
  const inline = text.replaceAll(BLOCK, '').matchAll(/`((?:kubegc|kubectl (?:cascade|undelete)) [^`]+)`/g);
  return [
    ...blocks.map((each) => ({ text: each, running: false })),
    ...[...inline].map(([, command = '']) => ({ text: command, running: true })),
  ];
}

function optionOf(command: Command, flag: string): Option | undefined {
  const found = command.options.find(({ short, long }) => flag === short || flag === long);
  return found ?? (command.parent === null ? undefined : optionOf(command.parent, flag));
}

/** The first fault of a command line; undefined when it can be parsed. */
function faultOf(words: Words, running = false): string | undefined {
  let command = program;
  let operands = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word === '--') return undefined;
    if (word.startsWith('-') && word !== '-') {
      const [, flag = '', glued] = /^(--[^=]*|-\w)(?:=?([\s\S]+))?$/.exec(word) ?? [];
      if (['--help', '-h'].includes(flag)) continue;
      const option = optionOf(command, flag);
      if (option === undefined) return `${command.name()} has no flag ${flag || word}`;
      if (!option.required) continue;
      const value = glued ?? words[++index];
      if (value === undefined) return running ? undefined : `${flag} has no value`;
      if (option.argChoices?.includes(value) === false) return `${flag} cannot be ${value}`;
      continue;
    }
    const inner: Command | undefined = command.commands.find((each) => each.name() === word);
    if (inner !== undefined) command = inner;
    // A place where a reader puts words of their own.
    else if (/^(?:\[.*\]|…)$/.test(word)) continue;
    else if (command.commands.length > 0) return `${command.name()} has no subcommand ${word}`;
    else if (++operands > command.registeredArguments.length && !command.registeredArguments.at(-1)?.variadic)
      return `${command.name()} takes no operand ${word}`;
  }
  return undefined;
}

describe('commands that the pages show', () => {
  it('are those of this program: each subcommand exists, with each of its flags', () => {
    const shown = pages.flatMap((page) =>
      shellTexts(page).flatMap(({ text, running }) =>
        simpleCommands(text).flatMap((words) => {
          const own = ownWords(words);
          return own === undefined ? [] : [{ page, line: words.join(' '), fault: faultOf(own, running) }];
        }),
      ),
    );
    expect(shown.length).toBeGreaterThan(100);
    expect(shown.filter(({ fault }) => fault !== undefined)).toEqual([]);
  });

  it.each([
    ['npx kubegc up --store memory &', undefined],
    ['A=1 ./kubegc node plan -o json | jq .', undefined],
    ['kubectl undelete deployment/web \\\n  -n shop --yes  # all of it', undefined],
    ['kubegc node plam', 'node has no subcommand plam'],
    ['kubegc up; kubegc up --storage memory', 'up has no flag --storage'],
    ['kubegc up --store disk', '--store cannot be disk'],
    ['kubectl cascade tree --depth', '--depth has no value'],
    ["kubegc up --controllers '*,-job-controller' now", 'up takes no operand now'],
  ])('are read as a shell reads them: %s', (text, fault) => {
    const faults = simpleCommands(text).map((words) => faultOf(ownWords(words) ?? []));
    expect(faults.find((each) => each !== undefined)).toBe(fault);
  });
});
