/** Priorities of to-dos, in the order of a list. */
export const PRIORITIES = ['HIGH', 'MEDIUM', 'LOW'] as const;
