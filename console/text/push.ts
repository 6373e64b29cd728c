/** Texts of push messages to a browser. */

export const push = { untitled: 'Muster has news for you' } as const;
