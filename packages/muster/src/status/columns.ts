/** Texts in a terminal, which gives some characters two columns and others none. */
import stringWidth from 'string-width';

const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Returns how many columns a text takes. */
export function widthOf(text: string): number {
  return stringWidth(text);
}

/** Returns the beginning of a text that fits into so many columns, cut between two characters as people see them. */
export function cut(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text.toWellFormed();
  let [end, width] = [0, 0];
  for (const { segment, index } of CHARACTERS.segment(text)) {
    width += widthOf(segment);
    if (width > columns) return text.slice(0, end).toWellFormed();
    end = index + segment.length;
  }
  return text.toWellFormed();
}

/** Returns a text with blanks behind it, as wide as so many columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}
