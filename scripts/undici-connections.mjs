// Used by every bundle of kubegc: scripts/build.mjs and scripts/single-file.mjs.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Bundles only the connections of undici, without fetch, caches, proxies and the rest of its entry: that loads in a fifth of the time. */
export const undiciConnections = {
  name: 'undici-connections',
  setup(plugins) {
    plugins.onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'connections' }));
    plugins.onLoad({ filter: /./, namespace: 'connections' }, () => ({
      contents: `export { default as Client } from 'undici/lib/dispatcher/client.js';
        export { default as buildConnector } from 'undici/lib/core/connect.js';`,
      resolveDir: root,
    }));
  },
};
