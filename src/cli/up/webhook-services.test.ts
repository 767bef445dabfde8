import { describe, expect, it } from 'vitest';
import { CommandError } from '../process/command-error.ts';
import { webhookServicesOf } from './webhook-services.ts';

describe('API-358 --webhook-service', () => {
  it('names where services are, several at once', () => {
    expect([...webhookServicesOf(['default/a=127.0.0.1:9443,tools/b=localhost:1', 'tools/c=[::1]:2'])]).toEqual([
      ['default/a', { host: '127.0.0.1', port: 9443 }],
      ['tools/b', { host: 'localhost', port: 1 }],
      ['tools/c', { host: '::1', port: 2 }],
    ]);
    expect(webhookServicesOf(undefined).size).toBe(0);
  });

  it.each(['a=127.0.0.1:1', 'default/a', 'default/a=', 'default/a=somewhere', 'default/a/b=x:1'])('not %s', (text) => {
    expect(() => webhookServicesOf([text])).toThrow(CommandError);
  });
});
