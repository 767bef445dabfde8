import { type BaselineProcess, startBaseline } from './baseline-process.ts';

const source = `
const answer = Buffer.from(process.argv[3]);
function handle(request, response) {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
}
`;

/** The baseline of P08: a node:https server that reads the request and answers with constant bytes, in its own process. */
export function startResponder(dataDirectory: string, answer: string): Promise<BaselineProcess> {
  return startBaseline({ dataDirectory, source, args: [answer] });
}
