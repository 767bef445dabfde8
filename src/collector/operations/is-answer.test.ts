import { expect, it } from 'vitest';
import { newStatusError, newTooLargeResourceVersion } from '../../api/status-error.ts';
import { TransportError } from '../../client/http/transport.ts';
import { isAnswer } from './is-answer.ts';
import { NoObjectError } from './read-metadata.ts';
import { target } from './operation.fixture.ts';

it.each([
  { error: newStatusError(403, 'no'), answer: true },
  { error: newStatusError(409, 'no'), answer: true },
  { error: newStatusError(410, 'gone'), answer: true },
  { error: newStatusError(429, 'later'), answer: true },
  { error: newStatusError(500, 'broken'), answer: false },
  { error: newStatusError(503, 'away'), answer: false },
  { error: newTooLargeResourceVersion(12, 3), answer: true },
  { error: new TransportError('reset', 'connection reset by peer'), answer: false },
  { error: new TransportError('timeout', 'too late'), answer: false },
  { error: new NoObjectError(target), answer: false },
])(
  'COL-114 COL-002 whether a server has answered that may be another one next: $error.message',
  ({ error, answer }) => {
    expect(isAnswer(error)).toBe(answer);
  },
);
