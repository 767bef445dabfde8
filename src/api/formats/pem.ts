/** One block of a PEM text, without its first and last line. */
export interface PemBlock {
  /** `CERTIFICATE`, … */
  readonly type: string;
  readonly lines: readonly string[];
}

/**
 * Parses line by line in linear time. Text between blocks is allowed, and a block without a last line counts as such text (Go
 * `encoding/pem`).
 */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { type: string; lines: string[] } | undefined;
  for (const line of text.split('\n').map((each) => each.trimEnd())) {
    if (line.startsWith('-----BEGIN ') && line.endsWith('-----')) open = { type: line.slice(11, -5), lines: [] };
    else if (open !== undefined && line === `-----END ${open.type}-----`) {
      blocks.push(open);
      open = undefined;
    } else open?.lines.push(line);
  }
  return blocks;
}
