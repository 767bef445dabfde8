import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { openMemoryStore } from '../storage/embedded/memory-store.ts';
import {
  StoreClosedError,
  StoreFailedError,
  StoreFullError,
  StoreOutcomeUnknownError,
  StoreOverloadedError,
  StoreRefusedError,
  StoreTooLargeError,
  StoreUnavailableError,
} from '../storage/store-errors.ts';
import { configMap, configMaps, startTestServer } from './test-server.ts';

describe('what a client hears when the store cannot', () => {
  it.each<[Error, number, string | undefined, string]>([
    [new StoreClosedError(), 503, 'ServiceUnavailable', 'the server is shutting down'],
    [
      new StoreFailedError(new Error('disk')),
      503,
      'ServiceUnavailable',
      'the store failed and accepts no more writes: disk',
    ],
    [new StoreUnavailableError('no leader'), 503, 'ServiceUnavailable', 'the store cannot be reached: no leader'],
    [new StoreFullError('no space'), 503, 'ServiceUnavailable', 'the store has no room left: no space'],
    [new StoreOverloadedError(7, 8), 429, 'TooManyRequests', 'the store is overloaded'],
    [new StoreOutcomeUnknownError(), 504, 'Timeout', 'whether it has done what it was asked for is not known'],
    [new StoreTooLargeError('etcdserver: request is too large'), 500, undefined, 'etcdserver: request is too large'],
    [new StoreRefusedError('etcdserver: corrupt cluster'), 500, undefined, 'etcdserver: corrupt cluster'],
  ])('%s', async (error, code, reason, message) => {
    const store = openMemoryStore({ clock: systemClock });
    const server = await startTestServer({ store });
    store.create = () => Promise.reject(error);
    const { status, json } = await server.post(configMaps, configMap('a'));
    expect(status).toBe(code);
    expect(json).toMatchObject({ kind: 'Status', status: 'Failure', code });
    expect(json.reason).toBe(reason);
    expect(json.message).toContain(message);
    store.get = () => Promise.reject(error);
    expect((await server.get(`${configMaps}/a`)).status).toBe(code);
  });
});
