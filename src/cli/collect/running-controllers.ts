import { RUNNING_CONTROLLERS } from '../../assembly/running-controllers.ts';
import { type Clock, sleepUnlessAborted } from '../../base/time/clock.ts';
import type { RestClient } from '../../client/rest/rest-client.ts';
import { CommandError } from '../process/command-error.ts';

const LOOK_EVERY_MS = 10_000;
const TIMEOUT_MS = 5000;

export interface RunningControllersOptions {
  readonly client: RestClient;
  readonly clock: Clock;
  /** The controllers that this process is to run. */
  readonly controllers: ReadonlySet<string>;
  readonly server: string;
}

/** Throws when the API server is kubegc and runs one of the controllers itself. A server that does not answer, or is not kubegc, runs none. */
export async function refuseRunning(options: RunningControllersOptions, signal: AbortSignal): Promise<void> {
  const { client, controllers, server } = options;
  if (controllers.size === 0) return;
  const running = await runningControllers(client, signal);
  const both = running.filter((name) => controllers.has(name));
  if (both.length === 0) return;
  throw new CommandError(
    `${server} is kubegc and runs ${both.join(', ')} itself: two of one controller would undo each other's work`,
    `Leave it out of --controllers here, or start the server with --controllers '*,${both.map((name) => `-${name}`).join(',')}'.`,
  );
}

/**
 * Asks again every ten seconds until aborted, because the server may be restarted with other controllers. Rejects as {@link refuseRunning}.
 */
export async function watchRunning(options: RunningControllersOptions, signal: AbortSignal): Promise<void> {
  if (options.controllers.size === 0) return;
  while (!signal.aborted) {
    await sleepUnlessAborted(options.clock, LOOK_EVERY_MS, signal);
    if (signal.aborted) return;
    await refuseRunning(options, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

async function runningControllers(client: RestClient, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const answer = await client.request({ method: 'GET', path: RUNNING_CONTROLLERS, signal, timeoutMs: TIMEOUT_MS });
    const { controllers } = answer.json<{ controllers?: unknown }>();
    return Array.isArray(controllers) ? controllers.filter((name) => typeof name === 'string') : [];
  } catch (error) {
    if (signal.aborted) throw error;
    return [];
  }
}
