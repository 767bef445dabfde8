// Draws lines of a terminal as an SVG.

/** The most characters in a row; longer output is wrapped at a space, as a terminal wraps it. */
export const COLUMNS = 104;
const [characterWidth, lineHeight, top, left] = [8.5, 22, 52, 20];

/** @param lines `{ kind, text }`; the kinds are command, request, output, error and comment */
export function terminalPicture(lines, label) {
  const wrapped = lines.flatMap(({ kind, text }) =>
    wrap(text).map((part, i) => ({ kind, text: part, isFirst: i === 0 })),
  );
  const longest = Math.max(...wrapped.map(({ kind, text }) => text.length + (kind === 'command' ? 2 : 0)));
  const width = Math.ceil(longest * characterWidth) + 2 * left;
  const height = top + wrapped.length * lineHeight + 10;
  const rows = wrapped.map(({ kind, text, isFirst }, index) => {
    const prompt = kind === 'command' && isFirst ? '<tspan class="prompt">$ </tspan>' : '';
    return `  <text x="${left}" y="${top + index * lineHeight + 8}" class="${kind}" xml:space="preserve">${prompt}${escape(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(label)}">
  <style>
    text { font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
    .command, .request { fill: #f0f6fc; } .output { fill: #9da7b3; } .error { fill: #ff7b72; } .comment { fill: #6e7681; font-style: italic; } .prompt { fill: #3fb950; }
  </style>
  <rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>
  <circle cx="22" cy="20" r="6" fill="#ff5f56"/><circle cx="42" cy="20" r="6" fill="#ffbd2e"/><circle cx="62" cy="20" r="6" fill="#27c93f"/>
${rows.join('\n')}
</svg>
`;
}

const escape = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function wrap(text) {
  const parts = [];
  let rest = text;
  while (rest.length > COLUMNS) {
    const space = rest.lastIndexOf(' ', COLUMNS);
    const end = space > 0 ? space : COLUMNS;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...parts, rest];
}
