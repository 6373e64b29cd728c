/** Measures and cuts texts for a terminal, in which a character takes zero, one or two columns. */
import stringWidth from 'string-width';

const CHARACTERS = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function widthOf(text: string): number {
  return stringWidth(text);
}

/** Returns the longest prefix of a text that fits into the columns, cut between two graphemes. */
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

/** Returns a text padded with trailing spaces to the number of columns. */
export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}
