import { RecordError } from '../../cascade/record/record-error.ts';
import { recordFolder } from '../../cascade/record/record-folder.ts';
import { RecordStore } from '../../cascade/record/record-store.ts';
import { systemClock } from '../../base/time/clock.ts';
import { systemRandom } from '../../base/random/random.ts';
import { CommandError } from '../process/command-error.ts';
import { shellWord } from '../process/shell-quoted.ts';
import type { CommandOption } from '../command/command-option.ts';

/** The flags about the place and content of records. */
export interface RecordFlags {
  readonly recordDir?: string;
  /** commander's form of `--no-secrets`: false if the flag is set. */
  readonly secrets?: boolean;
}

export const recordFolderOption: CommandOption = {
  flags: '--record-dir <DIR>',
  description: 'folder of the records; else kubegc/cascades under XDG_STATE_HOME or ~/.local/state',
};

/** For commands that write records. */
export const secretsOption: CommandOption = {
  flags: '--no-secrets',
  description: 'keep no data of Secrets, not even encrypted',
};

/** The store from the flags and the environment. Throws a {@link CommandError} if no directory is known. */
export function openRecordStore({ recordDir, secrets = true }: RecordFlags): RecordStore {
  const folder = recordFolder(recordDir, process.env);
  if (folder === undefined) {
    throw new CommandError('there is no home folder to keep records in', 'Give --record-dir DIR.');
  }
  return new RecordStore({
    folder,
    clock: systemClock,
    random: systemRandom,
    secrets: secrets ? 'encrypted' : 'omitted',
  });
}

/** Where records are that are not in the folder that was read. */
export const OTHER_FOLDERS =
  'Records of kubegc up --record are in the folder cascades of its data directory (.kubegc/cascades), those of kubegc record in its own --record-dir: name that folder with --record-dir.';

/** A record as an argument of the next command, with the folder that this command was given. */
export function recordArgument(id: string, { recordDir }: RecordFlags): string {
  if (recordDir === undefined) return id;
  return `${id} --record-dir ${shellWord(recordDir)}`;
}

/** Runs a function with records, and converts a RecordError to a {@link CommandError} with its advice. */
export async function withRecords<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    const advice = error.code === 'notFound' ? `${error.advice}\n${OTHER_FOLDERS}` : error.advice;
    throw new CommandError(error.message, advice, { cause: error });
  }
}
