/** The exit codes of all commands. Scripts rely on them. */
export const EXIT_DONE = 0;
export const EXIT_ERROR = 1;
/** A check found something. */
export const EXIT_FINDINGS = 2;
/** A guard refused: nothing was deleted. */
export const EXIT_REFUSED = 3;
export const EXIT_TIMED_OUT = 4;
