import { expect, it } from 'vitest';
import { wordsOfName } from './plugin-name.ts';

it.each([
  ['/usr/bin/kubegc', []],
  ['/usr/lib/node_modules/kubegc/dist/kubegc.js', []],
  ['/usr/bin/kubectl-cascade', ['cascade']],
  ['/usr/bin/kubectl-undelete', ['cascade', 'undelete']],
  ['/usr/bin/kubectl_complete-cascade', ['__complete', 'cascade']],
  ['/usr/bin/kubectl_complete-undelete', ['__complete', 'cascade', 'undelete']],
])('%s means the words %o', (program, words) => {
  expect(wordsOfName(program)).toEqual(words);
});
