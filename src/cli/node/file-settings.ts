import { readFile } from 'node:fs/promises';
import { parse, YAMLError } from 'yaml';
import type { NodeConfiguration } from '../../nodegc/config/node-configuration.ts';
import { readConfiguration } from '../../nodegc/config/read-configuration.ts';
import { ConfigurationError } from '../../nodegc/config/validate-configuration.ts';
import { CommandError, systemReason } from '../process/command-error.ts';

/** Applies the settings of one file over others. Throws a {@link CommandError} that says whether anything was removed. */
export async function readFileSettings(path: string, base: NodeConfiguration): Promise<NodeConfiguration> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandError(`cannot read the configuration ${path}: ${systemReason(error)}`, 'See --config.', {
      cause: error,
    });
  });
  try {
    return readConfiguration(parse(text), base);
  } catch (error) {
    if (!(error instanceof ConfigurationError) && !(error instanceof YAMLError)) throw error;
    throw new CommandError(
      `failed to load the configuration ${path}: ${error.message}`,
      'Nothing was removed. Mend the configuration, then try again.',
      { cause: error },
    );
  }
}
