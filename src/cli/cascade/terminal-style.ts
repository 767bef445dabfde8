import type { Style } from '../../cascade/report/style.ts';
import type { Terminal } from '../process/terminal.ts';

/** Colours and the terminal's width for a person; neither for a pipe. NO_COLOR disables colours (no-color.org). */
export function terminalStyle({ columns, isInteractive = false }: Terminal): Style {
  const { NO_COLOR = '', TERM = '', LC_ALL, LC_CTYPE, LANG } = process.env;
  const locale = LC_ALL ?? LC_CTYPE ?? LANG;
  return {
    colour: isInteractive && NO_COLOR === '' && TERM !== 'dumb',
    ascii: locale === 'C' || locale === 'POSIX',
    width: isInteractive ? columns : undefined,
  };
}
