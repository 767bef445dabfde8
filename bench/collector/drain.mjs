// Opens the watches that `kubegc collect` opens and reads them up to the mark that ends the existing objects; it parses nothing but that
// mark. This is the time of a cold start without any work of the collector's own. Plain JavaScript, so that nothing is compiled first.
import { connect } from 'node:http2';
import { readFileSync } from 'node:fs';

const { origin, ca, authorization, accept } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const session = connect(origin, { ca, settings: { initialWindowSize: 16 * 1024 * 1024 } });
session.setMaxListeners(0);
session.once('connect', () => session.setLocalWindowSize(64 * 1024 * 1024));
const MARK = Buffer.from('k8s.io/initial-events-end');

function get(path, headers, onData) {
  const stream = session.request({ ':path': path, authorization, ...headers });
  stream.on('data', onData);
  return new Promise((resolve, reject) => {
    stream.once('end', resolve);
    stream.once('error', reject);
    stream.once('close', resolve);
  });
}

async function json(path) {
  const chunks = [];
  const as = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
  await get(path, { accept: as }, (chunk) => chunks.push(chunk));
  return JSON.parse(Buffer.concat(chunks).toString());
}

let bytes = 0;
function drain(path) {
  return new Promise((resolve, reject) => {
    let tail = Buffer.alloc(0);
    const query =
      'watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=600';
    get(`${path}?${query}`, { accept }, (chunk) => {
      bytes += chunk.length;
      // The mark comes last: only the end of what has come can hold it.
      const end = Buffer.concat([tail, chunk.subarray(Math.max(0, chunk.length - 4096))]);
      if (end.includes(MARK)) resolve();
      tail = end.subarray(Math.max(0, end.length - 4096));
    }).then(() => reject(new Error(`${path} ended`)), reject);
  });
}

const documents = await Promise.all([json('/api'), json('/apis')]);
const paths = documents.flatMap(({ items }) =>
  items.flatMap(({ metadata, versions }) => {
    const seen = new Set();
    return versions.flatMap(({ version, resources }) =>
      resources
        .filter(({ resource, verbs }) => {
          const wanted = ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb));
          const first = wanted && resource !== 'events' && !seen.has(resource);
          if (first) seen.add(resource);
          return first;
        })
        .map(({ resource }) => `${metadata.name ? `/apis/${metadata.name}` : '/api'}/${version}/${resource}`),
    );
  }),
);
await Promise.all(paths.map(drain));
console.log(`drained ${bytes} bytes of ${paths.length} resources`);
process.exit(0);
