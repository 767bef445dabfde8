// `kubegc/nodegc`: what a collection of images on a node would do, in a program of one's own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNodeCollection, RuntimeCallError } from 'kubegc/nodegc';

test('a runtime that is not there is an error, and nothing is removed', async () => {
  const opening = openNodeCollection({ containerRuntimeEndpoint: 'unix:///run/no-such-runtime.sock' });
  await assert.rejects(opening, RuntimeCallError);
});
