import { describe, expect, it } from 'vitest';
import { formatHost, parseListenAddress } from './listen-address.ts';

describe('--listen', () => {
  it.each([
    { text: '127.0.0.1:6443', host: '127.0.0.1', port: 6443 },
    { text: 'localhost:0', host: 'localhost', port: 0 },
    { text: ':0', host: '127.0.0.1', port: 0 },
    { text: '[::1]:6443', host: '::1', port: 6443 },
    { text: '0.0.0.0:65535', host: '0.0.0.0', port: 65_535 },
  ])('$text', ({ text, host, port }) => {
    expect(parseListenAddress(text)).toEqual({ host, port });
  });

  it.each([
    '',
    '6443',
    'localhost',
    'localhost:',
    'localhost:65536',
    '::1:6443',
    '[::1]',
    'a:b:1',
    'localhost:-1',
    'localhost:1x',
  ])('refuses "%s" and says what it takes', (text) => {
    expect(() => parseListenAddress(text)).toThrow(`invalid --listen address "${text}"`);
  });

  it('writes IPv6 addresses as URLs want them', () => {
    expect([formatHost('::1'), formatHost('127.0.0.1')]).toEqual(['[::1]', '127.0.0.1']);
  });
});
