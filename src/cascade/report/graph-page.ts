import { jsonPieces } from '../../base/json/json-pieces.ts';
import type { GraphDocument } from '../documents/graph-document.ts';

/** A graph as one self-contained HTML page: a tree that opens and closes, a search, and the number of objects that die with each. In pieces. */
export function* graphPage(document: GraphDocument, title: string): Generator<string> {
  yield pageBefore(title);
  // `</script>` in a name would end the script.
  for (const piece of jsonPieces(document)) yield piece.replaceAll('<', '\\u003c');
  yield PAGE_AFTER;
}

const pageBefore = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark; --line: #8885; --soft: #8889; --warn: #b7791f; --bad: #c53030; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1.5rem; }
h1 { font-size: 1.3rem; margin: 0; } p { margin: .2rem 0 1rem; color: var(--soft); }
input { font: inherit; padding: .4rem .6rem; width: 100%; box-sizing: border-box; border: 1px solid var(--line); border-radius: 6px; }
ul { list-style: none; margin: 0; padding-left: 1.2rem; border-left: 1px solid var(--line); } body > ul { border: 0; padding: 0; margin-top: 1rem; }
summary, .leaf { padding: .1rem .3rem; cursor: default; } summary { cursor: pointer; } .leaf { padding-left: 1.3rem; }
code { font: 13px ui-monospace, monospace; } .type { color: var(--soft); } .dies { float: right; color: var(--soft); } .mark { color: var(--warn); } .missing code { color: var(--bad); text-decoration: line-through; }
</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p id="about"></p>
<input id="search" type="search" placeholder="Search by kind or name" autofocus>
<ul id="tree"></ul>
<script type="application/json" id="graph">`;

const PAGE_AFTER = `</script>
<script>
const graph = JSON.parse(document.getElementById('graph').textContent);
const byUid = new Map(graph.nodes.map((node) => [node.ref.uid, node]));
const below = new Map(), owned = new Set();
for (const { from, to } of graph.edges) {
  if (from === to) continue;
  owned.add(from);
  if (!below.has(to)) below.set(to, []);
  below.get(to).push(from);
}
document.getElementById('about').textContent =
  graph.nodes.length + ' objects, ' + graph.edges.length + ' references, read at ' + graph.readAt +
  (graph.incomplete ? '; not read: ' + graph.incomplete.map((each) => each.resource).join(', ') : '');
const nameOf = ({ ref }) => (ref.namespace ? ref.namespace + '/' : '') + ref.name;
function line(node) {
  const span = document.createElement('span');
  const type = document.createElement('span'); type.className = 'type'; type.textContent = node.ref.kind + ' ';
  const name = document.createElement('code'); name.textContent = nameOf(node);
  const dies = document.createElement('span'); dies.className = 'dies'; dies.textContent = node.dies > 1 ? node.dies + ' die with it' : '';
  const marks = document.createElement('span'); marks.className = 'mark';
  marks.textContent = ' ' + [...(node.marks || []), ...(node.finalizers || [])].join(' ');
  if ((node.marks || []).includes('missing')) span.className = 'missing';
  span.append(dies, type, name, marks);
  return span;
}
function item(uid, path) {
  const node = byUid.get(uid), li = document.createElement('li'), children = (below.get(uid) || []).filter((each) => !path.has(each));
  if (children.length === 0) { const leaf = document.createElement('div'); leaf.className = 'leaf'; leaf.append(line(node)); li.append(leaf); return li; }
  const details = document.createElement('details'), summary = document.createElement('summary');
  summary.append(line(node)); details.append(summary); li.append(details);
  details.addEventListener('toggle', () => {
    if (details.dataset.filled) return;
    details.dataset.filled = 'yes';
    const list = document.createElement('ul');
    for (const child of children) list.append(item(child, new Set(path).add(uid)));
    details.append(list);
  });
  return li;
}
function show(words) {
  const wanted = words.toLowerCase().split(' ').filter(Boolean), tree = document.getElementById('tree');
  const found = graph.nodes.filter((node) => wanted.length === 0
    ? !owned.has(node.ref.uid) && below.has(node.ref.uid)
    : wanted.every((word) => (node.ref.kind + ' ' + nameOf(node)).toLowerCase().includes(word)));
  found.sort((a, b) => (b.dies || 0) - (a.dies || 0));
  tree.replaceChildren(...found.slice(0, 500).map((node) => item(node.ref.uid, new Set())));
  if (found.length > 500) { const more = document.createElement('li'); more.textContent = '… and ' + (found.length - 500) + ' more'; tree.append(more); }
}
document.getElementById('search').addEventListener('input', ({ target }) => show(target.value));
show('');
</script>
</body>
</html>
`;

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
