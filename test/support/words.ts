/** Returns the words of a text, which spaces and line breaks separate. */
export const wordsOf = (text: string): readonly string[] => text.trim().split(/\s+/);
