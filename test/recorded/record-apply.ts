/**
 * Plays cases against a server and writes its answers beside them: `npx tsx test/recorded/record-apply.ts URL FILE > apply.jsonl`. The server
 * takes requests without credentials; it has the definition of `apply-definition.json` and no object of the cases.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { type ApplyCase, playApplyCase, type Send } from './apply-case.ts';

const [url = '', file = ''] = process.argv.slice(2);

const send: Send = (method, target, body) =>
  new Promise((settle, reject) => {
    const headers = body === undefined ? {} : { 'content-type': body.type };
    const sent = request(url + target, { method, headers, rejectUnauthorized: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject);
      response.once('end', () => {
        const warning = response.headers['warning'];
        settle({
          status: response.statusCode ?? 0,
          json: JSON.parse(Buffer.concat(chunks).toString()) as unknown,
          warnings: warning === undefined ? [] : [String(warning)],
        });
      });
    });
    sent.once('error', reject).end(body?.text);
  });

const lines = readFileSync(file, 'utf8').trim().split('\n');
for (const [index, line] of lines.entries()) {
  const each = JSON.parse(line) as ApplyCase;
  const answers = await playApplyCase(each, `case-${index}`, send);
  process.stdout.write(`${JSON.stringify({ ...each, answers })}\n`);
}
