import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** One way to break the program, kept as data: a piece of one source file, and what stands there instead. */
export interface Fault {
  /** The file name without its ending; `NN-what-it-does`. */
  readonly name: string;
  /** Rule that the program breaks with it. */
  readonly rule: string;
  /** The effect of the fault, in one sentence. */
  readonly breaks: string;
  /** Relative to the root of the repository. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly put: string;
}

const FAULTS_DIRECTORY = join(import.meta.dirname, 'faults');

/** The text that a fault replaces is not there, or not only once: the fault must be written anew. */
export class FaultDoesNotApplyError extends Error {
  constructor({ name, file }: Fault, occurrences: number) {
    super(`the fault ${name} no longer applies: its text stands ${occurrences} times in ${file}`);
    this.name = 'FaultDoesNotApplyError';
  }
}

export class MalformedFaultError extends Error {
  constructor(name: string, field: string) {
    super(`the fault ${name} needs a text in "${field}"`);
    this.name = 'MalformedFaultError';
  }
}

export function parseFault(name: string, yaml: string): Fault {
  const value = parse(yaml) as Record<string, unknown>;
  const text = (field: string): string => {
    const found = value[field];
    if (typeof found !== 'string') throw new MalformedFaultError(name, field);
    return found;
  };
  return {
    name,
    rule: text('rule'),
    breaks: text('breaks'),
    file: text('file'),
    find: text('find'),
    put: text('put'),
  };
}

/** All faults, in the order of their names. */
export function readFaults(directory = FAULTS_DIRECTORY): readonly Fault[] {
  return readdirSync(directory)
    .filter((file) => file.endsWith('.yaml'))
    .toSorted()
    .map((file) => parseFault(file.replace(/\.yaml$/, ''), readFileSync(join(directory, file), 'utf8')));
}

/** The source with the fault in it. */
export function applyFault(fault: Fault, source: string): string {
  const pieces = source.split(fault.find);
  if (pieces.length !== 2) throw new FaultDoesNotApplyError(fault, pieces.length - 1);
  return pieces.join(fault.put);
}
